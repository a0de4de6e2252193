// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table memory: what is told of it, how it is limited and taken back
 */
#include <errno.h>
#include <string.h>

#include <linux/generic_pt/iommu.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include <shim_alloc.h>

#include "contract.h"

const struct shape shapes[] = {
	{ { "shape", &lib_tiny, RANGE, 2, 18, 20 }, 12, 2, 3 },
	{ { "shape", &lib_amdv1, RANGE, 2, 39, 52 }, 12, 9, 3 },
	{ { "shape", &lib_amdv1, NO_GAPS, 5, 63, 52 }, 12, 9, 6 },
	{ { "shape", &lib_amdv1_mock, RANGE, 2, 38, 51 }, 11, 9, 3 },
	{ { "shape", &lib_x86_64, RANGE | INCOHERENT, 3, 48, 52 }, 12, 9, 4 },
	{ { "shape", &lib_vtdss, NO_GAPS, 2, 39, 52 }, 12, 9, 3 },
	{ { "shape", &lib_riscv_64, RANGE, 0, 39, 56 }, 12, 9, 3 },
	{ { "shape", &lib_riscv_64, NO_GAPS | NAPOT, 0, 57, 56 }, 12, 9, 5 },
	{}
};

u64 page, table;

void begin_shape(const struct shape *shape)
{
	test_assert(!domain_init(&domain, &shape->config), "init of %s",
		    shape->config.format->name);
	page = 1ULL << shape->granule_lg2;
	table = page << shape->index_lg2;
}

static struct pt_iommu_info usage(void)
{
	struct pt_iommu_info info;

	domain_recount(&domain, NULL);
	domain.pt.iommu.ops->get_info(&domain.pt.iommu, &info);
	return info;
}

static void check_usage(unsigned int tables, unsigned int peak,
			unsigned long freed, unsigned long reused)
{
	struct pt_iommu_info info = usage();
	u64 bytes = tables * (table / page * 8);
	bool good = info.tables == tables && info.table_bytes == bytes &&
		    info.peak_tables == peak && info.freed_tables == freed &&
		    info.reused_tables == reused;

	test_assert(good, "%s: %u tables, at most %u, freed %lu, reused %lu",
		    domain.config->format->name, info.tables, info.peak_tables,
		    info.freed_tables, info.reused_tables);
}

static unsigned long reclaim(void)
{
	return domain.pt.iommu.ops->reclaim(&domain.pt.iommu);
}

static void unmap_now(u64 iova, u64 len)
{
	check(unmap_and_flush(iova, len) == len);
}

static void tables_are_counted(void)
{
	const struct shape *shape;
	unsigned int levels, i;

	for (shape = shapes; shape->levels; shape++) {
		begin_shape(shape);
		levels = shape->levels;
		check_usage(1, 1, 0, 0);
		check(!reclaim());
		map(0, 0, page);
		check_usage(levels, levels, 0, 0);
		map(table, 0, page);
		check_usage(levels + 1, levels + 1, 0, 0);
		/* It stays, and serves again */
		for (i = 0; i < 2; i++) {
			unmap_now(table, page);
			check_usage(levels + 1, levels + 1, 0, i);
			map(table, 0, page);
			check_usage(levels + 1, levels + 1, 0, i);
			/* Only what is empty goes; that it is not is noticed */
			check(!reclaim());
			check_usage(levels + 1, levels + 1, 0, i + 1);
		}
		/* Until somebody takes it, then those above it too */
		unmap_now(table, page);
		check(reclaim() == 1);
		check_usage(levels, levels + 1, 1, 2);
		unmap_now(0, page);
		check(reclaim() == levels - 1);
		check_usage(1, levels + 1, levels, 2);
		check(!reclaim());
		end();
	}
}

/* One that leaves whole is counted too, unless it is emptied item by item */
static void tables_that_leave_are_counted(void)
{
	const struct shape *shape;
	unsigned int levels;
	bool whole;

	for (shape = shapes; shape->levels; shape++) {
		begin_shape(shape);
		levels = shape->levels;
		whole = !(shape->config.features & NO_GAPS);
		map(0, page, 2 * table);
		map(2 * table, page, page);
		check_usage(levels + 2, levels + 2, 0, 0);
		unmap_now(0, 2 * table);
		check_usage(levels + (whole ? 0 : 2), levels + 2, whole ? 2 : 0,
			    0);
		check(reclaim() == (whole ? 0 : 2));
		check_usage(levels, levels + 2, 2, 0);
		map(0, page, page);
		check_usage(levels + 1, levels + 2, 2, 0);
		end();
	}
}

/* So does one above them that is full, of leaves as large as a table covers */
static void tables_above_others_leave_whole(void)
{
	const struct shape *shape;
	unsigned int levels;
	bool whole;
	u64 above;

	for (shape = shapes; shape->levels; shape++) {
		begin_shape(shape);
		levels = shape->levels;
		whole = !(shape->config.features & NO_GAPS);
		above = table << shape->index_lg2;
		map(0, table, above);
		map(above, table, table);
		check_usage(levels, levels, 0, 0);
		unmap_now(0, above);
		check_usage(whole ? levels - 1 : levels, levels, whole, 0);
		end();
	}
}

