/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: the format, the walker, and arithmetic with powers of two
 */
#ifndef __GENERIC_PT_KUNIT_FMT_H
#define __GENERIC_PT_KUNIT_FMT_H

#include "kunit_ops.h"

static const int kt_prots[] = {
	IOMMU_READ, IOMMU_WRITE, KT_RW, KT_RW | IOMMU_MMIO, KT_RW | IOMMU_CACHE,
};

/* Addresses that set each bit that a size leaves free, alone and together */
static u64 kt_pattern(struct kt *kt, unsigned int nr, unsigned int lg2)
{
	u64 oa;

	if (nr < 64)
		oa = 1ULL << nr;
	else if (nr == 64)
		oa = 0;
	else if (nr == 65)
		oa = ~0ULL;
	else
		oa = nr == 66 ? 0x5555555555555555ULL : 0xaaaaaaaaaaaaaaaaULL;
	return oa & kt->oa_last & ~kt->cfg->enc_mask & ~pt_low_mask(lg2);
}

#define KT_PATTERNS 68

/* What both we and hardware read of a leaf */
static void kt_expect_leaf(struct kt *kt, pt_item_t item, u64 oa,
			   unsigned int level, unsigned int lg2, int prot,
			   bool dirty)
{
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	struct kt_hw hw = kt_fmt_decode(kt->cfg, item, level);
	struct kunit *test = kt->test;

	prot = kt_fmt_prot(kt->cfg, prot);
	KUNIT_ASSERT_TRUE(test, ptf_present(item));
	KUNIT_ASSERT_FALSE(test, ptf_is_table(item, level));
	KUNIT_ASSERT_EQ(test, lg2, ptf_leaf_lg2(item, level));
	KUNIT_ASSERT_EQ(test, oa, ptf_leaf_oa(common, item, level));
	KUNIT_ASSERT_EQ(test, prot & KT_RW, ptf_prot(item));
	KUNIT_ASSERT_EQ(test, PTF_PRESENT_MASK, item & PTF_PRESENT_MASK);
	KUNIT_ASSERT_EQ(test, dirty, !!(item & PTF_DIRTY));

	KUNIT_ASSERT_EQ_MSG(test, hw.kind, KT_LEAF, "item %#llx", item);
	KUNIT_ASSERT_EQ_MSG(test, hw.oa, oa, "item %#llx", item);
	KUNIT_ASSERT_EQ_MSG(test, hw.lg2, lg2, "item %#llx", item);
	/* A size beyond the OA space may be coded where encryption is */
	if (lg2 > pt_floor_lg2(kt->oa_last))
		hw.prot = (hw.prot & KT_RW) | (prot & ~KT_RW);
	KUNIT_ASSERT_EQ_MSG(test, hw.prot, prot, "item %#llx", item);
	KUNIT_ASSERT_EQ_MSG(test, hw.dirty, dirty, "item %#llx", item);
}

/* Each size at each level: what is encoded reads back, by us and by hardware */
static void fmt_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	unsigned int level, lg2, i, nr = ARRAY_SIZE(kt_prots) * KT_PATTERNS;

	for (level = 0; level < PTF_MAX_LEVELS; level++) {
		for (lg2 = 0; lg2 < 64; lg2++) {
			if (!(ptf_sizes(common, level) & (1ULL << lg2)))
				continue;
			for (i = 0; i < nr; i++) {
				u64 oa = kt_pattern(kt, i % KT_PATTERNS, lg2);
				int prot = kt_prots[i / KT_PATTERNS];
				pt_item_t attrs = 0, item;
				int ret;

				ret = ptf_attrs(common, prot, &attrs);
				KUNIT_ASSERT_EQ(test, ret, 0);
				item = ptf_leaf_item(attrs, oa, level, lg2);
				kt_expect_leaf(kt, item, oa, level, lg2, prot,
					       false);
				/* Hardware marks it: nothing else changes */
				if (PTF_DIRTY)
					kt_expect_leaf(kt, item | PTF_DIRTY, oa,
						       level, lg2, prot, true);
			}
		}
	}
}

/* Items of leaves that follow each other */
static void fmt_leaf_step(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	unsigned int level, lg2;
	pt_item_t attrs;

	KUNIT_ASSERT_EQ(test, 0, ptf_attrs(common, KT_RW, &attrs));
	for (level = 0; level < PTF_MAX_LEVELS; level++) {
		for (lg2 = 0; lg2 < 63; lg2++) {
			u64 size = 1ULL << lg2;

			if (!(ptf_sizes(common, level) & size) ||
			    size > kt->oa_last)
				continue;
			KUNIT_ASSERT_EQ(test,
					ptf_leaf_item(attrs, 0, level, lg2) +
						ptf_leaf_step(lg2),
					ptf_leaf_item(attrs, size, level, lg2));
		}
	}
}

