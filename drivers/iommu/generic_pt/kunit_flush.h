/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: what the driver is asked to flush, and when
 *
 * Each unmap of every suite checks its gather, see kt_unmap_queued(), and the
 * driver checks each flush when it comes, see kt_iotlb_sync(). Here are the
 * cases that need several calls, or an exact order.
 */
#ifndef __GENERIC_PT_KUNIT_FLUSH_H
#define __GENERIC_PT_KUNIT_FLUSH_H

#include "kunit_ops.h"

/* Unmap into a gather that goes on */
static void kt_gather(struct kt *kt, struct iommu_iotlb_gather *gather,
		      u64 iova, u64 len)
{
	unsigned int smallest;

	KUNIT_ASSERT_EQ(kt->test, len, kt_op_unmap(kt, iova, len, gather));
	KUNIT_ASSERT_EQ(kt->test, len,
			kt_model_unmap(kt, iova, len, &smallest));
}

/* Unmap and flush, without a recount of the tree before it */
static void kt_gather_now(struct kt *kt, u64 iova, u64 len)
{
	struct iommu_iotlb_gather gather;

	iommu_iotlb_gather_init(&gather);
	kt_gather(kt, &gather, iova, len);
	iommu_iotlb_sync(&kt->domain, &gather);
}

/* Ranges that touch become one, in either order */
static void gather_grows_by_neighbours(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_iotlb_gather gather;

	kt_map(kt, 0, size, 64 * size, KT_RW);
	iommu_iotlb_gather_init(&gather);
	kt_gather(kt, &gather, 8 * size, 8 * size);
	kt_gather(kt, &gather, 16 * size, size);
	kt_gather(kt, &gather, 7 * size, size);
	KUNIT_EXPECT_EQ(test, gather.start, 7 * size);
	KUNIT_EXPECT_EQ(test, gather.end, 17 * size - 1);
	KUNIT_EXPECT_EQ(test, kt->nr_flushes, 0);
	iommu_iotlb_sync(&kt->domain, &gather);
	KUNIT_EXPECT_EQ(test, kt->nr_flushes, 1);
	kt_check(kt);
}

/* Ranges with a gap: one flush over it, or one each, as the driver chose */
static void gather_of_disjoint_ranges(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_iotlb_gather gather;

	kt_map(kt, 0, size, 64 * size, KT_RW);
	iommu_iotlb_gather_init(&gather);
	kt_gather(kt, &gather, 8 * size, 2 * size);
	kt_gather(kt, &gather, 32 * size, 4 * size);
	if (kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS)) {
		/* The first one went out before the second came in */
		KUNIT_ASSERT_EQ(test, kt->nr_flushes, 1);
		KUNIT_EXPECT_EQ(test, kt->flush[0].start, 8 * size);
		KUNIT_EXPECT_EQ(test, kt->flush[0].last, 10 * size - 1);
		KUNIT_EXPECT_EQ(test, kt->flush[0].tables, 0);
		KUNIT_EXPECT_EQ(test, gather.start, 32 * size);
	} else {
		KUNIT_EXPECT_EQ(test, kt->nr_flushes, 0);
		KUNIT_EXPECT_EQ(test, gather.start, 8 * size);
	}
	KUNIT_EXPECT_EQ(test, gather.end, 36 * size - 1);
	iommu_iotlb_sync(&kt->domain, &gather);

	/* Before the first one, too */
	kt->nr_flushes = 0;
	kt_gather(kt, &gather, 40 * size, size);
	kt_gather(kt, &gather, 20 * size, size);
	KUNIT_EXPECT_EQ(test, kt->nr_flushes,
			kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS) ? 1 : 0);
	iommu_iotlb_sync(&kt->domain, &gather);
	kt_check(kt);
}

