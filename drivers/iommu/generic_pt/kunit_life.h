/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: the life of tables, from init to deinit
 *
 * That each table which is allocated is in the tree, and that no empty one
 * stays, is checked by kt_check() in all suites. Here are the cases that are
 * about it: memory that runs out at any point, spans that were wide and are
 * empty, leaves that take the place of empty tables.
 */
#ifndef __GENERIC_PT_KUNIT_LIFE_H
#define __GENERIC_PT_KUNIT_LIFE_H

#include "kunit_ops.h"

/* Tables that may be left in an empty tree: parked ones and those above them */
static unsigned int kt_tables_left(struct kt *kt)
{
	unsigned int level = kt_leaf_level(kt);

	return 1 + PT_IOMMU_PARKED * (kt->hw_level - min(kt->hw_level, level));
}

/* One page in each table of a wide span: no table stays for having been used */
static void life_of_a_wide_span(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt_table_lg2(kt), i, nr = 1200, order;
	u64 size = 1ULL << kt->min_lg2;

	while (!kt_fits(kt, 0, (u64)nr << lg2))
		nr /= 2;
	if (!nr)
		kunit_skip(test, "one table only");
	for (order = 0; order < 3; order++) {
		for (i = 0; i < nr; i++)
			kt_map(kt, ((u64)i << lg2) + 3 * size, 0, size, KT_RW);
		KUNIT_EXPECT_GE(test, kt_check(kt).tables, nr);
		/* Upwards, downwards, and every third */
		for (i = 0; i < nr; i++) {
			struct iommu_iotlb_gather gather;
			unsigned int smallest, at = i;
			u64 iova, expect;

			if (order == 1)
				at = nr - 1 - i;
			else if (order == 2)
				at = i % 3 * ((nr + 2) / 3) + i / 3;
			iova = ((u64)(at % nr) << lg2) + 3 * size;
			iommu_iotlb_gather_init(&gather);
			expect = kt_model_unmap(kt, iova, size, &smallest);
			KUNIT_ASSERT_EQ(test, expect,
					kt_op_unmap(kt, iova, size, &gather));
			iommu_iotlb_sync(&kt->domain, &gather);
		}
		/* What that order missed */
		for (i = 0; order == 2 && i < nr; i++)
			kt_unmap(kt, ((u64)i << lg2) + 3 * size, size);
		KUNIT_EXPECT_EQ(test, kt->nr_leaves, 0);
		KUNIT_EXPECT_LE(test, kt_check(kt).tables, kt_tables_left(kt));
	}
}

/* Far apart, so that a path of tables leads to each page */
static void life_of_long_paths(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int lg2, round;

	for (round = 0; round < 4; round++) {
		for (lg2 = kt->min_lg2; lg2 < 64; lg2++)
			if (kt_fits(kt, 1ULL << lg2, size))
				kt_map(kt, 1ULL << lg2, 0, size, KT_RW);
		for (lg2 = kt->min_lg2; lg2 < 64; lg2++) {
			unsigned int at = lg2;

			/* Upwards, then downwards */
			if (round & 1)
				at = 63 + kt->min_lg2 - lg2;
			if (!kt_fits(kt, 1ULL << at, size))
				continue;
			KUNIT_EXPECT_EQ(test, size,
					kt_unmap(kt, 1ULL << at, size));
			kt_check(kt);
		}
		KUNIT_EXPECT_LE(test, kt_check(kt).tables, kt_tables_left(kt));
	}
}

/* A dense range leaves whole: its tables go at once */
static void life_of_a_dense_range(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt_table_lg2(kt), nr = 9;
	u64 size = 1ULL << kt->min_lg2;
	u64 len = (u64)nr << lg2;

	if (!kt_fits(kt, 0, len))
		kunit_skip(test, "fewer tables than that");
	kt_map(kt, 0, size, len, KT_RW);
	KUNIT_EXPECT_GE(test, kt_check(kt).tables, nr + 1);
	KUNIT_EXPECT_EQ(test, len, kt_unmap(kt, 0, len));
	KUNIT_EXPECT_LE(test, kt_check(kt).tables, kt_tables_left(kt));
}

