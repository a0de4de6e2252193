/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: map and lookup
 */
#ifndef __GENERIC_PT_KUNIT_MAP_H
#define __GENERIC_PT_KUNIT_MAP_H

#include "kunit_ops.h"

/* Each size that the aperture has room for, at an IOVA of its own */
static void map_each_size(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;

	for (lg2 = 0; lg2 < 64; lg2++) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);

		if (!(kt->sizes & size) || !kt_fits(kt, iova, size))
			continue;
		kt_map(kt, iova, kt_oa(kt, lg2), size, KT_RW);
		KUNIT_EXPECT_EQ(test, kt->nr_leaves, 1);
		kt_expect_mapped(kt, iova, kt_oa(kt, lg2), size, KT_RW);
		kt_expect_edges(kt, iova, size);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, iova, size));
		kt_expect_edges(kt, iova, size);
		kt_check(kt);
	}
}

/* A page at IOVA 0 that is as large as the top table, or as the OA space */
static void map_page_as_large_as_the_table(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt_max_lg2(kt, 1);

	kt_map(kt, 0, 0, 1ULL << lg2, KT_RW);
	kt_expect_mapped(kt, 0, 0, 1ULL << lg2, KT_RW);
	kt_expect_edges(kt, 0, 1ULL << lg2);
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, 1ULL << lg2, kt_unmap(kt, 0, 1ULL << lg2));
	kt_check(kt);
}

/* Each permission reads back, each alone too */
static void map_permissions(struct kunit *test)
{
	static const int prots[] = {
		IOMMU_READ,
		IOMMU_WRITE,
		KT_RW,
		KT_RW | IOMMU_MMIO,
		IOMMU_READ | IOMMU_CACHE,
		IOMMU_WRITE | IOMMU_NOEXEC | IOMMU_PRIV,
	};
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prots); i++) {
		kt_map(kt, i * size, i * size, size, prots[i]);
		kt_expect_mapped(kt, i * size, i * size, size, prots[i]);
	}
	kt_check(kt);
}

/* OA 0 is an address like any other, and not the same as nothing */
static void map_to_oa_0(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_expect_hole(kt, size);
	kt_map(kt, size, 0, size, KT_RW);
	kt_expect_mapped(kt, size, 0, size, KT_RW);
	kt_expect_hole(kt, 0);
	kt_check(kt);
}

/* The last byte of the aperture, at the top of 64 bits where that is */
static void map_last_byte_of_the_aperture(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt_max_lg2(kt, 2);
	u64 size = 1ULL << kt->min_lg2;
	struct pt_iommu_entry entry;

	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	kt_expect_edges(kt, kt->last - size + 1, size);
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, kt->last - size + 1, size));

	kt_map(kt, kt->last - (1ULL << lg2) + 1, 0, 1ULL << lg2, KT_RW);
	kt_expect_edges(kt, kt->last - (1ULL << lg2) + 1, 1ULL << lg2);
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, 1ULL << lg2,
			kt_unmap(kt, kt->last - (1ULL << lg2) + 1,
				 1ULL << lg2));
	kt_check(kt);

	if (kt->last != ~0ULL)
		KUNIT_EXPECT_EQ(test, -ERANGE,
				kt_op_lookup(kt, kt->last + 1, &entry));
}

/* The last byte of the OA space */
static void map_last_byte_of_the_oa_space(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 oa = kt->oa_last - size + 1;

	kt_map(kt, 0, oa, size, KT_RW);
	kt_expect_mapped(kt, size - 1, kt->oa_last, size, KT_RW);
	kt_check(kt);
}

/* Expect that a map is refused and changes nothing */
static void kt_refuse(struct kt *kt, int error, u64 iova, u64 oa, u64 len,
		      int prot)
{
	unsigned int calls = kt->nr_calls, level = kt->hw_level;
	size_t mapped = 77;
	int ret;

	ret = kt_op_map(kt, iova, oa, len, prot, &mapped);
	KUNIT_EXPECT_EQ_MSG(kt->test, ret, error,
			    "map %#llx -> %#llx, %#llx bytes, prot %d", iova,
			    oa, len, prot);
	KUNIT_EXPECT_EQ(kt->test, mapped, 77);
	KUNIT_EXPECT_EQ(kt->test, kt->nr_calls, calls);
	KUNIT_EXPECT_EQ(kt->test, kt->hw_level, level);
}

