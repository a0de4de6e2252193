/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: walkers that do not snoop the CPU's cache
 *
 * In configurations with PT_FEAT_DMA_INCOHERENT the hardware of all suites sees
 * what was written back only, see kt_hw_items(). After each operation that is
 * all there is (kt_count_table()), and no pointer goes to memory before the
 * table that it leads to (kt_writeback()). Here are the number of writes, their
 * order, and callers that share a table.
 */
#ifndef __GENERIC_PT_KUNIT_INCOHERENT_H
#define __GENERIC_PT_KUNIT_INCOHERENT_H

#include "kunit_dirty.h"
#include "kunit_ops.h"

/* The item of an IOVA in the table of a level, from the top down */
static u64 *kt_slot(struct kt *kt, u64 iova, unsigned int level)
{
	unsigned int at = kt->hw_level;
	u64 *table = kt_hw_table(kt->hw_root);

	for (;; at--) {
		u64 index = (iova >> kt_item_lg2(at)) % PTF_ITEMS;

		if (at == level)
			return &table[index];
		table = kt_hw_table(
			ptf_table_oa(ptf_common(kt_iommu(kt)), table[index]));
	}
}

/* Expect one write, of so many items of the leaf table */
static void kt_expect_write(struct kt *kt, u64 iova, unsigned int nr)
{
	KUNIT_ASSERT_EQ(kt->test, kt->nr_writebacks, 1);
	KUNIT_EXPECT_PTR_EQ(kt->test, kt->writeback[0].items,
			    (const u64 *)kt_slot(kt, iova, kt_leaf_level(kt)));
	KUNIT_EXPECT_EQ(kt->test, kt->writeback[0].bytes, nr * 8);
	kt->nr_writebacks = 0;
}

/* A run of leaves is written once, be it one page or many; so is its end */
static void incoherent_once_per_run(struct kunit *test)
{
	static const unsigned int runs[] = { 1, 2, 7, 8, 9, 64, 300 };
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	/* The table is there, and stays */
	kt_map(kt, 500 * size, 0, size, KT_RW);
	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		kt->nr_writebacks = 0;
		/* OA is off by one page, so that no larger leaf fits */
		kt_map(kt, 3 * size, 4 * size, runs[i] * size, KT_RW);
		kt_expect_write(kt, 3 * size, runs[i]);
		KUNIT_EXPECT_EQ(test, runs[i] * size,
				kt_unmap(kt, 3 * size, runs[i] * size));
		kt_expect_write(kt, 3 * size, runs[i]);
	}
	kt_check(kt);
}

/* A run that meets something, or a hole, is written as far as it got */
static void incoherent_part_of_a_run(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 mapped;

	kt_map(kt, 20 * size, 0, size, KT_RW);
	kt->nr_writebacks = 0;
	KUNIT_EXPECT_EQ(test, -EADDRINUSE,
			kt_try_map(kt, 3 * size, 4 * size, 40 * size, KT_RW,
				   &mapped));
	KUNIT_EXPECT_EQ(test, mapped, 17 * size);
	KUNIT_EXPECT_GE(test, kt->nr_writebacks, 1);
	KUNIT_EXPECT_EQ(test, kt->writeback[0].bytes, 17 * 8);
	kt_check(kt);
	kt->nr_writebacks = 0;
	KUNIT_EXPECT_EQ(test, 18 * size, kt_unmap(kt, 3 * size, 100 * size));
	KUNIT_EXPECT_GE(test, kt->nr_writebacks, 1);
	KUNIT_EXPECT_EQ(test, kt->writeback[0].bytes, 18 * 8);
	kt_check(kt);
}

/* Leaves above the lowest level, and tables that leave whole */
static void incoherent_above_the_lowest_level(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int level = kt_leaf_level(kt) + 1;
	u64 len = 1ULL << kt_item_lg2(level), size = 1ULL << kt->min_lg2;
	bool no_gaps = kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS);

	kt_map(kt, 100 * len, 0, size, KT_RW);
	if (kt->sizes & len) {
		kt->nr_writebacks = 0;
		kt_map(kt, 3 * len, len, 20 * len, KT_RW);
		KUNIT_EXPECT_EQ(test, kt->nr_writebacks, 1);
		KUNIT_EXPECT_EQ(test, kt->writeback[0].bytes, 20 * 8);
		KUNIT_EXPECT_PTR_EQ(test, kt->writeback[0].items,
				    (const u64 *)kt_slot(kt, 3 * len, level));
		kt->nr_writebacks = 0;
		KUNIT_EXPECT_EQ(test, 20 * len,
				kt_unmap(kt, 3 * len, 20 * len));
		KUNIT_EXPECT_EQ(test, kt->nr_writebacks, 1);
		KUNIT_EXPECT_EQ(test, kt->writeback[0].bytes, 20 * 8);
	}
	/* Two full tables: their pointers go, and nothing else is written */
	kt_map(kt, 3 * len, size, 2 * len, KT_RW);
	kt->nr_writebacks = 0;
	KUNIT_EXPECT_EQ(test, 2 * len, kt_unmap(kt, 3 * len, 2 * len));
	if (!no_gaps) {
		KUNIT_EXPECT_EQ(test, kt->nr_writebacks, 1);
		KUNIT_EXPECT_EQ(test, kt->writeback[0].bytes, 2 * 8);
	}
	kt_check(kt);
}

