// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page tables that are compared
 */
#include <linux/generic_pt/iommu.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "../../iommu-pages.h"
#include "bench.h"

/*
 * What a driver's flush does for the tables. No hardware uses them, and nobody
 * reads them meanwhile: what is to be freed is freed here, so that it is timed.
 */
static void bench_iotlb_sync(struct iommu_domain *domain,
			     struct iommu_iotlb_gather *gather)
{
	if (!list_empty(&gather->freelist))
		iommu_put_pages_list_now(&gather->freelist);
}

static const struct iommu_domain_ops amdv1_ops = {
	IOMMU_PT_DOMAIN_OPS(amdv1),
	.iotlb_sync = bench_iotlb_sync,
};

static const struct iommu_dirty_ops amdv1_dirty_ops = {
	IOMMU_PT_DIRTY_OPS(amdv1),
};

static struct pt_iommu_amdv1 *amdv1_table(struct iommu_domain *domain)
{
	return container_of(domain, struct pt_iommu_amdv1, iommu.domain);
}

static struct iommu_domain *amdv1_alloc(unsigned int levels)
{
	const struct pt_iommu_amdv1_cfg cfg = {
		.common.features = BIT(PT_FEAT_FLUSH_RANGE) |
				   BIT(PT_FEAT_FULL_VA) |
				   BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.common.hw_max_vasz_lg2 = 64,
		.common.hw_max_oasz_lg2 = 52,
		.starting_level = levels - 1,
	};
	struct pt_iommu_amdv1 *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return NULL;
	table->iommu.nid = NUMA_NO_NODE;
	table->iommu.domain.ops = &amdv1_ops;
	table->iommu.domain.dirty_ops = &amdv1_dirty_ops;
	if (pt_iommu_amdv1_init(table, &cfg, GFP_KERNEL)) {
		kfree(table);
		return NULL;
	}
	return &table->iommu.domain;
}

static void amdv1_free(struct iommu_domain *domain)
{
	struct pt_iommu_amdv1 *table = amdv1_table(domain);

	pt_iommu_deinit(&table->iommu);
	kfree(table);
}

static u64 *amdv1_root(struct iommu_domain *domain, unsigned int *levels)
{
	struct pt_iommu_amdv1_hw_info info;

	pt_iommu_amdv1_hw_info(amdv1_table(domain), &info);
	*levels = info.mode;
	return phys_to_virt(info.host_pt_root);
}

const struct pt_peer bench_amdv1 = {
	.name = "ours amdv1",
	.min_levels = 1,
	.max_levels = 6,
	.alloc = amdv1_alloc,
	.free = amdv1_free,
	.root = amdv1_root,
};

/* Peers first, then each format of the library */
const struct pt_peer *const bench_kinds[] = {
#if IS_ENABLED(CONFIG_IOMMU_PT_PEERS)
	&pt_peer_amdv1, &pt_peer_amdv2, &pt_peer_vtd,
#ifdef CONFIG_IOMMU_IO_PGTABLE_LPAE
	&pt_peer_lpae,
#endif
#endif
	&bench_amdv1,	NULL,
};

void bench_table_alloc(struct kunit *test, struct bench_table *table,
		       const struct pt_peer *kind, unsigned int levels)
{
	table->kind = kind;
	table->levels = clamp(levels, kind->min_levels, kind->max_levels);
	table->domain = kind->alloc(table->levels);
	KUNIT_ASSERT_NOT_NULL_MSG(test, table->domain, "%s: no memory",
				  kind->name);
}

void bench_table_free(struct bench_table *table)
{
	table->kind->free(table->domain);
}

/* Begin anew, with a tree that has only its top */
void bench_table_reset(struct bench_table *table)
{
	struct iommu_domain *domain = table->kind->alloc(table->levels);

	if (!domain) {
		bench_failed = true;
		return;
	}
	table->kind->free(table->domain);
	table->domain = domain;
}

void bench_tables_alloc(struct kunit *test, struct bench_tables *tables,
			unsigned int levels)
{
	for (tables->nr = 0; bench_kinds[tables->nr]; tables->nr++)
		bench_table_alloc(test, &tables->table[tables->nr],
				  bench_kinds[tables->nr], levels);
}

void bench_tables_free(struct bench_tables *tables)
{
	while (tables->nr--)
		bench_table_free(&tables->table[tables->nr]);
}
