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
 * @oa_mask: Bits of an item that hold an address, without that of encryption.
 *	Only of formats that know encryption.
 * @iova_half: With PT_FEAT_SIGN_EXTEND, bytes of each half of the IOVA space
 */
struct pt_common {
	unsigned long top;
	u32 features;
	u8 max_level;
	u64 oa_last;
	u64 enc_mask;
	u64 oa_mask;
	u64 iova_half;
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
	 * upper one at the end of 64 bits, as CPUs do it: of n bits of IOVA
	 * the highest repeats up to bit 63. The domain's aperture is all of 64
	 * bits then, since it cannot describe a hole. Operations refuse the
	 * hole, and ranges that begin in one half and end in the other, with
	 * -ERANGE. A driver whose users choose IOVAs by the aperture alone (the
	 * DMA API, iommufd) narrows it to one half after init.
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
	 * @PT_FEAT_DETAILED_GATHER: The gather's page size tells a size that no
	 * unmapped leaf is smaller than: that of an item of the lowest level
	 * where something was. Without it the page size stays untouched.
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

/**
 * struct pt_x86_64 - x86_64 page table: AMD guest (v2), VT-d first stage
 * @common: State of the page table
 */
struct pt_x86_64 {
	struct pt_common common;
};

/**
 * enum pt_features_x86_64 - Features of the x86_64 format, bit numbers
 */
enum pt_features_x86_64 {
	/**
	 * @PT_FEAT_X86_64_AMD_ENCRYPT_TABLES: Tables and system memory are
	 * reached with AMD's memory encryption bit set (SME). Leaves of MMIO
	 * are not.
	 */
	PT_FEAT_X86_64_AMD_ENCRYPT_TABLES = PT_FEAT_FMT_START,
};

/**
 * struct pt_vtdss - VT-d second stage page table
 * @common: State of the page table
 */
struct pt_vtdss {
	struct pt_common common;
};

/**
 * enum pt_features_vtdss - Features of the VT-d second stage, bit numbers
 */
enum pt_features_vtdss {
	/**
	 * @PT_FEAT_VTDSS_FORCE_COHERENCE: Leaves have SNP set: DMA snoops
	 * whatever the device asks for. Hardware needs ECAP.SC for it.
	 */
	PT_FEAT_VTDSS_FORCE_COHERENCE = PT_FEAT_FMT_START,
	/**
	 * @PT_FEAT_VTDSS_FORCE_WRITEABLE: Maps without IOMMU_WRITE are refused
	 * with -EOPNOTSUPP. For tables that others nest on: there hardware with
	 * erratum 772415 mistakes what is read-only.
	 */
	PT_FEAT_VTDSS_FORCE_WRITEABLE,
};

/**
 * struct pt_riscv_64 - RISC-V page table: Sv39, Sv48, Sv57
 * @common: State of the page table
 */
struct pt_riscv_64 {
	struct pt_common common;
};

/**
 * enum pt_features_riscv_64 - Features of the RISC-V format, bit numbers
 */
enum pt_features_riscv_64 {
	/**
	 * @PT_FEAT_RISCV_SVNAPOT_64K: The hardware has Svnapot: leaves of
	 * 64 KiB, repeated in 16 items.
	 */
	PT_FEAT_RISCV_SVNAPOT_64K = PT_FEAT_FMT_START,
	/**
	 * @PT_FEAT_RISCV_SVPBMT: The hardware has Svpbmt: leaves of MMIO are
	 * I/O, and others without IOMMU_CACHE are non-cacheable. Without it all
	 * have the type that the physical address has of itself.
	 */
	PT_FEAT_RISCV_SVPBMT,
};

#endif /* __GENERIC_PT_COMMON_H */