/* Addresses and lengths that are no multiple of the smallest size */
static void map_misaligned_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 off;

	kt_map(kt, 0, 0, size, KT_RW);
	for (off = 1; off < size; off <<= 1) {
		kt_refuse(kt, -EINVAL, 4 * size + off, 0, size, KT_RW);
		kt_refuse(kt, -EINVAL, 4 * size - off, 0, size, KT_RW);
		kt_refuse(kt, -EINVAL, 4 * size, off, size, KT_RW);
		kt_refuse(kt, -EINVAL, 4 * size, 0, size + off, KT_RW);
		kt_refuse(kt, -EINVAL, 4 * size, 0, off, KT_RW);
		kt_refuse(kt, -EINVAL, 4 * size + off, off, size, KT_RW);
	}
	kt_check(kt);
}

static void map_nothing_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, 0, 0, size, KT_RW);
	kt_refuse(kt, -EINVAL, 0, 0, 0, KT_RW);
	kt_refuse(kt, -EINVAL, size, 0, 0, KT_RW);
	kt_refuse(kt, -EINVAL, kt->last - size + 1, 0, 0, KT_RW);
	kt_check(kt);
}

static void map_without_access_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_refuse(kt, -EINVAL, 0, 0, size, 0);
	kt_refuse(kt, -EINVAL, 0, 0, size, IOMMU_CACHE | IOMMU_MMIO);
	kt_check(kt);
}

/* Ranges that begin, end or lie outside of the aperture, or wrap */
static void map_outside_the_aperture_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 all = ~(size - 1);

	kt_map(kt, 0, 0, size, KT_RW);
	kt_refuse(kt, -ERANGE, kt->last - size + 1, 0, 2 * size, KT_RW);
	/* Lengths that overflow */
	kt_refuse(kt, -ERANGE, kt->last - size + 1, 0, all, KT_RW);
	kt_refuse(kt, -ERANGE, all, 0, 2 * size, KT_RW);
	kt_refuse(kt, -ERANGE, 2 * size, 0, all, KT_RW);
	if (kt->last != ~0ULL) {
		kt_refuse(kt, -ERANGE, kt->last + 1, 0, size, KT_RW);
		kt_refuse(kt, -ERANGE, all, 0, size, KT_RW);
		kt_refuse(kt, -ERANGE, 0, 0, all, KT_RW);
	}
	/* Where the driver made it smaller */
	kt->domain.geometry.aperture_start = 2 * size;
	kt->domain.geometry.aperture_end = 8 * size - 1;
	kt_refuse(kt, -ERANGE, size, 0, size, KT_RW);
	kt_refuse(kt, -ERANGE, size, 0, 2 * size, KT_RW);
	kt_refuse(kt, -ERANGE, 7 * size, 0, 2 * size, KT_RW);
	kt_refuse(kt, -ERANGE, 8 * size, 0, size, KT_RW);
	kt_check(kt);
}

/* OA ranges that begin or end past what the format holds, or wrap */
static void map_past_the_oa_space_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, 0, 0, size, KT_RW);
	kt_refuse(kt, -ERANGE, 4 * size, kt->oa_last + 1, size, KT_RW);
	kt_refuse(kt, -ERANGE, 4 * size, kt->oa_last - size + 1, 2 * size,
		  KT_RW);
	kt_refuse(kt, -ERANGE, 4 * size, ~(size - 1), size, KT_RW);
	kt_refuse(kt, -ERANGE, 4 * size, ~(size - 1), 2 * size, KT_RW);
	kt_check(kt);
}

