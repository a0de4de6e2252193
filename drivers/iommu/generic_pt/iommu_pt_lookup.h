/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lookup, and what all operations check first
 */
#ifndef __GENERIC_PT_IOMMU_PT_LOOKUP_H
#define __GENERIC_PT_IOMMU_PT_LOOKUP_H

#include "pt_iter.h"

/*
 * Whether [iova, last] is all within the aperture, and with PT_FEAT_SIGN_EXTEND
 * within one half of the IOVA space: the aperture has no hole.
 */
static __always_inline bool pt_in_aperture(struct pt_iommu *iommu, u64 iova,
					   u64 last)
{
	const struct iommu_domain_geometry *geometry = &iommu->domain.geometry;
	const struct pt_common *common = ptf_common(iommu);
	u64 half;

	if (unlikely(last < iova || iova < geometry->aperture_start ||
		     last > geometry->aperture_end))
		return false;
	if (!pt_feature(common, PT_FEAT_SIGN_EXTEND))
		return true;
	half = common->iova_half;
	return likely(iova + half < 2 * half && (iova ^ last) < half);
}

/* The same for one page of the smallest size, which must be aligned */
static __always_inline bool pt_page_in_aperture(struct pt_iommu *iommu,
						u64 iova)
{
	const struct iommu_domain_geometry *geometry = &iommu->domain.geometry;
	const struct pt_common *common = ptf_common(iommu);
	u64 mask = pt_low_mask(PTF_GRANULE_LG2);

	if (unlikely((iova & mask) || iova < geometry->aperture_start ||
		     (iova | mask) > geometry->aperture_end))
		return false;
	return !pt_feature(common, PT_FEAT_SIGN_EXTEND) ||
	       iova + common->iova_half < 2 * common->iova_half;
}

/* Whether the top covers an IOVA in the aperture: always, if it cannot grow */
static __always_inline bool pt_top_covers(const struct pt_common *common,
					  unsigned long top, u64 iova)
{
	bool covers = pt_level_covers(common, pt_top_level(top), iova);

	if (PTF_FEATURES & BIT(PT_FEAT_DYNAMIC_TOP))
		return covers;
	PT_WARN_ON(!covers);
	return true;
}

/*
 * Check the IOVA range of an operation and tell its last byte. -EINVAL when it
 * is empty or not aligned to the granule, -ERANGE when it is not all within
 * the aperture.
 */
static __always_inline int pt_check_range(struct pt_iommu *iommu, u64 iova,
					  u64 len, u64 *last)
{
	if (unlikely(!len || !pt_is_aligned(iova | len, PTF_GRANULE_LG2)))
		return -EINVAL;
	*last = iova + len - 1;
	if (unlikely(!pt_in_aperture(iommu, iova, *last)))
		return -ERANGE;
	return 0;
}

/*
 * Find the leaf that translates @iova. Its item is not present when there is
 * none. Within an RCU read side.
 */
static __always_inline struct pt_pos
pt_find_leaf(const struct pt_common *common, u64 iova)
{
	unsigned long top = pt_read_top(common);

	if (unlikely(!pt_level_covers(common, pt_top_level(top), iova)))
		return (struct pt_pos){};
	return pt_walk_from(common, top, iova, 0);
}

static inline int pt_lookup(struct pt_iommu *iommu, dma_addr_t iova,
			    struct pt_iommu_entry *entry)
{
	const struct pt_common *common = ptf_common(iommu);
	struct pt_pos pos = {};
	u64 mask;

	if (!pt_in_aperture(iommu, iova, iova))
		return -ERANGE;
	rcu_read_lock();
	pos = pt_find_leaf(common, iova);
	rcu_read_unlock();
	if (!ptf_present(pos.item))
		return -ENOENT;
	mask = ptf_leaf_mask(pos.item, pos.level);
	entry->oa = ptf_leaf_oa(common, pos.item, pos.level) | (iova & mask);
	entry->size = mask + 1;
	entry->prot = ptf_prot(pos.item);
	return 0;
}

static __always_inline phys_addr_t pt_iova_to_phys(struct pt_iommu *iommu,
						   dma_addr_t iova)
{
	const struct pt_common *common = ptf_common(iommu);
	struct pt_pos pos = {};

	rcu_read_lock();
	pos = pt_find_leaf(common, iova);
	rcu_read_unlock();
	if (unlikely(!ptf_present(pos.item)))
		return 0;
	return ptf_leaf_oa(common, pos.item, pos.level) |
	       (iova & ptf_leaf_mask(pos.item, pos.level));
}

#endif /* __GENERIC_PT_IOMMU_PT_LOOKUP_H */