/*
 * A leaf over tables that are left empty: they are flushed before map returns,
 * and freed after that
 */
static void life_ends_for_a_large_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 small = 1ULL << kt->min_lg2;
	unsigned int lg2, i, gone;

	for (lg2 = kt_table_lg2(kt); lg2 < 64; lg2++) {
		u64 size = 1ULL << lg2, iova = kt_iova(kt, lg2);

		if (!(kt->sizes & size) || !kt_fits(kt, iova, size))
			continue;
		/* At both ends of it, below different tables */
		kt_map(kt, iova, 0, small, KT_RW);
		kt_map(kt, iova + size - small, 0, small, KT_RW);
		kt_unmap(kt, iova, small);
		kt_unmap(kt, iova + size - small, small);
		kt_check(kt);

		kt->nr_flushes = 0;
		kt_map(kt, iova, 0, size, KT_RW);
		for (i = 0, gone = 0; i < kt->nr_flushes; i++)
			gone += kt->flush[i].tables;
		KUNIT_EXPECT_GT(test, gone, 0);
		kt_expect_edges(kt, iova, size);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iova, size));
		kt_check(kt);
	}
}

/* What is mapped below stays, whatever is parked beside it */
static void life_goes_on_below_a_refused_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt_table_lg2(kt);
	u64 small = 1ULL << kt->min_lg2;
	u64 size, mapped;

	lg2 = kt_next_lg2(kt, lg2);
	size = 1ULL << lg2;
	if (!lg2 || !kt_fits(kt, size, size))
		kunit_skip(test, "no leaf over two tables");
	kt_map(kt, size, 0, small, KT_RW);
	kt_map(kt, 2 * size - small, 0, small, KT_RW);
	kt_unmap(kt, size, small);
	KUNIT_EXPECT_EQ(test, -EADDRINUSE,
			kt_try_map(kt, size, 0, size, KT_RW, &mapped));
	KUNIT_EXPECT_EQ(test, mapped, 0);
	kt_expect_edges(kt, 2 * size - small, small);
	kt_expect_hole(kt, size);
	kt_check(kt);
	/* The emptied place serves again */
	kt_map(kt, size, 0, small, KT_RW);
	kt_check(kt);
}

/* A scenario that allocates at each place where a map can */
static int kt_scenario(struct kt *kt, u64 *iova, u64 *mapped)
{
	u64 size = 1ULL << kt->min_lg2;
	u64 len = 3ULL << kt_table_lg2(kt);
	int ret;

	if (!kt_fits(kt, 0, 2 * len))
		len = 64 * size;
	/* Over several tables, from the middle of one */
	*iova = len / 6 & ~(size - 1);
	ret = kt_try_map(kt, *iova, *iova + size, len, KT_RW, mapped);
	if (ret)
		return ret;
	kt_unmap(kt, *iova, *mapped);
	/* Down a path from the top, which grows where it can */
	*iova = kt->last - 64 * size + 1;
	ret = kt_try_map(kt, *iova, size, 64 * size, KT_RW, mapped);
	if (ret)
		return ret;
	kt_unmap(kt, *iova, *mapped);
	*iova = 0;
	*mapped = 0;
	return 0;
}

/*
 * Allocation fails at the n-th call, for each n, alone or with all that follow:
 * exactly the prefix that is reported is there, no table is lost or left empty,
 * and the next try works
 */
