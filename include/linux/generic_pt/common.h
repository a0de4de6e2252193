/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic IOMMU page tables: what every format has in common
 *
 * A driver embeds one of the format structs below (through its struct
 * pt_iommu_<fmt>, see <linux/generic_pt/iommu.h>) and never looks inside.
 */
#ifndef __GENERIC_PT_COMMON_H
#define __GENERIC_PT_COMMON_H

#include <linux/bits.h>
#include <linux/types.h>

/**
 * struct pt_common - State of one page table, the same for each format
 * @top: Virtual address of the top table, with the top's level in the low
 *	bits (a table is aligned to far more than that). Both change together
 *	in a single store when the tree grows; read it once per walk.
 * @features: Bits of &enum pt_features in force, fixed at init
 * @max_level: Highest level that the top may have: what hardware can walk
 * @oa_last: Highest output address that a leaf may reach
 * @enc_mask: Memory encryption bit that physical addresses in the table carry,
 *	or 0
 */
struct pt_common {
	unsigned long top;
	u32 features;
	u8 max_level;
	u64 oa_last;
	u64 enc_mask;
};

/**
 * enum pt_features - What a page table is asked to do, bit numbers
 *
 * A driver passes a mask of these bits in &struct pt_iommu_cfg.features. A bit
 * that the format does not list makes init fail with -EOPNOTSUPP.
 */
enum pt_features {
	/**
	 * @PT_FEAT_DMA_INCOHERENT: The walker does not snoop CPU caches: each
	 * store to a table is written back before hardware may depend on it.
	 */
	PT_FEAT_DMA_INCOHERENT,
	/**
	 * @PT_FEAT_FULL_VA: The table can translate the whole IOVA space that
	 * the format can have, up to the last byte of 64 bits.
	 */
	PT_FEAT_FULL_VA,
	/**
	 * @PT_FEAT_DYNAMIC_TOP: The tree grows at run time when an IOVA above
	 * the top's reach is mapped. Needs &pt_iommu_driver_ops.change_top.
	 */
	PT_FEAT_DYNAMIC_TOP,
	/**
	 * @PT_FEAT_SIGN_EXTEND: The IOVA space is split in two halves, the
	 * upper one at the end of 64 bits, as CPUs do it.
	 */
	PT_FEAT_SIGN_EXTEND,
	/**
	 * @PT_FEAT_FLUSH_RANGE: The driver flushes by range and a larger range
	 * costs little: unmaps widen the gather over what lies between.
	 */
	PT_FEAT_FLUSH_RANGE,
	/**
	 * @PT_FEAT_FLUSH_RANGE_NO_GAPS: The driver flushes by range and must
	 * never name IOVA that was not unmapped, since something (a
	 * hypervisor) acts on each page of it. A table then leaves in two
	 * steps: leaves flushed first, the table's own entry second.
	 */
	PT_FEAT_FLUSH_RANGE_NO_GAPS,
	/**
	 * @PT_FEAT_DETAILED_GATHER: The gather's page size tells the smallest
	 * leaf that was unmapped. Without it the page size stays untouched.
	 */
	PT_FEAT_DETAILED_GATHER,
	/* private: first bit that belongs to the format */
	PT_FEAT_FMT_START,
};

/**
 * struct pt_amdv1 - AMD IOMMU v1 (host) page table
 * @common: State of the page table
 */
struct pt_amdv1 {
	struct pt_common common;
};

/**
 * enum pt_features_amdv1 - Features of the AMDv1 format, bit numbers
 */
enum pt_features_amdv1 {
	/**
	 * @PT_FEAT_AMDV1_ENCRYPT_TABLES: Tables and system memory are reached
	 * with the memory encryption bit set (SME). Leaves of MMIO are not.
	 */
	PT_FEAT_AMDV1_ENCRYPT_TABLES = PT_FEAT_FMT_START,
	/**
	 * @PT_FEAT_AMDV1_FORCE_COHERENCE: Leaves have FC set: DMA snoops
	 * whatever the device asks for.
	 */
	PT_FEAT_AMDV1_FORCE_COHERENCE,
};

#endif /* __GENERIC_PT_COMMON_H */
