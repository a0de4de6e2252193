/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: operations that are checked against the model
 *
 * Each does the same to the page table and to the model, and expects the same
 * of both. What a test says on top of that is the rule that it is about.
 */
#ifndef __GENERIC_PT_KUNIT_OPS_H
#define __GENERIC_PT_KUNIT_OPS_H

#include "kunit_fixture.h"

#define KT_RW (IOMMU_READ | IOMMU_WRITE)

/* Level of the tables of the smallest leaves */
static unsigned int kt_leaf_level(const struct kt *kt)
{
	return (kt->min_lg2 - PTF_GRANULE_LG2) / PTF_INDEX_LG2;
}

/* lg2 of what one of them covers */
static unsigned int kt_table_lg2(const struct kt *kt)
{
	return kt_item_lg2(kt_leaf_level(kt) + 1);
}

/* Expect that nothing is mapped at an IOVA */
static void kt_expect_hole(struct kt *kt, u64 iova)
{
	struct pt_iommu_entry entry;
	struct kt_hw hw;

	KUNIT_EXPECT_EQ_MSG(kt->test, -ENOENT, kt_op_lookup(kt, iova, &entry),
			    "IOVA %#llx", iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, 0, kt_op_iova_to_phys(kt, iova),
			    "IOVA %#llx", iova);
	KUNIT_EXPECT_FALSE_MSG(kt->test, kt_hw_walk(kt, iova, &hw),
			       "IOVA %#llx", iova);
}

/* Expect that an IOVA goes to an OA, through a leaf of a size */
static void kt_expect_mapped(struct kt *kt, u64 iova, u64 oa, u64 size,
			     int prot)
{
	struct pt_iommu_entry entry = {};
	struct kt_hw hw = {};

	KUNIT_EXPECT_EQ_MSG(kt->test, 0, kt_op_lookup(kt, iova, &entry),
			    "IOVA %#llx", iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, entry.oa, oa, "IOVA %#llx", iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, entry.size, size, "IOVA %#llx", iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, entry.prot,
			    kt_fmt_prot(kt->cfg, prot) & KT_RW, "IOVA %#llx",
			    iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, oa, kt_op_iova_to_phys(kt, iova),
			    "IOVA %#llx", iova);
	KUNIT_EXPECT_TRUE_MSG(kt->test, kt_hw_walk(kt, iova, &hw), "IOVA %#llx",
			      iova);
	KUNIT_EXPECT_EQ_MSG(kt->test, hw.oa + (iova & (size - 1)), oa,
			    "IOVA %#llx", iova);
}

/* Expect of an IOVA what the model says about it */
static void kt_expect_model(struct kt *kt, u64 iova)
{
	const struct kt_leaf *leaf = kt_model_at(kt, iova);

	if (leaf)
		kt_expect_mapped(kt, iova, leaf->oa + (iova - leaf->iova),
				 1ULL << leaf->lg2, leaf->prot);
	else
		kt_expect_hole(kt, iova);
}

/* The edges of a range, and what lies next to them */
static void kt_expect_edges(struct kt *kt, u64 iova, u64 len)
{
	u64 last = iova + len - 1;

	if (iova)
		kt_expect_model(kt, iova - 1);
	kt_expect_model(kt, iova);
	kt_expect_model(kt, iova + len / 2);
	kt_expect_model(kt, last);
	if (last != kt->last)
		kt_expect_model(kt, last + 1);
}

/**
 * kt_try_map() - Map, in the model too, and expect the same
 * @kt: The page table
 * @iova: First byte
 * @oa: Where it goes
 * @len: Bytes; all three aligned and within what the table holds
 * @prot: Permissions
 * @mapped: Set to what was mapped
 *
 * Return: What map_range returned.
 */
static int kt_try_map(struct kt *kt, u64 iova, u64 oa, u64 len, int prot,
		      u64 *mapped)
{
	/* It is increased, not set */
	size_t done = 0x1234000;
	bool no_table;
	int ret, expect;

	ret = kt_op_map(kt, iova, oa, len, prot, &done);
	done -= 0x1234000;
	no_table = ret == -ENOMEM || ret == -EDQUOT;
	expect = kt_model_map(kt, iova, oa, len, prot,
			      no_table ? done : U64_MAX, mapped);
	if (no_table) {
		KUNIT_ASSERT_NE_MSG(kt->test, 0,
				    ret == -ENOMEM ? kt->fail_at :
						     kt_iommu(kt)->max_tables,
				    "out of memory");
		KUNIT_ASSERT_LT(kt->test, done, len);
	} else {
		KUNIT_ASSERT_EQ_MSG(kt->test, ret, expect,
				    "map %#llx -> %#llx, %#llx bytes", iova, oa,
				    len);
	}
	KUNIT_ASSERT_EQ_MSG(kt->test, done, *mapped,
			    "map %#llx -> %#llx, %#llx bytes", iova, oa, len);
	return ret;
}