static void life_without_memory(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int n, mode;
	u64 iova, mapped;
	int ret;

	for (mode = 0; mode < 2; mode++) {
		for (n = 1;; n++) {
			unsigned int calls;

			/* From the start each time: a top stays grown */
			kt_stop(kt);
			kt->fail_at = 0;
			kt->nr_growths = 0;
			KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
			calls = kt->nr_calls;
			kt->fail_at = calls + n;
			kt->fail_nr = mode ? UINT_MAX : 1;
			ret = kt_scenario(kt, &iova, &mapped);
			/* Empty tables that were never used do not count */
			kt_check(kt);
			if (mapped) {
				kt_expect_edges(kt, iova, mapped);
				KUNIT_EXPECT_EQ(test, mapped,
						kt_unmap(kt, iova, mapped));
				kt_check(kt);
			}
			KUNIT_EXPECT_LE(test, kt_check(kt).tables,
					kt_tables_left(kt));
			if (!ret && kt->nr_calls < kt->fail_at)
				break;
			kt->fail_at = 0;
			KUNIT_ASSERT_EQ(test, 0,
					kt_scenario(kt, &iova, &mapped));
			kt_check(kt);
			KUNIT_ASSERT_LT(test, n, 1000);
		}
	}
}

/* A map that fails builds nothing that stays */
static void life_of_a_failed_map(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int before, n;
	u64 mapped;

	/* Growth is another matter */
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	before = kt_check(kt).tables;
	for (n = 1; n < 8; n++) {
		kt->fail_at = kt->nr_calls + n;
		kt->fail_nr = UINT_MAX;
		if (!kt_try_map(kt, 0, 0, size, KT_RW, &mapped))
			break;
		KUNIT_EXPECT_EQ(test, mapped, 0);
		KUNIT_EXPECT_EQ(test, before, kt_check(kt).tables);
	}
	KUNIT_EXPECT_LE(test, n, PTF_MAX_LEVELS);
	kt_expect_mapped(kt, 0, 0, size, KT_RW);
	kt_check(kt);
}

/* Before init, after a failed one, twice, and with things still mapped */
static void life_ends_in_any_state(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;
	u64 size = 1ULL << kt->min_lg2;

	for (lg2 = kt->min_lg2; lg2 < 64; lg2++)
		if (kt_fits(kt, 1ULL << lg2, size))
			kt_map(kt, 1ULL << lg2, 0, size, KT_RW);
	kt_check(kt);
	kt_stop(kt);
	pt_iommu_deinit(kt_iommu(kt));
	/* Again, but there is no memory */
	kt->fail_at = kt->nr_calls + 1;
	kt->fail_nr = 1;
	KUNIT_EXPECT_EQ(test, -ENOMEM, kt_start(kt));
	kt_stop(kt);
	kt->fail_at = 0;
	/* Never */
	memset(&kt->table, 0, sizeof(kt->table));
	kt_stop(kt);
	/* And once more, with parked tables */
	kt->nr_growths = 0;
	KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
	kt_map(kt, 0, 0, size, KT_RW);
	kt_unmap(kt, 0, size);
	kt_check(kt);
}

/* What init refuses, and that it leaves nothing behind */
static void life_that_does_not_begin(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct PTF_CFG good = kt_fmt_cfg(kt->cfg), cfg;
	unsigned int bit, calls = kt->nr_calls;
	const u32 known = PTF_FEATURES;

	kt_stop(kt);
	memset(&kt->table, 0, sizeof(kt->table));
	kt->table.iommu.driver_ops = &kt_driver_ops;
	for (bit = 0; bit < 32; bit++) {
		if (known & BIT(bit))
			continue;
		cfg = good;
		cfg.common.features |= BIT(bit);
		KUNIT_EXPECT_EQ_MSG(test, -EOPNOTSUPP,
				    PTF_FN(init)(&kt->table, &cfg, GFP_KERNEL),
				    "feature %u", bit);
	}
	cfg = good;
	cfg.common.hw_max_oasz_lg2 = PTF_MAX_OA_LG2 + 1;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTF_FN(init)(&kt->table, &cfg, GFP_KERNEL));
	cfg = good;
	cfg.common.hw_max_vasz_lg2 = PTF_MAX_IOVA_LG2 + 1;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTF_FN(init)(&kt->table, &cfg, GFP_KERNEL));
	cfg = good;
	cfg.common.hw_max_oasz_lg2 = PTF_GRANULE_LG2 - 1;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTF_FN(init)(&kt->table, &cfg, GFP_KERNEL));
	cfg = good;
	cfg.common.hw_max_vasz_lg2 = PTF_GRANULE_LG2 - 1;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTF_FN(init)(&kt->table, &cfg, GFP_KERNEL));
	if (kt->cfg->vasz_lg2 == 64) {
		cfg = good;
		cfg.common.features &= ~BIT(PT_FEAT_FULL_VA);
		KUNIT_EXPECT_EQ(test, -EINVAL,
				PTF_FN(init)(&kt->table, &cfg, GFP_KERNEL));
	}
	if (kt_feature(kt, PT_FEAT_DYNAMIC_TOP)) {
		struct pt_iommu_driver_ops ops = kt_driver_ops;

		kt->table.iommu.driver_ops = NULL;
		KUNIT_EXPECT_EQ(test, -EINVAL,
				PTF_FN(init)(&kt->table, &good, GFP_KERNEL));
		ops.change_top = NULL;
		kt->table.iommu.driver_ops = &ops;
		KUNIT_EXPECT_EQ(test, -EINVAL,
				PTF_FN(init)(&kt->table, &good, GFP_KERNEL));
		ops = kt_driver_ops;
		ops.get_top_lock = NULL;
		KUNIT_EXPECT_EQ(test, -EINVAL,
				PTF_FN(init)(&kt->table, &good, GFP_KERNEL));
		kt->table.iommu.driver_ops = &kt_driver_ops;
	}
	KUNIT_EXPECT_EQ(test, calls, kt->nr_calls);
	pt_iommu_deinit(kt_iommu(kt));
}

