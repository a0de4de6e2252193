/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: RISC-V words that were written down by hand
 *
 * Source: The RISC-V Instruction Set Manual, volume II, figures of the Sv39,
 * Sv48 and Sv57 page table entries: V is bit 0, R 1, W 2, U 4, A 6, D 7, PPN
 * begins at bit 10, PBMT at 61, N is 63. A page at 0x12345000 has PPN 0x12345,
 * which is 0x48d1400 at its place.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_RISCV_64_GOLDEN_H
#define __GENERIC_PT_FMT_KUNIT_RISCV_64_GOLDEN_H

#include "../kunit_ops.h"

static const struct pt_common riscv_64_plain;

static const struct pt_common riscv_64_napot = {
	.features = BIT(PT_FEAT_RISCV_SVNAPOT_64K),
};

static const struct pt_common riscv_64_pbmt = {
	.features = BIT(PT_FEAT_RISCV_SVPBMT),
};

static const struct {
	const struct pt_common *common;
	unsigned int prot;
	unsigned int level;
	unsigned int lg2;
	u64 oa;
	u64 word;
	int reads_back;
} riscv_64_leaves[] = {
	/* 4K, 2M, 1G, 512G, 256T */
	{ &riscv_64_plain, KT_RW, 0, 12, 0, 0x00000000000000d7, KT_RW },
	{ &riscv_64_plain, KT_RW, 0, 12, 0x12345000, 0x00000000048d14d7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW, 0, 12, 0xfffffffffff000, 0x003ffffffffffcd7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW, 1, 21, 0x12200000, 0x00000000048800d7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW, 2, 30, 0x40000000, 0x00000000100000d7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW, 3, 39, 0x8000000000, 0x00000020000000d7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW, 4, 48, 0x1000000000000, 0x00004000000000d7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW, 4, 48, 0xff000000000000, 0x003fc000000000d7,
	  KT_RW },
	/* Reading alone; there is no writing alone */
	{ &riscv_64_plain, IOMMU_READ, 0, 12, 0x12345000, 0x48d1453,
	  IOMMU_READ },
	{ &riscv_64_plain, IOMMU_WRITE, 0, 12, 0x12345000, 0x48d14d7, KT_RW },
	{ &riscv_64_plain, IOMMU_READ, 1, 21, 0x12200000, 0x4880053,
	  IOMMU_READ },
	/* Memory types are Svpbmt's alone */
	{ &riscv_64_plain, KT_RW | IOMMU_MMIO, 0, 12, 0x12345000, 0x48d14d7,
	  KT_RW },
	{ &riscv_64_plain, KT_RW | IOMMU_CACHE, 0, 12, 0x12345000, 0x48d14d7,
	  KT_RW },
	{ &riscv_64_pbmt, KT_RW | IOMMU_CACHE, 0, 12, 0x12345000, 0x48d14d7,
	  KT_RW },
	{ &riscv_64_pbmt, KT_RW, 0, 12, 0x12345000, 0x20000000048d14d7, KT_RW },
	{ &riscv_64_pbmt, KT_RW | IOMMU_MMIO, 0, 12, 0x12345000,
	  0x40000000048d14d7, KT_RW },
	{ &riscv_64_pbmt, IOMMU_READ | IOMMU_MMIO | IOMMU_CACHE, 1, 21,
	  0x12200000, 0x4000000004880053, IOMMU_READ },
	/* 64K */
	{ &riscv_64_napot, KT_RW, 0, 16, 0x12340000, 0x80000000048d20d7,
	  KT_RW },
	{ &riscv_64_napot, IOMMU_READ, 0, 16, 0xffffffffff0000,
	  0x803fffffffffe053, IOMMU_READ },
	{ &riscv_64_napot, KT_RW, 0, 12, 0x12348000, 0x00000000048d20d7,
	  KT_RW },
};

static void golden_leaves(struct kunit *test)
{
	pt_item_t attrs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(riscv_64_leaves); i++) {
		const struct pt_common *common = riscv_64_leaves[i].common;
		unsigned int level = riscv_64_leaves[i].level;
		unsigned int lg2 = riscv_64_leaves[i].lg2;
		u64 word = riscv_64_leaves[i].word;

		KUNIT_ASSERT_EQ(test, 0,
				ptf_attrs(common, riscv_64_leaves[i].prot,
					  &attrs));
		KUNIT_EXPECT_EQ_MSG(test, word,
				    ptf_leaf_item(attrs, riscv_64_leaves[i].oa,
						  level, lg2),
				    "leaf %u", i);
		KUNIT_EXPECT_EQ(test, lg2, ptf_leaf_lg2(word, level));
		KUNIT_EXPECT_EQ(test, riscv_64_leaves[i].oa,
				ptf_leaf_oa(common, word, level));
		KUNIT_EXPECT_EQ(test, riscv_64_leaves[i].reads_back,
				ptf_prot(word));
		KUNIT_EXPECT_TRUE(test, ptf_present(word));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(word, level));
		KUNIT_EXPECT_EQ(test, level, ptf_leaf_level(lg2));
	}
	KUNIT_EXPECT_EQ(test, 0, PTF_DIRTY);
}

