/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMDv1: the host page table of the AMD IOMMU
 *
 * Source: AMD I/O Virtualization Technology (IOMMU) Specification, publication
 * 48882, section 2.2.3 "I/O Page Tables for Host Translations". Tables have 512
 * items of 8 bytes; 1 to 6 levels translate up to 64 bits of IOVA.
 *
 *  63   62 61 60 59  58..52   51........12   11..9       8..7  6 5 4..1 0
 *  -    IW IR FC U   -        address        next level  -     D A -    PR
 *
 * Next level is 0 for a leaf of the level's own size, 7 for a leaf of a size
 * that the address codes (Table "Example Page Size Encodings"): its low bits
 * are ones up to a zero, and the page is twice as large as the zero bit says.
 * Such a leaf is repeated in as many items as it covers. Any other value names
 * the level, counted from 1, of the table that the item points to.
 *
 * The level counted from 1 of the pointed-to table is the level counted from 0
 * of the table that the pointer stands in.
 */
#ifndef __GENERIC_PT_FMT_AMDV1_H
#define __GENERIC_PT_FMT_AMDV1_H

#include <linux/bitfield.h>
#include <linux/iommu.h>
#include <linux/mem_encrypt.h>

#ifdef AMDV1_MOCK
#include "defs_amdv1_mock.h"
#else
#include "defs_amdv1.h"
#endif

#define AMDV1_PR BIT_ULL(0)
#define AMDV1_A BIT_ULL(5)
#define AMDV1_D BIT_ULL(6)
#define AMDV1_NEXT_LEVEL GENMASK_ULL(11, 9)
#define AMDV1_OA GENMASK_ULL(51, 12)
#define AMDV1_U BIT_ULL(59)
#define AMDV1_FC BIT_ULL(60)
#define AMDV1_IR BIT_ULL(61)
#define AMDV1_IW BIT_ULL(62)

#define AMDV1_NEXT_LEAF 0
#define AMDV1_NEXT_CODED 7

/* An OA stands at its place, but for a granule that hardware does not have */
#define AMDV1_OA_SHIFT (12 - PTF_GRANULE_LG2)

#define PTF_PRESENT_MASK AMDV1_PR
#define PTF_KIND_MASK (AMDV1_PR | AMDV1_NEXT_LEVEL)

/* No level is ever skipped, so the next level is known beforehand */
static inline bool amdv1_is_table(pt_item_t item, unsigned int level)
{
	return level &&
	       (item & (AMDV1_PR | AMDV1_NEXT_LEVEL)) ==
		       (AMDV1_PR | FIELD_PREP(AMDV1_NEXT_LEVEL, level));
}

#define ptf_is_table amdv1_is_table

static inline u64 amdv1_table_oa(const struct pt_common *common, pt_item_t item)
{
	return (item & common->oa_mask) >> AMDV1_OA_SHIFT;
}

#define ptf_table_oa amdv1_table_oa

/* Access is granted by the leaves: section 2.2.3 ANDs it over all levels */
static inline pt_item_t amdv1_table_item(const struct pt_common *common, u64 oa,
					 unsigned int level)
{
	return oa << AMDV1_OA_SHIFT | common->enc_mask |
	       FIELD_PREP(AMDV1_NEXT_LEVEL, level) | AMDV1_PR | AMDV1_IR |
	       AMDV1_IW;
}

#define ptf_table_item amdv1_table_item

static inline u64 amdv1_sizes(const struct pt_common *common,
			      unsigned int level)
{
	unsigned int lg2 = PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
	u64 sizes;

	if (lg2 > PTF_MAX_OA_LG2)
		return 0;
	sizes = GENMASK_ULL(min(lg2 + PTF_INDEX_LG2 - 1, PTF_MAX_OA_LG2), lg2);
	return sizes & ~AMDV1_NO_LEAF;
}

#define ptf_sizes amdv1_sizes

static inline unsigned int amdv1_leaf_lg2(pt_item_t item, unsigned int level)
{
	if (FIELD_GET(AMDV1_NEXT_LEVEL, item) != AMDV1_NEXT_CODED)
		return PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
	return __ffs64(~(item | ~AMDV1_OA)) + 1 - AMDV1_OA_SHIFT;
}

#define ptf_leaf_lg2 amdv1_leaf_lg2

