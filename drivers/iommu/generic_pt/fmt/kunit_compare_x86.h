/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: tables of the x86_64 kind against those that Linux 6.12's code builds
 *
 * For the x86_64 format (AMD v2) and VT-d's second stage: pages of 4K, 2M and
 * 1G, PS in bit 7 of a leaf above the lowest level. The format's file defines
 * KT_PEER. Both get the same calls, and each item of both trees is compared.
 * Intended differences:
 *
 *  - 6.12 leaves tables in the tree when they become empty. They compare equal
 *    to nothing.
 *  - 6.12's AMD v2 overwrites what is mapped, and encrypts MMIO; VT-d only warns
 *    of the former. No test here does either.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_COMPARE_X86_H
#define __GENERIC_PT_FMT_KUNIT_COMPARE_X86_H

#include "../kunit_ops.h"
#include "../kunit_random.h"

#ifdef KT_PEER

#define KT_TABLE_OA 0xffffffffff000ULL

KUNIT_ARRAY_PARAM_DESC(kt_compare, kt_compare_configs, name);

static bool kt_peer_is_table(u64 item, unsigned int level)
{
	return level && (item & 3) && !(item & 0x80);
}

/* Whether nothing is mapped by a table of 6.12 */
static bool kt_peer_empty(const u64 *table, unsigned int level)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		if (table[i] &&
		    (!kt_peer_is_table(table[i], level) ||
		     !kt_peer_empty(phys_to_virt(table[i] & KT_TABLE_OA),
				    level - 1)))
			return false;
	return true;
}

static void kt_compare_table(struct kt *kt, const u64 *ours, const u64 *theirs,
			     unsigned int level, u64 iova)
{
	unsigned int i;

	for (i = 0; i < 512; i++) {
		u64 at = iova + ((u64)i << (12 + 9 * level));
		const u64 *table = phys_to_virt(theirs[i] & KT_TABLE_OA);

		if (!kt_peer_is_table(theirs[i], level)) {
			KUNIT_ASSERT_EQ_MSG(kt->test, ours[i], theirs[i],
					    "at %#llx, level %u", at, level);
		} else if (!ours[i]) {
			KUNIT_ASSERT_TRUE_MSG(kt->test,
					      kt_peer_empty(table, level - 1),
					      "nothing at %#llx, level %u", at,
					      level);
		} else {
			KUNIT_ASSERT_EQ_MSG(kt->test, ours[i] & ~KT_TABLE_OA,
					    theirs[i] & ~KT_TABLE_OA,
					    "at %#llx, level %u", at, level);
			kt_compare_table(kt,
					 phys_to_virt(ours[i] & KT_TABLE_OA),
					 table, level - 1, at);
		}
	}
}

static void kt_compare_trees(struct kt *kt, struct iommu_domain *peer)
{
	unsigned int levels;
	u64 *top = KT_PEER.root(peer, &levels);

	KUNIT_ASSERT_EQ(kt->test, kt->hw_level + 1, levels);
	kt_compare_table(kt, phys_to_virt(kt->hw_root), top, levels - 1, 0);
}

/* Map a range in both; 6.12 gets it as iommu_map() cuts it */
static void kt_map_both(struct kt *kt, struct iommu_domain *peer, u64 iova,
			u64 oa, u64 len, int prot)
{
	kt_map(kt, iova, oa, len, prot);
	while (len) {
		unsigned int lg2 = kt_model_lg2(kt->sizes, iova, oa, len);
		u64 size = 1ULL << lg2, count = 1;
		size_t mapped = 0;

		while (len - (count << lg2) &&
		       kt_model_lg2(kt->sizes, iova + (count << lg2),
				    oa + (count << lg2),
				    len - (count << lg2)) == lg2)
			count++;
		KUNIT_ASSERT_EQ(kt->test, 0,
				peer->ops->map_pages(peer, iova, oa, size,
						     count, prot, GFP_KERNEL,
						     &mapped));
		iova += count << lg2;
		oa += count << lg2;
		len -= count << lg2;
	}
}

/* Unmap one leaf in both */
static void kt_unmap_both(struct kt *kt, struct iommu_domain *peer,
			  const struct kt_leaf *leaf)
{
	u64 iova = leaf->iova, size = 1ULL << leaf->lg2;
	struct iommu_iotlb_gather gather;
	size_t done;

	KUNIT_ASSERT_EQ(kt->test, size, kt_unmap(kt, iova, size));
	iommu_iotlb_gather_init(&gather);
	done = peer->ops->unmap_pages(peer, iova, size, 1, &gather);
	KUNIT_ASSERT_EQ(kt->test, size, done);
	iommu_put_pages_list(&gather.freelist);
}