/* A queued flush is of everything later: nothing is flushed for a gap */
static void gather_queued_is_not_flushed(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_iotlb_gather gather;

	kt_map(kt, 0, size, 64 * size, KT_RW);
	iommu_iotlb_gather_init(&gather);
	gather.queued = true;
	kt_gather(kt, &gather, 8 * size, 2 * size);
	kt_gather(kt, &gather, 32 * size, 2 * size);
	kt_gather(kt, &gather, 20 * size, 2 * size);
	KUNIT_EXPECT_EQ(test, kt->nr_flushes, 0);
	KUNIT_EXPECT_EQ(test, gather.start, 8 * size);
	KUNIT_EXPECT_EQ(test, gather.end, 34 * size - 1);
	KUNIT_EXPECT_TRUE(test, gather.queued);
	kt_flush_queue(kt, &gather.freelist);
	kt_check(kt);
}

/* With detailed gathers, the page size is the smallest one that went */
static void gather_page_size(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int large = kt_max_lg2(kt, 4);
	u64 size = 1ULL << kt->min_lg2;
	bool detailed = kt_feature(kt, PT_FEAT_DETAILED_GATHER);
	struct iommu_iotlb_gather gather;
	unsigned int level;

	/* Alone: at least what one item of that level covers */
	kt_map(kt, 0, 0, 1ULL << large, KT_RW);
	level = (large - PTF_GRANULE_LG2) / PTF_INDEX_LG2;
	iommu_iotlb_gather_init(&gather);
	kt_gather(kt, &gather, 0, 1ULL << large);
	if (detailed) {
		KUNIT_EXPECT_GE(test, gather.pgsize,
				1ULL << kt_item_lg2(level));
		KUNIT_EXPECT_LE(test, gather.pgsize, 1ULL << large);
	} else {
		KUNIT_EXPECT_EQ(test, gather.pgsize, 0);
	}
	iommu_iotlb_sync(&kt->domain, &gather);

	/* With smaller ones next to it, in either order */
	kt_map(kt, 1ULL << large, 0, 1ULL << large, KT_RW);
	kt_map(kt, (1ULL << large) - size, 0, size, KT_RW);
	kt_map(kt, 2ULL << large, 0, size, KT_RW);
	iommu_iotlb_gather_init(&gather);
	kt_gather(kt, &gather, (1ULL << large) - size, size);
	kt_gather(kt, &gather, 1ULL << large, 1ULL << large);
	if (detailed)
		KUNIT_EXPECT_LE(test, gather.pgsize, size);
	kt_gather(kt, &gather, 2ULL << large, size);
	if (detailed)
		KUNIT_EXPECT_LE(test, gather.pgsize, size);
	else
		KUNIT_EXPECT_EQ(test, gather.pgsize, 0);
	iommu_iotlb_sync(&kt->domain, &gather);
	kt_check(kt);
}

/* Items of a leaf table, as small leaves only. Needs a table above it. */
static u64 kt_fill_table(struct kt *kt, u64 iova)
{
	u64 len = 1ULL << kt_table_lg2(kt);

	/* OA is off by one page, so that no larger leaf fits */
	kt_map(kt, iova, 1ULL << kt->min_lg2, len, KT_RW);
	return len;
}

static void kt_need_tables(struct kt *kt, unsigned int nr)
{
	if (!kt_fits(kt, 0, (u64)nr << kt_table_lg2(kt)))
		kunit_skip(kt->test, "fewer tables than that");
}

/*
 * A full table that goes in one call: on the gather's freelist with its leaves,
 * or in two steps. Walk caches are flushed exactly then.
 */
