/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: AMDv1 words that were written down by hand
 *
 * Source: AMD publication 48882, section 2.2.3. Each word was put together from
 * the manual's figures, none by a program: PR is bit 0, D 6, Next Level 11:9,
 * FC 60, IR 61, IW 62. Next Level is 7 for a size that the address codes: from
 * bit 12 on it is all ones below the bit of half the size, which is zero.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_AMDV1_GOLDEN_H
#define __GENERIC_PT_FMT_KUNIT_AMDV1_GOLDEN_H

#include "../kunit_ops.h"

/* Leaves that can be read and written */
static const struct {
	unsigned int level;
	unsigned int lg2;
	u64 oa;
	u64 word;
} amdv1_leaves[] = {
	/* 4K, 8K ... 1M */
	{ 0, 12, 0x0000000000000, 0x6000000000000001 },
	{ 0, 12, 0x0000012345000, 0x6000000012345001 },
	{ 0, 12, 0xffffffffff000, 0x600ffffffffff001 },
	{ 0, 13, 0x0000012344000, 0x6000000012344e01 },
	{ 0, 13, 0xfffffffffe000, 0x600fffffffffee01 },
	{ 0, 14, 0x0000012340000, 0x6000000012341e01 },
	{ 0, 15, 0x0000012340000, 0x6000000012343e01 },
	{ 0, 16, 0x0000012340000, 0x6000000012347e01 },
	{ 0, 17, 0x0000012340000, 0x600000001234fe01 },
	{ 0, 18, 0x0000012340000, 0x600000001235fe01 },
	{ 0, 19, 0x0000012380000, 0x60000000123bfe01 },
	{ 0, 20, 0x0000012300000, 0x600000001237fe01 },
	/* 2M, 4M ... 512M */
	{ 1, 21, 0x0000012200000, 0x6000000012200001 },
	{ 1, 21, 0xfffffffe00000, 0x600fffffffe00001 },
	{ 1, 22, 0x0000012400000, 0x60000000125ffe01 },
	{ 1, 23, 0x0000012800000, 0x6000000012bffe01 },
	{ 1, 24, 0x0000013000000, 0x60000000137ffe01 },
	{ 1, 25, 0x0000012000000, 0x6000000012fffe01 },
	{ 1, 26, 0x0000014000000, 0x6000000015fffe01 },
	{ 1, 27, 0x0000018000000, 0x600000001bfffe01 },
	{ 1, 28, 0x0000010000000, 0x6000000017fffe01 },
	{ 1, 29, 0x0000040000000, 0x600000004ffffe01 },
	/* 1G, 2G ... 256G */
	{ 2, 30, 0x0000040000000, 0x6000000040000001 },
	{ 2, 31, 0x0000080000000, 0x60000000bffffe01 },
	{ 2, 32, 0x0000100000000, 0x600000017ffffe01 },
	{ 2, 33, 0x0000200000000, 0x60000002fffffe01 },
	{ 2, 34, 0x0000400000000, 0x60000005fffffe01 },
	{ 2, 35, 0x0000800000000, 0x6000000bfffffe01 },
	{ 2, 36, 0x0001000000000, 0x60000017fffffe01 },
	{ 2, 37, 0x0002000000000, 0x6000002ffffffe01 },
	{ 2, 38, 0x0004000000000, 0x6000005ffffffe01 },
	/* 1T ... 128T; there is no 512G */
	{ 3, 40, 0x0010000000000, 0x6000017ffffffe01 },
	{ 3, 41, 0x0020000000000, 0x600002fffffffe01 },
	{ 3, 44, 0x0100000000000, 0x600017fffffffe01 },
	{ 3, 47, 0x0800000000000, 0x6000bffffffffe01 },
	/* 256T ... 4P, all of the OA space */
	{ 4, 48, 0x1000000000000, 0x6001000000000001 },
	{ 4, 49, 0x2000000000000, 0x6002fffffffffe01 },
	{ 4, 51, 0x8000000000000, 0x600bfffffffffe01 },
	{ 4, 52, 0x0000000000000, 0x6007fffffffffe01 },
};

static const struct pt_common amdv1_plain = {
	.oa_mask = 0x000ffffffffff000,
};

