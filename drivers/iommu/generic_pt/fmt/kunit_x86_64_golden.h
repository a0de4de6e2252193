/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: x86_64 words that were written down by hand
 *
 * Source: AMD64 Architecture Programmer's Manual, volume 2, section 5.3, figures
 * of the entries of 4-Kbyte, 2-Mbyte and 1-Gbyte translation: P is bit 0, R/W 1,
 * U/S 2, A 5, D 6, PS 7.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_X86_64_GOLDEN_H
#define __GENERIC_PT_FMT_KUNIT_X86_64_GOLDEN_H

#include "../kunit_ops.h"

static const struct pt_common x86_64_plain = {
	.oa_mask = 0x000ffffffffff000,
};

static const struct pt_common x86_64_encrypted = {
	.features = BIT(PT_FEAT_X86_64_AMD_ENCRYPT_TABLES),
	.enc_mask = 0x8000000000000,
	.oa_mask = 0x0007fffffffff000,
};

static const struct {
	const struct pt_common *common;
	unsigned int prot;
	unsigned int level;
	u64 oa;
	u64 word;
	int reads_back;
} x86_64_leaves[] = {
	/* 4K, 2M, 1G */
	{ &x86_64_plain, KT_RW, 0, 0x0000000000000, 0x0000000000000067, KT_RW },
	{ &x86_64_plain, KT_RW, 0, 0x0000012345000, 0x0000000012345067, KT_RW },
	{ &x86_64_plain, KT_RW, 0, 0xffffffffff000, 0x000ffffffffff067, KT_RW },
	{ &x86_64_plain, KT_RW, 1, 0x0000012200000, 0x00000000122000e7, KT_RW },
	{ &x86_64_plain, KT_RW, 1, 0xfffffffe00000, 0x000fffffffe000e7, KT_RW },
	{ &x86_64_plain, KT_RW, 2, 0x0000040000000, 0x00000000400000e7, KT_RW },
	{ &x86_64_plain, KT_RW, 2, 0xfffffc0000000, 0x000fffffc00000e7, KT_RW },
	/* Reading alone; there is no writing alone */
	{ &x86_64_plain, IOMMU_READ, 0, 0x12345000, 0x12345065, IOMMU_READ },
	{ &x86_64_plain, IOMMU_WRITE, 0, 0x12345000, 0x12345067, KT_RW },
	{ &x86_64_plain, IOMMU_READ, 1, 0x12200000, 0x122000e5, IOMMU_READ },
	{ &x86_64_plain, IOMMU_READ, 2, 0x40000000, 0x400000e5, IOMMU_READ },
	/* Nothing else of what the caller says has a bit */
	{ &x86_64_plain, KT_RW | IOMMU_CACHE, 0, 0x12345000, 0x12345067,
	  KT_RW },
	{ &x86_64_plain, KT_RW | IOMMU_MMIO, 0, 0x12345000, 0x12345067, KT_RW },
	{ &x86_64_plain, KT_RW | IOMMU_NOEXEC | IOMMU_PRIV, 0, 0x12345000,
	  0x12345067, KT_RW },
	/* The encryption bit, which MMIO does not have */
	{ &x86_64_encrypted, KT_RW, 0, 0x12345000, 0x8000012345067, KT_RW },
	{ &x86_64_encrypted, KT_RW, 1, 0x12200000, 0x80000122000e7, KT_RW },
	{ &x86_64_encrypted, KT_RW | IOMMU_MMIO, 0, 0x12345000, 0x12345067,
	  KT_RW },
};

static void golden_leaves(struct kunit *test)
{
	pt_item_t attrs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(x86_64_leaves); i++) {
		const struct pt_common *common = x86_64_leaves[i].common;
		unsigned int level = x86_64_leaves[i].level;
		unsigned int lg2 = 12 + 9 * level;
		u64 word = x86_64_leaves[i].word;

		KUNIT_ASSERT_EQ(test, 0,
				ptf_attrs(common, x86_64_leaves[i].prot,
					  &attrs));
		KUNIT_EXPECT_EQ_MSG(test, word,
				    ptf_leaf_item(attrs, x86_64_leaves[i].oa,
						  level, lg2),
				    "leaf %u", i);
		KUNIT_EXPECT_EQ(test, lg2, ptf_leaf_lg2(word, level));
		KUNIT_EXPECT_EQ(test, x86_64_leaves[i].oa,
				ptf_leaf_oa(common, word, level));
		KUNIT_EXPECT_EQ(test, x86_64_leaves[i].reads_back,
				ptf_prot(word));
		KUNIT_EXPECT_TRUE(test, ptf_present(word));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(word, level));
	}
	/* PAT of a large leaf is bit 12, where its address has none */
	KUNIT_EXPECT_EQ(test, 0x12200000,
			ptf_leaf_oa(&x86_64_plain, 0x122010e7, 1));
}

