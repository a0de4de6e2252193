/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: words of VT-d's second stage that were written down by hand
 *
 * Source: Intel Virtualization Technology for Directed I/O, section 9.8, figures
 * of SS-PTE, SS-PDE and SS-PDPE: R is bit 0, W 1, PS 7, A 8, D 9, SNP 11.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_VTDSS_GOLDEN_H
#define __GENERIC_PT_FMT_KUNIT_VTDSS_GOLDEN_H

#include "../kunit_ops.h"

static const struct pt_common vtdss_plain;

static const struct pt_common vtdss_snoop = {
	.features = BIT(PT_FEAT_VTDSS_FORCE_COHERENCE),
};

static const struct pt_common vtdss_writeable = {
	.features = BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE),
};

static const struct {
	const struct pt_common *common;
	unsigned int prot;
	unsigned int level;
	u64 oa;
	u64 word;
	int reads_back;
} vtdss_leaves[] = {
	/* 4K, 2M, 1G */
	{ &vtdss_plain, KT_RW, 0, 0x0000000000000, 0x0000000000000003, KT_RW },
	{ &vtdss_plain, KT_RW, 0, 0x0000012345000, 0x0000000012345003, KT_RW },
	{ &vtdss_plain, KT_RW, 0, 0xffffffffff000, 0x000ffffffffff003, KT_RW },
	{ &vtdss_plain, KT_RW, 1, 0x0000012200000, 0x0000000012200083, KT_RW },
	{ &vtdss_plain, KT_RW, 1, 0xfffffffe00000, 0x000fffffffe00083, KT_RW },
	{ &vtdss_plain, KT_RW, 2, 0x0000040000000, 0x0000000040000083, KT_RW },
	{ &vtdss_plain, KT_RW, 2, 0xfffffc0000000, 0x000fffffc0000083, KT_RW },
	/* Reading alone; writing alone is made both */
	{ &vtdss_plain, IOMMU_READ, 0, 0x12345000, 0x12345001, IOMMU_READ },
	{ &vtdss_plain, IOMMU_WRITE, 0, 0x12345000, 0x12345003, KT_RW },
	{ &vtdss_plain, IOMMU_READ, 1, 0x12200000, 0x12200081, IOMMU_READ },
	{ &vtdss_plain, IOMMU_READ, 2, 0x40000000, 0x40000081, IOMMU_READ },
	/* SNP is the feature's alone */
	{ &vtdss_plain, KT_RW | IOMMU_CACHE, 0, 0x12345000, 0x12345003, KT_RW },
	{ &vtdss_plain, KT_RW | IOMMU_MMIO, 0, 0x12345000, 0x12345003, KT_RW },
	{ &vtdss_snoop, KT_RW, 0, 0x12345000, 0x12345803, KT_RW },
	{ &vtdss_snoop, IOMMU_READ, 1, 0x12200000, 0x12200881, IOMMU_READ },
	{ &vtdss_snoop, KT_RW, 2, 0x40000000, 0x40000883, KT_RW },
	{ &vtdss_writeable, KT_RW, 0, 0x12345000, 0x12345003, KT_RW },
	{ &vtdss_writeable, IOMMU_WRITE, 0, 0x12345000, 0x12345003, KT_RW },
};

static void golden_leaves(struct kunit *test)
{
	pt_item_t attrs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vtdss_leaves); i++) {
		const struct pt_common *common = vtdss_leaves[i].common;
		unsigned int level = vtdss_leaves[i].level;
		unsigned int lg2 = 12 + 9 * level;
		u64 word = vtdss_leaves[i].word;

		KUNIT_ASSERT_EQ(test, 0,
				ptf_attrs(common, vtdss_leaves[i].prot,
					  &attrs));
		KUNIT_EXPECT_EQ_MSG(test, word,
				    ptf_leaf_item(attrs, vtdss_leaves[i].oa,
						  level, lg2),
				    "leaf %u", i);
		KUNIT_EXPECT_EQ(test, lg2, ptf_leaf_lg2(word, level));
		KUNIT_EXPECT_EQ(test, vtdss_leaves[i].oa,
				ptf_leaf_oa(common, word, level));
		KUNIT_EXPECT_EQ(test, vtdss_leaves[i].reads_back,
				ptf_prot(word));
		KUNIT_EXPECT_TRUE(test, ptf_present(word));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(word, level));
	}
	KUNIT_EXPECT_EQ(test, 0x200, PTF_DIRTY);
	/* The erratum of nested parents */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			ptf_attrs(&vtdss_writeable, IOMMU_READ, &attrs));
}