/* Without counting bits: the run of ones that codes the size, and the zero */
static inline u64 amdv1_leaf_mask(pt_item_t item, unsigned int level)
{
	u64 ones = item | ~AMDV1_OA;

	if (FIELD_GET(AMDV1_NEXT_LEVEL, item) != AMDV1_NEXT_CODED)
		return BIT_ULL(PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level) - 1;
	return (ones ^ (ones + 1)) >> AMDV1_OA_SHIFT;
}

#define ptf_leaf_mask amdv1_leaf_mask

static inline u64 amdv1_leaf_oa(const struct pt_common *common, pt_item_t item,
				unsigned int level)
{
	u64 mask = common->oa_mask &
		   ~(amdv1_leaf_mask(item, level) << AMDV1_OA_SHIFT);

	/* One operation after another takes time, @item comes last */

	OPTIMIZER_HIDE_VAR(mask);
	return (item & mask) >> AMDV1_OA_SHIFT;
}

#define ptf_leaf_oa amdv1_leaf_oa

/*
 * A leaf is its attributes, its OA, and for a size between levels the run of
 * ones below the zero that codes it.
 */
static inline pt_item_t amdv1_leaf_item(pt_item_t attrs, u64 oa,
					unsigned int level, unsigned int lg2)
{
	pt_item_t item = attrs | oa << AMDV1_OA_SHIFT;

	if (lg2 == PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level)
		return item;
	return item | FIELD_PREP(AMDV1_NEXT_LEVEL, AMDV1_NEXT_CODED) |
	       (pt_low_mask(lg2 - 1 + AMDV1_OA_SHIFT) & AMDV1_OA);
}

#define ptf_leaf_item amdv1_leaf_item

static inline pt_item_t amdv1_leaf_step(unsigned int lg2)
{
	return 1ULL << (lg2 + AMDV1_OA_SHIFT);
}

#define ptf_leaf_step amdv1_leaf_step

static inline int amdv1_attrs(const struct pt_common *common, unsigned int prot,
			      pt_item_t *attrs)
{
	pt_item_t item = AMDV1_PR;

	if (prot & IOMMU_READ)
		item |= AMDV1_IR;
	if (prot & IOMMU_WRITE)
		item |= AMDV1_IW;
	if (common->features & BIT(PT_FEAT_AMDV1_FORCE_COHERENCE))
		item |= AMDV1_FC;
	/* MMIO is not memory: nothing there is encrypted */
	if (!(prot & IOMMU_MMIO))
		item |= common->enc_mask;
	*attrs = item;
	return 0;
}

#define ptf_attrs amdv1_attrs

static inline int amdv1_prot(pt_item_t item)
{
	return (item & AMDV1_IR ? IOMMU_READ : 0) |
	       (item & AMDV1_IW ? IOMMU_WRITE : 0);
}

#define ptf_prot amdv1_prot

/*
 * Section 2.2.3.2 "Host Dirty Support": hardware sets D in any of the items
 * that repeat a leaf, software has to look at all of them.
 */
#define PTF_DIRTY AMDV1_D
#define PTF_ACCESSED AMDV1_A

static inline struct pt_common *amdv1_common(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct pt_iommu_amdv1, iommu)->amdpt.common;
}

#define ptf_common amdv1_common

static inline int amdv1_fmt_init(struct pt_iommu_amdv1 *table,
				 const struct pt_iommu_amdv1_cfg *cfg,
				 unsigned int *top_level)
{
	struct pt_common *common = &table->amdpt.common;

	if (cfg->starting_level >= PTF_MAX_LEVELS)
		return -EOPNOTSUPP;
	if (common->features & BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES))
		common->enc_mask = __sme_set(0ULL);
	common->oa_mask = AMDV1_OA & ~common->enc_mask;
	/* Addresses end below the encryption bit */
	if (common->enc_mask)
		common->oa_last = min(common->oa_last, common->enc_mask - 1);
	*top_level = cfg->starting_level;
	return 0;
}

#define ptf_init amdv1_fmt_init

static inline void amdv1_fmt_hw_info(const struct pt_common *common, u64 top_oa,
				     unsigned int top_level,
				     struct pt_iommu_amdv1_hw_info *info)
{
	info->host_pt_root = top_oa | common->enc_mask;
	info->mode = top_level + 1;
}

#define ptf_hw_info amdv1_fmt_hw_info

#endif /* __GENERIC_PT_FMT_AMDV1_H */
