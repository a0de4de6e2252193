/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: sign-extended IOVAs
 *
 * All other suites stay in the lower half, as a driver does that narrows the
 * aperture. Here are both halves, and what lies between them.
 */
#ifndef __GENERIC_PT_KUNIT_HALVES_H
#define __GENERIC_PT_KUNIT_HALVES_H

#include "kunit_ops.h"

/* Use the aperture as init left it. Returns the bytes of a half. */
static u64 kt_both_halves(struct kt *kt)
{
	kt->domain.geometry.aperture_end = kt->space_last;
	return 1ULL << (kt->cfg->vasz_lg2 - 1);
}

/* Expect that an IOVA does not exist */
static void kt_expect_none(struct kt *kt, u64 iova)
{
	struct pt_iommu_entry entry;
	struct kt_hw hw;

	KUNIT_EXPECT_EQ_MSG(kt->test, -ERANGE, kt_op_lookup(kt, iova, &entry),
			    "IOVA %#llx", iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, 0, kt_op_iova_to_phys(kt, iova),
			    "IOVA %#llx", iova);
	KUNIT_EXPECT_FALSE_MSG(kt->test, kt_hw_walk(kt, iova, &hw),
			       "IOVA %#llx", iova);
}

/* Expect that neither map nor unmap does anything with a range */
static void kt_expect_refused(struct kt *kt, u64 iova, u64 len)
{
	struct iommu_iotlb_gather gather;
	size_t mapped = 77;

	KUNIT_EXPECT_EQ_MSG(kt->test, -ERANGE,
			    kt_op_map(kt, iova, 0, len, KT_RW, &mapped),
			    "map %#llx, %#llx bytes", iova, len);
	KUNIT_EXPECT_EQ(kt->test, mapped, 77);
	iommu_iotlb_gather_init(&gather);
	KUNIT_EXPECT_EQ_MSG(kt->test, 0, kt_op_unmap(kt, iova, len, &gather),
			    "unmap %#llx, %#llx bytes", iova, len);
	KUNIT_EXPECT_EQ(kt->test, gather.end, 0);
}

/* The first and the last page of each half, and what lies next to them */
static void halves_edges(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 half = kt_both_halves(kt), size = 1ULL << kt->min_lg2;
	const u64 iovas[] = { 0, half - size, -half, -size };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		kt_expect_hole(kt, iovas[i]);
		kt_map(kt, iovas[i], (i + 1) * size, size, KT_RW);
	}
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		kt_expect_mapped(kt, iovas[i], (i + 1) * size, size, KT_RW);
		kt_expect_mapped(kt, iovas[i] + size - 1, (i + 2) * size - 1,
				 size, KT_RW);
	}
	kt_expect_hole(kt, size);
	kt_expect_hole(kt, half - size - 1);
	kt_expect_hole(kt, -half + size);
	kt_expect_hole(kt, -size - 1);
	kt_check(kt);

	/* Between them nothing exists, also not what has the same low bits */
	kt_expect_none(kt, half);
	kt_expect_none(kt, half * 2 - size);
	kt_expect_none(kt, half * 2);
	kt_expect_none(kt, 1ULL << 63);
	kt_expect_none(kt, -half - 1);
	kt_expect_none(kt, -half * 2);
	for (i = 0; i < ARRAY_SIZE(iovas); i++)
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iovas[i], size));
	kt_check(kt);
}

/* Ranges that leave a half, at either end, or lie in the hole */
static void halves_are_not_left(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 half = kt_both_halves(kt), size = 1ULL << kt->min_lg2;

	kt_map(kt, 0, 0, size, KT_RW);
	kt_map(kt, half - size, 0, size, KT_RW);
	kt_map(kt, -half, 0, size, KT_RW);
	kt_map(kt, -size, 0, size, KT_RW);
	/* Up from the lower half */
	kt_expect_refused(kt, half - size, 2 * size);
	kt_expect_refused(kt, half - size, -2 * half + 2 * size);
	kt_expect_refused(kt, 0, half + size);
	kt_expect_refused(kt, 0, -size);
	/* In the hole, up to and into the upper half */
	kt_expect_refused(kt, half, size);
	kt_expect_refused(kt, half, -2 * half);
	kt_expect_refused(kt, -half - size, size);
	kt_expect_refused(kt, -half - size, 2 * size);
	/* Round the end of 64 bits */
	kt_expect_refused(kt, -size, 2 * size);
	kt_expect_refused(kt, -half, 2 * half);
	kt_check(kt);
}