/* Map what must succeed */
static void kt_map(struct kt *kt, u64 iova, u64 oa, u64 len, int prot)
{
	u64 mapped;

	KUNIT_ASSERT_EQ_MSG(kt->test, 0,
			    kt_try_map(kt, iova, oa, len, prot, &mapped),
			    "map %#llx -> %#llx, %#llx bytes", iova, oa, len);
}

/* Tables on a gather's freelist */
static unsigned int kt_gathered_tables(const struct iommu_iotlb_gather *gather)
{
	return list_count_nodes((struct list_head *)&gather->freelist);
}

/* The gather of one unmap names all that went, and nothing else */
static void kt_expect_gather(struct kt *kt,
			     const struct iommu_iotlb_gather *gather, u64 iova,
			     u64 done, unsigned int smallest)
{
	if (!done) {
		KUNIT_ASSERT_EQ(kt->test, gather->start, ULONG_MAX);
		KUNIT_ASSERT_EQ(kt->test, gather->end, 0);
		KUNIT_ASSERT_EQ(kt->test, gather->pgsize, 0);
		KUNIT_ASSERT_TRUE(kt->test, list_empty(&gather->freelist));
		return;
	}
	KUNIT_ASSERT_EQ(kt->test, gather->start, iova);
	KUNIT_ASSERT_EQ(kt->test, gather->end, iova + done - 1);
	if (!kt_feature(kt, PT_FEAT_DETAILED_GATHER)) {
		KUNIT_ASSERT_EQ(kt->test, gather->pgsize, 0);
		return;
	}
	/* Never a stride that steps over a leaf */
	KUNIT_ASSERT_TRUE(kt->test, is_power_of_2(gather->pgsize));
	KUNIT_ASSERT_LE(kt->test, gather->pgsize, 1ULL << smallest);
}

/* Give back what a queued flush would: everything is flushed, then freed */
static void kt_flush_queue(struct kt *kt, struct list_head *freelist)
{
	kt_see_freelist(kt, freelist, 0, ~0ULL);
	kt_flush_iotlb_all(&kt->domain);
	iommu_put_pages_list(freelist);
}

/**
 * kt_unmap_queued() - Unmap, in the model too, and expect the same
 * @kt: The page table
 * @iova: First byte
 * @len: Bytes
 * @queued: Flush everything afterwards, otherwise the range
 *
 * Return: Bytes unmapped.
 */
static u64 kt_unmap_queued(struct kt *kt, u64 iova, u64 len, bool queued)
{
	struct iommu_iotlb_gather gather;
	unsigned int smallest, before, after, i;
	u64 done, expect;

	before = kt_count(kt).tables;
	iommu_iotlb_gather_init(&gather);
	gather.queued = queued;
	kt->nr_flushes = 0;
	done = kt_op_unmap(kt, iova, len, &gather);
	expect = kt_model_unmap(kt, iova, len, &smallest);
	KUNIT_ASSERT_EQ_MSG(kt->test, done, expect, "unmap %#llx, %#llx bytes",
			    iova, len);
	kt_expect_gather(kt, &gather, iova, done, smallest);

	/* Each table that went is on the list of exactly one flush */
	after = kt_count(kt).tables + kt_gathered_tables(&gather);
	for (i = 0; i < min_t(unsigned int, kt->nr_flushes, KT_FLUSHES); i++)
		after += kt->flush[i].tables;
	if (kt->nr_flushes <= KT_FLUSHES)
		KUNIT_ASSERT_EQ(kt->test, before, after);

	if (queued)
		kt_flush_queue(kt, &gather.freelist);
	else
		iommu_iotlb_sync(&kt->domain, &gather);
	return done;
}

static u64 kt_unmap(struct kt *kt, u64 iova, u64 len)
{
	return kt_unmap_queued(kt, iova, len, false);
}

/* --------------------- addresses for a configuration --------------------- */

/* Whether a range lies within the aperture */
static bool kt_fits(struct kt *kt, u64 iova, u64 len)
{
	return iova <= kt->last && len - 1 <= kt->last - iova;
}

/* An IOVA that is aligned to a size, not 0 if that can be avoided */
static u64 kt_iova(struct kt *kt, unsigned int lg2)
{
	u64 size = 1ULL << lg2;

	return kt_fits(kt, size, size) ? size : 0;
}

/* An OA that is aligned to a size, with the highest bits set */
static u64 kt_oa(struct kt *kt, unsigned int lg2)
{
	return kt->oa_last & ~pt_low_mask(lg2);
}

/* The largest size of which a number fits into the aperture */
static unsigned int kt_max_lg2(struct kt *kt, unsigned int nr)
{
	int lg2;

	for (lg2 = 63; lg2 > 0; lg2--)
		if ((kt->sizes & (1ULL << lg2)) &&
		    kt_fits(kt, (u64)(nr - 1) << lg2, 1ULL << lg2))
			return lg2;
	return kt->min_lg2;
}

/* The smallest size above another, or 0 */
static unsigned int kt_next_lg2(struct kt *kt, unsigned int lg2)
{
	u64 sizes = kt->sizes & ~pt_low_mask(lg2 + 1);

	return sizes ? __ffs64(sizes) : 0;
}

#endif /* __GENERIC_PT_KUNIT_OPS_H */
