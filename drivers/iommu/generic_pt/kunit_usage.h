/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: table memory of a domain, its limit, and how it is taken back
 *
 * That the number of tables is true is checked by kt_check() in all suites.
 */
#ifndef __GENERIC_PT_KUNIT_USAGE_H
#define __GENERIC_PT_KUNIT_USAGE_H

#include <linux/delay.h>

#include "kunit_life.h"

static struct pt_iommu_info kt_info(struct kt *kt)
{
	struct pt_iommu_info info;

	kt_iommu(kt)->ops->get_info(kt_iommu(kt), &info);
	return info;
}

/* IOVA of the last page of a table of smallest leaves */
static u64 kt_table_page(struct kt *kt, unsigned int nr)
{
	return ((u64)(nr + 1) << kt_table_lg2(kt)) - (1ULL << kt->min_lg2);
}

/* Peak, tables that were freed, and their size, for a range that comes and goes */
static void usage_of_a_dense_range(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 len = 5ULL << kt_table_lg2(kt);
	struct pt_iommu_info full, info = kt_info(kt);

	KUNIT_EXPECT_EQ(test, 1, info.tables);
	KUNIT_EXPECT_EQ(test, PTF_TABLE_BYTES, info.table_bytes);
	KUNIT_EXPECT_EQ(test, 1, info.peak_tables);
	KUNIT_EXPECT_EQ(test, 0, info.freed_tables);
	KUNIT_EXPECT_EQ(test, 0, info.reused_tables);
	if (!kt_fits(kt, 0, len))
		kunit_skip(test, "fewer tables than that");

	kt_map(kt, 0, size, len, KT_RW);
	full = kt_info(kt);
	KUNIT_EXPECT_EQ(test, kt_check(kt).tables, full.tables);
	KUNIT_EXPECT_EQ(test, (u64)full.tables * PTF_TABLE_BYTES,
			full.table_bytes);
	KUNIT_EXPECT_GE(test, full.peak_tables, full.tables);

	kt_unmap(kt, 0, len);
	kt_iommu(kt)->ops->reclaim(kt_iommu(kt));
	info = kt_info(kt);
	KUNIT_EXPECT_EQ(test, kt_check(kt).tables, info.tables);
	KUNIT_EXPECT_EQ(test, full.peak_tables, info.peak_tables);
	KUNIT_EXPECT_EQ(test, full.tables - info.tables, info.freed_tables);
	KUNIT_EXPECT_NE(test, 0, info.freed_tables);
}

/* A table that is empty now and then is kept; that it was is told later */
static void usage_of_a_ring(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i, calls = 0;

	if (!kt_fits(kt, 0, kt_table_page(kt, PT_IOMMU_PARKED) + size))
		kunit_skip(test, "fewer tables than that");
	/* So that none of them is the top */
	kt_map(kt, kt_table_page(kt, PT_IOMMU_PARKED), 0, size, KT_RW);
	for (i = 0; i < 20; i++) {
		kt_map(kt, kt_table_page(kt, 0), 0, size, KT_RW);
		/* Nothing is allocated after the first time */
		KUNIT_EXPECT_TRUE(test, !i || calls == kt->nr_calls);
		calls = kt->nr_calls;
		kt_unmap(kt, kt_table_page(kt, 0), size);
		kt_check(kt);
		/* Once, when it is parked */
		KUNIT_EXPECT_EQ(test, kt->trim, !i);
		kt->trim = false;
	}
	KUNIT_EXPECT_EQ(test, 0, kt_info(kt).freed_tables);
	/* It is in use when others need its place */
	kt_map(kt, kt_table_page(kt, 0), 0, size, KT_RW);
	for (i = 1; i <= PT_IOMMU_PARKED; i++) {
		KUNIT_EXPECT_EQ(test, 0, kt_info(kt).reused_tables);
		if (i != PT_IOMMU_PARKED)
			kt_map(kt, kt_table_page(kt, i), 0, size, KT_RW);
		kt_unmap(kt, kt_table_page(kt, i), size);
		kt_check(kt);
	}
	KUNIT_EXPECT_EQ(test, 1, kt_info(kt).reused_tables);
	KUNIT_EXPECT_EQ(test, 0, kt_info(kt).freed_tables);
}

