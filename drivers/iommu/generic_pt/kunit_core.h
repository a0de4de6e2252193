/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: the core of the IOMMU subsystem on top of the page table
 *
 * iommu_map(), iommu_unmap() and iommu_map_sg() are called as drivers call
 * them. What the core asks of the domain is counted on the way: one call for a
 * range, none for bad arguments, and after a failure one more that unmaps what
 * was mapped.
 */
#ifndef __GENERIC_PT_KUNIT_CORE_H
#define __GENERIC_PT_KUNIT_CORE_H

#include <linux/scatterlist.h>

#include "kunit_life.h"

/* A range, as the core asks for it */
struct kt_range {
	u64 iova;
	u64 len;
	unsigned int calls;
};

/* What the core called since kt_core_start() */
static struct kt_core {
	struct kt_range map;
	struct kt_range unmap;
	struct kt_range sync_map;
	int sync_map_ret;
} kt_core;

static void kt_core_note(struct kt_range *range, u64 iova, u64 len)
{
	if (!range->calls++)
		range->iova = iova;
	range->len += len;
}

static int kt_core_map_pages(struct iommu_domain *domain, unsigned long iova,
			     phys_addr_t paddr, size_t pgsize, size_t pgcount,
			     int prot, gfp_t gfp, size_t *mapped)
{
	kt_core_note(&kt_core.map, iova, (u64)pgsize * pgcount);
	return PTF_FN(map_pages)(domain, iova, paddr, pgsize, pgcount, prot,
				 gfp, mapped);
}

static size_t kt_core_unmap_pages(struct iommu_domain *domain,
				  unsigned long iova, size_t pgsize,
				  size_t pgcount,
				  struct iommu_iotlb_gather *gather)
{
	kt_core_note(&kt_core.unmap, iova, (u64)pgsize * pgcount);
	return PTF_FN(unmap_pages)(domain, iova, pgsize, pgcount, gather);
}

static int kt_core_iotlb_sync_map(struct iommu_domain *domain,
				  unsigned long iova, size_t size)
{
	kt_core_note(&kt_core.sync_map, iova, size);
	return kt_core.sync_map_ret;
}

static const struct iommu_domain_ops kt_core_ops = {
	.map_pages = kt_core_map_pages,
	.unmap_pages = kt_core_unmap_pages,
	.iova_to_phys = PTF_FN(iova_to_phys),
	.iotlb_sync_map = kt_core_iotlb_sync_map,
	.iotlb_sync = kt_iotlb_sync,
	.flush_iotlb_all = kt_flush_iotlb_all,
};

/* Watch what the core does from now on */
static void kt_core_start(struct kt *kt)
{
	kt->domain.ops = &kt_core_ops;
	kt_core = (struct kt_core){};
}

static void kt_expect_range(struct kt *kt, const struct kt_range *range,
			    u64 iova, u64 len, unsigned int calls)
{
	KUNIT_EXPECT_EQ(kt->test, range->iova, iova);
	KUNIT_EXPECT_EQ(kt->test, range->len, len);
#ifdef IOMMU_DOMAIN_WHOLE_RANGE
	KUNIT_EXPECT_EQ(kt->test, range->calls, calls);
#else
	KUNIT_EXPECT_GE(kt->test, range->calls, calls);
#endif
}

static void kt_expect_no_range(struct kt *kt, const struct kt_range *range)
{
	KUNIT_EXPECT_EQ(kt->test, range->calls, 0);
}

/* Whether the aperture has room for a range over the whole of one table */
static bool kt_core_two_tables(struct kt *kt)
{
	return kt_fits(kt, 0, 3ULL << kt_table_lg2(kt));
}

/*
 * A range over the whole of one table, with a page on each side: leaves of two
 * sizes where the format has one for that, and two tables that are needed. In
 * an aperture of one table, four pages. Returns the smallest size.
 */
static u64 kt_core_range(struct kt *kt, u64 *iova, u64 *oa, u64 *len)
{
	u64 small = 1ULL << kt->min_lg2, large = 1ULL << kt_table_lg2(kt);
	u64 sizes = kt->sizes & ~(large - 1);

	if (!kt_core_two_tables(kt))
		large = 2 * small;
	else if (sizes && kt_fits(kt, 0, 3ULL << __ffs64(sizes)))
		large = 1ULL << __ffs64(sizes);
	*iova = large - small;
	*len = large + 2 * small;
	KUNIT_ASSERT_TRUE(kt->test, kt_fits(kt, *iova, *len));
	/* What is below the large size is alike in both addresses */
	*oa = *iova;
	if (*oa + *len + 4 * large - 1 <= (phys_addr_t)~0ULL)
		*oa += 4 * large;
	return small;
}