/* What init tells: aperture and page sizes, before and after narrowing */
static void life_begins(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct pt_iommu_info info;
	unsigned int lg2;
	u64 sizes;

	KUNIT_EXPECT_EQ(test, kt->domain.geometry.aperture_start, 0);
	if (kt_feature(kt, PT_FEAT_SIGN_EXTEND)) {
		KUNIT_EXPECT_EQ(test, kt->space_last, ULONG_MAX);
	} else {
		lg2 = kt->cfg->vasz_lg2;
		/* Of what hardware wants to be canonical, the lower half */
		if (PTF_CANONICAL)
			lg2 = min(lg2, kt_item_lg2(kt->hw_level + 1) - 1);
		KUNIT_EXPECT_EQ(test, kt->space_last,
				min_t(u64, pt_low_mask(lg2), ULONG_MAX));
	}
	KUNIT_EXPECT_TRUE(test, kt->domain.geometry.force_aperture);
	KUNIT_EXPECT_EQ(test, kt->hw_level, kt->cfg->top_level);
	kt_iommu(kt)->ops->get_info(kt_iommu(kt), &info);
	sizes = info.pgsize_bitmap;
	KUNIT_EXPECT_EQ(test, kt->sizes,
			(unsigned long)sizes & (kt->cfg->pgsizes ?: ~0ULL));
	/* No leaf is larger than the OA space */
	KUNIT_EXPECT_LE(test, sizes, pt_low_mask(kt->cfg->oasz_lg2 + 1));
	kt->domain.pgsize_bitmap = 1ULL << PTF_GRANULE_LG2;
	kt_iommu(kt)->ops->get_info(kt_iommu(kt), &info);
	KUNIT_EXPECT_EQ(test, sizes, info.pgsize_bitmap);
	/* One table, and nothing in it */
	KUNIT_EXPECT_EQ(test, 1, kt_check(kt).tables);
}

static struct kunit_case kt_life_cases[] = {
	KT_CASE(life_begins),
	KT_CASE(life_that_does_not_begin),
	KT_CASE(life_ends_in_any_state),
	KT_CASE(life_without_memory),
	KT_CASE(life_of_a_failed_map),
	KT_CASE(life_of_a_dense_range),
	KT_CASE(life_of_a_wide_span),
	KT_CASE(life_of_long_paths),
	KT_CASE(life_ends_for_a_large_leaf),
	KT_CASE(life_goes_on_below_a_refused_leaf),
	{},
};

KT_SUITE(life);

#endif /* __GENERIC_PT_KUNIT_LIFE_H */