static void kt_free_peer(void *peer)
{
	KT_PEER.free(peer);
}

static struct iommu_domain *kt_new_peer(struct kunit *test)
{
	struct kt *kt = test->priv;
	struct iommu_domain *peer = KT_PEER.alloc(kt->hw_level + 1);

	KUNIT_ASSERT_NOT_NULL(test, peer);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, kt_free_peer, peer));
	return peer;
}

/* One leaf of each size and protection, the highest OA */
static void compare_each_size(struct kunit *test)
{
	static const int prots[] = { IOMMU_READ, IOMMU_WRITE, KT_RW,
				     KT_RW | IOMMU_CACHE };
	struct iommu_domain *peer = kt_new_peer(test);
	struct kt *kt = test->priv;
	unsigned int lg2, i;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		u64 size = 1ULL << lg2;

		for (i = 0; i < ARRAY_SIZE(prots); i++)
			kt_map_both(kt, peer, (2 * i + 1) * size,
				    kt_oa(kt, lg2), size, prots[i]);
		kt_compare_trees(kt, peer);
		for (i = 0; i < ARRAY_SIZE(prots); i++)
			kt_unmap_both(kt, peer,
				      kt_model_at(kt, (2 * i + 1) * size));
		kt_compare_trees(kt, peer);
	}
}

/* Random ranges that do not overlap, some of them unmapped again */
static void compare_random_ranges(struct kunit *test)
{
	static const int prots[] = { IOMMU_READ, IOMMU_WRITE, KT_RW };
	struct iommu_domain *peer = kt_new_peer(test);
	ulong seed = kunit_seed ?: get_random_long();
	struct kt *kt = test->priv;
	struct rnd_state rnd;
	unsigned int i;

	kunit_info(test, "%s: kunit_seed=%lu\n", kt->cfg->name, seed);
	prandom_seed_state(&rnd, seed);
	for (i = 0; i < kunit_ops / 2; i++) {
		unsigned int lg2 = kt_random_lg2(kt, &rnd), align;
		int prot = prots[kt_below(&rnd, ARRAY_SIZE(prots))];
		u64 iova = kt_random_iova(kt, &rnd, lg2);
		u64 oa = kt_u64(&rnd) & kt->oa_last & ~pt_low_mask(12);
		u64 len = (u64)(1 + kt_below(&rnd, 40)) << lg2;
		struct kt_leaf *leaf;

		align = kt_below(&rnd, 4) ? 48 : kt_random_lg2(kt, &rnd);
		oa = (oa & ~pt_low_mask(align)) | (iova & pt_low_mask(align));
		oa &= kt->oa_last;
		len = min(len - 1, kt->last - iova) + 1;
		len = min(len - 1, kt->oa_last - oa) + 1;
		align = pt_align_lg2(iova ^ oa);
		align = pt_floor_lg2(kt->sizes & pt_low_mask(align + 1));
		if (len >> align > KT_RANDOM_RANGE)
			len = (u64)KT_RANDOM_RANGE << align;
		leaf = kt_model_next(kt, iova, iova + len - 1);
		if (leaf)
			kt_unmap_both(kt, peer, leaf);
		else if (kt->nr_leaves < KT_RANDOM_LEAVES)
			kt_map_both(kt, peer, iova, oa, len, prot);
		kt_compare_trees(kt, peer);
	}
	kt_check(kt);
}

#else /* !KT_PEER */

static const void *kt_compare_gen_params(const void *prev, char *desc)
{
	return prev ? NULL : kt_config(0);
}

static void kt_no_peer(struct kunit *test)
{
	kunit_skip(test, "6.12's code is not in this tree");
}

#define compare_each_size kt_no_peer
#define compare_random_ranges kt_no_peer

#endif /* KT_PEER */

static struct kunit_case kt_compare_cases[] = {
	KUNIT_CASE_PARAM(compare_each_size, kt_compare_gen_params),
	KUNIT_CASE_PARAM(compare_random_ranges, kt_compare_gen_params),
	{},
};

KT_SUITE(compare);

#endif /* __GENERIC_PT_FMT_KUNIT_COMPARE_X86_H */