/* R or W is present, be it that only hardware's manual knows the latter */
static void golden_presence(struct kunit *test)
{
	static const u64 words[8] = {
		0x12345001, 0x12345002, 0x12345003, 0x12345002,
		0x12345001, 0x12345203, 0x12345102, 0x12345801,
	};
	u64 line[8];
	unsigned int i;

	memcpy(line, words, sizeof(line));
	KUNIT_EXPECT_EQ(test, pt_store_clear(line, 8, 0), 8);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_TRUE(test, ptf_present(words[i]));
		KUNIT_EXPECT_FALSE(test, ptf_present(words[i] & ~3ULL));
		memcpy(line, words, sizeof(line));
		line[i] &= ~3ULL;
		KUNIT_EXPECT_EQ(test, pt_store_clear(line, 8, 0), i);
		memcpy(line, words, sizeof(line));
		line[i] = 0x0010000000000f84;
		KUNIT_EXPECT_EQ(test, pt_store_clear(line, 8, 0), i);
	}
}

/* Pointers are the same at each level */
static void golden_tables(struct kunit *test)
{
	unsigned int level;

	for (level = 1; level < 5; level++) {
		KUNIT_EXPECT_EQ(test, 0x12345003,
				ptf_table_item(&vtdss_plain, 0x12345000,
					       level));
		KUNIT_EXPECT_EQ(test, 0x000ffffffffff003,
				ptf_table_item(&vtdss_plain, 0xffffffffff000,
					       level));
		KUNIT_EXPECT_EQ(test, 0x12345003,
				ptf_table_item(&vtdss_snoop, 0x12345000,
					       level));
		KUNIT_EXPECT_TRUE(test, ptf_is_table(0x12345003, level));
		KUNIT_EXPECT_TRUE(test, ptf_is_table(0x12345103, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x12345000, level));
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0x12345083, level));
	}
	KUNIT_EXPECT_FALSE(test, ptf_is_table(0x12345003, 0));
	KUNIT_EXPECT_EQ(test, 0x12345000,
			ptf_table_oa(&vtdss_plain, 0x0010000012345103));
	/* Bits 61:52 are software's; the first two have a use */
	KUNIT_EXPECT_EQ(test, 0x0010000000000000, ptf_sw_bit(0));
	KUNIT_EXPECT_EQ(test, 0x0020000000000000, ptf_sw_bit(1));
	KUNIT_EXPECT_EQ(test, 0x2000000000000000, ptf_sw_bit(9));
	KUNIT_EXPECT_EQ(test, 0, ptf_sw_bit(10));
	/* A tombstone is the same with and without A and the software bit */
	KUNIT_EXPECT_EQ(test, 0x0020000012345000, ptf_tombstone(0x12345003));
	KUNIT_EXPECT_EQ(test, 0x0020000012345000,
			ptf_tombstone(0x0010000012345103));
}

static void golden_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ptf_sizes(&vtdss_plain, 0), 0x1000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&vtdss_plain, 1), 0x200000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&vtdss_plain, 2), 0x40000000);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&vtdss_plain, 3), 0);
	KUNIT_EXPECT_EQ(test, ptf_sizes(&vtdss_plain, 4), 0);
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
	KUNIT_EXPECT_EQ(test, top[1] & ~0xffffffffff000ULL, 3);
	table = phys_to_virt(top[1] & 0xffffffffff000ULL);
	KUNIT_EXPECT_EQ(test, table[1] & ~0xffffffffff000ULL, 3);
	KUNIT_EXPECT_EQ(test, table[2], 0x80000083);
	KUNIT_EXPECT_EQ(test, table[3], 0);
	/* Hardware marks it, the scan clears that */
	KUNIT_EXPECT_EQ(test, 0, kt_op_set_dirty(kt, 0x80bfffffff));
	KUNIT_EXPECT_EQ(test, table[2], 0x80000283);
	table = phys_to_virt(table[1] & 0xffffffffff000ULL);
	KUNIT_EXPECT_EQ(test, table[1] & ~0xffffffffff000ULL, 3);
	KUNIT_EXPECT_EQ(test, table[2], 0x55400081);
	table = phys_to_virt(table[1] & 0xffffffffff000ULL);
	KUNIT_EXPECT_EQ(test, table[0], 0);
	KUNIT_EXPECT_EQ(test, table[1], 0x12345003);
	KUNIT_EXPECT_EQ(test, table[2], 0);
}

