/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V Sv39, Sv48 and Sv57: shape of the format, see riscv_64.h
 */
#ifndef __GENERIC_PT_FMT_DEFS_RISCV_64_H
#define __GENERIC_PT_FMT_DEFS_RISCV_64_H

#include <linux/generic_pt/common.h>
#include <linux/generic_pt/iommu.h>

#include "../pt_defs.h"

#define PTF_NAME riscv_64
#define PTF_KUNIT_H "kunit_riscv_64.h"
#define PTF_GRANULE_LG2 12
#define PTF_INDEX_LG2 9
#define PTF_MAX_LEVELS 5
#define PTF_MAX_IOVA_LG2 57
#define PTF_MAX_OA_LG2 56
#define PTF_CANONICAL true
#define PTF_FEATURES                                                       \
	(BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FULL_VA) |              \
	 BIT(PT_FEAT_SIGN_EXTEND) | BIT(PT_FEAT_FLUSH_RANGE) |             \
	 BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) | BIT(PT_FEAT_DETAILED_GATHER) | \
	 BIT(PT_FEAT_RISCV_SVNAPOT_64K) | BIT(PT_FEAT_RISCV_SVPBMT))

#endif /* __GENERIC_PT_FMT_DEFS_RISCV_64_H */