/* Pointers are the same at each level */
static void golden_tables(struct kunit *test)
{
	unsigned int level;

	for (level = 1; level < 5; level++) {
		KUNIT_EXPECT_EQ(test, 0x12345027,
				ptf_table_item(&x86_64_plain, 0x12345000,
					       level));
		KUNIT_EXPECT_EQ(test, 0x000ffffffffff027,
				ptf_table_item(&x86_64_plain, 0xffffffffff000,
					       level));
		KUNIT_EXPECT_EQ(test, 0x8000012345027,
				ptf_table_item(&x86_64_encrypted, 0x12345000,
					       level));
		KUNIT_EXPECT_TRUE(test, ptf_is_table(0x12345027, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x12345026, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x123450a7, level));
	}
	KUNIT_EXPECT_FALSE(test, ptf_is_table(0x12345027, 0));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&x86_64_plain, 0x12345027));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&x86_64_encrypted, 0x8000012345027));
	/* Bits 58:52 are software's; the first two have a use */
	KUNIT_EXPECT_EQ(test, 0x0010000000000000, ptf_sw_bit(0));
	KUNIT_EXPECT_EQ(test, 0x0020000000000000, ptf_sw_bit(1));
	KUNIT_EXPECT_EQ(test, 0x0400000000000000, ptf_sw_bit(6));
	KUNIT_EXPECT_EQ(test, 0, ptf_sw_bit(7));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&x86_64_plain, 0x0010000012345027));
	/* A tombstone is the same with and without EA and the software bit */
	KUNIT_EXPECT_EQ(test, 0x0020000012345026, ptf_tombstone(0x12345027));
	KUNIT_EXPECT_EQ(test, 0x0020000012345026,
			ptf_tombstone(0x0010000012345427));
}

static void golden_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ptf_sizes(&x86_64_plain, 0), 0x1000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&x86_64_plain, 1), 0x200000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&x86_64_plain, 2), 0x40000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&x86_64_plain, 3), 0);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&x86_64_plain, 4), 0);
	/* Hardware's dirty bit is set beforehand: there is nothing to track */
	KUNIT_EXPECT_EQ(test, PTF_DIRTY, 0);
}

/* What stands in memory after a map: 4K, 2M and 1G below one path */
static void golden_memory(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 *top = phys_to_virt(kt->hw_root), *table;

	/* Four levels: index 1 in each table */
	kt_map(kt, 0x8040201000, 0x12345000, 0x1000, KT_RW);
	kt_map(kt, 0x8040400000, 0x55400000, 0x200000, IOMMU_READ);
	kt_map(kt, 0x8080000000, 0x80000000, 0x40000000, KT_RW);
	KUNIT_EXPECT_EQ(test, top[0], 0);
	KUNIT_EXPECT_EQ(test, top[1] & ~0xffffffffff000ULL, 0x27);
	table = phys_to_virt(top[1] & 0xffffffffff000ULL);
	KUNIT_EXPECT_EQ(test, table[1] & ~0xffffffffff000ULL, 0x27);
	KUNIT_EXPECT_EQ(test, table[2], 0x800000e7);
	KUNIT_EXPECT_EQ(test, table[3], 0);
	table = phys_to_virt(table[1] & 0xffffffffff000ULL);
	KUNIT_EXPECT_EQ(test, table[1] & ~0xffffffffff000ULL, 0x27);
	KUNIT_EXPECT_EQ(test, table[2], 0x554000e5);
	table = phys_to_virt(table[1] & 0xffffffffff000ULL);
	KUNIT_EXPECT_EQ(test, table[0], 0);
	KUNIT_EXPECT_EQ(test, table[1], 0x12345067);
	KUNIT_EXPECT_EQ(test, table[2], 0);
}

/* GCR3 and the number of levels; 3 levels and 6 there are not */
static void golden_hw_info(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct pt_iommu_x86_64_hw_info info;
	struct kt_config cfg = *kt->cfg;
	unsigned int level;

	for (level = 0; level < 7; level++) {
		kt_stop(kt);
		cfg.top_level = level;
		cfg.enc_mask = level & 1 ? 0x8000000000000 : 0;
		kt->cfg = &cfg;
		if (level != 3 && level != 4) {
			KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, kt_start(kt));
			continue;
		}
		KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
		pt_iommu_x86_64_hw_info(&kt->table, &info);
		KUNIT_EXPECT_EQ(test, info.levels, level + 1);
		KUNIT_EXPECT_EQ(test, info.gcr3_pt & 0xfff, 0);
		KUNIT_EXPECT_EQ(test, info.gcr3_pt & 0x8000000000000,
				cfg.enc_mask);
		KUNIT_EXPECT_NOT_NULL(test,
				      kt_page(kt, phys_to_virt(kt->hw_root)));
	}
}

static struct kunit_case kt_golden_cases[] = {
	KUNIT_CASE(golden_leaves),  KUNIT_CASE(golden_tables),
	KUNIT_CASE(golden_sizes),   KUNIT_CASE(golden_memory),
	KUNIT_CASE(golden_hw_info), {},
};

KT_SUITE(golden);

#endif /* __GENERIC_PT_FMT_KUNIT_X86_64_GOLDEN_H */
