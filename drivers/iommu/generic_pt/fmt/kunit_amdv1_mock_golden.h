/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: words of the AMDv1 mock that were written down by hand
 *
 * Those of AMDv1 (PR is bit 0, D 6, Next Level 11:9, IR 61, IW 62) with the OA
 * shifted left by one: 2 KiB at 0x12345800 stand as 0x2468b000.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_AMDV1_MOCK_GOLDEN_H
#define __GENERIC_PT_FMT_KUNIT_AMDV1_MOCK_GOLDEN_H

#include "../kunit_ops.h"

static const struct pt_common amdv1_mock_plain = {
	.oa_mask = 0x000ffffffffff000,
};

static const struct {
	unsigned int level;
	unsigned int lg2;
	u64 oa;
	u64 word;
} amdv1_mock_leaves[] = {
	/* 2K, 4K, 8K, 512K */
	{ 0, 11, 0x0000000000000, 0x6000000000000001 },
	{ 0, 11, 0x0000012345800, 0x600000002468b001 },
	{ 0, 11, 0x7fffffffff800, 0x600ffffffffff001 },
	{ 0, 12, 0x0000012345000, 0x600000002468ae01 },
	{ 0, 13, 0x0000012344000, 0x6000000024689e01 },
	{ 0, 19, 0x0000012300000, 0x600000002467fe01 },
	/* 1M, 2M */
	{ 1, 20, 0x0000012300000, 0x6000000024600001 },
	{ 1, 21, 0x0000012200000, 0x60000000245ffe01 },
	/* 512M, 512G, where no hardware faults */
	{ 2, 29, 0x0000020000000, 0x6000000040000001 },
	{ 3, 39, 0x0008000000000, 0x6000017ffffffe01 },
	/* All of the OA space */
	{ 4, 51, 0x0000000000000, 0x6007fffffffffe01 },
};

static void golden_leaves(struct kunit *test)
{
	pt_item_t attrs;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, ptf_attrs(&amdv1_mock_plain, KT_RW, &attrs));
	for (i = 0; i < ARRAY_SIZE(amdv1_mock_leaves); i++) {
		unsigned int level = amdv1_mock_leaves[i].level;
		unsigned int lg2 = amdv1_mock_leaves[i].lg2;
		u64 oa = amdv1_mock_leaves[i].oa;
		u64 word = amdv1_mock_leaves[i].word;

		KUNIT_EXPECT_EQ_MSG(test, word,
				    ptf_leaf_item(attrs, oa, level, lg2),
				    "level %u, 2^%u, OA %#llx", level, lg2, oa);
		KUNIT_EXPECT_EQ(test, lg2, ptf_leaf_lg2(word, level));
		KUNIT_EXPECT_EQ(test, oa,
				ptf_leaf_oa(&amdv1_mock_plain, word, level));
		KUNIT_EXPECT_EQ(test, level, ptf_leaf_level(lg2));
	}
}

static void golden_tables(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0x600000002468a201,
			ptf_table_item(&amdv1_mock_plain, 0x12345000, 1));
	KUNIT_EXPECT_EQ(test, 0x600000002468a801,
			ptf_table_item(&amdv1_mock_plain, 0x12345000, 4));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&amdv1_mock_plain, 0x600000002468a801));
}

static void golden_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_mock_plain, 0), 0x00000000ff800);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_mock_plain, 1), 0x000001ff00000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_mock_plain, 2), 0x0003fe0000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_mock_plain, 3), 0x07fc000000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&amdv1_mock_plain, 4), 0xf800000000000);
}

static struct kunit_case kt_golden_cases[] = {
	KUNIT_CASE(golden_leaves),
	KUNIT_CASE(golden_tables),
	KUNIT_CASE(golden_sizes),
	{},
};

KT_SUITE(golden);

#endif /* __GENERIC_PT_FMT_KUNIT_AMDV1_MOCK_GOLDEN_H */
