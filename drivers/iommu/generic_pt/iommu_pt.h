/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operations of one format
 *
 * Included by fmt/iommu_template.h after the format. Everything here is
 * compiled once for each format, with all that the format says as constants;
 * nothing below an operation is called through a pointer.
 *
 *   pt_tables.h         life of a table, growth: the protocols
 *   iommu_pt_map.h      map
 *   iommu_pt_unmap.h    unmap
 *   iommu_pt_lookup.h   lookup
 *   iommu_pt_dirty.h    dirty tracking
 */
#ifndef __GENERIC_PT_IOMMU_PT_H
#define __GENERIC_PT_IOMMU_PT_H

#include <linux/export.h>

#include "iommu_pt_dirty.h"
#include "iommu_pt_lookup.h"
#include "iommu_pt_map.h"
#include "iommu_pt_unmap.h"

/* Names of the format's public structs and functions: PTF_FN(init) and so on */
#define __PTF_CONCAT(a, b) a##b
#define _PTF_CONCAT(a, b) __PTF_CONCAT(a, b)
#define PTF_FN(op) _PTF_CONCAT(_PTF_CONCAT(pt_iommu_, PTF_NAME), _##op)
#define PTF_TABLE _PTF_CONCAT(pt_iommu_, PTF_STRUCT)
#define PTF_CFG _PTF_CONCAT(PTF_TABLE, _cfg)
#define PTF_HW_INFO _PTF_CONCAT(PTF_TABLE, _hw_info)

noinline int PTF_FN(map_pages)(struct iommu_domain *domain, unsigned long iova,
			       phys_addr_t paddr, size_t pgsize, size_t pgcount,
			       int prot, gfp_t gfp, size_t *mapped)
{
	struct pt_iommu *iommu = container_of(domain, struct pt_iommu, domain);

	return pt_map_range(iommu, iova, paddr, pgsize * pgcount, prot, gfp,
			    mapped);
}
EXPORT_SYMBOL_NS_GPL(PTF_FN(map_pages), GENERIC_PT_IOMMU);

/* One copy of the code does for both, where their arguments are alike */
static int pt_op_map_range(struct pt_iommu *iommu, dma_addr_t iova,
			   phys_addr_t paddr, dma_addr_t len, unsigned int prot,
			   gfp_t gfp, size_t *mapped)
{
	if (sizeof(dma_addr_t) <= sizeof(long))
		return PTF_FN(map_pages)(&iommu->domain, iova, paddr, len, 1,
					 prot, gfp, mapped);
	return pt_map_range(iommu, iova, paddr, len, prot, gfp, mapped);
}

noinline size_t PTF_FN(unmap_pages)(struct iommu_domain *domain,
				    unsigned long iova, size_t pgsize,
				    size_t pgcount,
				    struct iommu_iotlb_gather *gather)
{
	struct pt_iommu *iommu = container_of(domain, struct pt_iommu, domain);

	return pt_unmap_range(iommu, iova, pgsize * pgcount, gather);
}
EXPORT_SYMBOL_NS_GPL(PTF_FN(unmap_pages), GENERIC_PT_IOMMU);

static size_t pt_op_unmap_range(struct pt_iommu *iommu, dma_addr_t iova,
				dma_addr_t len,
				struct iommu_iotlb_gather *gather)
{
	if (sizeof(dma_addr_t) <= sizeof(long))
		return PTF_FN(unmap_pages)(&iommu->domain, iova, len, 1,
					   gather);
	return pt_unmap_range(iommu, iova, len, gather);
}

phys_addr_t PTF_FN(iova_to_phys)(struct iommu_domain *domain, dma_addr_t iova)
{
	struct pt_iommu *iommu = container_of(domain, struct pt_iommu, domain);

	return pt_iova_to_phys(iommu, iova);
}
EXPORT_SYMBOL_NS_GPL(PTF_FN(iova_to_phys), GENERIC_PT_IOMMU);

int PTF_FN(read_and_clear_dirty)(struct iommu_domain *domain,
				 unsigned long iova, size_t size,
				 unsigned long flags,
				 struct iommu_dirty_bitmap *dirty)
{
	struct pt_iommu *iommu = container_of(domain, struct pt_iommu, domain);

	return pt_read_and_clear_dirty(iommu, iova, size, flags, dirty);
}
EXPORT_SYMBOL_NS_GPL(PTF_FN(read_and_clear_dirty), GENERIC_PT_IOMMU);

/* Leaf sizes that the tree can hold, grown as far as it may */
static noinline __cold u64 pt_sizes_all(const struct pt_common *common)
{
	unsigned int level = common->max_level;
	u64 sizes = 0;

	do {
		sizes |= ptf_sizes(common, level);
	} while (level--);
	/* No leaf is larger than the OA space */
	return sizes & pt_low_mask(pt_floor_lg2(common->oa_last) + 2);
}

static noinline __cold void pt_op_get_info(struct pt_iommu *iommu,
					   struct pt_iommu_info *info)
{
	info->pgsize_bitmap = pt_sizes_all(ptf_common(iommu));
	info->tables = atomic_read(&iommu->usage.tables);
	info->table_bytes = (u64)info->tables * PTF_TABLE_BYTES;
	info->peak_tables = READ_ONCE(iommu->usage.peak);
	info->freed_tables = atomic_long_read(&iommu->usage.freed);
	info->reused_tables = READ_ONCE(iommu->usage.reused);
}