/* What is mapped already stays, down to the byte */
static void map_over_the_same_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;
	u64 mapped;

	for (lg2 = 0; lg2 < 64; lg2++) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);

		if (!(kt->sizes & size) || !kt_fits(kt, iova, size))
			continue;
		kt_map(kt, iova, kt_oa(kt, lg2), size, IOMMU_READ);
		KUNIT_EXPECT_EQ(test, -EADDRINUSE,
				kt_try_map(kt, iova, 0, size, KT_RW, &mapped));
		KUNIT_EXPECT_EQ(test, mapped, 0);
		kt_expect_mapped(kt, iova, kt_oa(kt, lg2), size, IOMMU_READ);
		kt_check(kt);
		kt_unmap(kt, iova, size);
	}
	kt_check(kt);
}

/* The smallest page inside of a larger one, at its start, middle and end */
static void map_inside_of_a_leaf_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt->min_lg2;
	u64 small = 1ULL << kt->min_lg2;

	while ((lg2 = kt_next_lg2(kt, lg2))) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);
		u64 mapped;

		if (!kt_fits(kt, iova, size))
			break;
		kt_map(kt, iova, 0, size, KT_RW);
		KUNIT_EXPECT_EQ(test, -EADDRINUSE,
				kt_try_map(kt, iova, 0, small, KT_RW, &mapped));
		KUNIT_EXPECT_EQ(test, -EADDRINUSE,
				kt_try_map(kt, iova + size / 2, 0, small, KT_RW,
					   &mapped));
		KUNIT_EXPECT_EQ(test, -EADDRINUSE,
				kt_try_map(kt, iova + size - small, 0, small,
					   KT_RW, &mapped));
		kt_check(kt);
		kt_unmap(kt, iova, size);
	}
	kt_check(kt);
}

/* A large page over smaller ones, wherever these are */
static void map_over_smaller_leaves_is_refused(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt->min_lg2, i;
	u64 small = 1ULL << kt->min_lg2;

	while ((lg2 = kt_next_lg2(kt, lg2))) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);
		const u64 places[] = { 0, size / 2, size - small };
		u64 mapped;

		if (!kt_fits(kt, iova, size))
			break;
		for (i = 0; i < ARRAY_SIZE(places); i++) {
			kt_map(kt, iova + places[i], 0, small, KT_RW);
			KUNIT_EXPECT_EQ(test, -EADDRINUSE,
					kt_try_map(kt, iova, 0, size, KT_RW,
						   &mapped));
			KUNIT_EXPECT_EQ(test, mapped, 0);
			kt_expect_edges(kt, iova + places[i], small);
			kt_check(kt);
			kt_unmap(kt, iova + places[i], small);
		}
		/* The place is usable afterwards */
		kt_map(kt, iova, 0, size, KT_RW);
		kt_check(kt);
		kt_unmap(kt, iova, size);
	}
	kt_check(kt);
}

/* A run that meets something leaves what came before, and says how much */
static void map_up_to_what_is_mapped(struct kunit *test)
{
	/* Around a line of items, and near both ends of a table */
	static const unsigned int pages[] = { 1,  2,  7,   8,	9,   15,
					      16, 63, 500, 511, 512, 513 };
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 mapped;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		u64 at = pages[i] * size;

		if (!kt_fits(kt, 0, 600 * size) && pages[i] > 400)
			break;
		kt_map(kt, at, 0, size, IOMMU_READ);
		/* OA is off by one page, so that no larger leaf fits */
		KUNIT_EXPECT_EQ(test, -EADDRINUSE,
				kt_try_map(kt, 0, size, at + 4 * size, KT_RW,
					   &mapped));
		KUNIT_EXPECT_EQ(test, mapped, at);
		kt_expect_edges(kt, 0, at);
		kt_expect_mapped(kt, at, 0, size, IOMMU_READ);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, at + size, kt_unmap(kt, 0, at + size));
		kt_check(kt);
	}
}