static void flush_of_a_full_table(struct kunit *test)
{
	struct kt *kt = test->priv;
	bool no_gaps = kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS);
	struct iommu_iotlb_gather gather;
	unsigned int before, gone = 0, i;
	u64 len;

	kt_need_tables(kt, 4);
	len = kt_fill_table(kt, 0);
	for (i = 1; i < 4; i++)
		kt_fill_table(kt, i * len);
	before = kt_check(kt).tables;

	iommu_iotlb_gather_init(&gather);
	kt_gather(kt, &gather, 0, 4 * len);
	for (i = 0; i < kt->nr_flushes; i++)
		gone += kt->flush[i].tables;
	if (no_gaps)
		KUNIT_EXPECT_TRUE(test, list_empty(&gather.freelist));
	else
		KUNIT_EXPECT_EQ(test, 4, kt_gathered_tables(&gather));
	gone += kt_gathered_tables(&gather);
	iommu_iotlb_sync(&kt->domain, &gather);
	KUNIT_EXPECT_EQ(test, before - gone, kt_check(kt).tables);
}

/* A table that stays costs no flush of walk caches */
static void flush_without_tables(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	kt_map(kt, 0, size, 64 * size, KT_RW);
	for (i = 0; i < 63; i++) {
		kt_unmap(kt, i * size, size);
		KUNIT_ASSERT_EQ(test, kt->nr_flushes, 1);
		KUNIT_EXPECT_EQ(test, kt->flush[0].tables, 0);
	}
	/* Nor does one that is filled and emptied again and again */
	for (i = 0; i < 10; i++) {
		kt_map(kt, 0, 0, size, KT_RW);
		kt_unmap(kt, 0, size);
		KUNIT_ASSERT_EQ(test, kt->nr_flushes, 1);
		KUNIT_EXPECT_EQ(test, kt->flush[0].tables, 0);
	}
	kt_check(kt);
}

/* One page in each of many tables. Returns what a table covers. */
static u64 kt_map_in_each(struct kt *kt, unsigned int nr)
{
	u64 len = 1ULL << kt_table_lg2(kt), size = 1ULL << kt->min_lg2;
	unsigned int i;

	kt_need_tables(kt, nr);
	for (i = 0; i < nr; i++)
		kt_map(kt, i * len + size, 0, size, KT_RW);
	return len;
}

/* Some tables left by a flush of [start, end); last came that of a page */
static void kt_expect_removal(struct kt *kt, u64 start, u64 end,
			      unsigned int tables, u64 page)
{
	bool no_gaps = kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS);
	struct kt_flush *flush = &kt->flush[no_gaps];

	KUNIT_ASSERT_EQ(kt->test, kt->nr_flushes, no_gaps ? 3 : 2);
	KUNIT_EXPECT_EQ(kt->test, flush->start, start);
	KUNIT_EXPECT_EQ(kt->test, flush->last, end - 1);
	KUNIT_EXPECT_EQ(kt->test, flush->tables, tables);
	KUNIT_EXPECT_EQ(kt->test, flush[1].start, page);
	KUNIT_EXPECT_EQ(kt->test, flush[1].tables, 0);
	if (no_gaps) {
		/* Their leaves first, while they still stand there */
		KUNIT_EXPECT_EQ(kt->test, kt->flush[0].start, start);
		KUNIT_EXPECT_EQ(kt->test, kt->flush[0].last, end - 1);
		KUNIT_EXPECT_EQ(kt->test, kt->flush[0].tables, 0);
	}
}

/* One page in each of many tables: neighbours go by a flush of their own range */
static void flush_of_an_empty_table(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int i, nr = 2 * PT_IOMMU_PARKED + 4;
	u64 len = kt_map_in_each(kt, nr), size = 1ULL << kt->min_lg2;

	for (i = 0; i < nr; i++) {
		u64 oldest = (i - PT_IOMMU_PARKED) * len;

		kt_unmap(kt, i * len + size, size);
		kt_check(kt);
		if (!i || i % PT_IOMMU_PARKED)
			KUNIT_EXPECT_EQ(test, kt->nr_flushes, 1);
		else
			/* All that had a place */
			kt_expect_removal(kt, oldest, i * len, PT_IOMMU_PARKED,
					  i * len + size);
	}
}

