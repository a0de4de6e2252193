/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A format so small that all of it can be tried
 *
 * Tables have 4 items, 3 levels translate 64 pages of 4 KiB. Leaves have the
 * size of an item of any level, or of 2 items of the lowest. No hardware has it.
 *
 *  63..54 53 52 51........12 11..6  5 4 3 2 1 0
 *  -      SW    address      -      D C T W R P
 *
 * C: contiguous, one of 2 items. T: a pointer to a table. D: dirty.
 */
#ifndef TINY_H
#define TINY_H

#include <linux/generic_pt/iommu.h>
#include <linux/iommu.h>

#include "pt_defs.h"

#define PTF_NAME tiny
/* It has no structs of its own */
#define PTF_STRUCT amdv1
#define PTF_GRANULE_LG2 12
#define PTF_INDEX_LG2 2
#define PTF_MAX_LEVELS 3
#define PTF_MAX_IOVA_LG2 18
#define PTF_MAX_OA_LG2 52
#define PTF_FEATURES                                              \
	(BIT(PT_FEAT_FULL_VA) | BIT(PT_FEAT_DYNAMIC_TOP) |        \
	 BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FLUSH_RANGE) | \
	 BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) | BIT(PT_FEAT_DETAILED_GATHER))

#define TINY_P BIT_ULL(0)
#define TINY_R BIT_ULL(1)
#define TINY_W BIT_ULL(2)
#define TINY_T BIT_ULL(3)
#define TINY_C BIT_ULL(4)
#define TINY_D BIT_ULL(5)
#define TINY_OA GENMASK_ULL(51, 12)
#define TINY_CONTIGUOUS_LG2 13

#define PTF_PRESENT_MASK TINY_P
#define PTF_KIND_MASK (TINY_P | TINY_T)
#define PTF_DIRTY TINY_D

static inline bool tiny_is_table(pt_item_t item, unsigned int level)
{
	return level && (item & (TINY_P | TINY_T)) == (TINY_P | TINY_T);
}

#define ptf_is_table tiny_is_table

static inline u64 tiny_table_oa(const struct pt_common *common, pt_item_t item)
{
	return item & TINY_OA;
}

#define ptf_table_oa tiny_table_oa

static inline pt_item_t tiny_table_item(const struct pt_common *common, u64 oa,
					unsigned int level)
{
	return oa | TINY_P | TINY_T;
}

#define ptf_table_item tiny_table_item

static inline pt_item_t tiny_sw_bit(unsigned int nr)
{
	return nr < 2 ? BIT_ULL(52 + nr) : 0;
}

#define ptf_sw_bit tiny_sw_bit

static inline u64 tiny_sizes(const struct pt_common *common, unsigned int level)
{
	u64 sizes = BIT_ULL(PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level);

	return level ? sizes : sizes | BIT_ULL(TINY_CONTIGUOUS_LG2);
}

#define ptf_sizes tiny_sizes

static inline unsigned int tiny_leaf_lg2(pt_item_t item, unsigned int level)
{
	if (item & TINY_C)
		return TINY_CONTIGUOUS_LG2;
	return PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
}

#define ptf_leaf_lg2 tiny_leaf_lg2

static inline u64 tiny_leaf_oa(const struct pt_common *common, pt_item_t item,
			       unsigned int level)
{
	return item & TINY_OA;
}

#define ptf_leaf_oa tiny_leaf_oa

static inline pt_item_t tiny_leaf_item(pt_item_t attrs, u64 oa,
				       unsigned int level, unsigned int lg2)
{
	return attrs | oa | (lg2 == TINY_CONTIGUOUS_LG2 ? TINY_C : 0);
}

#define ptf_leaf_item tiny_leaf_item

static inline int tiny_attrs(const struct pt_common *common, unsigned int prot,
			     pt_item_t *attrs)
{
	*attrs = TINY_P | (prot & IOMMU_READ ? TINY_R : 0) |
		 (prot & IOMMU_WRITE ? TINY_W : 0);
	return 0;
}

#define ptf_attrs tiny_attrs

static inline int tiny_prot(pt_item_t item)
{
	return (item & TINY_R ? IOMMU_READ : 0) |
	       (item & TINY_W ? IOMMU_WRITE : 0);
}

#define ptf_prot tiny_prot

static inline struct pt_common *tiny_common(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct pt_iommu_amdv1, iommu)->amdpt.common;
}

#define ptf_common tiny_common

static inline int tiny_fmt_init(struct pt_iommu_amdv1 *table,
				const struct pt_iommu_amdv1_cfg *cfg,
				unsigned int *top_level)
{
	*top_level = cfg->starting_level;
	return 0;
}

#define ptf_init tiny_fmt_init

static inline void tiny_fmt_hw_info(const struct pt_common *common, u64 top_oa,
				    unsigned int top_level,
				    struct pt_iommu_amdv1_hw_info *info)
{
	info->host_pt_root = top_oa;
	info->mode = top_level + 1;
}

#define ptf_hw_info tiny_fmt_hw_info

int pt_iommu_tiny_init(struct pt_iommu_amdv1 *table,
		       const struct pt_iommu_amdv1_cfg *cfg, gfp_t gfp);
void pt_iommu_tiny_hw_info(struct pt_iommu_amdv1 *table,
			   struct pt_iommu_amdv1_hw_info *info);
PT_IOMMU_DECLARE_OPS(tiny);

#endif /* TINY_H */
