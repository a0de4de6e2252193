/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_64: the page table of the CPU, walked by an IOMMU
 *
 * AMD calls it the guest or v2 table, VT-d the first stage. Sources:
 *
 *  - AMD64 Architecture Programmer's Manual, volume 2 (publication 24593),
 *    section 5.3 "Long-Mode Page Translation" and section 5.4
 *    "Page-Translation-Table Entry Fields"
 *  - AMD I/O Virtualization Technology (IOMMU) Specification, publication
 *    48882, section 2.2.6 on guest translation
 *  - Intel Virtualization Technology for Directed I/O, section 9.7
 *    "First-Stage Paging Entries"
 *
 * Tables have 512 items of 8 bytes; 4 or 5 levels translate 48 or 57 bits.
 *
 *  63 62..52  51........12  11 10 9 8 7  6 5 4   3   2   1   0
 *  XD -       address       -  EA - G PS D A PCD PWT U/S R/W P
 *
 * PS makes an item of level 1 or 2 a leaf, of 2 MiB or 1 GiB. At level 0, where
 * each item is a leaf, the bit has another meaning and is 0. Hardware ignores
 * bits 58 to 52 of pointers to tables; AMD has protection keys above them. EA
 * is VT-d's, set by hardware in leaves and pointers where EAFE asks for it.
 */
#ifndef __GENERIC_PT_FMT_X86_64_H
#define __GENERIC_PT_FMT_X86_64_H

#include <linux/bitfield.h>
#include <linux/iommu.h>
#include <linux/mem_encrypt.h>

#include "defs_x86_64.h"

#define X86_64_P BIT_ULL(0)
#define X86_64_RW BIT_ULL(1)
#define X86_64_US BIT_ULL(2)
#define X86_64_A BIT_ULL(5)
#define X86_64_D BIT_ULL(6)
#define X86_64_PS BIT_ULL(7)
#define X86_64_EA BIT_ULL(10)
#define X86_64_OA GENMASK_ULL(51, 12)
#define X86_64_SW_SHIFT 52
#define X86_64_NR_SW 7

/* 1 GiB is the largest leaf */
#define X86_64_MAX_LEAF_LEVEL 2
/* 4 levels are the fewest: PML4 is the top */
#define X86_64_MIN_TOP_LEVEL 3

#define PTF_PRESENT_MASK X86_64_P
#define PTF_KIND_MASK (X86_64_P | X86_64_PS)
#define PTF_MIN_LEVELS (X86_64_MIN_TOP_LEVEL + 1)

static inline bool x86_64_is_table(pt_item_t item, unsigned int level)
{
	return level && (item & (X86_64_P | X86_64_PS)) == X86_64_P;
}

#define ptf_is_table x86_64_is_table

static inline u64 x86_64_table_oa(const struct pt_common *common,
				  pt_item_t item)
{
	return item & common->oa_mask;
}

#define ptf_table_oa x86_64_table_oa

/*
 * Access is granted by the leaves: APM section 5.6 ANDs it over all levels. A is
 * set beforehand, so hardware that keeps it has nothing to store.
 */
static inline pt_item_t x86_64_table_item(const struct pt_common *common,
					  u64 oa, unsigned int level)
{
	return oa | common->enc_mask | X86_64_P | X86_64_RW | X86_64_US |
	       X86_64_A;
}

#define ptf_table_item x86_64_table_item

static inline pt_item_t x86_64_sw_bit(unsigned int nr)
{
	return nr < X86_64_NR_SW ? BIT_ULL(X86_64_SW_SHIFT + nr) : 0;
}

#define ptf_sw_bit x86_64_sw_bit
#define PTF_ACCESSED X86_64_EA

static inline u64 x86_64_sizes(const struct pt_common *common,
			       unsigned int level)
{
	if (level > X86_64_MAX_LEAF_LEVEL)
		return 0;
	return BIT_ULL(PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level);
}

#define ptf_sizes x86_64_sizes

static inline unsigned int x86_64_leaf_lg2(pt_item_t item, unsigned int level)
{
	return PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
}

#define ptf_leaf_lg2 x86_64_leaf_lg2

static inline u64 x86_64_leaf_oa(const struct pt_common *common, pt_item_t item,
				 unsigned int level)
{
	/* The low address bits of large leaves mean other things (PAT) */
	u64 mask = common->oa_mask & ~pt_low_mask(x86_64_leaf_lg2(item, level));

	/* One operation after another takes time, @item comes last */
	OPTIMIZER_HIDE_VAR(mask);
	return item & mask;
}

#define ptf_leaf_oa x86_64_leaf_oa

static inline pt_item_t x86_64_leaf_item(pt_item_t attrs, u64 oa,
					 unsigned int level, unsigned int lg2)
{
	return attrs | oa | (level ? X86_64_PS : 0);
}

#define ptf_leaf_item x86_64_leaf_item

/*
 * There is no permission to write alone: what may be written may be read. DMA
 * without PASID, and most with, is a user's access, hence U/S. A and D are set
 * beforehand, as 6.12 does for AMD v2: nobody reads them, and hardware need not
 * store them. (6.12's VT-d leaves D clear in what is read-only, where hardware
 * never sets it either.)
 */
static inline int x86_64_attrs(const struct pt_common *common,
			       unsigned int prot, pt_item_t *attrs)
{
	pt_item_t item = X86_64_P | X86_64_US | X86_64_A | X86_64_D;

	if (prot & IOMMU_WRITE)
		item |= X86_64_RW;
	/*
	 * MMIO is not memory: nothing there is encrypted. 6.12 sets the bit
	 * there too.
	 */
	if (!(prot & IOMMU_MMIO))
		item |= common->enc_mask;
	*attrs = item;
	return 0;
}

#define ptf_attrs x86_64_attrs

static inline int x86_64_prot(pt_item_t item)
{
	return IOMMU_READ | (item & X86_64_RW ? IOMMU_WRITE : 0);
}

#define ptf_prot x86_64_prot

static inline struct pt_common *x86_64_common(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct pt_iommu_x86_64, iommu)
			->x86_64_pt.common;
}

#define ptf_common x86_64_common

static inline int x86_64_fmt_init(struct pt_iommu_x86_64 *table,
				  const struct pt_iommu_x86_64_cfg *cfg,
				  unsigned int *top_level)
{
	struct pt_common *common = &table->x86_64_pt.common;

	if (cfg->top_level < X86_64_MIN_TOP_LEVEL ||
	    cfg->top_level >= PTF_MAX_LEVELS)
		return -EOPNOTSUPP;
	if (common->features & BIT(PT_FEAT_X86_64_AMD_ENCRYPT_TABLES))
		common->enc_mask = __sme_set(0ULL);
	common->oa_mask = X86_64_OA & ~common->enc_mask;
	/* Addresses end below the encryption bit */
	if (common->enc_mask)
		common->oa_last = min(common->oa_last, common->enc_mask - 1);
	*top_level = cfg->top_level;
	return 0;
}

#define ptf_init x86_64_fmt_init

static inline void x86_64_fmt_hw_info(const struct pt_common *common,
				      u64 top_oa, unsigned int top_level,
				      struct pt_iommu_x86_64_hw_info *info)
{
	info->gcr3_pt = top_oa | common->enc_mask;
	info->levels = top_level + 1;
}

#define ptf_hw_info x86_64_fmt_hw_info

#endif /* __GENERIC_PT_FMT_X86_64_H */