/* A run of larger leaves that meets something stops before the leaf it is in */
static void map_up_to_the_last_whole_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt->min_lg2, i;
	u64 small = 1ULL << kt->min_lg2;

	while ((lg2 = kt_next_lg2(kt, lg2))) {
		u64 size = 1ULL << lg2, mapped;
		const u64 places[] = { 0, small, size / 2, size - small };

		if (!kt_fits(kt, 0, 8 * size) || 9 * size > kt->oa_last)
			break;
		for (i = 0; i < ARRAY_SIZE(places); i++) {
			u64 at = 5 * size + (places[i] & ~(small - 1));

			kt_map(kt, at, 0, small, IOMMU_READ);
			/* OA is off, so that no leaf larger than that fits */
			KUNIT_EXPECT_EQ(test, -EADDRINUSE,
					kt_try_map(kt, size, 2 * size, 6 * size,
						   KT_RW, &mapped));
			KUNIT_EXPECT_EQ(test, mapped, 4 * size);
			kt_expect_edges(kt, size, mapped);
			kt_expect_edges(kt, at, small);
			kt_check(kt);
			KUNIT_EXPECT_EQ(test, mapped,
					kt_unmap(kt, size, mapped));
			KUNIT_EXPECT_EQ(test, small, kt_unmap(kt, at, small));
			kt_check(kt);
		}
	}
}

/* A range that needs leaves of all sizes, up and down again */
static void map_uses_the_largest_leaves(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = clamp(kt_max_lg2(kt, 4), kt->min_lg2 + 6, 36U);
	u64 small = 1ULL << kt->min_lg2, size;

	size = min(1ULL << lg2, kt->oa_last / 2 + 1);
	/* All but the first and the last of the smallest pages */
	kt_map(kt, small, small, 2 * size - 2 * small, KT_RW);
	kt_expect_edges(kt, small, 2 * size - 2 * small);
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, 2 * size - 2 * small,
			kt_unmap(kt, small, 2 * size - 2 * small));
	kt_check(kt);
}

/* IOVA and OA that are aligned alike to each size, and to no larger one */
static void map_limited_by_alignment(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt->min_lg2;

	do {
		u64 size = 1ULL << lg2;

		if (!kt_fits(kt, 0, 64 * size) || kt->oa_last >> lg2 < 65)
			break;
		kt_map(kt, size, 2 * size, 11 * size, KT_RW);
		KUNIT_EXPECT_GE(test, kt->nr_leaves, 11);
		kt_expect_edges(kt, size, 11 * size);
		kt_check(kt);
		KUNIT_EXPECT_EQ(test, 11 * size, kt_unmap(kt, size, 11 * size));
	} while ((lg2 = kt_next_lg2(kt, lg2)));
	kt_check(kt);
}

/* As the core calls it: so many pages of a size */
static void map_pages_and_unmap_pages(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_iotlb_gather gather;
	unsigned int smallest;
	size_t mapped = 5;
	u64 done;

	iommu_iotlb_gather_init(&gather);
	KUNIT_ASSERT_EQ(test, 0,
			PTF_FN(map_pages)(&kt->domain, 3 * size, size, size, 7,
					  KT_RW, GFP_KERNEL, &mapped));
	KUNIT_EXPECT_EQ(test, mapped, 5 + 7 * size);
	KUNIT_EXPECT_EQ(test, 0,
			kt_model_map(kt, 3 * size, size, 7 * size, KT_RW,
				     U64_MAX, &done));
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, 7 * size,
			PTF_FN(unmap_pages)(&kt->domain, 3 * size, size, 9,
					    &gather));
	kt_model_unmap(kt, 3 * size, 7 * size, &smallest);
	iommu_iotlb_sync(&kt->domain, &gather);
	kt_check(kt);
}

