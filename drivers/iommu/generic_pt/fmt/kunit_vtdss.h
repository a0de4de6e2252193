/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: VT-d's second stage as hardware sees it, and the ways to use it
 *
 * Source: Intel Virtualization Technology for Directed I/O, sections 3.7 and
 * 9.8. Nothing here is taken from vtdss.h: bits are written as numbers.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_VTDSS_H
#define __GENERIC_PT_FMT_KUNIT_VTDSS_H

#include "../kunit_iommu.h"

static const struct kt_config kt_vtdss_configs[] = {
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
		.oasz_lg2 = 46,
		.top_level = 2,
	},
	{
		.name = "5 levels, no gaps",
		.features = BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 57,
		.oasz_lg2 = 52,
		.top_level = 4,
	},
	{
		.name = "4 levels, IOVA below what they reach",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 42,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "coherent",
		.features = BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_VTDSS_FORCE_COHERENCE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "incoherent",
		.features = BIT(PT_FEAT_DMA_INCOHERENT) |
			    BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 39,
		.oasz_lg2 = 52,
		.top_level = 2,
	},
	{
		.name = "incoherent, no gaps",
		.features = BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER) |
			    BIT(PT_FEAT_VTDSS_FORCE_COHERENCE),
		.vasz_lg2 = 57,
		.oasz_lg2 = 52,
		.top_level = 4,
	},
	{
		.name = "narrowed to 4K",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
		.pgsizes = 0x1000,
	},
};

static const struct kt_config *kt_config(unsigned int nr)
{
	return nr < ARRAY_SIZE(kt_vtdss_configs) ? &kt_vtdss_configs[nr] : NULL;
}

static struct pt_iommu_vtdss_cfg kt_fmt_cfg(const struct kt_config *cfg)
{
	return (struct pt_iommu_vtdss_cfg){
		.common = {
			.features = cfg->features,
			.hw_max_vasz_lg2 = cfg->vasz_lg2,
			.hw_max_oasz_lg2 = cfg->oasz_lg2,
		},
		.top_level = cfg->top_level,
	};
}

static u64 kt_fmt_root(const struct kt_config *cfg,
		       struct pt_iommu_vtdss *table, unsigned int *level)
{
	struct pt_iommu_vtdss_hw_info info;

	pt_iommu_vtdss_hw_info(table, &info);
	*level = info.aw + 1;
	return info.ssptptr;
}

/* What may be written may be read, as 6.12 has it */
static int kt_fmt_prot(const struct kt_config *cfg, int prot)
{
	return IOMMU_READ | (prot & IOMMU_WRITE);
}

static struct kt_hw kt_fmt_decode(const struct kt_config *cfg, u64 item,
				  unsigned int level)
{
	bool snoop = cfg->features & BIT(PT_FEAT_VTDSS_FORCE_COHERENCE);
	struct kt_hw hw = {};

	/* R, W */
	if (!(item & 3)) {
		hw.kind = item ? KT_BAD : KT_NONE;
		return hw;
	}
	hw.kind = KT_BAD;
	/* Bit 52 of pointers is software's where walkers do not snoop */
	if (cfg->features & BIT(PT_FEAT_DMA_INCOHERENT) && level &&
	    !(item & 0x80))
		item &= ~(1ULL << 52);
	/* Reserved, or used by nobody: 6:2, A, 10, 61:52, TM, 63 */
	if (item & 0xfff000000000057cULL)
		return hw;

	if (level && !(item & 0x80)) {
		/* A pointer that restricts nothing; D and SNP are of leaves */
		if ((item & 0xfff) != 3)
			return hw;
		hw.kind = KT_TABLE;
		hw.oa = item & 0xffffffffff000;
		return hw;
	}

	/* PS makes leaves of 2M and 1G */
	if (level > 2 || (!level && (item & 0x80)))
		return hw;
	if (!!(item & 0x800) != snoop)
		return hw;
	hw.prot = (item & 1 ? IOMMU_READ : 0) | (item & 2 ? IOMMU_WRITE : 0);
	hw.dirty = item & 0x200;
	hw.lg2 = 12 + 9 * level;
	hw.oa = item & 0xffffffffff000;
	if (!(hw.oa & ((1ULL << hw.lg2) - 1)))
		hw.kind = KT_LEAF;
	return hw;
}

#include "kunit_vtdss_golden.h"

/* What no other format has */
kunit_test_suites(&kt_golden_suite);

#endif /* __GENERIC_PT_FMT_KUNIT_VTDSS_H */
