/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VT-d second stage
 *
 * Source: Intel Virtualization Technology for Directed I/O, section 9.8
 * "Second-Stage Paging Entries", and section 3.7 "Second-Stage Translation".
 * Tables have 512 items of 8 bytes; 3, 4 or 5 levels translate 39, 48 or 57
 * bits.
 *
 *  63 62 61..52  51........12  11  10 9 8 7  6..2 1 0
 *  -  TM -       address       SNP -  D A PS -    W R
 *
 * There is no present bit: an item is present when it has R or W. PS makes an
 * item of level 1 or 2 a leaf, of 2 MiB or 1 GiB. SNP and D are of leaves only.
 * With SSADE hardware sets A in leaves and in pointers to tables. It ignores
 * bits 61 to 52.
 */
#ifndef __GENERIC_PT_FMT_VTDSS_H
#define __GENERIC_PT_FMT_VTDSS_H

#include <linux/bitfield.h>
#include <linux/iommu.h>

#include "defs_vtdss.h"

#define VTDSS_R BIT_ULL(0)
#define VTDSS_W BIT_ULL(1)
#define VTDSS_PS BIT_ULL(7)
#define VTDSS_A BIT_ULL(8)
#define VTDSS_D BIT_ULL(9)
#define VTDSS_SNP BIT_ULL(11)
#define VTDSS_OA GENMASK_ULL(51, 12)
#define VTDSS_SW_SHIFT 52
#define VTDSS_NR_SW 10

/* 1 GiB is the largest leaf */
#define VTDSS_MAX_LEAF_LEVEL 2
/* Section 3.7: of the widths that hardware may report, 39 bits are the least */
#define VTDSS_MIN_TOP_LEVEL 2

#define PTF_PRESENT_MASK VTDSS_R
#define PTF_KIND_MASK (VTDSS_R | VTDSS_W | VTDSS_PS)
#define PTF_MIN_LEVELS (VTDSS_MIN_TOP_LEVEL + 1)

/* R or W, in the place of R */
static inline pt_item_t vtdss_present_bits(pt_item_t item)
{
	return item | item >> 1;
}

#define ptf_present_bits vtdss_present_bits

static inline bool vtdss_is_table(pt_item_t item, unsigned int level)
{
	return level && (item & (VTDSS_R | VTDSS_W)) && !(item & VTDSS_PS);
}

#define ptf_is_table vtdss_is_table

static inline u64 vtdss_table_oa(const struct pt_common *common, pt_item_t item)
{
	return item & VTDSS_OA;
}

#define ptf_table_oa vtdss_table_oa

/* Access is granted by the leaves: hardware ANDs it over all levels */
static inline pt_item_t vtdss_table_item(const struct pt_common *common, u64 oa,
					 unsigned int level)
{
	return oa | VTDSS_R | VTDSS_W;
}

#define ptf_table_item vtdss_table_item

static inline pt_item_t vtdss_sw_bit(unsigned int nr)
{
	return nr < VTDSS_NR_SW ? BIT_ULL(VTDSS_SW_SHIFT + nr) : 0;
}

#define ptf_sw_bit vtdss_sw_bit

/* What is left names the table: neither R nor W, nor what else was set */
static inline pt_item_t vtdss_tombstone(pt_item_t item)
{
	return (item & VTDSS_OA) | PT_SW_TOMBSTONE;
}

#define ptf_tombstone vtdss_tombstone
#define PTF_ACCESSED VTDSS_A

static inline u64 vtdss_sizes(const struct pt_common *common,
			      unsigned int level)
{
	if (level > VTDSS_MAX_LEAF_LEVEL)
		return 0;
	return BIT_ULL(PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level);
}

#define ptf_sizes vtdss_sizes

static inline unsigned int vtdss_leaf_lg2(pt_item_t item, unsigned int level)
{
	return PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
}

#define ptf_leaf_lg2 vtdss_leaf_lg2

static inline u64 vtdss_leaf_oa(const struct pt_common *common, pt_item_t item,
				unsigned int level)
{
	u64 mask = VTDSS_OA & ~pt_low_mask(vtdss_leaf_lg2(item, level));

	/* One operation after another takes time, @item comes last */
	OPTIMIZER_HIDE_VAR(mask);
	return item & mask;
}

#define ptf_leaf_oa vtdss_leaf_oa

static inline pt_item_t vtdss_leaf_item(pt_item_t attrs, u64 oa,
					unsigned int level, unsigned int lg2)
{
	return attrs | oa | (level ? VTDSS_PS : 0);
}

#define ptf_leaf_item vtdss_leaf_item

/*
 * The format could permit writing alone. As in 6.12 what may be written may be
 * read, so that a device can do the same by either stage: the first stage has
 * no such permission.
 */
static inline int vtdss_attrs(const struct pt_common *common, unsigned int prot,
			      pt_item_t *attrs)
{
	pt_item_t item = VTDSS_R;

	if (prot & IOMMU_WRITE)
		item |= VTDSS_W;
	else if (common->features & BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE))
		return -EOPNOTSUPP;
	if (common->features & BIT(PT_FEAT_VTDSS_FORCE_COHERENCE))
		item |= VTDSS_SNP;
	*attrs = item;
	return 0;
}

#define ptf_attrs vtdss_attrs

static inline int vtdss_prot(pt_item_t item)
{
	return (item & VTDSS_R ? IOMMU_READ : 0) |
	       (item & VTDSS_W ? IOMMU_WRITE : 0);
}

#define ptf_prot vtdss_prot

/* Section 3.7.2 "Accessed and Dirty Flags": with SSADE in the PASID entry */
#define PTF_DIRTY VTDSS_D

static inline struct pt_common *vtdss_common(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct pt_iommu_vtdss, iommu)
			->vtdss_pt.common;
}

#define ptf_common vtdss_common

static inline int vtdss_fmt_init(struct pt_iommu_vtdss *table,
				 const struct pt_iommu_vtdss_cfg *cfg,
				 unsigned int *top_level)
{
	if (cfg->top_level < VTDSS_MIN_TOP_LEVEL ||
	    cfg->top_level >= PTF_MAX_LEVELS)
		return -EOPNOTSUPP;
	*top_level = cfg->top_level;
	return 0;
}

#define ptf_init vtdss_fmt_init

/* Section 9.3, field AW of a context entry: 1 for 3 levels, 2 for 4, 3 for 5 */
static inline void vtdss_fmt_hw_info(const struct pt_common *common, u64 top_oa,
				     unsigned int top_level,
				     struct pt_iommu_vtdss_hw_info *info)
{
	info->ssptptr = top_oa;
	info->aw = top_level - 1;
}

#define ptf_hw_info vtdss_fmt_hw_info

#endif /* __GENERIC_PT_FMT_VTDSS_H */