static void golden_leaves(struct kunit *test)
{
	pt_item_t attrs;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, ptf_attrs(&amdv1_plain, KT_RW, &attrs));
	for (i = 0; i < ARRAY_SIZE(amdv1_leaves); i++) {
		unsigned int level = amdv1_leaves[i].level;
		unsigned int lg2 = amdv1_leaves[i].lg2;
		u64 oa = amdv1_leaves[i].oa;
		u64 word = amdv1_leaves[i].word;

		KUNIT_EXPECT_EQ_MSG(test, word,
				    ptf_leaf_item(attrs, oa, level, lg2),
				    "level %u, 2^%u, OA %#llx", level, lg2, oa);
		KUNIT_EXPECT_EQ(test, lg2, ptf_leaf_lg2(word, level));
		KUNIT_EXPECT_EQ(test, oa,
				ptf_leaf_oa(&amdv1_plain, word, level));
		KUNIT_EXPECT_EQ(test, KT_RW, ptf_prot(word));
		KUNIT_EXPECT_TRUE(test, ptf_present(word));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(word, level));
		KUNIT_EXPECT_EQ(test, level, ptf_leaf_level(lg2));
		KUNIT_EXPECT_TRUE(test, ptf_sizes(&amdv1_plain, level) &
						(1ULL << lg2));
	}
}

/* Tables whose items point to level 1 (of the manual, from 1), 2 ... 5 */
static void golden_tables(struct kunit *test)
{
	static const u64 words[] = {
		0,
		0x6000000012345201,
		0x6000000012345401,
		0x6000000012345601,
		0x6000000012345801,
		0x6000000012345a01,
	};
	unsigned int level, other;

	for (level = 1; level < ARRAY_SIZE(words); level++) {
		KUNIT_EXPECT_EQ(test, words[level],
				ptf_table_item(&amdv1_plain, 0x12345000,
					       level));
		KUNIT_EXPECT_EQ(test, 0x12345000,
				ptf_table_oa(&amdv1_plain, words[level]));
		for (other = 0; other < 6; other++)
			KUNIT_EXPECT_EQ(test, other == level,
					ptf_is_table(words[level], other));
	}
	/* With the highest bit of an OA, and with all */
	KUNIT_EXPECT_EQ(test, 0x6008000000000201,
			ptf_table_item(&amdv1_plain, 0x8000000000000, 1));
	KUNIT_EXPECT_EQ(test, 0x8000000000000,
			ptf_table_oa(&amdv1_plain, 0x6008000000000201));
	KUNIT_EXPECT_EQ(test, 0x600ffffffffff601,
			ptf_table_item(&amdv1_plain, 0xffffffffff000, 3));
	KUNIT_EXPECT_EQ(test, 0xffffffffff000,
			ptf_table_oa(&amdv1_plain, 0x600ffffffffff601));
	/* A tombstone has all but PR */
	KUNIT_EXPECT_EQ(test, 0x6000000012345400,
			ptf_tombstone(0x6000000012345401));
}

/* IR, IW, FC, the encryption bit where there is one, D */
static void golden_attributes(struct kunit *test)
{
	static const struct pt_common coherent = {
		.features = BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.oa_mask = 0x000ffffffffff000,
	};
	static const struct pt_common encrypted = {
		.features = BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES),
		.enc_mask = 0x800000000000,
		.oa_mask = 0x000f7ffffffff000,
	};
	static const struct {
		const struct pt_common *common;
		unsigned int prot;
		u64 word;
	} leaves[] = {
		{ &amdv1_plain, IOMMU_READ, 0x2000000012345001 },
		{ &amdv1_plain, IOMMU_WRITE, 0x4000000012345001 },
		{ &amdv1_plain, KT_RW, 0x6000000012345001 },
		/* FC is the feature's alone, as 6.12 sets it always */
		{ &amdv1_plain, KT_RW | IOMMU_CACHE, 0x6000000012345001 },
		{ &amdv1_plain, KT_RW | IOMMU_MMIO, 0x6000000012345001 },
		{ &amdv1_plain, KT_RW | IOMMU_NOEXEC, 0x6000000012345001 },
		{ &coherent, IOMMU_READ, 0x3000000012345001 },
		{ &coherent, IOMMU_WRITE, 0x5000000012345001 },
		{ &coherent, KT_RW, 0x7000000012345001 },
		/* MMIO is not encrypted */
		{ &encrypted, KT_RW, 0x6000800012345001 },
		{ &encrypted, KT_RW | IOMMU_MMIO, 0x6000000012345001 },
	};
	pt_item_t attrs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(leaves); i++) {
		KUNIT_ASSERT_EQ(test, 0,
				ptf_attrs(leaves[i].common, leaves[i].prot,
					  &attrs));
		KUNIT_EXPECT_EQ(test, leaves[i].word,
				ptf_leaf_item(attrs, 0x12345000, 0, 12));
		KUNIT_EXPECT_EQ(test, 0x12345000,
				ptf_leaf_oa(leaves[i].common, leaves[i].word,
					    0));
		KUNIT_EXPECT_EQ(test, leaves[i].prot & KT_RW,
				ptf_prot(leaves[i].word));
	}
	/* Tables are encrypted, and their access is not restricted */
	KUNIT_EXPECT_EQ(test, 0x6000800012345201,
			ptf_table_item(&encrypted, 0x12345000, 1));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&encrypted, 0x6000800012345201));
	KUNIT_EXPECT_EQ(test, 0x6000000012345201,
			ptf_table_item(&coherent, 0x12345000, 1));
	KUNIT_EXPECT_EQ(test, 0x40, PTF_DIRTY);
}

