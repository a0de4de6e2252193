/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: RISC-V as hardware sees it, and the ways to use it
 *
 * Sources: The RISC-V Instruction Set Manual, volume II, sections "Sv39",
 * "Sv48", "Sv57", "Svnapot" and "Svpbmt". Nothing here is taken from
 * riscv_64.h: bits are written as numbers.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_RISCV_64_H
#define __GENERIC_PT_FMT_KUNIT_RISCV_64_H

#include "../kunit_iommu.h"

static const struct kt_config kt_riscv_64_configs[] = {
	{
		.name = "Sv48, signed",
		.features = BIT(PT_FEAT_SIGN_EXTEND),
		.vasz_lg2 = 48,
		.oasz_lg2 = 56,
		.top_level = 3,
	},
	{
		.name = "Sv39, signed, flush by range",
		.features = BIT(PT_FEAT_SIGN_EXTEND) | BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 39,
		.oasz_lg2 = 56,
		.top_level = 2,
	},
	{
		.name = "Sv57, signed, no gaps",
		.features = BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER),
		.vasz_lg2 = 57,
		.oasz_lg2 = 56,
		.top_level = 4,
	},
	{
		.name = "Sv39, the lower half",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 39,
		.oasz_lg2 = 50,
		.top_level = 2,
	},
	{
		.name = "Sv48, IOVA below what it reaches",
		.features = BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 42,
		.oasz_lg2 = 56,
		.top_level = 3,
	},
	{
		.name = "Svnapot",
		.features = BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_RISCV_SVNAPOT_64K),
		.vasz_lg2 = 48,
		.oasz_lg2 = 56,
		.top_level = 3,
	},
	{
		.name = "Svpbmt",
		.features = BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_RISCV_SVPBMT),
		.vasz_lg2 = 48,
		.oasz_lg2 = 56,
		.top_level = 3,
	},
	{
		.name = "incoherent",
		.features = BIT(PT_FEAT_DMA_INCOHERENT) |
			    BIT(PT_FEAT_SIGN_EXTEND) | BIT(PT_FEAT_FLUSH_RANGE),
		.vasz_lg2 = 39,
		.oasz_lg2 = 56,
		.top_level = 2,
	},
	{
		.name = "everything",
		.features = BIT(PT_FEAT_DMA_INCOHERENT) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_DETAILED_GATHER) |
			    BIT(PT_FEAT_RISCV_SVNAPOT_64K) |
			    BIT(PT_FEAT_RISCV_SVPBMT),
		.vasz_lg2 = 57,
		.oasz_lg2 = 56,
		.top_level = 4,
	},
	{
		.name = "narrowed to 4K, 64K",
		.features = BIT(PT_FEAT_SIGN_EXTEND) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_RISCV_SVNAPOT_64K),
		.vasz_lg2 = 48,
		.oasz_lg2 = 56,
		.top_level = 3,
		.pgsizes = 0x11000,
	},
};

static const struct kt_config *kt_config(unsigned int nr)
{
	return nr < ARRAY_SIZE(kt_riscv_64_configs) ? &kt_riscv_64_configs[nr] :
						      NULL;
}

static struct pt_iommu_riscv_64_cfg kt_fmt_cfg(const struct kt_config *cfg)
{
	return (struct pt_iommu_riscv_64_cfg){
		.common = {
			.features = cfg->features,
			.hw_max_vasz_lg2 = cfg->vasz_lg2,
			.hw_max_oasz_lg2 = cfg->oasz_lg2,
		},
	};
}

static u64 kt_fmt_root(const struct kt_config *cfg,
		       struct pt_iommu_riscv_64 *table, unsigned int *level)
{
	struct pt_iommu_riscv_64_hw_info info;

	pt_iommu_riscv_64_hw_info(table, &info);
	*level = info.fsc_iosatp_mode - 6;
	return info.ppn << 12;
}

/* What is present can be read; Svpbmt shows MMIO, and what is not coherent */
static int kt_fmt_prot(const struct kt_config *cfg, int prot)
{
	int seen = IOMMU_READ | (prot & IOMMU_WRITE);

	if (!(cfg->features & BIT(PT_FEAT_RISCV_SVPBMT)))
		return seen;
	return seen | (prot & IOMMU_MMIO ? IOMMU_MMIO : prot & IOMMU_CACHE);
}

static struct kt_hw kt_fmt_decode(const struct kt_config *cfg, u64 item,
				  unsigned int level)
{
	bool svpbmt = cfg->features & BIT(PT_FEAT_RISCV_SVPBMT);
	bool svnapot = cfg->features & BIT(PT_FEAT_RISCV_SVNAPOT_64K);
	unsigned int pbmt = (item >> 61) & 3;
	struct kt_hw hw = {};

	/* V */
	if (!(item & 1)) {
		hw.kind = item ? KT_BAD : KT_NONE;
		return hw;
	}
	hw.kind = KT_BAD;
	hw.oa = (item & 0x3ffffffffffc00ULL) << 2;

	if (!(item & 0xe)) {
		/* Bit 8 is software's where walkers do not snoop */
		if (cfg->features & BIT(PT_FEAT_DMA_INCOHERENT))
			item &= ~0x100ULL;
		/* A pointer has V and PPN, nothing else */
		if (level && !(item & ~0x3ffffffffffc01ULL))
			hw.kind = KT_TABLE;
		return hw;
	}

	/*
	 * Reserved, or used by nobody: X, G, RSW, 60:54. R, U and A always are
	 * set, D if W is.
	 */
	if ((item & 0x1fc0000000000328ULL) || (item & 0x52) != 0x52 ||
	    !(item & 0x80) != !(item & 4))
		return hw;
	if (pbmt == 3 || (pbmt && !svpbmt))
		return hw;
	hw.prot = IOMMU_READ | (item & 4 ? IOMMU_WRITE : 0);
	if (svpbmt && pbmt == 0)
		hw.prot |= IOMMU_CACHE;
	if (pbmt == 2)
		hw.prot |= IOMMU_MMIO;
	hw.lg2 = 12 + 9 * level;
	if (item >> 63) {
		/* 64K is all that there is: PPN ends in 1000 */
		if (!svnapot || level || (hw.oa & 0xf000) != 0x8000)
			return hw;
		hw.oa &= ~0xffffULL;
		hw.lg2 = 16;
	}
	if (!(hw.oa & ((1ULL << hw.lg2) - 1)))
		hw.kind = KT_LEAF;
	return hw;
}

#include "kunit_riscv_64_golden.h"

/* What no other format has */
kunit_test_suites(&kt_golden_suite);

#endif /* __GENERIC_PT_FMT_KUNIT_RISCV_64_H */
