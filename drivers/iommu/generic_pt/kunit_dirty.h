/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: dirty tracking
 */
#ifndef __GENERIC_PT_KUNIT_DIRTY_H
#define __GENERIC_PT_KUNIT_DIRTY_H

#include <linux/mman.h>
#include <linux/uaccess.h>

#include "kunit_ops.h"

MODULE_IMPORT_NS(IOMMUFD);

/* Mark what is mapped at an IOVA dirty, as hardware would: one item of a leaf */
static void kt_set_dirty(struct kt *kt, u64 iova)
{
	struct kt_leaf *leaf = kt_model_at(kt, iova);

	KUNIT_ASSERT_NOT_NULL(kt->test, leaf);
	KUNIT_ASSERT_EQ(kt->test, 0, kt_op_set_dirty(kt, iova));
	leaf->dirty = true;
}

/* Scan a range. Returns the first and last byte that was said to be dirty. */
static void kt_scan(struct kt *kt, u64 iova, u64 len, unsigned long flags,
		    u64 *start, u64 *last)
{
	struct iommu_iotlb_gather gather;
	struct iommu_dirty_bitmap dirty;

	iommu_dirty_bitmap_init(&dirty, NULL, &gather);
	KUNIT_ASSERT_EQ(kt->test, 0, kt_op_dirty(kt, iova, len, flags, &dirty));
	*start = gather.start;
	*last = gather.end;
}

/* Scan a range and expect what the model says */
static void kt_scan_range(struct kt *kt, u64 iova, u64 len, unsigned long flags)
{
	u64 start, last, first = ULONG_MAX, end = 0, at = iova;
	struct kt_leaf *leaf;

	kt_scan(kt, iova, len, flags, &start, &last);
	while (at - iova < len &&
	       (leaf = kt_model_next(kt, at, iova + len - 1))) {
		if (leaf->dirty) {
			/* From where the range begins to the leaf's end */
			first = min(first, max(iova, leaf->iova));
			end = kt_leaf_last(leaf);
			leaf->dirty = flags & IOMMU_DIRTY_NO_CLEAR;
		}
		at = kt_leaf_last(leaf) + 1;
		if (!at)
			break;
	}
	KUNIT_ASSERT_EQ_MSG(kt->test, start, first, "scan %#llx, %#llx bytes",
			    iova, len);
	KUNIT_ASSERT_EQ_MSG(kt->test, last, end, "scan %#llx, %#llx bytes",
			    iova, len);
}

static void kt_scan_all(struct kt *kt, unsigned long flags)
{
	kt_scan_range(kt, 0, kt->last & ~pt_low_mask(kt->min_lg2), flags);
}

/* Set, read, clear: a leaf of each size */
static void dirty_each_size(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);

		if (!kt_fits(kt, iova, size))
			break;
		kt_map(kt, iova, 0, size, KT_RW);
		kt_scan_range(kt, iova, size, 0);
		kt_set_dirty(kt, iova);
		kt_check(kt);
		kt_scan_range(kt, iova, size, IOMMU_DIRTY_NO_CLEAR);
		kt_scan_range(kt, iova, size, IOMMU_DIRTY_NO_CLEAR);
		kt_check(kt);
		kt_scan_range(kt, iova, size, 0);
		kt_check(kt);
		kt_scan_range(kt, iova, size, 0);
		kt_unmap(kt, iova, size);
	}
}

/* Hardware marks any item of a contiguous entry: it says dirty of all of it */
static void dirty_in_each_item(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		unsigned int level = (lg2 - PTF_GRANULE_LG2) / PTF_INDEX_LG2;
		unsigned int item_lg2 = kt_item_lg2(level);
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);
		unsigned int i;

		if (lg2 == item_lg2)
			continue;
		if (!kt_fits(kt, iova, size))
			break;
		kt_map(kt, iova, 0, size, KT_RW);
		for (i = 0; i < 1U << (lg2 - item_lg2); i++) {
			kt_set_dirty(kt, iova + ((u64)i << item_lg2));
			kt_scan_range(kt, iova, size, IOMMU_DIRTY_NO_CLEAR);
			kt_scan_range(kt, iova, size, 0);
			kt_scan_range(kt, iova, size, 0);
		}
		/* All of them at once, cleared at once */
		for (i = 0; i < 1U << (lg2 - item_lg2); i++)
			kt_set_dirty(kt, iova + ((u64)i << item_lg2));
		kt_scan_range(kt, iova, size, 0);
		kt_check(kt);
		kt_scan_range(kt, iova, size, 0);
		kt_unmap(kt, iova, size);
	}
}

