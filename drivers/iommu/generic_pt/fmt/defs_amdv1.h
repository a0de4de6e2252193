/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMDv1: shape of the format, see amdv1.h
 */
#ifndef __GENERIC_PT_FMT_DEFS_AMDV1_H
#define __GENERIC_PT_FMT_DEFS_AMDV1_H

#include <linux/generic_pt/common.h>
#include <linux/generic_pt/iommu.h>

#include "../pt_defs.h"

#define PTF_NAME amdv1
#define PTF_KUNIT_H "kunit_amdv1.h"
#define PTF_GRANULE_LG2 12
#define PTF_INDEX_LG2 9
#define PTF_MAX_LEVELS 6
#define PTF_MAX_IOVA_LG2 64
#define PTF_MAX_OA_LG2 52
#define PTF_FEATURES                                                        \
	(BIT(PT_FEAT_FULL_VA) | BIT(PT_FEAT_DYNAMIC_TOP) |                  \
	 BIT(PT_FEAT_FLUSH_RANGE) | BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |      \
	 BIT(PT_FEAT_DETAILED_GATHER) | BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES) | \
	 BIT(PT_FEAT_AMDV1_FORCE_COHERENCE))

/* The level would hold it, but hardware faults on a leaf of 512 GiB */
#define AMDV1_NO_LEAF BIT_ULL(39)

#endif /* __GENERIC_PT_FMT_DEFS_AMDV1_H */