/* With SSADE hardware marks pointers too: tables come and go as before */
static void golden_accessed_pointers(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 *top = phys_to_virt(kt->hw_root), *table;
	unsigned int i;

	for (i = 0; i < PT_IOMMU_PARKED + 2; i++) {
		kt_map(kt, 0x8000000000 + i * 0x200000, 0, 0x1000, KT_RW);
		table = phys_to_virt(top[1] & 0xffffffffff000ULL);
		table = phys_to_virt(table[0] & 0xffffffffff000ULL);
		table[i] |= 0x100;
	}
	for (i = 0; i < PT_IOMMU_PARKED + 2; i++) {
		struct iommu_iotlb_gather gather;
		unsigned int smallest;
		u64 iova = 0x8000000000 + i * 0x200000;

		iommu_iotlb_gather_init(&gather);
		KUNIT_EXPECT_EQ(test, 0x1000,
				kt_op_unmap(kt, iova, 0x1000, &gather));
		kt_model_unmap(kt, iova, 0x1000, &smallest);
		iommu_iotlb_sync(&kt->domain, &gather);
	}
	/* All but two are gone, pointers and all; hardware is at rest */
	for (i = 0; i < PT_IOMMU_PARKED; i++)
		KUNIT_EXPECT_EQ(test, table[i], 0);
	for (; i < PT_IOMMU_PARKED + 2; i++) {
		KUNIT_EXPECT_EQ(test, table[i] & 0x103, 0x103);
		table[i] &= ~0x100ULL;
	}
	kt_check(kt);
}

/* SSPTPTR and AW, for each number of levels */
static void golden_hw_info(struct kunit *test)
{
	static const u8 aw[] = { 0, 0, 1, 2, 3 };
	struct kt *kt = test->priv;
	struct pt_iommu_vtdss_hw_info info;
	struct kt_config cfg = *kt->cfg;
	unsigned int level;

	for (level = 0; level < 7; level++) {
		kt_stop(kt);
		cfg.top_level = level;
		kt->cfg = &cfg;
		if (level < 2 || level > 4) {
			KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, kt_start(kt));
			continue;
		}
		KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
		pt_iommu_vtdss_hw_info(&kt->table, &info);
		KUNIT_EXPECT_EQ(test, info.aw, aw[level]);
		KUNIT_EXPECT_EQ(test, info.ssptptr & 0xfff, 0);
		KUNIT_EXPECT_NOT_NULL(test,
				      kt_page(kt, phys_to_virt(kt->hw_root)));
	}
}

/* A nested parent refuses what is read-only, and nothing else */
static void golden_force_writeable(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct kt_config cfg = *kt->cfg;
	size_t mapped = 0;

	kt_stop(kt);
	cfg.features = BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE);
	kt->cfg = &cfg;
	KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			kt_op_map(kt, 0x1000, 0x1000, 0x1000, IOMMU_READ,
				  &mapped));
	KUNIT_EXPECT_EQ(test, mapped, 0);
	kt_map(kt, 0x1000, 0x1000, 0x1000, KT_RW);
	kt_map(kt, 0x2000, 0x1000, 0x1000, IOMMU_WRITE);
	kt_check(kt);
}

static struct kunit_case kt_golden_cases[] = {
	KUNIT_CASE(golden_leaves),
	KUNIT_CASE(golden_presence),
	KUNIT_CASE(golden_tables),
	KUNIT_CASE(golden_sizes),
	KUNIT_CASE(golden_memory),
	KUNIT_CASE(golden_accessed_pointers),
	KUNIT_CASE(golden_hw_info),
	KUNIT_CASE(golden_force_writeable),
	{},
};

KT_SUITE(golden);

#endif /* __GENERIC_PT_FMT_KUNIT_VTDSS_GOLDEN_H */
