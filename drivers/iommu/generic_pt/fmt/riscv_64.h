/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V Sv39, Sv48 and Sv57, walked by an IOMMU
 *
 * Sources:
 *
 *  - The RISC-V Instruction Set Manual, volume II: Privileged Architecture,
 *    chapter "Supervisor-Level ISA", sections "Sv39", "Sv48" and "Sv57", and
 *    chapters "Svnapot" and "Svpbmt" on these extensions
 *  - RISC-V IOMMU Architecture Specification, section "Process to translate an
 *    IOVA", and "First-Stage Context" on field iosatp
 *
 * Tables have 512 items of 8 bytes; 3, 4 or 5 levels translate 39, 48 or 57
 * bits, of which the highest repeats up to bit 63.
 *
 *  63 62 61 60..54  53....10  9 8  7 6 5 4 3 2 1 0
 *  N  PBMT  -       PPN       RSW  D A G U X W R V
 *
 * PPN is the address without its low 12 bits. An item with R, W or X is a leaf,
 * at any level; in pointers to tables D, A and U are 0. RSW is for software.
 *
 * N at level 0 makes a leaf of 64 KiB, repeated in 16 items: the low 4 bits of
 * PPN are 1000 then, other values are reserved.
 */
#ifndef __GENERIC_PT_FMT_RISCV_64_H
#define __GENERIC_PT_FMT_RISCV_64_H

#include <linux/bitfield.h>
#include <linux/iommu.h>

#include "defs_riscv_64.h"

#define RISCV_64_V BIT_ULL(0)
#define RISCV_64_R BIT_ULL(1)
#define RISCV_64_W BIT_ULL(2)
#define RISCV_64_X BIT_ULL(3)
#define RISCV_64_U BIT_ULL(4)
#define RISCV_64_A BIT_ULL(6)
#define RISCV_64_D BIT_ULL(7)
#define RISCV_64_RSW_SHIFT 8
#define RISCV_64_NR_RSW 2
#define RISCV_64_PPN GENMASK_ULL(53, 10)
#define RISCV_64_PBMT GENMASK_ULL(62, 61)
#define RISCV_64_N BIT_ULL(63)

#define RISCV_64_LEAF (RISCV_64_R | RISCV_64_W | RISCV_64_X)
#define RISCV_64_PBMT_NC 1
#define RISCV_64_PBMT_IO 2
#define RISCV_64_NAPOT_LG2 16
#define RISCV_64_NAPOT_PPN 8
/* Sv39 has 3 levels */
#define RISCV_64_MIN_TOP_LEVEL 2

#define PTF_PRESENT_MASK RISCV_64_V
#define PTF_KIND_MASK (RISCV_64_V | RISCV_64_LEAF)
#define PTF_MIN_LEVELS (RISCV_64_MIN_TOP_LEVEL + 1)

static inline u64 riscv_64_oa(pt_item_t item)
{
	return FIELD_GET(RISCV_64_PPN, item) << PTF_GRANULE_LG2;
}

static inline pt_item_t riscv_64_ppn(u64 oa)
{
	return FIELD_PREP(RISCV_64_PPN, oa >> PTF_GRANULE_LG2);
}

static inline bool riscv_64_is_table(pt_item_t item, unsigned int level)
{
	return level && (item & (RISCV_64_V | RISCV_64_LEAF)) == RISCV_64_V;
}

#define ptf_is_table riscv_64_is_table

static inline u64 riscv_64_table_oa(const struct pt_common *common,
				    pt_item_t item)
{
	return riscv_64_oa(item);
}

#define ptf_table_oa riscv_64_table_oa

static inline pt_item_t riscv_64_table_item(const struct pt_common *common,
					    u64 oa, unsigned int level)
{
	return riscv_64_ppn(oa) | RISCV_64_V;
}

#define ptf_table_item riscv_64_table_item

static inline pt_item_t riscv_64_sw_bit(unsigned int nr)
{
	return nr < RISCV_64_NR_RSW ? BIT_ULL(RISCV_64_RSW_SHIFT + nr) : 0;
}

#define ptf_sw_bit riscv_64_sw_bit

static inline u64 riscv_64_sizes(const struct pt_common *common,
				 unsigned int level)
{
	u64 sizes = BIT_ULL(PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level);

	if (!level && (common->features & BIT(PT_FEAT_RISCV_SVNAPOT_64K)))
		sizes |= BIT_ULL(RISCV_64_NAPOT_LG2);
	return sizes;
}