/* A range that begins or ends inside of a leaf sees all of the leaf's items */
static void dirty_range_inside_of_a_leaf(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 small = 1ULL << kt->min_lg2;
	unsigned int lg2 = kt->min_lg2;

	while ((lg2 = kt_next_lg2(kt, lg2))) {
		u64 size = 1ULL << lg2;
		u64 iova = kt_iova(kt, lg2);
		const u64 places[] = { 0, size / 2, size - small };
		unsigned int i;

		if (!kt_fits(kt, iova, size))
			break;
		kt_map(kt, iova, 0, size, KT_RW);
		for (i = 0; i < ARRAY_SIZE(places); i++) {
			/* Before, in, and behind what is asked for */
			kt_set_dirty(kt, iova + places[i]);
			kt_scan_range(kt, iova, small, IOMMU_DIRTY_NO_CLEAR);
			kt_scan_range(kt, iova + size / 2, small,
				      IOMMU_DIRTY_NO_CLEAR);
			kt_scan_range(kt, iova + small, size - small, 0);
			kt_check(kt);
			kt_set_dirty(kt, iova + places[i]);
			kt_scan_range(kt, iova + size - small, small, 0);
			kt_scan_range(kt, iova, size, 0);
		}
		kt_unmap(kt, iova, size);
	}
}

/* What is clean, not mapped, or outside of the range stays out of it */
static void dirty_only_where_it_is(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int i, j;

	/* Pages with holes between them, and a table or more */
	for (i = 0; i < 96; i++)
		if (i % 5)
			kt_map(kt, i * size, 0, size, KT_RW);
	for (i = 0; i < 96; i++) {
		if (!(i % 5)) {
			KUNIT_EXPECT_EQ(test, -ENOENT,
					kt_op_set_dirty(kt, i * size));
			continue;
		}
		kt_set_dirty(kt, i * size);
		kt_scan_range(kt, 0, 96 * size, IOMMU_DIRTY_NO_CLEAR);
		if (i)
			kt_scan_range(kt, 0, i * size, 0);
		kt_scan_range(kt, (i + 1) * size, 8 * size, 0);
		/* Still there, and nothing else */
		for (j = 0; j < 96; j += 7)
			kt_scan_range(kt, j * size, size, IOMMU_DIRTY_NO_CLEAR);
		kt_scan_range(kt, 0, 96 * size, 0);
		kt_scan_range(kt, 0, 96 * size, 0);
	}
	kt_check(kt);
}

/* Any number of dirty pages, at any place of a table, each alone and in pairs */
static void dirty_in_each_page_of_a_table(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	u64 len = 511 * size;
	unsigned int i;

	if (!kt_fits(kt, 0, len))
		kunit_skip(test, "too small");
	kt_map(kt, 0, size, len, KT_RW);
	for (i = 0; i < 510; i++) {
		kt_set_dirty(kt, i * size);
		kt_set_dirty(kt, (i + 1) * size);
		kt_scan_range(kt, i * size, size, 0);
		kt_scan_range(kt, 0, len, 0);
	}
	kt_scan_range(kt, 0, len, 0);
	kt_check(kt);
}

/* Wide holes are crossed, at each level, up to the last byte */
static void dirty_across_holes(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int lg2;

	kt_scan_all(kt, 0);
	for (lg2 = kt->min_lg2; lg2 < 64; lg2++) {
		if (!kt_fits(kt, 1ULL << lg2, size))
			break;
		kt_map(kt, 1ULL << lg2, 0, size, KT_RW);
		kt_set_dirty(kt, 1ULL << lg2);
		kt_scan_all(kt, IOMMU_DIRTY_NO_CLEAR);
	}
	kt_map(kt, kt->last - size + 1, 0, size, KT_RW);
	kt_set_dirty(kt, kt->last);
	kt_scan_range(kt, kt->last - size + 1, size, IOMMU_DIRTY_NO_CLEAR);
	kt_scan_range(kt, size, kt->last - size + 1, 0);
	kt_check(kt);
}