/* Pointers are the same at each level */
static void golden_tables(struct kunit *test)
{
	unsigned int level;

	for (level = 1; level < 5; level++) {
		KUNIT_EXPECT_EQ(test, 0x48d1401,
				ptf_table_item(&riscv_64_plain, 0x12345000,
					       level));
		KUNIT_EXPECT_EQ(test, 0x003ffffffffffc01,
				ptf_table_item(&riscv_64_plain,
					       0xfffffffffff000, level));
		KUNIT_EXPECT_TRUE(test, ptf_is_table(0x48d1401, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x48d1400, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x48d1403, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x48d1409, level));
	}
	KUNIT_EXPECT_FALSE(test, ptf_is_table(0x48d1401, 0));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&riscv_64_plain, 0x48d1501));
	/* RSW */
	KUNIT_EXPECT_EQ(test, 0x100, ptf_sw_bit(0));
	KUNIT_EXPECT_EQ(test, 0x200, ptf_sw_bit(1));
	KUNIT_EXPECT_EQ(test, 0, ptf_sw_bit(2));
	/* A tombstone is the same with and without the software bit */
	KUNIT_EXPECT_EQ(test, 0x48d1600, ptf_tombstone(0x48d1401));
	KUNIT_EXPECT_EQ(test, 0x48d1600, ptf_tombstone(0x48d1501));
}

static void golden_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ptf_sizes(&riscv_64_plain, 0), 0x1000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&riscv_64_napot, 0), 0x11000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&riscv_64_napot, 1), 0x200000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&riscv_64_plain, 2), 0x40000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&riscv_64_plain, 3), 0x8000000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&riscv_64_plain, 4), 0x1000000000000);
}

/* What stands in memory after a map, with and without Svnapot */
static void golden_memory(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct kt_config cfg = *kt->cfg;
	u64 *top, *table;
	unsigned int i;

	kt_stop(kt);
	cfg.features |= BIT(PT_FEAT_RISCV_SVNAPOT_64K);
	kt->cfg = &cfg;
	KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
	/* Four levels: index 1 in each table */
	kt_map(kt, 0x8040201000, 0x12345000, 0x1000, KT_RW);
	kt_map(kt, 0x8040210000, 0x12340000, 0x11000, IOMMU_READ);
	kt_map(kt, 0x8040400000, 0x55400000, 0x200000, IOMMU_READ);
	top = phys_to_virt(kt->hw_root);
	KUNIT_EXPECT_EQ(test, top[0], 0);
	KUNIT_EXPECT_EQ(test, top[1] & ~0x3ffffffffffc00ULL, 1);
	table = phys_to_virt((top[1] & 0x3ffffffffffc00ULL) << 2);
	KUNIT_EXPECT_EQ(test, table[1] & ~0x3ffffffffffc00ULL, 1);
	table = phys_to_virt((table[1] & 0x3ffffffffffc00ULL) << 2);
	KUNIT_EXPECT_EQ(test, table[1] & ~0x3ffffffffffc00ULL, 1);
	KUNIT_EXPECT_EQ(test, table[2], 0x15500053);
	table = phys_to_virt((table[1] & 0x3ffffffffffc00ULL) << 2);
	KUNIT_EXPECT_EQ(test, table[0], 0);
	KUNIT_EXPECT_EQ(test, table[1], 0x48d14d7);
	KUNIT_EXPECT_EQ(test, table[2], 0);
	KUNIT_EXPECT_EQ(test, table[15], 0);
	for (i = 16; i < 32; i++)
		KUNIT_EXPECT_EQ(test, table[i], 0x80000000048d2053);
	KUNIT_EXPECT_EQ(test, table[32], 0x48d4053);
	KUNIT_EXPECT_EQ(test, table[33], 0);
}

/* The mode is what the IOVA space needs */
static void golden_hw_info(struct kunit *test)
{
	static const struct {
		u8 vasz_lg2;
		u8 mode;
	} modes[] = {
		{ 32, 8 }, { 39, 8 },  { 40, 9 },
		{ 48, 9 }, { 49, 10 }, { 57, 10 },
	};
	struct kt *kt = test->priv;
	struct pt_iommu_riscv_64_hw_info info;
	struct kt_config cfg = *kt->cfg;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		kt_stop(kt);
		cfg.vasz_lg2 = modes[i].vasz_lg2;
		kt->cfg = &cfg;
		KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
		pt_iommu_riscv_64_hw_info(&kt->table, &info);
		KUNIT_EXPECT_EQ(test, info.fsc_iosatp_mode, modes[i].mode);
		KUNIT_EXPECT_NOT_NULL(
			test, kt_page(kt, phys_to_virt(info.ppn << 12)));
	}
}

static struct kunit_case kt_golden_cases[] = {
	KUNIT_CASE(golden_leaves),  KUNIT_CASE(golden_tables),
	KUNIT_CASE(golden_sizes),   KUNIT_CASE(golden_memory),
	KUNIT_CASE(golden_hw_info), {},
};

KT_SUITE(golden);

#endif /* __GENERIC_PT_FMT_KUNIT_RISCV_64_GOLDEN_H */