/* Each size stands at one level, where leaves of it are looked for */
static void fmt_sizes(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	unsigned int level, lg2;
	u64 all = 0;

	for (level = 0; level < PTF_MAX_LEVELS; level++) {
		u64 sizes = ptf_sizes(common, level);

		KUNIT_EXPECT_EQ(test, 0, sizes & all);
		KUNIT_EXPECT_EQ(test, 0,
				sizes & ~pt_low_mask(PTF_MAX_OA_LG2 + 1));
		all |= sizes;
		for (lg2 = 0; lg2 < 64; lg2++) {
			if (!(sizes & (1ULL << lg2)))
				continue;
			KUNIT_EXPECT_EQ(test, level, ptf_leaf_level(lg2));
			/* From one item on, to less than all of the table */
			KUNIT_EXPECT_GE(test, lg2, pt_item_lg2(level));
			KUNIT_EXPECT_LT(test, lg2, pt_item_lg2(level + 1));
		}
	}
	KUNIT_EXPECT_TRUE(test, all & (1ULL << PTF_GRANULE_LG2));
	KUNIT_EXPECT_EQ(test, 0, all & pt_low_mask(PTF_GRANULE_LG2));
}

/* Pointers to tables, anywhere, at each level */
static void fmt_table(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	unsigned int level, nr;

	for (level = 1; level < PTF_MAX_LEVELS; level++) {
		for (nr = 0; nr < KT_PATTERNS; nr++) {
			u64 oa = kt_pattern(kt, nr, 12);
			pt_item_t item = ptf_table_item(common, oa, level);
			struct kt_hw hw;

			KUNIT_ASSERT_TRUE(test, ptf_present(item));
			KUNIT_ASSERT_TRUE(test, ptf_is_table(item, level));
			KUNIT_ASSERT_FALSE(test, ptf_is_table(item, 0));
			KUNIT_ASSERT_EQ(test, oa, ptf_table_oa(common, item));
			KUNIT_ASSERT_EQ(test, PTF_PRESENT_MASK,
					item & PTF_PRESENT_MASK);
			KUNIT_ASSERT_FALSE(test, item & PTF_DIRTY);
			hw = kt_fmt_decode(kt->cfg, item, level);
			KUNIT_ASSERT_EQ_MSG(test, hw.kind, KT_TABLE,
					    "item %#llx", item);
			KUNIT_ASSERT_EQ_MSG(test, hw.oa, oa, "item %#llx",
					    item);
		}
	}
}

/* Nothing is nothing, at each level */
static void fmt_empty(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int level;

	KUNIT_EXPECT_FALSE(test, ptf_present(0));
	for (level = 0; level < PTF_MAX_LEVELS; level++) {
		KUNIT_EXPECT_FALSE(test, ptf_is_table(0, level));
		KUNIT_EXPECT_EQ(test, KT_NONE,
				kt_fmt_decode(kt->cfg, 0, level).kind);
	}
}

/* A tombstone is nothing to hardware, and names the table to us */
static void fmt_tombstone(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	unsigned int level, nr;

	for (level = 1; level < PTF_MAX_LEVELS; level++) {
		for (nr = 0; nr < KT_PATTERNS; nr++) {
			u64 oa = kt_pattern(kt, nr, 12);
			pt_item_t item = ptf_table_item(common, oa, level);
			pt_item_t tombstone = ptf_tombstone(item);
			struct kt_hw hw;

			KUNIT_ASSERT_NE(test, tombstone, 0);
			KUNIT_ASSERT_NE(test, tombstone, item);
			KUNIT_ASSERT_FALSE(test, ptf_present(tombstone));
			KUNIT_ASSERT_FALSE(test,
					   ptf_is_table(tombstone, level));
			KUNIT_ASSERT_EQ(test, oa,
					ptf_table_oa(common, tombstone));
			hw = kt_fmt_decode(kt->cfg, tombstone, level);
			KUNIT_ASSERT_NE(test, hw.kind, KT_LEAF);
			KUNIT_ASSERT_NE(test, hw.kind, KT_TABLE);
		}
	}
}