/* Bad arguments change nothing */
static void dirty_bad_arguments(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2, half = 1ULL << (PTF_GRANULE_LG2 - 1);
	struct iommu_iotlb_gather gather;
	struct iommu_dirty_bitmap dirty;

	kt_map(kt, 0, 0, size, KT_RW);
	kt_set_dirty(kt, 0);
	iommu_dirty_bitmap_init(&dirty, NULL, &gather);
	KUNIT_EXPECT_EQ(test, -EINVAL, kt_op_dirty(kt, 0, 0, 0, &dirty));
	KUNIT_EXPECT_EQ(test, -EINVAL, kt_op_dirty(kt, 0, half, 0, &dirty));
	KUNIT_EXPECT_EQ(test, -EINVAL, kt_op_dirty(kt, half, size, 0, &dirty));
	KUNIT_EXPECT_EQ(test, -ERANGE,
			kt_op_dirty(kt, kt->last - size + 1, 2 * size, 0,
				    &dirty));
	KUNIT_EXPECT_EQ(test, gather.end, 0);
	kt_check(kt);
}

/* A new mapping is clean, also where a dirty one was */
static void dirty_ends_with_the_mapping(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;

	kt_map(kt, 0, 0, size, KT_RW);
	kt_set_dirty(kt, 0);
	kt_unmap(kt, 0, size);
	KUNIT_EXPECT_EQ(test, -ENOENT, kt_op_set_dirty(kt, 0));
	kt_scan_range(kt, 0, size, 0);
	kt_map(kt, 0, 0, size, KT_RW);
	kt_scan_range(kt, 0, size, 0);
	kt_check(kt);
}

/* The dirty bit is no part of the address, size or permissions */
static void dirty_shows_nowhere_else(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	unsigned int lg2;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		size = 1ULL << lg2;
		if (!kt_fits(kt, 0, size))
			break;
		kt_map(kt, 0, kt_oa(kt, lg2), size, IOMMU_WRITE);
		kt_set_dirty(kt, size - 1);
		kt_expect_edges(kt, 0, size);
		KUNIT_EXPECT_EQ(test, size, kt_unmap(kt, 0, size));
	}
	kt_check(kt);
}

/* What user space gets to see: one bit a page */
static void dirty_bitmap(struct kunit *test)
{
	static const unsigned int dirty_pages[] = { 0,	1,   2,	  7,   8,  63,
						    64, 100, 191, 192, 255 };
	struct kt *kt = test->priv;
	u64 size = 1ULL << kt->min_lg2;
	struct iommu_dirty_bitmap dirty;
	u64 expect[4] = {}, bits[4] = {};
	struct iova_bitmap *bitmap;
	unsigned long addr;
	unsigned int i;

	addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, TASK_SIZE);
	KUNIT_ASSERT_EQ(test, 0,
			copy_to_user((void __user *)addr, bits, sizeof(bits)));

	kt_map(kt, 256 * size, size, 256 * size, KT_RW);
	for (i = 0; i < ARRAY_SIZE(dirty_pages); i++) {
		kt_set_dirty(kt, (256 + dirty_pages[i]) * size);
		expect[dirty_pages[i] / 64] |= 1ULL << (dirty_pages[i] % 64);
	}
	bitmap = iova_bitmap_alloc(256 * size, 256 * size, size,
				   (u64 __user *)addr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(bitmap));
	iommu_dirty_bitmap_init(&dirty, bitmap, NULL);
	KUNIT_EXPECT_EQ(test, 0,
			kt_op_dirty(kt, 256 * size, 256 * size, 0, &dirty));
	iova_bitmap_free(bitmap);
	KUNIT_ASSERT_EQ(test, 0,
			copy_from_user(bits, (void __user *)addr,
				       sizeof(bits)));
	KUNIT_EXPECT_MEMEQ(test, bits, expect, sizeof(bits));
}

static struct kunit_case kt_dirty_cases[] = {
	KT_CASE_DIRTY(dirty_each_size),
	KT_CASE_DIRTY(dirty_in_each_item),
	KT_CASE_DIRTY(dirty_range_inside_of_a_leaf),
	KT_CASE_DIRTY(dirty_only_where_it_is),
	KT_CASE_DIRTY(dirty_in_each_page_of_a_table),
	KT_CASE_DIRTY(dirty_across_holes),
	KT_CASE_DIRTY(dirty_bad_arguments),
	KT_CASE_DIRTY(dirty_ends_with_the_mapping),
	KT_CASE_DIRTY(dirty_shows_nowhere_else),
	KT_CASE_DIRTY(dirty_bitmap),
	{},
};

KT_SUITE(dirty);

#endif /* __GENERIC_PT_KUNIT_DIRTY_H */
