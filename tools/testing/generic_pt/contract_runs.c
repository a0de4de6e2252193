// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of items in one table: where they end
 */
#include <linux/generic_pt/iommu.h>
#include <linux/kernel.h>

#include "contract.h"

/* More leaves than a cache line has items, then as many tables */
static void leaves_end_where_tables_begin(void)
{
	const struct shape *shape;
	unsigned int i, nr;

	for (shape = shapes; shape->levels; shape++) {
		for (nr = 6; nr <= 8; nr++) {
			begin_shape(shape);
			/* No larger leaves: what is next to them is no leaf */
			map(0, table, nr * table);
			for (i = nr; i < 16; i++)
				map(i * table, 0, page);
			/* The first page of the first table, then a hole */
			check(unmap_and_flush(0, 16 * table) ==
			      nr * table + page);
			check(unmap_and_flush(0, page) == 0);
			domain_recount(&domain, NULL);
			for (i = nr + 1; i < 16; i++)
				check(unmap_and_flush(i * table, page) == page);
			end();
		}
	}
}

/* Whatever its size, a leaf is unmapped as items of the table it stands in */
static void gathers_tell_the_item_of_each_leaf(void)
{
	struct iommu_iotlb_gather gather;
	const struct shape *shape;
	unsigned int lg2, level;
	struct shape detailed;
	u64 sizes, item;

	for (shape = shapes; shape->levels; shape++) {
		detailed = *shape;
		detailed.config.features |= DETAILED;
		begin_shape(&detailed);
		sizes = domain.pt.iommu.domain.pgsize_bitmap;
		for (; sizes; sizes &= sizes - 1) {
			lg2 = __builtin_ctzll(sizes);
			level = (lg2 - shape->granule_lg2) / shape->index_lg2;
			item = page << (shape->index_lg2 * level);
			map(0, 0, 1ULL << lg2);
			iommu_iotlb_gather_init(&gather);
			check(unmap(0, page, &gather) == 1ULL << lg2);
			check(gather.pgsize == item);
			check(gather.end == (1ULL << lg2) - 1);
			iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
		}
		end();
	}
}

const struct contract_test contract_runs[] = {
	TEST(gathers_tell_the_item_of_each_leaf),
	TEST(leaves_end_where_tables_begin),
	{}
};
