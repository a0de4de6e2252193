/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: one caller in the middle of another
 *
 * The library calls out when it allocates and when it flushes. What another CPU,
 * or an interrupt, may do at that moment is done right there, so that each case
 * comes the same way each time. Both callers own ranges that are disjoint.
 */
#ifndef __GENERIC_PT_KUNIT_RACE_H
#define __GENERIC_PT_KUNIT_RACE_H

#include "kunit_flush.h"
#include "kunit_grow.h"

/* What the second caller maps: pages of a table that the first one is at */
#define KT_INNER_PAGES 8

static void kt_inner_map(struct kt *kt)
{
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, kt->inner, size, KT_INNER_PAGES * size, KT_RW);
	kt_expect_edges(kt, kt->inner, KT_INNER_PAGES * size);
}

/* All of a table, without a larger leaf */
static void kt_inner_map_table(struct kt *kt)
{
	kt_fill_table(kt, kt->inner);
}

/* One leaf in place of a table */
static void kt_inner_map_leaf(struct kt *kt)
{
	kt_map(kt, kt->inner, 0, 1ULL << kt_table_lg2(kt), KT_RW);
}

/* Map, and unmap again: what the first caller removes is empty once more */
static void kt_inner_map_and_unmap(struct kt *kt)
{
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, kt->inner, size, KT_INNER_PAGES * size, KT_RW);
	kt_gather_now(kt, kt->inner, KT_INNER_PAGES * size);
}

/* Look, and scan: nothing is there */
static void kt_inner_look(struct kt *kt)
{
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_iotlb_gather gather;
	struct iommu_dirty_bitmap dirty;

	kt_expect_hole(kt, kt->inner);
	iommu_iotlb_gather_init(&gather);
	KUNIT_EXPECT_EQ(kt->test, 0, kt_op_unmap(kt, kt->inner, size, &gather));
	if (!PTF_DIRTY)
		return;
	iommu_dirty_bitmap_init(&dirty, NULL, &gather);
	KUNIT_EXPECT_EQ(kt->test, 0,
			kt_op_dirty(kt, kt->inner, size, 0, &dirty));
	KUNIT_EXPECT_EQ(kt->test, gather.end, 0);
}

/* Have the first table removed, and call @inner at its flush number @at */
static void kt_race_removal(struct kt *kt, void (*inner)(struct kt *kt),
			    unsigned int at)
{
	u64 len = 1ULL << kt_table_lg2(kt);
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	for (i = 0; i <= PT_IOMMU_PARKED; i++)
		kt_map(kt, (i + 1) * len - size, 0, size, KT_RW);
	for (i = 0; i < PT_IOMMU_PARKED; i++)
		kt_gather_now(kt, (i + 1) * len - size, size);
	kt_check(kt);

	kt->inner = 0;
	kt->on_flush = (struct kt_hook){ .call = inner, .skip = at };
	kt->racing = true;
	kt_gather_now(kt, (i + 1) * len - size, size);
	kt->racing = false;
	KUNIT_EXPECT_NULL(kt->test, kt->on_flush.call);
	kt_check(kt);
	/* All goes on as ever */
	kt_unmap(kt, 0, len);
	kt_check(kt);
	KUNIT_EXPECT_EQ(kt->test, kt->nr_leaves, 0);
	kt_map(kt, 0, 0, size, KT_RW);
	kt_check(kt);
	kt_unmap(kt, 0, size);
}

/* At each flush of a removal: before the pointer goes, and when it is gone */
static void kt_race_each_flush(struct kt *kt, void (*inner)(struct kt *kt))
{
	unsigned int i;

	kt_need_tables(kt, PT_IOMMU_PARKED + 1);
	for (i = 0; i < 1 + kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS); i++)
		kt_race_removal(kt, inner, i);
}

/* A map comes to a table that another caller is removing */
static void race_map_and_removal(struct kunit *test)
{
	kt_race_each_flush(test->priv, kt_inner_map);
}

/* It needs all of that table */
static void race_map_of_all_and_removal(struct kunit *test)
{
	kt_race_each_flush(test->priv, kt_inner_map_table);
}

/* It brings a leaf that takes the table's place */
static void race_leaf_and_removal(struct kunit *test)
{
	struct kt *kt = test->priv;

	if (!(kt->sizes & (1ULL << kt_table_lg2(kt))))
		kunit_skip(test, "no leaf of that size");
	kt_race_each_flush(kt, kt_inner_map_leaf);
}

/* It is gone again before the first caller goes on */
static void race_map_and_unmap_and_removal(struct kunit *test)
{
	kt_race_each_flush(test->priv, kt_inner_map_and_unmap);
}

/* Lookup, unmap and dirty scan find nothing there, and do no harm */
static void race_look_and_removal(struct kunit *test)
{
	kt_race_each_flush(test->priv, kt_inner_look);
}

/* Two maps need the same table, and both allocate it */
static void race_two_maps(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 outer = kt->last - 64 * size + 1;
	unsigned int at;

	for (at = 0; at < 20; at++) {
		kt->inner = outer + 48 * size;
		kt->on_alloc =
			(struct kt_hook){ .call = kt_inner_map, .skip = at };
		kt_map(kt, outer, 0, 32 * size, KT_RW);
		kt_expect_edges(kt, outer, 32 * size);
		kt_check(kt);
		if (kt->on_alloc.call)
			break;
		kt_unmap(kt, outer, 32 * size);
		kt_unmap(kt, kt->inner, KT_INNER_PAGES * size);
		kt_check(kt);
		/* From the start, so that all has to be allocated again */
		kt_stop(kt);
		kt->nr_growths = 0;
		KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
	}
	/* One level has all its tables from the start */
	KUNIT_EXPECT_GE(test, at, min(kt->hw_level, 1U));
	kt->on_alloc.call = NULL;
}

/* Two maps need the same growth */
static void race_two_growths(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int levels = kt_highest_level(kt) - kt->cfg->top_level;
	u64 size = 1ULL << kt->min_lg2;
	u64 outer = kt->last - 64 * size + 1;

	kt_map(kt, 0, 0, size, KT_RW);
	/* The second caller needs half of the levels, more or less */
	kt->inner = 1ULL << kt_item_lg2(kt->cfg->top_level + 1 + levels / 2);
	if (!kt_fits(kt, kt->inner, 64 * size))
		kt->inner = outer - 64 * size;
	kt->on_alloc.call = kt_inner_map;
	kt_map(kt, outer, 0, size, KT_RW);
	KUNIT_EXPECT_EQ(test, kt->nr_growths, levels);
	KUNIT_EXPECT_NULL(test, kt->on_alloc.call);
	kt_expect_edges(kt, 0, size);
	kt_expect_edges(kt, kt->inner, KT_INNER_PAGES * size);
	kt_check(kt);
}

static struct kunit_case kt_race_cases[] = {
	KT_CASE(race_map_and_removal),
	KT_CASE(race_map_of_all_and_removal),
	KT_CASE(race_leaf_and_removal),
	KT_CASE(race_map_and_unmap_and_removal),
	KT_CASE(race_look_and_removal),
	KT_CASE(race_two_maps),
	KT_CASE_GROWING(race_two_growths),
	{},
};

KT_SUITE(race);

#endif /* __GENERIC_PT_KUNIT_RACE_H */