/* From above: the core cuts the range, calls us, and unwinds what failed */
static void map_and_unmap_by_the_core(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int smallest, lg2;
	u64 len, mapped;

	/* All sizes, where there is room for it */
	lg2 = clamp(kt_max_lg2(kt, 4), kt->min_lg2 + 6, 36U);
	len = min(1ULL << lg2, kt->oa_last / 2 + 1) + 7 * size;
	KUNIT_ASSERT_EQ(test, 0,
			iommu_map(&kt->domain, size, size, len, KT_RW,
				  GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0,
			kt_model_map(kt, size, size, len, KT_RW, U64_MAX,
				     &mapped));
	kt_check(kt);
	KUNIT_EXPECT_EQ(test, 2 * size + 5,
			iommu_iova_to_phys(&kt->domain, 2 * size + 5));
	KUNIT_EXPECT_EQ(test, len, iommu_unmap(&kt->domain, size, len));
	KUNIT_EXPECT_EQ(test, len, kt_model_unmap(kt, size, len, &smallest));
	kt_check(kt);

	/* Something in the way: it stays, all else is unwound */
	kt_map(kt, 40 * size, 0, size, IOMMU_READ);
	KUNIT_EXPECT_EQ(test, -EADDRINUSE,
			iommu_map(&kt->domain, size, 2 * size, 48 * size, KT_RW,
				  GFP_KERNEL));
	kt_check(kt);
	/* Up to a hole */
	KUNIT_EXPECT_EQ(test, size,
			iommu_unmap(&kt->domain, 40 * size, 8 * size));
	kt_model_unmap(kt, 40 * size, 8 * size, &smallest);
	KUNIT_EXPECT_EQ(test, 0, iommu_unmap(&kt->domain, 0, 8 * size));
	kt_check(kt);
}

/* A lookup anywhere outside of the aperture is an answer, not an accident */
static void lookup_beyond_the_aperture(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct pt_iommu_entry entry = { .oa = 1, .size = 2, .prot = 3 };
	u64 size = 1ULL << kt->min_lg2;
	unsigned int lg2;

	/* Were the high bits dropped, it would be found */
	kt_map(kt, 0, size, size, KT_RW);
	for (lg2 = fls64(kt->last); lg2 < 64; lg2++) {
		KUNIT_EXPECT_EQ(test, -ERANGE,
				kt_op_lookup(kt, 1ULL << lg2, &entry));
		KUNIT_EXPECT_EQ(test, 0, kt_op_iova_to_phys(kt, 1ULL << lg2));
	}
	/* Inside, above what a tree that grows reaches so far */
	kt_expect_hole(kt, kt->last);
	KUNIT_EXPECT_EQ(test, -ENOENT, kt_op_lookup(kt, kt->last, &entry));
	KUNIT_EXPECT_EQ(test, entry.oa, 1);
	KUNIT_EXPECT_EQ(test, entry.size, 2);
	KUNIT_EXPECT_EQ(test, entry.prot, 3);
}

static struct kunit_case kt_map_cases[] = {
	KT_CASE(map_each_size),
	KT_CASE(map_page_as_large_as_the_table),
	KT_CASE(map_permissions),
	KT_CASE(map_to_oa_0),
	KT_CASE(map_last_byte_of_the_aperture),
	KT_CASE(map_last_byte_of_the_oa_space),
	KT_CASE(map_misaligned_is_refused),
	KT_CASE(map_nothing_is_refused),
	KT_CASE(map_without_access_is_refused),
	KT_CASE(map_outside_the_aperture_is_refused),
	KT_CASE(map_past_the_oa_space_is_refused),
	KT_CASE(map_over_the_same_is_refused),
	KT_CASE(map_inside_of_a_leaf_is_refused),
	KT_CASE(map_over_smaller_leaves_is_refused),
	KT_CASE(map_up_to_what_is_mapped),
	KT_CASE(map_up_to_the_last_whole_leaf),
	KT_CASE(map_uses_the_largest_leaves),
	KT_CASE(map_limited_by_alignment),
	KT_CASE(map_pages_and_unmap_pages),
	KT_CASE(map_and_unmap_by_the_core),
	KT_CASE(lookup_beyond_the_aperture),
	{},
};

KT_SUITE(map);

#endif /* __GENERIC_PT_KUNIT_MAP_H */
