/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: unmap
 */
#ifndef __GENERIC_PT_KUNIT_UNMAP_H
#define __GENERIC_PT_KUNIT_UNMAP_H

#include "kunit_ops.h"

/* Nothing there: nothing done, and the gather says so */
static void unmap_nothing(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, 0, size));
	KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, 0, kt->last - size + 1));
	KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, kt->last - size + 1, size));
	KUNIT_EXPECT_EQ(test, kt->nr_flushes, 0);
	kt_check(kt);
}

/* Bad arguments change nothing */
static void unmap_bad_arguments(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2, off;
	const u64 bad[][2] = {
		{ 0, 0 },
		{ size, 0 },
		{ kt->last - size + 1, 2 * size },
		{ kt->last - size + 1, ~(size - 1) },
		{ size, ~(size - 1) },
		{ ~(size - 1), 2 * size },
	};
	struct iommu_iotlb_gather gather;
	unsigned int i;

	kt_map(kt, 0, 0, 4 * size, KT_RW);
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	iommu_iotlb_gather_init(&gather);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		u64 iova = bad[i][0], len = bad[i][1];

		KUNIT_EXPECT_EQ_MSG(test, 0,
				    kt_op_unmap(kt, iova, len, &gather),
				    "unmap %#llx, %#llx bytes", iova, len);
	}
	/* Not aligned to the format's granule, that is: a larger leaf goes whole */
	for (off = 1; off < 1ULL << PTF_GRANULE_LG2; off <<= 1) {
		KUNIT_EXPECT_EQ(test, 0, kt_op_unmap(kt, off, size, &gather));
		KUNIT_EXPECT_EQ(test, 0, kt_op_unmap(kt, 0, off, &gather));
		KUNIT_EXPECT_EQ(test, 0,
				kt_op_unmap(kt, 0, size + off, &gather));
	}
	kt_expect_gather(kt, &gather, 0, 0, 0);
	kt_check(kt);
}

/* Outside of an aperture that the driver made smaller */
static void unmap_outside_the_aperture(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_iotlb_gather gather;

	kt_map(kt, 0, 0, 8 * size, KT_RW);
	kt->domain.geometry.aperture_start = 2 * size;
	kt->domain.geometry.aperture_end = 6 * size - 1;
	iommu_iotlb_gather_init(&gather);
	KUNIT_EXPECT_EQ(test, 0, kt_op_unmap(kt, size, 2 * size, &gather));
	KUNIT_EXPECT_EQ(test, 0, kt_op_unmap(kt, 4 * size, 3 * size, &gather));
	kt_expect_gather(kt, &gather, 0, 0, 0);
	kt_check(kt);
}

/* A range that begins inside of a leaf: as at a hole */
static void unmap_from_inside_of_a_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt->min_lg2;
	u64 small = 1ULL << kt->min_lg2;

	while ((lg2 = kt_next_lg2(kt, lg2))) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);

		if (!kt_fits(kt, iova, size))
			break;
		kt_map(kt, iova, 0, size, KT_RW);
		KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, iova + small, small));
		KUNIT_EXPECT_EQ(test, 0,
				kt_unmap(kt, iova + small, size - small));
		KUNIT_EXPECT_EQ(test, 0,
				kt_unmap(kt, iova + size / 2, size / 2));
		KUNIT_EXPECT_EQ(test, 0,
				kt_unmap(kt, iova + size - small, small));
		KUNIT_EXPECT_EQ(test, kt->nr_flushes, 0);
		kt_expect_edges(kt, iova, size);
		kt_check(kt);
		kt_unmap(kt, iova, size);
	}
}

/* A range that ends inside of a leaf takes it whole, and flushes all of it */
static void unmap_to_inside_of_a_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt->min_lg2;
	u64 small = 1ULL << kt->min_lg2;

	while ((lg2 = kt_next_lg2(kt, lg2))) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);

		if (!kt_fits(kt, iova, size))
			break;
		/* Nothing but that leaf */
		kt_map(kt, iova, 0, size, KT_RW);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iova, small));
		kt_expect_edges(kt, iova, size);
		kt_map(kt, iova, 0, size, KT_RW);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iova, size - small));
		kt_check(kt);
		/* Smaller ones before it, and one behind it that stays */
		if (!iova || !kt_fits(kt, iova + size, small))
			continue;
		kt_map(kt, iova, 0, size, KT_RW);
		kt_map(kt, iova - 2 * small, 0, small, KT_RW);
		kt_map(kt, iova - small, 0, small, KT_RW);
		kt_map(kt, iova + size, 0, small, KT_RW);
		KUNIT_EXPECT_EQ(test, 2 * small + size,
				kt_unmap(kt, iova - 2 * small, 3 * small));
		kt_expect_edges(kt, iova, size);
		kt_expect_mapped(kt, iova + size, 0, small, KT_RW);
		kt_check(kt);
		kt_unmap(kt, iova + size, small);
	}
}