#define ptf_sizes riscv_64_sizes

static inline unsigned int riscv_64_leaf_lg2(pt_item_t item, unsigned int level)
{
	if (item & RISCV_64_N)
		return RISCV_64_NAPOT_LG2;
	return PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
}

#define ptf_leaf_lg2 riscv_64_leaf_lg2

static inline u64 riscv_64_leaf_oa(const struct pt_common *common,
				   pt_item_t item, unsigned int level)
{
	u64 mask = RISCV_64_PPN &
		   ~riscv_64_ppn(pt_low_mask(riscv_64_leaf_lg2(item, level)));

	/* One operation after another takes time, @item comes last */
	OPTIMIZER_HIDE_VAR(mask);
	return riscv_64_oa(item & mask);
}

#define ptf_leaf_oa riscv_64_leaf_oa

static inline pt_item_t riscv_64_leaf_item(pt_item_t attrs, u64 oa,
					   unsigned int level, unsigned int lg2)
{
	if (lg2 != RISCV_64_NAPOT_LG2)
		return attrs | riscv_64_ppn(oa);
	return attrs | riscv_64_ppn(oa) | RISCV_64_N |
	       FIELD_PREP(RISCV_64_PPN, RISCV_64_NAPOT_PPN);
}

#define ptf_leaf_item riscv_64_leaf_item

static inline pt_item_t riscv_64_leaf_step(unsigned int lg2)
{
	return riscv_64_ppn(1ULL << lg2);
}

#define ptf_leaf_step riscv_64_leaf_step

/*
 * W without R is reserved: what may be written may be read. DMA is a user's
 * access unless a PASID says otherwise, hence U. A, and D where it can matter,
 * are set beforehand: hardware that does not update them faults otherwise.
 *
 * Svpbmt overrides the memory type that physical memory has of itself: I/O for
 * MMIO, non-cacheable for what the device shall not access coherently.
 */
static inline int riscv_64_attrs(const struct pt_common *common,
				 unsigned int prot, pt_item_t *attrs)
{
	pt_item_t item = RISCV_64_V | RISCV_64_R | RISCV_64_U | RISCV_64_A;

	if (prot & IOMMU_WRITE)
		item |= RISCV_64_W | RISCV_64_D;
	if (common->features & BIT(PT_FEAT_RISCV_SVPBMT)) {
		if (prot & IOMMU_MMIO)
			item |= FIELD_PREP(RISCV_64_PBMT, RISCV_64_PBMT_IO);
		else if (!(prot & IOMMU_CACHE))
			item |= FIELD_PREP(RISCV_64_PBMT, RISCV_64_PBMT_NC);
	}
	*attrs = item;
	return 0;
}

#define ptf_attrs riscv_64_attrs

static inline int riscv_64_prot(pt_item_t item)
{
	return (item & RISCV_64_R ? IOMMU_READ : 0) |
	       (item & RISCV_64_W ? IOMMU_WRITE : 0);
}

#define ptf_prot riscv_64_prot

static inline struct pt_common *riscv_64_common(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct pt_iommu_riscv_64, iommu)
			->riscv_64_pt.common;
}

#define ptf_common riscv_64_common

/* The mode with the fewest levels that has all of the IOVA space */
static inline int riscv_64_fmt_init(struct pt_iommu_riscv_64 *table,
				    const struct pt_iommu_riscv_64_cfg *cfg,
				    unsigned int *top_level)
{
	unsigned int level = RISCV_64_MIN_TOP_LEVEL;

	while (PTF_GRANULE_LG2 + PTF_INDEX_LG2 * (level + 1) <
	       cfg->common.hw_max_vasz_lg2)
		level++;
	*top_level = level;
	return 0;
}

#define ptf_init riscv_64_fmt_init

/* iosatp.MODE, with tc.SXL = 0: 8 is Sv39, 9 is Sv48, 10 is Sv57 */
static inline void riscv_64_fmt_hw_info(const struct pt_common *common,
					u64 top_oa, unsigned int top_level,
					struct pt_iommu_riscv_64_hw_info *info)
{
	info->ppn = top_oa >> PTF_GRANULE_LG2;
	info->fsc_iosatp_mode = top_level - RISCV_64_MIN_TOP_LEVEL + 8;
}

#define ptf_hw_info riscv_64_fmt_hw_info

#endif /* __GENERIC_PT_FMT_RISCV_64_H */
