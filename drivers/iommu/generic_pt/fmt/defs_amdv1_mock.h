/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMDv1 as no hardware has it, for tests of software above page tables
 *
 * The smallest leaf has 2 KiB, so that no code can take it for a page of the
 * system. Tables still have 512 items, hence 5 levels cover 56 bits of IOVA. An
 * item holds OAs shifted left by one: 51 bits of OA at the place of 52. What
 * each bit means, also sizes that the OA codes, moves along.
 */
#ifndef __GENERIC_PT_FMT_DEFS_AMDV1_MOCK_H
#define __GENERIC_PT_FMT_DEFS_AMDV1_MOCK_H

#include <linux/generic_pt/common.h>
#include <linux/generic_pt/iommu.h>

#include "../pt_defs.h"

#define PTF_NAME amdv1_mock
#define PTF_KUNIT_H "kunit_amdv1_mock.h"
/* A driver may have both formats in one domain: they share their structs */
#define PTF_STRUCT amdv1
#define PTF_GRANULE_LG2 11
#define PTF_INDEX_LG2 9
#define PTF_MAX_LEVELS 5
#define PTF_MAX_IOVA_LG2 56
#define PTF_MAX_OA_LG2 51
#define PTF_FEATURES                                                   \
	(BIT(PT_FEAT_FULL_VA) | BIT(PT_FEAT_DYNAMIC_TOP) |             \
	 BIT(PT_FEAT_FLUSH_RANGE) | BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) | \
	 BIT(PT_FEAT_DETAILED_GATHER) | BIT(PT_FEAT_AMDV1_FORCE_COHERENCE))

/* Nothing faults on any size */
#define AMDV1_NO_LEAF 0ULL

#endif /* __GENERIC_PT_FMT_DEFS_AMDV1_MOCK_H */