/* A map that would pass the limit fails, and leaves what it reports */
static void usage_has_a_limit(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 len = 40ULL << kt_table_lg2(kt);
	unsigned int before, peak, room;
	u64 mapped;

	if (!kt_fits(kt, 0, len))
		kunit_skip(test, "fewer tables than that");
	/* The top grows as far as it must */
	kt_map(kt, len, 0, size, KT_RW);
	kt_iommu(kt)->ops->reclaim(kt_iommu(kt));
	before = kt_check(kt).tables;
	peak = kt_info(kt).peak_tables;
	for (room = 0; room < 20; room++) {
		kt_iommu(kt)->max_tables = before + room;
		KUNIT_ASSERT_EQ(test, -EDQUOT,
				kt_try_map(kt, 0, size, len, KT_RW, &mapped));
		/* Whole tables, and no more than there is room for */
		KUNIT_EXPECT_TRUE(test,
				  pt_is_aligned(mapped, kt_table_lg2(kt)));
		KUNIT_EXPECT_LE(test, mapped >> kt_table_lg2(kt), room);
		KUNIT_EXPECT_LE(test, kt_check(kt).tables, before + room);
		KUNIT_EXPECT_LE(test, kt_info(kt).peak_tables,
				max(peak, before + room));
		KUNIT_EXPECT_TRUE(test, mapped || room < PTF_MAX_LEVELS);
		/* Where tables are, a map needs none */
		kt_map(kt, len + size, 0, size, KT_RW);
		kt_unmap(kt, len + size, size);
		if (mapped)
			KUNIT_EXPECT_EQ(test, mapped, kt_unmap(kt, 0, mapped));
		kt_iommu(kt)->ops->reclaim(kt_iommu(kt));
		KUNIT_EXPECT_EQ(test, before, kt_check(kt).tables);
	}
	/* Below what is in use: nothing is taken away */
	kt_iommu(kt)->max_tables = 1;
	KUNIT_EXPECT_EQ(test, -EDQUOT,
			kt_try_map(kt, 0, 0, size, KT_RW, &mapped));
	KUNIT_EXPECT_EQ(test, 0, mapped);
	KUNIT_EXPECT_EQ(test, before, kt_check(kt).tables);
	kt_iommu(kt)->max_tables = 0;
	kt_map(kt, 0, size, len, KT_RW);
	kt_check(kt);
}

/* Growth is within the limit too */
static void usage_limits_growth(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int level = kt->hw_level;
	u64 mapped;

	kt_iommu(kt)->max_tables = 1;
	KUNIT_EXPECT_EQ(test, -EDQUOT,
			kt_try_map(kt, kt->last - size + 1, 0, size, KT_RW,
				   &mapped));
	KUNIT_EXPECT_EQ(test, level, kt->hw_level);
	kt_check(kt);
	kt_iommu(kt)->max_tables = 0;
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	kt_check(kt);
}

/* Empty tables can be taken back, those that hold something cannot */
static void kt_give_back(struct kt *kt, bool shrinker)
{
	struct pt_iommu *iommu = kt_iommu(kt);
	u64 size = 1ULL << kt->min_lg2;
	struct shrink_control control = { .nr_to_scan = ULONG_MAX };
	unsigned int before, left, i;

	for (i = 0; i < 3; i++) {
		kt_map(kt, kt_table_page(kt, i), 0, size, KT_RW);
		kt_map(kt, kt_table_page(kt, i) - size, 0, size, KT_RW);
	}
	kt_unmap(kt, kt_table_page(kt, 0), size);
	kt_unmap(kt, kt_table_page(kt, 0) - size, size);
	kt_unmap(kt, kt_table_page(kt, 1), size);
	before = kt_check(kt).tables;
	if (shrinker)
		iommu_pt_shrink_scan(NULL, &control);
	else
		KUNIT_EXPECT_EQ(kt->test, 1, iommu->ops->reclaim(iommu));
	KUNIT_EXPECT_EQ(kt->test, before - 1, kt_check(kt).tables);

	for (i = 1; i < 3; i++) {
		kt_unmap(kt, kt_table_page(kt, i) - size, size);
		if (i > 1)
			kt_unmap(kt, kt_table_page(kt, i), size);
	}
	before = kt_check(kt).tables;
	if (shrinker) {
		iommu_pt_shrink_scan(NULL, &control);
	} else {
		left = before - iommu->ops->reclaim(iommu);
		KUNIT_EXPECT_EQ(kt->test, 1, left);
		KUNIT_EXPECT_EQ(kt->test, 0, iommu->ops->reclaim(iommu));
	}
	/* The top alone, however high it has grown */
	KUNIT_EXPECT_EQ(kt->test, 1, kt_check(kt).tables);
}