/* A leaf of each size at the top of 64 bits, and at the end of the lower half */
static void halves_each_size(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 half = kt_both_halves(kt);
	unsigned int lg2;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		u64 size = 1ULL << lg2;

		if (size > half)
			break;
		kt_map(kt, -size, kt_oa(kt, lg2), size, KT_RW);
		kt_map(kt, half - size, 0, size, IOMMU_READ);
		kt_expect_mapped(kt, -size, kt_oa(kt, lg2), size, KT_RW);
		kt_expect_mapped(kt, half - size, 0, size, IOMMU_READ);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, -size, size));
		kt_expect_hole(kt, -size);
		kt_expect_mapped(kt, half - size, 0, size, IOMMU_READ);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, half - size, size));
		kt_check(kt);
	}
}

/* Both halves at the same distance from their begin have nothing in common */
static void halves_are_two(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 half = kt_both_halves(kt), size = 1ULL << kt->min_lg2;
	unsigned int lg2;

	for (lg2 = kt->min_lg2; 1ULL << lg2 < half; lg2++) {
		kt_map(kt, 1ULL << lg2, size, size, KT_RW);
		kt_expect_hole(kt, -half + (1ULL << lg2));
		kt_map(kt, -half + (1ULL << lg2), 2 * size, size, KT_RW);
		kt_expect_mapped(kt, 1ULL << lg2, size, size, KT_RW);
		kt_expect_mapped(kt, -half + (1ULL << lg2), 2 * size, size,
				 KT_RW);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, 1ULL << lg2, size));
		kt_expect_mapped(kt, -half + (1ULL << lg2), 2 * size, size,
				 KT_RW);
		kt_check(kt);
	}
	/* A long unmap of one ends with it */
	KUNIT_EXPECT_EQ(test, 0, kt_unmap(kt, 0, half));
	kt_check(kt);
}

/*
 * Tables of the upper half that become empty, one by one: each is flushed for
 * at its own IOVA, see kt_see_freelist()
 */
static void halves_flush_of_empty_tables(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 len = 1ULL << kt_table_lg2(kt);
	u64 size = 1ULL << kt->min_lg2, half = kt_both_halves(kt);
	unsigned int i, j, nr = PT_IOMMU_PARKED + 6, gone = 0;

	for (i = 0; i < nr; i++)
		kt_map(kt, -half + i * len, 0, size, KT_RW);
	/* From the other end, under other tables */
	for (i = 0; i < nr; i++)
		kt_map(kt, -size - i * len, 0, size, KT_RW);
	kt_check(kt);
	for (i = 0; i < nr; i++) {
		kt_unmap(kt, -half + i * len, size);
		for (j = 0; j < kt->nr_flushes; j++) {
			gone += kt->flush[j].tables;
			KUNIT_EXPECT_GE(test, kt->flush[j].start, -half);
		}
		kt_check(kt);
		kt_unmap(kt, -size - i * len, size);
		for (j = 0; j < kt->nr_flushes; j++) {
			gone += kt->flush[j].tables;
			KUNIT_EXPECT_GE(test, kt->flush[j].start, -half);
		}
		kt_check(kt);
	}
	KUNIT_EXPECT_GE(test, gone, 2 * nr - PT_IOMMU_PARKED);
}

/* A dense range up to the last byte of 64 bits leaves whole */
static void halves_dense_to_the_end(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 len = 3ULL << kt_table_lg2(kt);
	u64 size = 1ULL << kt->min_lg2;

	kt_both_halves(kt);
	kt_map(kt, -len, size, len, KT_RW);
	kt_expect_model(kt, -1ULL);
	kt_expect_model(kt, -len);
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, len, kt_unmap(kt, -len, len));
	kt_expect_hole(kt, -1ULL);
	kt_check(kt);
}

static struct kunit_case kt_halves_cases[] = {
	KT_CASE_HALVES(halves_edges),
	KT_CASE_HALVES(halves_are_not_left),
	KT_CASE_HALVES(halves_each_size),
	KT_CASE_HALVES(halves_are_two),
	KT_CASE_HALVES(halves_flush_of_empty_tables),
	KT_CASE_HALVES(halves_dense_to_the_end),
	{},
};

KT_SUITE(halves);

#endif /* __GENERIC_PT_KUNIT_HALVES_H */
