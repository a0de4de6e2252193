/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: the top grows
 */
#ifndef __GENERIC_PT_KUNIT_GROW_H
#define __GENERIC_PT_KUNIT_GROW_H

#include "kunit_ops.h"

/* The highest level that an aperture needs */
static unsigned int kt_highest_level(struct kt *kt)
{
	unsigned int level = kt->cfg->top_level;

	while (kt_item_lg2(level + 1) <= pt_floor_lg2(kt->last))
		level++;
	return level;
}

/* The first IOVA that a tree of a level does not reach */
static u64 kt_beyond(unsigned int level)
{
	return 1ULL << kt_item_lg2(level + 1);
}

/* Each level comes when an IOVA needs it, and what is mapped stays so */
static void grow_level_by_level(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int first = kt->cfg->top_level, level, grown = 0;
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, 0, size, 4 * size, KT_RW);
	KUNIT_EXPECT_EQ(test, kt->nr_growths, 0);
	for (level = first; level < kt_highest_level(kt); level++) {
		/* The last page that it reaches, then the first beyond */
		kt_map(kt, kt_beyond(level) - size, 0, size, KT_RW);
		KUNIT_EXPECT_EQ(test, kt->nr_growths, grown);
		kt_map(kt, kt_beyond(level), 0, size, KT_RW);
		grown++;
		KUNIT_ASSERT_EQ(test, kt->nr_growths, grown);
		KUNIT_EXPECT_EQ(test, kt->growth[grown - 1].level, level + 1);
		/* All that was there could be reached, and nothing new */
		KUNIT_EXPECT_EQ(test, kt->growth[grown - 1].leaves,
				kt->nr_leaves - 1);
		kt_expect_edges(kt, 0, 4 * size);
		kt_expect_edges(kt, kt_beyond(level) - size, 2 * size);
		kt_check(kt);
	}
	KUNIT_EXPECT_EQ(test, kt->hw_level, kt_highest_level(kt));
}

/* From the lowest to the highest at once, one change of the top a level */
static void grow_all_levels_at_once(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int first = kt->cfg->top_level;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	kt_map(kt, 0, size, 4 * size, KT_RW);
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	KUNIT_ASSERT_EQ(test, kt->nr_growths, kt_highest_level(kt) - first);
	for (i = 0; i < kt->nr_growths; i++) {
		KUNIT_EXPECT_EQ(test, kt->growth[i].level, first + 1 + i);
		/* Before the new range is mapped */
		KUNIT_EXPECT_EQ(test, kt->growth[i].leaves, 4);
	}
	kt_expect_edges(kt, 0, 4 * size);
	kt_expect_edges(kt, kt->last - size + 1, size);
	kt_check(kt);
}

/* One range that begins below the reach and ends above it */
static void grow_within_one_range(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int level;
	u64 size = 1ULL << kt->min_lg2;

	for (level = kt->cfg->top_level; level < kt_highest_level(kt);
	     level++) {
		u64 iova = kt_beyond(level) - 3 * size;

		kt_map(kt, iova, size, 7 * size, KT_RW);
		kt_expect_edges(kt, iova, 7 * size);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, 7 * size, kt_unmap(kt, iova, 7 * size));
	}
	kt_check(kt);
}

/* A leaf at IOVA 0 that needs a higher level than its IOVA does */
static void grow_for_a_large_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		unsigned int level = (lg2 - PTF_GRANULE_LG2) / PTF_INDEX_LG2;
		unsigned int before = kt->hw_level;

		if (!kt_fits(kt, 0, 1ULL << lg2))
			break;
		kt_map(kt, 0, 0, 1ULL << lg2, KT_RW);
		KUNIT_EXPECT_EQ(test, kt->hw_level, max(before, level));
		kt_expect_edges(kt, 0, 1ULL << lg2);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, 1ULL << lg2,
				kt_unmap(kt, 0, 1ULL << lg2));
	}
}

/* What does not reach beyond does not grow: lookup, unmap, dirty scan */
static void grow_only_by_map(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 beyond = kt_beyond(kt->hw_level);
	struct iommu_iotlb_gather gather;
	struct iommu_dirty_bitmap dirty;

	/* At 0, where a walk ends that drops the high bits */
	kt_map(kt, 0, 0, size, KT_RW);
	kt_expect_hole(kt, beyond);
	KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, beyond, size));
	KUNIT_EXPECT_EQ(test, -ENOENT, kt_op_set_dirty(kt, beyond));
	iommu_dirty_bitmap_init(&dirty, NULL, &gather);
	KUNIT_EXPECT_EQ(test, 0, kt_op_dirty(kt, beyond, size, 0, &dirty));
	KUNIT_EXPECT_EQ(test, gather.end, 0);
	KUNIT_EXPECT_EQ(test, kt->nr_growths, 0);
	kt_check(kt);
}

/* No memory for the new top: nothing is mapped, and all goes on as before */
static void grow_without_memory(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int levels = kt_highest_level(kt) - kt->cfg->top_level;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;
	u64 mapped;

	kt_map(kt, 0, size, 4 * size, KT_RW);
	for (i = 1; i <= levels; i++) {
		/* The i-th new top fails; those before may stay */
		kt->fail_at = kt->nr_calls + i - kt->nr_growths;
		kt->fail_nr = 1;
		KUNIT_EXPECT_EQ(test, -ENOMEM,
				kt_try_map(kt, kt->last - size + 1, 0, size,
					   KT_RW, &mapped));
		KUNIT_EXPECT_EQ(test, mapped, 0);
		KUNIT_EXPECT_LT(test, kt->nr_growths, i);
		kt_expect_edges(kt, 0, 4 * size);
		kt_expect_hole(kt, kt->last);
		kt_check(kt);
	}
	kt->fail_at = 0;
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	KUNIT_EXPECT_EQ(test, kt->nr_growths, levels);
	kt_check(kt);
}

/* An empty tree grows too, and the tables that it grew out of do not stay */
static void grow_an_empty_tree(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, kt->last - size + 1, size));
	kt_check(kt);
	kt_map(kt, 0, 0, size, KT_RW);
	kt_check(kt);
}

/* hw_info tells the new top after growth */
static void grow_shows_in_hw_info(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int level;
	u64 root;

	if (kt_highest_level(kt) == kt->cfg->top_level)
		kunit_skip(test, "all addresses are covered from the start");
	root = kt_fmt_root(kt->cfg, &kt->table, &level);
	KUNIT_EXPECT_EQ(test, level, kt->cfg->top_level);
	KUNIT_EXPECT_EQ(test, root, kt->hw_root);
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	KUNIT_EXPECT_NE(test, root, kt_fmt_root(kt->cfg, &kt->table, &level));
	KUNIT_EXPECT_EQ(test, kt->hw_root,
			kt_fmt_root(kt->cfg, &kt->table, &level));
	KUNIT_EXPECT_EQ(test, level, kt->hw_level);
}

static struct kunit_case kt_grow_cases[] = {
	KT_CASE_GROWING(grow_level_by_level),
	KT_CASE_GROWING(grow_all_levels_at_once),
	KT_CASE_GROWING(grow_within_one_range),
	KT_CASE_GROWING(grow_for_a_large_leaf),
	KT_CASE_GROWING(grow_only_by_map),
	KT_CASE_GROWING(grow_without_memory),
	KT_CASE_GROWING(grow_an_empty_tree),
	KT_CASE_GROWING(grow_shows_in_hw_info),
	{},
};

KT_SUITE(grow);

#endif /* __GENERIC_PT_KUNIT_GROW_H */