/* The table whose pointer is not stored yet while it is written */
static void kt_not_reached_yet(struct kt *kt, const u64 *items, size_t bytes)
{
	unsigned int level;

	if (bytes != PTF_TABLE_BYTES)
		return;
	/* By the CPU's view, which is ahead of memory's */
	for (level = kt->hw_level; level; level--) {
		const u64 *slot = kt_slot(kt, 0, level);

		if (!*slot)
			return;
		if (kt_hw_table(ptf_table_oa(ptf_common(kt_iommu(kt)),
					     *slot)) == items)
			kt_complain(
				kt,
				"a table is in the tree before it is in memory");
	}
}

/* A path of new tables: each as a whole, the lowest first, then one pointer */
static void incoherent_new_tables(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int level = kt_leaf_level(kt), nr = kt->hw_level - level, i;
	u64 size = 1ULL << kt->min_lg2;

	kt->before_writeback = kt_not_reached_yet;
	kt->nr_writebacks = 0;
	kt_map(kt, 0, size, 3 * size, KT_RW);
	KUNIT_ASSERT_EQ(test, kt->nr_writebacks, nr + 1);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, kt->writeback[i].bytes, PTF_TABLE_BYTES);
		KUNIT_EXPECT_PTR_EQ(test, kt->writeback[i].items,
				    (const u64 *)kt_slot(kt, 0, level + i));
	}
	KUNIT_EXPECT_EQ(test, kt->writeback[nr].bytes, 8);
	KUNIT_EXPECT_PTR_EQ(test, kt->writeback[nr].items,
			    (const u64 *)kt_slot(kt, 0, kt->hw_level));
	kt_expect_no_complaint(kt);
	kt_check(kt);
}

/*
 * Tables that are removed: their tombstones are in memory before the flush
 * (hardware does not reach them, see kt_see_freelist()), and so are the empty
 * items in the end
 */
static void incoherent_removed_tables(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int level = kt_leaf_level(kt), i, nr = PT_IOMMU_PARKED + 3;
	u64 len = 1ULL << kt_item_lg2(level + 1);
	u64 size = 1ULL << kt->min_lg2;

	for (i = 0; i < nr; i++)
		kt_map(kt, i * len, 0, size, KT_RW);
	for (i = 0; i < nr; i++) {
		unsigned int j;

		kt->nr_writebacks = 0;
		kt_unmap(kt, i * len, size);
		/* The leaf, and then twice the pointers of all that are parked */
		if (i != PT_IOMMU_PARKED) {
			KUNIT_EXPECT_EQ(test, kt->nr_writebacks, 1);
			kt_check(kt);
			continue;
		}
		KUNIT_ASSERT_EQ(test, kt->nr_writebacks, 1 + 2 * i);
		for (j = 0; j < 2 * i; j++) {
			const u64 *slot = kt_slot(kt, j % i * len, level + 1);

			KUNIT_EXPECT_PTR_EQ(test, kt->writeback[1 + j].items,
					    slot);
		}
		kt_check(kt);
	}
}

/* Clearing dirty bits is written once a stretch, reading them never */
static void incoherent_dirty(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	if (!PTF_DIRTY)
		kunit_skip(test, "no dirty bits");
	kt_map(kt, 0, size, 64 * size, KT_RW);
	kt_set_dirty(kt, 10 * size);
	kt_set_dirty(kt, 30 * size);
	kt->nr_writebacks = 0;
	kt_scan_range(kt, 0, 64 * size, IOMMU_DIRTY_NO_CLEAR);
	KUNIT_EXPECT_EQ(test, kt->nr_writebacks, 0);
	kt_scan_range(kt, 0, 64 * size, 0);
	kt_expect_write(kt, 10 * size, 21);
	kt_scan_range(kt, 0, 64 * size, 0);
	KUNIT_EXPECT_EQ(test, kt->nr_writebacks, 0);
	kt_check(kt);
}

