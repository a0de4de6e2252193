/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: x86_64 as hardware sees it, and the ways to use it
 *
 * Sources: AMD64 Architecture Programmer's Manual, volume 2, sections 5.3 and
 * 5.4; Intel Virtualization Technology for Directed I/O, section 9.7. Nothing
 * here is taken from x86_64.h: bits are written as numbers.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_X86_64_H
#define __GENERIC_PT_FMT_KUNIT_X86_64_H

#include "../kunit_iommu.h"

static const struct kt_config kt_x86_64_configs[] = {
	{
		.name = "4 levels",
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "5 levels, flush by range",
		.features = BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 57,
		.oasz_lg2 = 52,
		.top_level = 4,
	},
	{
		.name = "4 levels, signed",
		.features = BIT(PT_FEAT_SIGN_EXTEND) | BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "5 levels, signed, no gaps",
		.features = BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 57,
		.oasz_lg2 = 46,
		.top_level = 4,
	},
	{
		.name = "5 levels, IOVA below what they reach",
		.features = BIT(PT_FEAT_SIGN_EXTEND) | BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 50,
		.oasz_lg2 = 52,
		.top_level = 4,
	},
	{
		.name = "incoherent",
		.features = BIT(PT_FEAT_DMA_INCOHERENT) |
			    BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 48,
		.oasz_lg2 = 52,
		.top_level = 3,
	},
	{
		.name = "encrypted",
		.features = BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_X86_64_AMD_ENCRYPT_TABLES),
		.vasz_lg2 = 48,
		.oasz_lg2 = 47,
		.top_level = 3,
		.enc_mask = 1ULL << 47,
	},
	{
		.name = "everything",
		.features = BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER) |
			    BIT(PT_FEAT_X86_64_AMD_ENCRYPT_TABLES),
		.vasz_lg2 = 57,
		.oasz_lg2 = 51,
		.top_level = 4,
		.enc_mask = 1ULL << 51,
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
		.name = "narrowed to 2M, 1G",
		.features = BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS),
		.vasz_lg2 = 48,
		.oasz_lg2 = 40,
		.top_level = 3,
		.pgsizes = 0x40200000,
	},
};

static const struct kt_config *kt_config(unsigned int nr)
{
	return nr < ARRAY_SIZE(kt_x86_64_configs) ? &kt_x86_64_configs[nr] :
						    NULL;
}

static struct pt_iommu_x86_64_cfg kt_fmt_cfg(const struct kt_config *cfg)
{
	return (struct pt_iommu_x86_64_cfg){
		.common = {
			.features = cfg->features,
			.hw_max_vasz_lg2 = cfg->vasz_lg2,
			.hw_max_oasz_lg2 = cfg->oasz_lg2,
		},
		.top_level = cfg->top_level,
	};
}

static u64 kt_fmt_root(const struct kt_config *cfg,
		       struct pt_iommu_x86_64 *table, unsigned int *level)
{
	struct pt_iommu_x86_64_hw_info info;

	pt_iommu_x86_64_hw_info(table, &info);
	*level = info.levels - 1;
	return info.gcr3_pt & ~cfg->enc_mask;
}

/* What is present can be read; MMIO shows where memory is encrypted */
static int kt_fmt_prot(const struct kt_config *cfg, int prot)
{
	return IOMMU_READ | (prot & IOMMU_WRITE) |
	       (cfg->enc_mask ? prot & IOMMU_MMIO : 0);
}

static struct kt_hw kt_fmt_decode(const struct kt_config *cfg, u64 item,
				  unsigned int level)
{
	u64 oa = item & 0xffffffffff000;
	struct kt_hw hw = {};

	/* P */
	if (!(item & 1)) {
		hw.kind = item ? KT_BAD : KT_NONE;
		return hw;
	}
	hw.kind = KT_BAD;
	/* Bit 52 of pointers is software's where walkers do not snoop */
	if (cfg->features & BIT(PT_FEAT_DMA_INCOHERENT) && level &&
	    !(item & 0x80))
		item &= ~(1ULL << 52);
	/* Used by nobody: PWT, PCD, G, 11:9, 62:52, XD. U/S and A always are. */
	if ((item & 0xfff0000000000f18ULL) || (item & 0x24) != 0x24)
		return hw;

	if (level && !(item & 0x80)) {
		/* A pointer that restricts nothing; D is of leaves only */
		if ((item & 0x42) != 0x02 ||
		    (oa & cfg->enc_mask) != cfg->enc_mask)
			return hw;
		hw.kind = KT_TABLE;
		hw.oa = oa & ~cfg->enc_mask;
		return hw;
	}

	/* PS makes leaves of 2M and 1G; at level 0 it would be PAT. D is set. */
	if (level > 2 || (!level && (item & 0x80)) || !(item & 0x40))
		return hw;
	hw.prot = IOMMU_READ | (item & 2 ? IOMMU_WRITE : 0);
	if (cfg->enc_mask && !(oa & cfg->enc_mask))
		hw.prot |= IOMMU_MMIO;
	hw.lg2 = 12 + 9 * level;
	hw.oa = oa & ~cfg->enc_mask;
	if (!(hw.oa & ((1ULL << hw.lg2) - 1)))
		hw.kind = KT_LEAF;
	return hw;
}

#include "kunit_x86_64_golden.h"

/* What no other format has */
kunit_test_suites(&kt_golden_suite);

#endif /* __GENERIC_PT_FMT_KUNIT_X86_64_H */