/* What a level covers, up to the last byte of 64 bits */
static void fmt_geometry(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	bool halves = kt_feature(kt, PT_FEAT_SIGN_EXTEND);
	unsigned int level;

	KUNIT_EXPECT_EQ(test, pt_item_lg2(0), PTF_GRANULE_LG2);
	for (level = 0; level < PTF_MAX_LEVELS; level++) {
		unsigned int lg2 = kt_item_lg2(level + 1);
		u64 item = 1ULL << kt_item_lg2(level);

		KUNIT_EXPECT_EQ(test, pt_item_lg2(level), kt_item_lg2(level));
		KUNIT_EXPECT_EQ(test, 0, pt_index(0, level));
		KUNIT_EXPECT_EQ(test, 0, pt_index(item - 1, level));
		KUNIT_EXPECT_EQ(test, 1, pt_index(item, level));
		KUNIT_EXPECT_TRUE(test, pt_level_covers(common, level, 0));
		if (lg2 >= 64) {
			KUNIT_EXPECT_TRUE(test, pt_level_covers(common, level,
								~0ULL));
			continue;
		}
		KUNIT_EXPECT_EQ(test, PTF_ITEMS - 1, pt_index(~0ULL, level));
		KUNIT_EXPECT_EQ(test, PTF_ITEMS - 1,
				pt_index((1ULL << lg2) - 1, level));
		KUNIT_EXPECT_EQ(test, 0, pt_index(1ULL << lg2, level));
		/* The bits that it translates, or all but one and its copies */
		lg2 -= halves;
		KUNIT_EXPECT_TRUE(test, pt_level_covers(common, level,
							(1ULL << lg2) - 1));
		KUNIT_EXPECT_FALSE(test,
				   pt_level_covers(common, level, 1ULL << lg2));
		KUNIT_EXPECT_EQ(test, halves,
				pt_level_covers(common, level, ~0ULL));
		KUNIT_EXPECT_EQ(test, halves,
				pt_level_covers(common, level, -(1ULL << lg2)));
		KUNIT_EXPECT_FALSE(test, pt_level_covers(common, level,
							 -(1ULL << lg2) - 1));
	}
	KUNIT_EXPECT_TRUE(
		test, pt_level_covers(common, PTF_MAX_LEVELS - 1,
				      pt_low_mask(PTF_MAX_IOVA_LG2 - halves)));
}

/* Each helper at each edge of its range */
static void log2_edges(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, pt_low_mask(0), 0);
	KUNIT_EXPECT_EQ(test, pt_low_mask(1), 1);
	KUNIT_EXPECT_EQ(test, pt_low_mask(12), 0xfff);
	KUNIT_EXPECT_EQ(test, pt_low_mask(63), 0x7fffffffffffffffULL);
	KUNIT_EXPECT_EQ(test, pt_low_mask(64), 0xffffffffffffffffULL);

	KUNIT_EXPECT_EQ(test, pt_align_lg2(0), 64);
	KUNIT_EXPECT_EQ(test, pt_align_lg2(1), 0);
	KUNIT_EXPECT_EQ(test, pt_align_lg2(0x3000), 12);
	KUNIT_EXPECT_EQ(test, pt_align_lg2(0xffffffffffffffffULL), 0);
	KUNIT_EXPECT_EQ(test, pt_align_lg2(0xffffffff00000000ULL), 32);

	KUNIT_EXPECT_EQ(test, pt_floor_lg2(0x3000), 13);
	KUNIT_EXPECT_EQ(test, pt_floor_lg2(0xffffffffffffffffULL), 63);
	KUNIT_EXPECT_EQ(test, pt_floor_lg2(0x100000000ULL), 32);
	for (i = 0; i < 64; i++) {
		KUNIT_EXPECT_EQ(test, pt_align_lg2(1ULL << i), i);
		KUNIT_EXPECT_EQ(test, pt_floor_lg2(1ULL << i), i);
		KUNIT_EXPECT_TRUE(test, pt_is_aligned(1ULL << i, i));
		KUNIT_EXPECT_FALSE(test, pt_is_aligned(1ULL << i, i + 1));
		KUNIT_EXPECT_TRUE(test, pt_is_aligned(0, i));
	}
	KUNIT_EXPECT_TRUE(test, pt_is_aligned(0, 64));
	KUNIT_EXPECT_TRUE(test, pt_is_aligned(0xffffffffffffffffULL, 0));
}

static struct pt_pos kt_walk(const struct pt_common *common, unsigned long top,
			     u64 iova, unsigned int target)
{
	struct pt_pos pos;

	rcu_read_lock();
	pos = pt_walk_from(common, top, iova, target);
	rcu_read_unlock();
	return pos;
}

