/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_64: shape of the format, see x86_64.h
 */
#ifndef __GENERIC_PT_FMT_DEFS_X86_64_H
#define __GENERIC_PT_FMT_DEFS_X86_64_H

#include <linux/generic_pt/common.h>
#include <linux/generic_pt/iommu.h>

#include "../pt_defs.h"

#define PTF_NAME x86_64
#define PTF_KUNIT_H "kunit_x86_64.h"
#define PTF_GRANULE_LG2 12
#define PTF_INDEX_LG2 9
#define PTF_MAX_LEVELS 5
#define PTF_MAX_IOVA_LG2 57
#define PTF_MAX_OA_LG2 52
#define PTF_FEATURES                                                       \
	(BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FULL_VA) |              \
	 BIT(PT_FEAT_SIGN_EXTEND) | BIT(PT_FEAT_FLUSH_RANGE) |             \
	 BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) | BIT(PT_FEAT_DETAILED_GATHER) | \
	 BIT(PT_FEAT_X86_64_AMD_ENCRYPT_TABLES))

#endif /* __GENERIC_PT_FMT_DEFS_X86_64_H */