/* What a map may have, and no more; what it does not need is given back */
static void tables_have_a_limit(void)
{
	const struct shape *shape;
	unsigned int limit, tables;
	size_t mapped;
	u64 want;
	int ret;

	for (shape = shapes; shape->levels; shape++) {
		for (limit = 0; limit < shape->levels + 6; limit++) {
			struct pt_iommu *iommu = &domain.pt.iommu;

			begin_shape(shape);
			iommu->max_tables = limit;
			/* A table of each level but the last, then four */
			want = 4;
			if (limit && limit < shape->levels + 3)
				want = max(limit, shape->levels - 1) -
				       (shape->levels - 1);
			mapped = 0;
			ret = iommu->ops->map_range(iommu, 0, page, 4 * table,
						    IOMMU_READ, GFP_KERNEL,
						    &mapped);
			check(ret == (want < 4 ? -EDQUOT : 0));
			check(mapped == want * table);
			tables = want ? shape->levels - 1 + want : 1;
			check(usage().tables == tables);
			/* Tables ahead count */
			check(usage().peak_tables >= tables);
			check(!limit || usage().peak_tables <= limit);
			if (want) {
				/* Where tables are, a map needs none */
				unmap_now(0, page);
				map(0, 0, page);
				/* Below what is in use nothing is taken away */
				iommu->max_tables = 1;
				unmap_now(0, page);
				map(0, 0, page);
				check(usage().tables == tables);
			}
			end();
		}
	}
}

/* Without memory all is as before but for what was mapped */
static void tables_that_were_not_there_do_not_count(void)
{
	const struct shape *shape;
	unsigned int tables;
	size_t mapped;
	u64 nr;
	int ret;

	for (shape = shapes; shape->levels; shape++) {
		for (nr = 0; nr < shape->levels + 4; nr++) {
			struct pt_iommu *iommu = &domain.pt.iommu;

			begin_shape(shape);
			mapped = 0;
			shim_fail_after(nr);
			ret = iommu->ops->map_range(iommu, 0, page, 4 * table,
						    IOMMU_READ, GFP_KERNEL,
						    &mapped);
			shim_fail_after(~0ULL);
			check(ret == (nr < shape->levels + 2 ? -ENOMEM : 0));
			tables = 1;
			if (mapped)
				tables = shape->levels - 1 + mapped / table;
			check(usage().tables == tables);
			end();
		}
	}
}

/*
 * Growth is within the limit; what grew before a failure stays. The old top, when
 * it is empty, makes room for another table.
 */
static void growth_has_a_limit(void)
{
	struct pt_iommu *iommu = &domain.pt.iommu;
	size_t mapped;
	unsigned int i;

	page = 4096;
	table = M2;
	for (i = 0; i < 2; i++) {
		mapped = 0;
		begin(GROWS | FULL | RANGE, 0, 64);
		iommu->max_tables = 1;
		check(iommu->ops->map_range(iommu, M2, 0, 4096, IOMMU_READ,
					    GFP_KERNEL, &mapped) == -EDQUOT);
		check_usage(1, 1, 0, 0);
		iommu->max_tables = 2;
		shim_fail_after(0);
		check(iommu->ops->map_range(iommu, M2, 0, 4096, IOMMU_READ,
					    GFP_KERNEL, &mapped) == -ENOMEM);
		shim_fail_after(~0ULL);
		check_usage(1, 2, 0, 0);
		if (i)
			map(0, 0, 4096);
		check(iommu->ops->map_range(iommu, M2, 0, 4096, IOMMU_READ,
					    GFP_KERNEL,
					    &mapped) == (i ? -EDQUOT : 0));
		check(mapped == (i ? 0 : 4096) && domain.grown == 1);
		check_usage(2, 2, !i, 0);
		iommu->max_tables = 3;
		map(2 * M2, 0, 4096);
		check_usage(3, 3, !i, 0);
		end();
	}
}

/* Where hardware may know of a table, one that goes is flushed */
static void what_is_taken_back_is_flushed(void)
{
	unsigned int no_gaps;
	unsigned long before;

	for (no_gaps = 0; no_gaps < 2; no_gaps++) {
		begin(no_gaps ? NO_GAPS : RANGE, 2, 39);
		map(M2, 0, 4096);
		unmap_now(M2, 4096);
		before = domain.flushed;
		/* Two tables, leaves of each first where that matters */
		check(reclaim() == 2);
		check(domain.flushed - before == (no_gaps ? 4 : 2));
		before = domain.flushed;
		check(!reclaim());
		check(domain.flushed == before);
		end();
	}
}

/* Neighbours share a flush, in either order, and what is not next to them stays */
static void neighbours_leave_together(void)
{
	static const struct {
		unsigned int at[3];
		unsigned int freed;
	} orders[] = {
		{ { 1, 2, 3 }, 2 },
		{ { 3, 2, 1 }, 2 },
		{ { 1, 3, 5 }, 1 },
		{ { 5, 3, 1 }, 1 },
	};
	struct iommu_iotlb_gather gather;
	unsigned int no_gaps, order, i;
	unsigned long before;
	const unsigned int *at;

	page = 4096;
	table = M2;
	for (no_gaps = 0; no_gaps < 2; no_gaps++) {
		for (order = 0; order < ARRAY_SIZE(orders); order++) {
			at = orders[order].at;
			begin(no_gaps ? NO_GAPS : RANGE, 2, 39);
			for (i = 0; i < 6; i++)
				map(i * M2, 0, 4096);
			check_usage(8, 8, 0, 0);
			for (i = 0; i < 2; i++)
				unmap_now(at[i] * M2, 4096);
			before = domain.flushed;
			iommu_iotlb_gather_init(&gather);
			check(unmap(at[2] * M2, 4096, &gather) == 4096);
			check(domain.flushed - before == 1 + no_gaps);
			check(usage().freed_tables == orders[order].freed);
			iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
			end();
		}
	}
}

const struct contract_test contract_usage[] = {
	TEST(tables_are_counted),
	TEST(tables_that_leave_are_counted),
	TEST(tables_above_others_leave_whole),
	TEST(tables_have_a_limit),
	TEST(tables_that_were_not_there_do_not_count),
	TEST(growth_has_a_limit),
	TEST(what_is_taken_back_is_flushed),
	TEST(neighbours_leave_together),
	{}
};
