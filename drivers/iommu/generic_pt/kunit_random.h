/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: random operations
 *
 * Any operation at any place where something may go wrong: around the edges of
 * tables of each level, at both ends of the aperture, around what is mapped.
 * After each one the whole tree is compared with the model.
 *
 * The seed is in the log. To run one again, give the kernel the parameter
 * iommu_<fmt>.kunit_seed=SEED; kunit_ops=NUMBER runs more or fewer operations.
 */
#ifndef __GENERIC_PT_KUNIT_RANDOM_H
#define __GENERIC_PT_KUNIT_RANDOM_H

#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "kunit_dirty.h"
#include "kunit_ops.h"

static ulong kunit_seed;
module_param(kunit_seed, ulong, 0444);
MODULE_PARM_DESC(kunit_seed, "Seed of the random tests, 0 for a new one");

static uint kunit_ops = 400;
module_param(kunit_ops, uint, 0444);
MODULE_PARM_DESC(kunit_ops, "Operations of each random test");

/* Leaves that one map makes at most, and all of them together */
#define KT_RANDOM_RANGE 600
#define KT_RANDOM_LEAVES 3000

static u32 kt_below(struct rnd_state *rnd, u32 limit)
{
	return prandom_u32_state(rnd) % limit;
}

static u64 kt_u64(struct rnd_state *rnd)
{
	return (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);
}

/* One of the sizes */
static unsigned int kt_random_lg2(struct kt *kt, struct rnd_state *rnd)
{
	unsigned int nr = kt_below(rnd, hweight64(kt->sizes));
	u64 sizes = kt->sizes;

	while (nr--)
		sizes &= sizes - 1;
	return __ffs64(sizes);
}

/* An interesting IOVA */
static u64 kt_random_iova(struct kt *kt, struct rnd_state *rnd,
			  unsigned int lg2)
{
	s64 steps = (s64)kt_below(rnd, 65) - 32;
	struct kt_leaf *leaf;
	u64 iova = 0;

	switch (kt_below(rnd, 6)) {
	case 0:
		break;
	case 1:
		iova = kt->last;
		break;
	case 2:
		/* Near the edge of a table */
		iova = 1ULL << min(63U, kt_item_lg2(kt_below(rnd, 7)));
		break;
	case 3:
		iova = kt_u64(rnd);
		break;
	default:
		/* Near what is mapped */
		leaf = kt_model_next(kt, kt_u64(rnd) & kt->last, kt->last) ?:
			       kt_model_next(kt, 0, kt->last);
		if (leaf)
			iova = leaf->iova;
		if (kt_below(rnd, 2))
			steps = 0;
	}
	iova += (u64)steps * (1ULL << (kt_below(rnd, 2) ? lg2 : kt->min_lg2));
	return iova & kt->last & ~pt_low_mask(kt->min_lg2);
}

static void kt_random_map(struct kt *kt, struct rnd_state *rnd)
{
	static const int prots[] = { IOMMU_READ, IOMMU_WRITE, KT_RW,
				     KT_RW | IOMMU_MMIO };
	unsigned int lg2 = kt_random_lg2(kt, rnd), align;
	u64 iova = kt_random_iova(kt, rnd, lg2);
	u64 oa = kt_u64(rnd) & kt->oa_last;
	u64 len = (u64)(1 + kt_below(rnd, kt_below(rnd, 2) ? 3 : 70)) << lg2;
	u64 mapped;

	if (kt_below(rnd, 3))
		len += (u64)kt_below(rnd, 9) << kt->min_lg2;
	/* OA aligned as IOVA is, to some size */
	align = kt_below(rnd, 3) ? 63 : kt_random_lg2(kt, rnd);
	oa = (oa & ~pt_low_mask(align)) | (iova & pt_low_mask(align));
	oa &= kt->oa_last & ~pt_low_mask(kt->min_lg2);
	/* Within both spaces, and not too many */
	len = min(len - 1, kt->last - iova) + 1;
	len = min(len - 1, kt->oa_last - oa) + 1;
	align = pt_align_lg2(iova ^ oa);
	align = pt_floor_lg2(kt->sizes & pt_low_mask(align + 1));
	if (len >> align > KT_RANDOM_RANGE)
		len = (u64)KT_RANDOM_RANGE << align;

	if (!kt_below(rnd, 8)) {
		kt->fail_at = kt->nr_calls + 1 + kt_below(rnd, 6);
		kt->fail_nr = kt_below(rnd, 2) ? 1 : UINT_MAX;
	}
	kt_try_map(kt, iova, oa, len, prots[kt_below(rnd, 4)], &mapped);
	kt->fail_at = 0;
	kt_expect_edges(kt, iova, len);
	if (mapped && mapped != len)
		kt_expect_edges(kt, iova, mapped);
	/* As the core unwinds */
	if (mapped && mapped != len && kt_below(rnd, 2))
		KUNIT_ASSERT_EQ(kt->test, mapped, kt_unmap(kt, iova, mapped));
}