static void usage_is_given_back(struct kunit *test)
{
	struct kt *kt = test->priv;

	if (!kt_fits(kt, 0, kt_table_page(kt, 3)))
		kunit_skip(test, "fewer tables than that");
	kt_give_back(kt, false);
	kt_give_back(kt, true);
}

/* Whether tables are taken away within 20 s, without being asked for it */
static bool kt_trims(struct kt *kt)
{
	struct delayed_work *trim = &kt_iommu(kt)->trim;
	unsigned int i;

	for (i = 0; i < 1000 && delayed_work_pending(trim); i++)
		msleep(20);
	flush_work(&trim->work);
	return i < 1000;
}

/* Nobody asks, nothing happens: after a while they go nevertheless */
static void usage_ends_after_a_while(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	if (kt_feature(kt, PT_FEAT_DMA_INCOHERENT))
		kunit_skip(test, "caches are watched in this thread only");
	kunit_deactivate_static_stub(test, pt_env_trim_later);
	for (i = 0; i < 2; i++) {
		/* Two pages far apart, each at the end of a path of tables */
		kt_map(kt, 0, 0, size, KT_RW);
		kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
		kt_unmap(kt, kt->last - size + 1, size);
		KUNIT_EXPECT_TRUE(test, kt_trims(kt));
		/* What is in use is not touched */
		KUNIT_EXPECT_EQ(test, 0, kt_check(kt).empty);
		kt_expect_mapped(kt, 0, 0, size, KT_RW);
		kt_unmap(kt, 0, size);
		KUNIT_EXPECT_TRUE(test, kt_trims(kt));
		KUNIT_EXPECT_EQ(test, 1, kt_check(kt).tables);
	}
}

static void kt_inner_reclaim(struct kt *kt)
{
	kt_iommu(kt)->ops->reclaim(kt_iommu(kt));
}

/* Memory is short in the middle of a map: what it found on its way goes */
static void usage_is_taken_back_within_a_map(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i, skip;

	if (!kt_fits(kt, 0, kt_table_page(kt, 4)))
		kunit_skip(test, "fewer tables than that");
	for (skip = 0; skip < 5; skip++) {
		for (i = 0; i < 3; i++) {
			kt_map(kt, kt_table_page(kt, i), 0, size, KT_RW);
			kt_unmap(kt, kt_table_page(kt, i), size);
		}
		kt->on_alloc.call = kt_inner_reclaim;
		kt->on_alloc.skip = skip;
		kt_map(kt, 0, size, 4ULL << kt_table_lg2(kt), KT_RW);
		kt_check(kt);
		kt_unmap(kt, 0, 4ULL << kt_table_lg2(kt));
		kt_check(kt);
	}
	kt->on_alloc.call = NULL;
}

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT);

static struct kunit_case kt_usage_cases[] = {
	KT_CASE(usage_of_a_dense_range),
	KT_CASE(usage_of_a_ring),
	KT_CASE(usage_has_a_limit),
	KT_CASE_GROWING(usage_limits_growth),
	KT_CASE(usage_is_given_back),
	KT_CASE(usage_ends_after_a_while),
	KT_CASE(usage_is_taken_back_within_a_map),
	{},
};

KT_SUITE(usage);

#endif /* __GENERIC_PT_KUNIT_USAGE_H */