/* Take a pointer back out of memory, as if it was stored but not flushed */
static void kt_hide(struct kt *kt, u64 iova, unsigned int level)
{
	u64 *slot = kt_slot(kt, iova, level);

	*slot &= ~PT_SW_FLUSHED;
	((u64 *)kt_hw_items(
		kt, PTR_ALIGN_DOWN(
			    slot, PTF_TABLE_BYTES)))[offset_in_page(slot) / 8] =
		0;
}

/*
 * Map where somebody else has stored some of the pointers on the way and not
 * flushed them yet: those of a set of levels, counted from the leaf table's. The
 * map returns when hardware sees them.
 */
static void kt_map_below_hidden(struct kt *kt, unsigned int set, u64 iova,
				u64 len, u64 expected)
{
	unsigned int leaf = kt_leaf_level(kt), level;
	u64 size = 1ULL << kt->min_lg2, mapped;

	kt_map(kt, 0, size, size, KT_RW);
	kt_map(kt, 32 * size, 0, size, KT_RW);
	for (level = leaf + 1; level <= kt->hw_level; level++)
		if (set & (1U << (level - leaf - 1)))
			kt_hide(kt, 0, level);
	kt_try_map(kt, iova, 2 * size, len, KT_RW, &mapped);
	KUNIT_EXPECT_EQ(kt->test, mapped, expected);
	kt_expect_model(kt, iova);
	kt_expect_model(kt, iova + mapped - 1);
	kt_check(kt);
	/* What is flushed is not flushed again */
	kt_unmap(kt, iova, mapped);
	kt->nr_writebacks = 0;
	kt_map(kt, 4 * size, 2 * size, size, KT_RW);
	KUNIT_EXPECT_EQ(kt->test, kt->nr_writebacks, 1);
	kt_unmap(kt, 4 * size, size);
	kt_unmap(kt, 0, size);
	kt_unmap(kt, 32 * size, size);
}

/* Any set of pointers, and each way to map below them */
static void incoherent_pointers_of_others(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int leaf = kt_leaf_level(kt), nr = kt->hw_level - leaf;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int set;

	for (set = 1; set < 1U << nr; set++) {
		/* One page, a run, a run up to what is mapped */
		kt_map_below_hidden(kt, set, 4 * size, size, size);
		kt_map_below_hidden(kt, set, 8 * size, 9 * size, 9 * size);
		kt_map_below_hidden(kt, set, 24 * size, 9 * size, 8 * size);
		/* A new table each time, next to the one of the lowest pointer */
		if (!(set & 1))
			kt_map_below_hidden(kt, set,
					    (u64)set << kt_item_lg2(leaf + 1),
					    size, size);
	}
}

static bool kt_second_done;

/* A second caller comes by while the first one is about to flush its pointer */
static void kt_second_caller(struct kt *kt, const u64 *items, size_t bytes)
{
	u64 iova = 7ULL << kt->min_lg2;

	if (bytes != 8 || kt_second_done ||
	    items != kt_slot(kt, 0, kt->hw_level))
		return;
	kt_second_done = true;
	kt->before_writeback = NULL;
	kt_expect_hole(kt, iova + (1ULL << kt->min_lg2));
	kt_map(kt, iova, 0, 1ULL << kt->min_lg2, KT_RW);
	/* It has returned: a device may use what it mapped */
	kt_expect_mapped(kt, iova, 0, 1ULL << kt->min_lg2, KT_RW);
}

/* Two callers that share a fresh table both return when hardware sees it */
static void incoherent_two_callers(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_second_done = false;
	kt->before_writeback = kt_second_caller;
	kt_map(kt, 0, 3 * size, size, KT_RW);
	KUNIT_EXPECT_TRUE(test, kt_second_done);
	kt_expect_mapped(kt, 0, 3 * size, size, KT_RW);
	kt_check(kt);
}

static struct kunit_case kt_incoherent_cases[] = {
	KT_CASE_INCOHERENT(incoherent_once_per_run),
	KT_CASE_INCOHERENT(incoherent_part_of_a_run),
	KT_CASE_INCOHERENT(incoherent_above_the_lowest_level),
	KT_CASE_INCOHERENT(incoherent_new_tables),
	KT_CASE_INCOHERENT(incoherent_removed_tables),
	KT_CASE_INCOHERENT(incoherent_dirty),
	KT_CASE_INCOHERENT(incoherent_pointers_of_others),
	KT_CASE_INCOHERENT(incoherent_two_callers),
	{},
};

KT_SUITE(incoherent);

#endif /* __GENERIC_PT_KUNIT_INCOHERENT_H */