/* Free a table and all below it. Nobody else uses them any more. */
static noinline __cold void pt_free_tree(const struct pt_common *common,
					 pt_item_t *table, unsigned int level)
{
	unsigned int i;

	for (i = 0; level && i < PTF_ITEMS; i++)
		if (ptf_is_table(table[i], level))
			pt_free_tree(common, pt_child(common, table[i]),
				     level - 1);
	pt_env_free(table);
}

static noinline __cold void pt_op_deinit(struct pt_iommu *iommu)
{
	struct pt_common *common = ptf_common(iommu);
	unsigned long top = common->top;

	iommu_pt_shrink_del(iommu);
	common->top = 0;
	pt_free_tree(common, pt_top_table(top), pt_top_level(top));
}

static const struct pt_iommu_ops pt_iommu_fmt_ops = {
	.map_range = pt_op_map_range,
	.unmap_range = pt_op_unmap_range,
	.lookup = pt_lookup,
	.set_dirty = pt_set_dirty,
	.get_info = pt_op_get_info,
	.reclaim = pt_reclaim,
	.deinit = pt_op_deinit,
};

/* Check what does not depend on the format */
static noinline __cold int pt_check_cfg(const struct pt_iommu *iommu,
					const struct pt_iommu_cfg *cfg)
{
	if (cfg->features & ~(u32)(PTF_FEATURES))
		return -EOPNOTSUPP;
	if (cfg->hw_max_oasz_lg2 > PTF_MAX_OA_LG2 ||
	    cfg->hw_max_vasz_lg2 > PTF_MAX_IOVA_LG2)
		return -EOPNOTSUPP;
	if (cfg->hw_max_oasz_lg2 < PTF_GRANULE_LG2 ||
	    cfg->hw_max_vasz_lg2 < PTF_GRANULE_LG2)
		return -EINVAL;
	if ((cfg->features & BIT(PT_FEAT_DYNAMIC_TOP)) &&
	    (!iommu->driver_ops || !iommu->driver_ops->change_top ||
	     !iommu->driver_ops->get_top_lock))
		return -EINVAL;
	return 0;
}

/* Translate as many bits of IOVA as the hardware and the levels do */
static noinline __cold int pt_set_aperture(struct pt_iommu *iommu,
					   unsigned int lg2,
					   unsigned int top_level)
{
	struct iommu_domain_geometry *geometry = &iommu->domain.geometry;
	struct pt_common *common = ptf_common(iommu);
	bool halves = pt_feature(common, PT_FEAT_SIGN_EXTEND);
	unsigned int reach;

	/* Hardware may have no more levels than its IOVA space needs */
	common->max_level = top_level;
	if (pt_feature(common, PT_FEAT_DYNAMIC_TOP))
		while (pt_item_lg2(common->max_level + 1) < lg2)
			common->max_level++;
	reach = pt_item_lg2(common->max_level + 1);
	if (PTF_CANONICAL && !halves)
		reach--;
	lg2 = min(lg2, reach);
	if (lg2 == 64 && !pt_feature(common, PT_FEAT_FULL_VA))
		return -EINVAL;
	common->iova_half = halves ? 1ULL << (lg2 - 1) : 0;
	geometry->aperture_start = 0;
	geometry->aperture_end =
		(dma_addr_t)(halves ? ~0ULL : pt_low_mask(lg2));
	geometry->force_aperture = true;
	return 0;
}

int PTF_FN(init)(struct PTF_TABLE *table, const struct PTF_CFG *cfg, gfp_t gfp)
{
	struct pt_iommu *iommu = &table->iommu;
	struct pt_common *common = ptf_common(iommu);
	unsigned int level;
	pt_item_t *top;
	int ret;

	BUILD_BUG_ON((PTF_FEATURES & BIT(PT_FEAT_DMA_INCOHERENT)) &&
		     !PT_SW_FLUSHED);
	ret = pt_check_cfg(iommu, &cfg->common);
	if (ret)
		return ret;
	*common = (struct pt_common){
		.features = cfg->common.features,
		.oa_last = pt_low_mask(cfg->common.hw_max_oasz_lg2),
	};
	ret = ptf_init(table, cfg, &level);
	if (ret)
		return ret;
	ret = pt_set_aperture(iommu, cfg->common.hw_max_vasz_lg2, level);
	if (ret)
		return ret;

	top = pt_env_alloc(iommu, gfp);
	if (!top)
		return -ENOMEM;
	memset(top, 0, PTF_TABLE_BYTES);
	pt_flush_items(iommu, top, PTF_ITEMS);
	pt_desc_init(pt_env_desc(top), level, PT_USERS_TOP, NULL);
	common->top = pt_top_encode(top, level);

	raw_spin_lock_init(&iommu->park_lock);
	iommu->nr_parked = 0;
	iommu->usage = (struct pt_iommu_usage){
		.tables = ATOMIC_INIT(1),
		.peak = 1,
	};
	iommu->domain.pgsize_bitmap = pt_sizes_all(common);
	pt_env_take_whole_ranges(&iommu->domain);
	iommu->ops = &pt_iommu_fmt_ops;
	iommu_pt_shrink_add(iommu);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(PTF_FN(init), GENERIC_PT_IOMMU);

void PTF_FN(hw_info)(struct PTF_TABLE *table, struct PTF_HW_INFO *info)
{
	const struct pt_common *common = ptf_common(&table->iommu);
	unsigned long top = pt_read_top(common);

	ptf_hw_info(common, pt_env_table_oa(pt_top_table(top)),
		    pt_top_level(top), info);
}
EXPORT_SYMBOL_NS_GPL(PTF_FN(hw_info), GENERIC_PT_IOMMU);

#endif /* __GENERIC_PT_IOMMU_PT_H */
