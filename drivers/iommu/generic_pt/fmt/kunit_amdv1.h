/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: AMDv1 as hardware sees it, and the ways to use it
 *
 * Source: AMD I/O Virtualization Technology (IOMMU) Specification, publication
 * 48882, section 2.2.3 "I/O Page Tables for Host Translations". Nothing here is
 * taken from amdv1.h: bits are written as numbers.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_AMDV1_H
#define __GENERIC_PT_FMT_KUNIT_AMDV1_H

#include "../kunit_iommu.h"

static const struct kt_config kt_amdv1_configs[] = {
	{
		.name = "4 levels",
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "3 levels, flush by range",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 39,
		.oasz_lg2 = 48,
		.top_level = 2,
	},
	{
		.name = "6 levels, all of 64 bits",
		.features = BIT(PT_FEAT_FULL_VA) | BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 64,
		.oasz_lg2 = 52,
		.top_level = 5,
	},
	{
		.name = "1 level",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 21,
		.oasz_lg2 = 52,
		.top_level = 0,
	},
	{
		.name = "5 levels, IOVA below what they reach",
		.features = BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS),
		.vasz_lg2 = 50,
		.oasz_lg2 = 52,
		.top_level = 4,
	},
	{
		.name = "grows from 1 level to 6",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 64,
		.oasz_lg2 = 52,
		.top_level = 0,
	},
	{
		.name = "grows from 3 levels to 6, no gaps",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 64,
		.oasz_lg2 = 52,
		.top_level = 2,
	},
	{
		.name = "grows from 2 levels to 4",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 1,
	},
	{
		.name = "coherent",
		.features = BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "encrypted",
		.features = BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES),
		.vasz_lg2 = 48,
		.oasz_lg2 = 47,
		.top_level = 3,
		.enc_mask = 1ULL << 47,
	},
	{
		.name = "everything",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER) |
			    BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES) |
			    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.vasz_lg2 = 64,
		.oasz_lg2 = 47,
		.top_level = 2,
		.enc_mask = 1ULL << 47,
	},
	{
		.name = "narrowed to 4K",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
		.pgsizes = 0x1000,
	},
	{
		.name = "narrowed to 4K, 2M, 1G",
		.features = BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
		.pgsizes = 0x40201000,
	},
	{
		.name = "narrowed to 64K and 4M",
		.features = BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
		.pgsizes = 0x410000,
	},
	{
		.name = "OA of 32 bits",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 32,
		.top_level = 3,
	},
};

static const struct kt_config *kt_config(unsigned int nr)
{
	return nr < ARRAY_SIZE(kt_amdv1_configs) ? &kt_amdv1_configs[nr] : NULL;
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

	pt_iommu_amdv1_hw_info(table, &info);
	*level = info.mode - 1;
	return info.host_pt_root & ~cfg->enc_mask;
}

/* MMIO shows where memory is encrypted */
static int kt_fmt_prot(const struct kt_config *cfg, int prot)
{
	return prot &
	       (IOMMU_READ | IOMMU_WRITE | (cfg->enc_mask ? IOMMU_MMIO : 0));
}

static struct kt_hw kt_fmt_decode(const struct kt_config *cfg, u64 item,
				  unsigned int level)
{
	bool coherent = cfg->features & BIT(PT_FEAT_AMDV1_FORCE_COHERENCE);
	unsigned int next = (item >> 9) & 7;
	struct kt_hw hw = {};
	u64 oa = item & 0xffffffffff000;
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
		/* A table: no level is skipped; D and FC are of leaves only */
		if (next != level || (item & 0x1000000000000040ULL) ||
		    (item & 0x6000000000000000ULL) != 0x6000000000000000ULL ||
		    (oa & cfg->enc_mask) != cfg->enc_mask)
			return hw;
		hw.kind = KT_TABLE;
		hw.oa = oa & ~cfg->enc_mask;
		return hw;
	}

	if (!!(item & 0x1000000000000000ULL) != coherent)
		return hw;
	hw.prot = (item & 0x2000000000000000ULL ? IOMMU_READ : 0) |
		  (item & 0x4000000000000000ULL ? IOMMU_WRITE : 0);
	if (cfg->enc_mask && !(oa & cfg->enc_mask))
		hw.prot |= IOMMU_MMIO;
	hw.dirty = item & 0x40;

	/* The level's own size, or coded by the lowest zero from bit 12 on */
	bit = 12;
	hw.lg2 = 12 + 9 * level;
	if (next == 7) {
		while (oa & (1ULL << bit))
			bit++;
		hw.lg2 = bit + 1;
		if (hw.lg2 <= 12 + 9 * level || hw.lg2 > 20 + 9 * level)
			return hw;
		oa &= ~((1ULL << bit) - 1);
	}
	oa &= ~cfg->enc_mask;
	/* A leaf of 512G faults */
	if (hw.lg2 == 39 || (oa & ((1ULL << hw.lg2) - 1)))
		return hw;
	hw.oa = oa;
	hw.kind = KT_LEAF;
	return hw;
}

#include "kunit_amdv1_compare.h"
#include "kunit_amdv1_golden.h"

/* What no other format has */
kunit_test_suites(&kt_golden_suite, &kt_compare_suite);

#endif /* __GENERIC_PT_FMT_KUNIT_AMDV1_H */
