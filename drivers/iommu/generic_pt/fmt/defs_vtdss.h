/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VT-d second stage: shape of the format, see vtdss.h
 */
#ifndef __GENERIC_PT_FMT_DEFS_VTDSS_H
#define __GENERIC_PT_FMT_DEFS_VTDSS_H

#include <linux/generic_pt/common.h>
#include <linux/generic_pt/iommu.h>

#include "../pt_defs.h"

#define PTF_NAME vtdss
#define PTF_KUNIT_H "kunit_vtdss.h"
#define PTF_GRANULE_LG2 12
#define PTF_INDEX_LG2 9
#define PTF_MAX_LEVELS 5
#define PTF_MAX_IOVA_LG2 57
#define PTF_MAX_OA_LG2 52
#define PTF_FEATURES                                                         \
	(BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FULL_VA) |                \
	 BIT(PT_FEAT_FLUSH_RANGE) | BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |       \
	 BIT(PT_FEAT_DETAILED_GATHER) | BIT(PT_FEAT_VTDSS_FORCE_COHERENCE) | \
	 BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE))

#endif /* __GENERIC_PT_FMT_DEFS_VTDSS_H */
