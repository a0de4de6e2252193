/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: AMDv1 of 2 KiB granules as its mock hardware sees it
 *
 * What each bit means is said in AMD publication 48882, section 2.2.3; an item
 * of the mock holds the OA shifted left by one. Nothing here is taken from
 * amdv1.h: bits are written as numbers.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_AMDV1_MOCK_H
#define __GENERIC_PT_FMT_KUNIT_AMDV1_MOCK_H

#include "../kunit_iommu.h"

static const struct kt_config kt_amdv1_mock_configs[] = {
	{
		.name = "5 levels",
		.vasz_lg2 = 56,
		.oasz_lg2 = 51,
		.top_level = 4,
	},
	{
		.name = "3 levels, flush by range",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 38,
		.oasz_lg2 = 48,
		.top_level = 2,
	},
	{
		.name = "1 level, no gaps",
		.features = BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS),
		.vasz_lg2 = 20,
		.oasz_lg2 = 51,
		.top_level = 0,
	},
	{
		.name = "everything, from 2 levels to 5",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER) |
			    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.vasz_lg2 = 56,
		.oasz_lg2 = 51,
		.top_level = 1,
	},
	{
		.name = "narrowed as iommufd's mock",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 56,
		.oasz_lg2 = 51,
		.top_level = 4,
		.pgsizes = 0x100800,
	},
};

static const struct kt_config *kt_config(unsigned int nr)
{
	return nr < ARRAY_SIZE(kt_amdv1_mock_configs) ?
		       &kt_amdv1_mock_configs[nr] :
		       NULL;
}

static struct pt_iommu_amdv1_cfg kt_fmt_cfg(const struct kt_config *cfg)
{
	return (struct pt_iommu_amdv1_cfg){
		.common = {
			.features = cfg->features,
			.hw_max_vasz_lg2 = cfg->vasz_lg2,
			.hw_max_oasz_lg2 = cfg->oasz_lg2,
		},
		.starting_level = cfg->top_level,
	};
}

static u64 kt_fmt_root(const struct kt_config *cfg,
		       struct pt_iommu_amdv1 *table, unsigned int *level)
{
	struct pt_iommu_amdv1_hw_info info;

	pt_iommu_amdv1_mock_hw_info(table, &info);
	*level = info.mode - 1;
	return info.host_pt_root;
}

static int kt_fmt_prot(const struct kt_config *cfg, int prot)
{
	return prot & (IOMMU_READ | IOMMU_WRITE);
}

static struct kt_hw kt_fmt_decode(const struct kt_config *cfg, u64 item,
				  unsigned int level)
{
	bool coherent = cfg->features & BIT(PT_FEAT_AMDV1_FORCE_COHERENCE);
	unsigned int next = (item >> 9) & 7;
	struct kt_hw hw = {};
	u64 oa = (item & 0xffffffffff000) >> 1;
	unsigned int bit;

	/* PR */
	if (!(item & 1)) {
		hw.kind = item ? KT_BAD : KT_NONE;
		return hw;
	}
	hw.kind = KT_BAD;
	/* Reserved, or used by nobody: 4:1, A, 8:7, 58:52, U, 63 */
	if (item & 0x8ff00000000001beULL)
		return hw;

	if (next >= 1 && next <= 6) {
		if (next != level || (item & 0x1000000000000040ULL) ||
		    (item & 0x6000000000000000ULL) != 0x6000000000000000ULL)
			return hw;
		hw.kind = KT_TABLE;
		hw.oa = oa;
		return hw;
	}

	if (!!(item & 0x1000000000000000ULL) != coherent)
		return hw;
	hw.prot = (item & 0x2000000000000000ULL ? IOMMU_READ : 0) |
		  (item & 0x4000000000000000ULL ? IOMMU_WRITE : 0);
	hw.dirty = item & 0x40;

	/* The level's own size, or coded by the lowest zero from bit 11 on */
	bit = 11;
	hw.lg2 = 11 + 9 * level;
	if (next == 7) {
		while (oa & (1ULL << bit))
			bit++;
		hw.lg2 = bit + 1;
		if (hw.lg2 <= 11 + 9 * level || hw.lg2 > 19 + 9 * level)
			return hw;
		oa &= ~((1ULL << bit) - 1);
	}
	if (oa & ((1ULL << hw.lg2) - 1))
		return hw;
	hw.oa = oa;
	hw.kind = KT_LEAF;
	return hw;
}

#include "kunit_amdv1_mock_golden.h"

/* What no other format has */
kunit_test_suites(&kt_golden_suite);

#endif /* __GENERIC_PT_FMT_KUNIT_AMDV1_MOCK_H */