/* The contract of a walk: where it ends, and what it tells */
static void walk_contract(struct kunit *test)
{
	struct kt *kt = test->priv;
	const struct pt_common *common = ptf_common(kt_iommu(kt));
	u64 to1 = 5ULL << pt_item_lg2(2), to0 = 3ULL << pt_item_lg2(1);
	u64 page = 7ULL << pt_item_lg2(0);
	pt_item_t *table[3], attrs, leaf, large, tombstone;
	unsigned long top;
	struct pt_pos pos;
	unsigned int i;

	BUILD_BUG_ON(PTF_MAX_LEVELS < 3);
	for (i = 0; i < 3; i++) {
		table[i] =
			(void *)kunit_kzalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, table[i]);
		table[i] = PTR_ALIGN(table[i], PAGE_SIZE);
	}
	KUNIT_ASSERT_EQ(test, 0, ptf_attrs(common, KT_RW, &attrs));
	leaf = ptf_leaf_item(attrs, 0, 0, PTF_GRANULE_LG2);
	large = ptf_leaf_item(attrs, 0, 1, pt_item_lg2(1));
	table[2][5] = ptf_table_item(common, pt_env_table_oa(table[1]), 2);
	table[1][3] = ptf_table_item(common, pt_env_table_oa(table[0]), 1);
	table[0][7] = leaf;
	table[1][4] = large;
	tombstone = ptf_tombstone(table[1][3]);
	table[1][6] = tombstone;

	top = pt_top_encode(table[2], 2);
	KUNIT_EXPECT_PTR_EQ(test, table[2], pt_top_table(top));
	KUNIT_EXPECT_EQ(test, 2, pt_top_level(top));

	/* To the leaf, and to each level above it */
	for (i = 0; i < 3; i++) {
		pos = kt_walk(common, top, to1 | to0 | page, i);
		KUNIT_EXPECT_EQ(test, pos.level, i);
		KUNIT_EXPECT_PTR_EQ(test, pos.slot,
				    &table[i][i == 2 ? 5 :
					      i	     ? 3 :
						       7]);
		KUNIT_EXPECT_EQ(test, pos.item, *pos.slot);
	}
	/* Next to it, where nothing is */
	pos = kt_walk(common, top, (to1 | to0 | page) + (page / 7), 0);
	KUNIT_EXPECT_EQ(test, pos.level, 0);
	KUNIT_EXPECT_PTR_EQ(test, pos.slot, &table[0][8]);
	KUNIT_EXPECT_EQ(test, pos.item, 0);
	/* It ends where the path does */
	pos = kt_walk(common, top, page, 0);
	KUNIT_EXPECT_EQ(test, pos.level, 2);
	KUNIT_EXPECT_PTR_EQ(test, pos.slot, &table[2][0]);
	KUNIT_EXPECT_EQ(test, pos.item, 0);
	pos = kt_walk(common, top, to1, 0);
	KUNIT_EXPECT_EQ(test, pos.level, 1);
	KUNIT_EXPECT_PTR_EQ(test, pos.slot, &table[1][0]);
	KUNIT_EXPECT_EQ(test, pos.item, 0);
	/* Or at a leaf above, or a tombstone */
	pos = kt_walk(common, top, to1 | (to0 / 3 * 4) | page, 0);
	KUNIT_EXPECT_EQ(test, pos.level, 1);
	KUNIT_EXPECT_PTR_EQ(test, pos.slot, &table[1][4]);
	KUNIT_EXPECT_EQ(test, pos.item, large);
	pos = kt_walk(common, top, to1 | (to0 / 3 * 6) | page, 0);
	KUNIT_EXPECT_EQ(test, pos.level, 1);
	KUNIT_EXPECT_PTR_EQ(test, pos.slot, &table[1][6]);
	KUNIT_EXPECT_EQ(test, pos.item, tombstone);
	/* A top that is below the target is as far as it gets */
	pos = kt_walk(common, pt_top_encode(table[0], 0), page, 1);
	KUNIT_EXPECT_EQ(test, pos.level, 0);
	KUNIT_EXPECT_PTR_EQ(test, pos.slot, &table[0][7]);
	/* It stores nothing */
	KUNIT_EXPECT_EQ(test, table[1][6], tombstone);
	KUNIT_EXPECT_EQ(test, table[0][7], leaf);
}

static struct kunit_case kt_fmt_cases[] = {
	KT_CASE(fmt_leaf),	KT_CASE(fmt_leaf_step),
	KT_CASE(fmt_sizes),	KT_CASE(fmt_table),
	KT_CASE(fmt_empty),	KT_CASE(fmt_tombstone),
	KT_CASE(fmt_geometry),	KUNIT_CASE(log2_edges),
	KT_CASE(walk_contract), {},
};

KT_SUITE(fmt);

#endif /* __GENERIC_PT_KUNIT_FMT_H */