static void kt_random_unmap(struct kt *kt, struct rnd_state *rnd)
{
	unsigned int lg2 = kt_random_lg2(kt, rnd);
	u64 iova = kt_random_iova(kt, rnd, lg2);
	u64 len = (u64)(1 + kt_below(rnd, 100)) << lg2;

	if (kt_below(rnd, 3))
		len += (u64)kt_below(rnd, 9) << kt->min_lg2;
	if (!kt_below(rnd, 4))
		len = kt_u64(rnd) & ~pt_low_mask(kt->min_lg2);
	len = min(len - 1, kt->last - iova) + 1;
	if (!len)
		len = 1ULL << kt->min_lg2;
	kt_unmap_queued(kt, iova, len, kt_below(rnd, 2));
	kt_expect_edges(kt, iova, len);
}

static void kt_random_dirty(struct kt *kt, struct rnd_state *rnd)
{
	unsigned int lg2 = kt_random_lg2(kt, rnd);
	u64 iova = kt_random_iova(kt, rnd, lg2);
	u64 len = (u64)(1 + kt_below(rnd, 100)) << lg2;
	struct kt_leaf *leaf = kt_model_at(kt, iova);

	if (!PTF_DIRTY)
		return;
	if (leaf)
		kt_set_dirty(kt, leaf->iova + (kt_u64(rnd) &
					       pt_low_mask(leaf->lg2)));
	len = min(len - 1, kt->last - iova) + 1;
	if (kt_below(rnd, 2))
		kt_scan_range(kt, iova, len,
			      kt_below(rnd, 2) ? IOMMU_DIRTY_NO_CLEAR : 0);
}

static void random_operations(struct kunit *test)
{
	ulong seed = kunit_seed ?: get_random_long();
	struct kt *kt = test->priv;
	struct rnd_state rnd;
	unsigned int i;

	kunit_info(test, "%s: kunit_seed=%lu\n", kt->cfg->name, seed);
	prandom_seed_state(&rnd, seed);
	for (i = 0; i < kunit_ops; i++) {
		unsigned int what = kt_below(&rnd, 16);

		if (kt->nr_leaves > KT_RANDOM_LEAVES)
			what = 8;
		if (what < 7)
			kt_random_map(kt, &rnd);
		else if (what < 13)
			kt_random_unmap(kt, &rnd);
		else
			kt_random_dirty(kt, &rnd);
		kt_check(kt);
	}
	/* Empty, leaf by leaf or in long ranges */
	while (kt->nr_leaves) {
		struct kt_leaf *leaf = kt_model_next(kt, 0, kt->last);

		kt_unmap(kt, leaf->iova,
			 (kt->last - leaf->iova) & ~pt_low_mask(kt->min_lg2) ?:
				 1ULL << kt->min_lg2);
	}
	kt_check(kt);
}

#define kt_slow                           \
	{                                 \
		.speed = KUNIT_SPEED_SLOW \
	}

static struct kunit_case kt_random_cases[] = {
	KUNIT_CASE_PARAM_ATTR(random_operations, kt_any, kt_slow),
	{},
};

KT_SUITE(random);

#endif /* __GENERIC_PT_KUNIT_RANDOM_H */