/* Tell the model what the core has mapped */
static void kt_core_mapped(struct kt *kt, u64 iova, u64 oa, u64 len)
{
	u64 mapped;

	KUNIT_ASSERT_EQ(kt->test, 0,
			kt_model_map(kt, iova, oa, len, KT_RW, U64_MAX,
				     &mapped));
}

/* What the core has mapped is there, and nothing else */
static void kt_core_expect_mapped(struct kt *kt, u64 iova, u64 oa, u64 len)
{
	kt_core_mapped(kt, iova, oa, len);
	kt_expect_edges(kt, iova, len);
	kt_check(kt);
}

/* Unmap through the core, in the model too, and expect the same */
static void kt_core_unmap(struct kt *kt, u64 iova, u64 len, u64 expect)
{
	unsigned int smallest;

	KUNIT_EXPECT_EQ(kt->test, expect,
			kt_model_unmap(kt, iova, len, &smallest));
	KUNIT_EXPECT_EQ(kt->test, expect, iommu_unmap(&kt->domain, iova, len));
	kt_check(kt);
}

/* A range of several sizes is one call, and so is its end */
static void core_takes_a_range_in_one_call(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 iova, oa, len;

	kt_core_range(kt, &iova, &oa, &len);
	kt_core_start(kt);
	KUNIT_ASSERT_EQ(test, 0,
			iommu_map(&kt->domain, iova, oa, len, KT_RW,
				  GFP_KERNEL));
	kt_expect_range(kt, &kt_core.map, iova, len, 1);
	kt_expect_range(kt, &kt_core.sync_map, iova, len, 1);
	kt_core_expect_mapped(kt, iova, oa, len);
	KUNIT_EXPECT_EQ(test, oa + len - 1,
			iommu_iova_to_phys(&kt->domain, iova + len - 1));

	kt->nr_flushes = 0;
	kt_core_unmap(kt, iova, len, len);
	kt_expect_range(kt, &kt_core.unmap, iova, len, 1);
	KUNIT_EXPECT_EQ(test, kt->nr_leaves, 0);
	KUNIT_EXPECT_GE(test, kt->nr_flushes, 1);
}