/* Tables with others in between go one by one, each by a flush of its range */
static void flush_of_a_lonely_table(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int i, nr = 2 * (PT_IOMMU_PARKED + 4);
	u64 len = kt_map_in_each(kt, nr), size = 1ULL << kt->min_lg2;

	for (i = 0; i < nr; i += 2) {
		u64 oldest = (i - 2 * PT_IOMMU_PARKED) * len;

		kt_unmap(kt, i * len + size, size);
		kt_check(kt);
		if (i < 2 * PT_IOMMU_PARKED)
			KUNIT_EXPECT_EQ(test, kt->nr_flushes, 1);
		else
			kt_expect_removal(kt, oldest, oldest + len, 1,
					  i * len + size);
	}
}

/* Queued or not, an empty table is flushed for before it is freed */
static void flush_of_an_empty_table_queued(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int i, nr = PT_IOMMU_PARKED + 4;
	u64 len = kt_map_in_each(kt, nr), size = 1ULL << kt->min_lg2;

	for (i = 0; i < nr; i++) {
		kt_unmap_queued(kt, i * len + size, size, true);
		kt_check(kt);
	}
	KUNIT_EXPECT_TRUE(test, !kt->nr_leaves);
}

/* A driver without callbacks for flushes does not stop anything */
static void flush_without_callbacks(struct kunit *test)
{
	static const struct iommu_domain_ops none;
	const struct iommu_domain_ops *ops[] = { &none, NULL };
	struct kt *kt = test->priv;
	u64 len, size = 1ULL << kt->min_lg2;
	unsigned int i, j, nr = PT_IOMMU_PARKED + 4, smallest;
	struct iommu_iotlb_gather gather;

	for (j = 0; j < ARRAY_SIZE(ops); j++) {
		len = kt_map_in_each(kt, nr);
		kt->domain.ops = ops[j];
		/* Tables are freed without a flush here, and that is right */
		kt->dead = true;
		for (i = 0; i < nr; i++) {
			iommu_iotlb_gather_init(&gather);
			kt_op_unmap(kt, i * len + size, size, &gather);
			kt_model_unmap(kt, i * len + size, size, &smallest);
		}
		kt_settle();
		kt_check(kt);
		kt->dead = false;
		kt->domain.ops = &kt_domain_ops;
	}
}

/* Under NO_GAPS each flush of a long unmap is of what is not mapped any more */
static void flush_names_only_what_was_unmapped(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int i;
	u64 len;

	kt_need_tables(kt, 8);
	len = kt_fill_table(kt, 0);
	for (i = 1; i < 8; i++)
		kt_fill_table(kt, i * len);
	/* From the middle of one table to the middle of another */
	KUNIT_EXPECT_EQ(test, 5 * len, kt_unmap(kt, len / 2, 5 * len));
	for (i = 0; i < kt->nr_flushes; i++) {
		KUNIT_EXPECT_GE(test, kt->flush[i].start, len / 2);
		KUNIT_EXPECT_LT(test, kt->flush[i].last, len / 2 + 5 * len);
	}
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, len / 2, kt_unmap(kt, 0, len / 2));
	KUNIT_EXPECT_EQ(test, 8 * len - len / 2 - 5 * len,
			kt_unmap(kt, len / 2 + 5 * len,
				 8 * len - len / 2 - 5 * len));
	kt_check(kt);
}

static struct kunit_case kt_flush_cases[] = {
	KT_CASE(gather_grows_by_neighbours),
	KT_CASE(gather_of_disjoint_ranges),
	KT_CASE(gather_queued_is_not_flushed),
	KT_CASE(gather_page_size),
	KT_CASE(flush_of_a_full_table),
	KT_CASE(flush_without_tables),
	KT_CASE(flush_of_an_empty_table),
	KT_CASE(flush_of_a_lonely_table),
	KT_CASE(flush_of_an_empty_table_queued),
	KT_CASE(flush_without_callbacks),
	KT_CASE_NO_GAPS(flush_names_only_what_was_unmapped),
	{},
};

KT_SUITE(flush);

#endif /* __GENERIC_PT_KUNIT_FLUSH_H */