/* Holes of one page anywhere in a table, also between and inside of its lines */
static void unmap_stops_at_a_hole(struct kunit *test)
{
	static const unsigned int pages[] = { 1,   2,	7,   8,	  9,   16,
					      127, 255, 256, 511, 512, 513 };
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		u64 at = pages[i] * size;
		u64 len = 600 * size;

		if (!kt_fits(kt, 0, len))
			len = kt->last & ~(size - 1);
		if (at >= len)
			break;
		kt_map(kt, 0, size, at, KT_RW);
		kt_map(kt, at + size, at, len - at - size, KT_RW);
		KUNIT_EXPECT_EQ(test, at, kt_unmap(kt, 0, len));
		kt_expect_edges(kt, 0, at);
		kt_expect_model(kt, at + size);
		kt_check(kt);
		/* Behind the hole it goes on */
		KUNIT_EXPECT_EQ(test, len - at - size,
				kt_unmap(kt, at + size, len - at - size));
		kt_check(kt);
	}
}

/* A hole as wide as a table, and wider, with something behind it */
static void unmap_stops_at_a_wide_hole(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int lg2;

	kt_map(kt, 0, 0, size, KT_RW);
	for (lg2 = kt->min_lg2 + 1; lg2 < 64; lg2++) {
		if (!kt_fits(kt, 1ULL << lg2, size))
			break;
		kt_map(kt, 1ULL << lg2, 0, size, KT_RW);
	}
	KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, 0, kt->last - size + 1));
	KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, 0, kt->last - size + 1));
	kt_check(kt);
}

/* One call over leaves of all sizes */
static void unmap_all_sizes_at_once(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 small = 1ULL << kt->min_lg2;
	unsigned int lg2 = clamp(kt_max_lg2(kt, 4), kt->min_lg2 + 6, 40U);
	u64 size;

	size = min(1ULL << lg2, kt->oa_last / 2 + 1);
	kt_map(kt, small, small, 2 * size - small, KT_RW);
	KUNIT_EXPECT_EQ(test, 2 * size - small,
			kt_unmap(kt, small, 2 * size - small));
	KUNIT_EXPECT_EQ(test, kt->nr_leaves, 0);
	kt_check(kt);
}

/* Piece by piece, in each order: the leaves of a table that stays or goes */
static void unmap_in_any_order(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int step, i, nr = 64;

	for (step = 1; step < nr; step += 2) {
		/* OA is off by one page, so that no larger leaf fits */
		kt_map(kt, 0, size, nr * size, KT_RW);
		for (i = 0; i < nr; i++)
			KUNIT_EXPECT_EQ(test, size,
					kt_unmap(kt, (i * step % nr) * size,
						 size));
		KUNIT_EXPECT_EQ(test, kt->nr_leaves, 0);
		kt_check(kt);
	}
}

/* The last bytes of the aperture: nothing wraps */
static void unmap_at_the_end(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 len = 64 * size;

	kt_map(kt, 0, 0, size, KT_RW);
	kt_map(kt, kt->last - len + 1, size, len, KT_RW);
	KUNIT_EXPECT_EQ(test, len, kt_unmap(kt, kt->last - len + 1, len));
	kt_expect_mapped(kt, 0, 0, size, KT_RW);
	kt_check(kt);
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, kt->last - size + 1, size));
	kt_check(kt);
}

/* What was unmapped can be mapped again, to something else */
static void unmap_then_map_again(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;
	u64 size;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		u64 iova = kt_iova(kt, lg2);

		size = 1ULL << lg2;
		if (!kt_fits(kt, iova, size))
			break;
		kt_map(kt, iova, 0, size, KT_RW);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iova, size));
		kt_map(kt, iova, kt_oa(kt, lg2), size, IOMMU_WRITE);
		kt_expect_edges(kt, iova, size);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iova, size));
	}
	kt_check(kt);
}

static struct kunit_case kt_unmap_cases[] = {
	KT_CASE(unmap_nothing),
	KT_CASE(unmap_bad_arguments),
	KT_CASE(unmap_outside_the_aperture),
	KT_CASE(unmap_from_inside_of_a_leaf),
	KT_CASE(unmap_to_inside_of_a_leaf),
	KT_CASE(unmap_stops_at_a_hole),
	KT_CASE(unmap_stops_at_a_wide_hole),
	KT_CASE(unmap_all_sizes_at_once),
	KT_CASE(unmap_in_any_order),
	KT_CASE(unmap_at_the_end),
	KT_CASE(unmap_then_map_again),
	{},
};

KT_SUITE(unmap);

#endif /* __GENERIC_PT_KUNIT_UNMAP_H */