/* Nothing is asked of a domain for what the core refuses */
static void core_refuses_bad_arguments(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct iommu_domain *domain = &kt->domain;
	u64 iova, oa, len, half;

	half = kt_core_range(kt, &iova, &oa, &len) / 2;
	kt_core_start(kt);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			iommu_map(domain, iova + half, oa, len, KT_RW,
				  GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			iommu_map(domain, iova, oa + half, len, KT_RW,
				  GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			iommu_map(domain, iova, oa, len - half, KT_RW,
				  GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, 0, iommu_unmap(domain, iova + half, len));
	KUNIT_EXPECT_EQ(test, 0, iommu_unmap(domain, iova, len - half));
	domain->type = IOMMU_DOMAIN_BLOCKED;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			iommu_map(domain, iova, oa, len, KT_RW, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, 0, iommu_unmap(domain, iova, len));
	domain->type = IOMMU_DOMAIN_UNMANAGED;
	kt_expect_no_range(kt, &kt_core.sync_map);
	/* Nothing to do is no error */
	KUNIT_EXPECT_EQ(test, 0,
			iommu_map(domain, iova, oa, 0, KT_RW, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, 0, iommu_unmap(domain, iova, 0));
	kt_expect_no_range(kt, &kt_core.map);
	kt_expect_no_range(kt, &kt_core.unmap);

	/* What the page table refuses comes back as it is */
	KUNIT_EXPECT_EQ(test, -EINVAL,
			iommu_map(domain, iova, oa, len, 0, GFP_KERNEL));
	kt_expect_range(kt, &kt_core.map, iova, len, 1);
	kt_expect_no_range(kt, &kt_core.unmap);
	kt_expect_hole(kt, iova);
	kt_check(kt);
}

/* Something is mapped already: it stays, what came before it does not */
static void core_unmaps_what_came_before_an_error(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 iova, oa, len, small;

	small = kt_core_range(kt, &iova, &oa, &len);
	kt_map(kt, iova + len - small, 0, small, KT_RW);
	kt_core_start(kt);
	KUNIT_EXPECT_EQ(test, -EADDRINUSE,
			iommu_map(&kt->domain, iova, oa, len, KT_RW,
				  GFP_KERNEL));
	kt_expect_range(kt, &kt_core.map, iova, len, 1);
	kt_expect_range(kt, &kt_core.unmap, iova, len - small, 1);
	kt_expect_no_range(kt, &kt_core.sync_map);
	kt_expect_edges(kt, iova, len);
	kt_check(kt);
}

/* Memory runs out at each table in turn */
static void core_unmaps_what_was_mapped_without_memory(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 iova, oa, len, small;
	unsigned int n;
	int ret;

	small = kt_core_range(kt, &iova, &oa, &len);
	for (n = 1; n < 20; n++) {
		kt_stop(kt);
		KUNIT_ASSERT_EQ(test, 0, kt_start(kt));
		/* Something to go on from, so that a prefix needs no table */
		kt_map(kt, iova - small, 0, small, KT_RW);
		kt_core_start(kt);
		kt->nr_calls = 0;
		kt->fail_at = n;
		kt->fail_nr = UINT_MAX;
		ret = iommu_map(&kt->domain, iova, oa, len, KT_RW, GFP_KERNEL);
		kt->fail_at = 0;
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		kt_expect_range(kt, &kt_core.map, iova, len, 1);
		kt_expect_no_range(kt, &kt_core.sync_map);
		kt_expect_edges(kt, iova, len);
		kt_check(kt);
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	/* The last page needs a table of its own */
	KUNIT_EXPECT_EQ(test, n > 1, kt_core_two_tables(kt));
	kt_core_expect_mapped(kt, iova, oa, len);
}

/* The driver cannot make hardware see it: all is unmapped */
static void core_unmaps_what_hardware_cannot_see(struct kunit *test)
{
	struct kt *kt = test->priv;
	u64 iova, oa, len;

	kt_core_range(kt, &iova, &oa, &len);
	kt_core_start(kt);
	kt_core.sync_map_ret = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO,
			iommu_map(&kt->domain, iova, oa, len, KT_RW,
				  GFP_KERNEL));
	kt_expect_range(kt, &kt_core.sync_map, iova, len, 1);
	kt_expect_range(kt, &kt_core.unmap, iova, len, 1);
	kt_expect_edges(kt, iova, len);
	kt_check(kt);
}

/* Unmap ends at a hole, and takes a leaf that goes on after the range whole */
static void core_unmaps_up_to_a_hole(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int lg2 = kt_max_lg2(kt, 3);
	u64 iova, oa, len, small, large = 1ULL << lg2;

	small = kt_core_range(kt, &iova, &oa, &len);
	kt_map(kt, iova, oa, len, KT_RW);
	kt_core_start(kt);
	kt_core_unmap(kt, iova + len - small, 3 * small, small);
	kt_core_unmap(kt, iova, min(3 * len, kt->last - iova + 1), len - small);
	KUNIT_EXPECT_EQ(test, kt->nr_leaves, 0);

	/* Arguments are unsigned long */
	if (large > ULONG_MAX / 4)
		return;
	kt_map(kt, large, 0, large, KT_RW);
	kt_core_unmap(kt, large, small, large);
}

/* Entries that lie next to each other are one call */
static void core_takes_a_list(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct scatterlist sg[4];
	u64 iova, oa, len, small;
	unsigned int i;

	small = max_t(u64, kt_core_range(kt, &iova, &oa, &len), PAGE_SIZE);
	oa = 2 * small;
	iova = small;
	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg); i++) {
		/* The second and the third are apart */
		u64 at = oa + (i + i / 2) * small;

		sg_set_page(&sg[i], pfn_to_page(PHYS_PFN(at)), small, 0);
	}

	kt_core_start(kt);
	KUNIT_ASSERT_EQ(test, 4 * small,
			iommu_map_sg(&kt->domain, iova, sg, ARRAY_SIZE(sg),
				     KT_RW, GFP_KERNEL));
	kt_expect_range(kt, &kt_core.map, iova, 4 * small, 2);
	kt_expect_range(kt, &kt_core.sync_map, iova, 4 * small, 1);
	kt_core_mapped(kt, iova, oa, 2 * small);
	kt_core_expect_mapped(kt, iova + 2 * small, oa + 3 * small, 2 * small);
	kt_core_unmap(kt, iova, 4 * small, 4 * small);

	/* The last is taken: what the first two got goes again */
	kt_map(kt, iova + 3 * small, 0, small, KT_RW);
	kt_core_start(kt);
	KUNIT_EXPECT_EQ(test, -EADDRINUSE,
			iommu_map_sg(&kt->domain, iova, sg, ARRAY_SIZE(sg),
				     KT_RW, GFP_KERNEL));
	kt_expect_range(kt, &kt_core.map, iova, 4 * small, 2);
	kt_expect_no_range(kt, &kt_core.sync_map);
	for (i = 0; i < 4; i++)
		kt_expect_model(kt, iova + i * small);
	kt_check(kt);
}

static struct kunit_case kt_core_cases[] = {
	KT_CASE(core_takes_a_range_in_one_call),
	KT_CASE(core_refuses_bad_arguments),
	KT_CASE(core_unmaps_what_came_before_an_error),
	KT_CASE(core_unmaps_what_was_mapped_without_memory),
	KT_CASE(core_unmaps_what_hardware_cannot_see),
	KT_CASE(core_unmaps_up_to_a_hole),
	KT_CASE(core_takes_a_list),
	{},
};

KT_SUITE(core);

#endif /* __GENERIC_PT_KUNIT_CORE_H */