/* Every power of two from 4K on, but for 512G where hardware faults */
static void golden_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_plain, 0), 0x00000001ff000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_plain, 1), 0x000003fe00000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_plain, 2), 0x0007fc0000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_plain, 3), 0x0ff0000000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_plain, 4), 0x1f000000000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_plain, 5), 0);
}

/* What stands in memory after a map: one page, then a contiguous leaf */
static void golden_memory(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 *top = phys_to_virt(kt->hw_root), *table;
	unsigned int i;

	/* Four levels: index 1 in each table */
	kt_map(kt, 0x8040201000, 0x12345000, 0x1000, KT_RW);
	for (i = 3; i; i--) {
		for (table = top; table < top + 512; table++)
			if (table != top + 1)
				KUNIT_ASSERT_EQ(test, *table, 0);
		KUNIT_EXPECT_EQ(test, top[1] & ~0xffffffffff000ULL,
				0x6000000000000001 + i * 0x200);
		top = phys_to_virt(top[1] & 0xffffffffff000ULL);
	}
	KUNIT_EXPECT_EQ(test, top[0], 0);
	KUNIT_EXPECT_EQ(test, top[1], 0x6000000012345001);
	KUNIT_EXPECT_EQ(test, top[2], 0);

	/* 32K at index 8 of the same table: eight items, all the same */
	kt_map(kt, 0x8040208000, 0x55558000, 0x8000, IOMMU_WRITE);
	KUNIT_EXPECT_EQ(test, top[7], 0);
	for (i = 8; i < 16; i++)
		KUNIT_EXPECT_EQ(test, top[i], 0x400000005555be01);
	KUNIT_EXPECT_EQ(test, top[16], 0);

	/* 16K and 4K next to it */
	kt_map(kt, 0x8040210000, 0x55550000, 0x5000, IOMMU_READ);
	for (i = 16; i < 20; i++)
		KUNIT_EXPECT_EQ(test, top[i], 0x2000000055551e01);
	KUNIT_EXPECT_EQ(test, top[20], 0x2000000055554001);

	/* Hardware marks one item, then the scan clears it */
	KUNIT_EXPECT_EQ(test, 0, kt_op_set_dirty(kt, 0x8040209fff));
	KUNIT_EXPECT_EQ(test, top[8], 0x400000005555be01);
	KUNIT_EXPECT_EQ(test, top[9], 0x400000005555be41);
	KUNIT_EXPECT_EQ(test, top[10], 0x400000005555be01);
}

/* Host Page Table Root Pointer and Paging Mode, for each number of levels */
static void golden_hw_info(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct pt_iommu_amdv1_hw_info info;
	struct kt_config cfg = *kt->cfg;
	unsigned int level;

	for (level = 0; level < 6; level++) {
		kt_stop(kt);
		cfg.top_level = level;
		cfg.enc_mask = level & 1 ? 0x800000000000 : 0;
		kt->cfg = &cfg;
		KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
		pt_iommu_amdv1_hw_info(&kt->table, &info);
		KUNIT_EXPECT_EQ(test, info.mode, level + 1);
		KUNIT_EXPECT_EQ(test, info.host_pt_root & 0xfff, 0);
		KUNIT_EXPECT_EQ(test, info.host_pt_root & 0x800000000000,
				cfg.enc_mask);
		KUNIT_EXPECT_NOT_NULL(test,
				      kt_page(kt, phys_to_virt(kt->hw_root)));
	}
	/* Seven levels there are not */
	kt_stop(kt);
	cfg.top_level = 6;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, kt_start(kt));
}

static struct kunit_case kt_golden_cases[] = {
	KUNIT_CASE(golden_leaves),
	KUNIT_CASE(golden_tables),
	KUNIT_CASE(golden_attributes),
	KUNIT_CASE(golden_sizes),
	KUNIT_CASE(golden_memory),
	KUNIT_CASE(golden_hw_info),
	{},
};

KT_SUITE(golden);

#endif /* __GENERIC_PT_FMT_KUNIT_AMDV1_GOLDEN_H */
