/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: our tables against those that Linux 6.12's own code builds
 *
 * Both get the same calls, and each item of both trees is compared. Intended
 * differences:
 *
 *  - 6.12 sets FC in each leaf; here that is PT_FEAT_AMDV1_FORCE_COHERENCE,
 *    which the AMD driver turns on, and these tests too.
 *  - 6.12 leaves tables in the tree when they become empty. They compare equal
 *    to nothing.
 *  - 6.12 overwrites what is mapped, and encrypts MMIO. No test here does
 *    either.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_AMDV1_COMPARE_H
#define __GENERIC_PT_FMT_KUNIT_AMDV1_COMPARE_H

#include "../kunit_ops.h"
#include "../kunit_random.h"

/* A module cannot reach that code */
#if IS_ENABLED(CONFIG_IOMMU_PT_PEERS) && IS_BUILTIN(CONFIG_IOMMU_PT_AMDV1)

#include "../peer/peer.h"

#define KT_TABLE_OA 0xffffffffff000ULL

/* Starts where 6.12 does: at 3 levels */
static const struct kt_config kt_compare_configs[] = {
	{
		.name = "as the AMD driver",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.vasz_lg2 = 64,
		.oasz_lg2 = 52,
		.top_level = 2,
	},
	{
		.name = "4K pages only",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE) |
			    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.vasz_lg2 = 64,
		.oasz_lg2 = 52,
		.top_level = 2,
		.pgsizes = 0x1000,
	},
	{
		.name = "4K, 2M, 1G pages",
		.features = BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA) |
			    BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS) |
			    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.vasz_lg2 = 64,
		.oasz_lg2 = 52,
		.top_level = 2,
		.pgsizes = 0x40201000,
	},
};

KUNIT_ARRAY_PARAM_DESC(kt_compare, kt_compare_configs, name);

/* Whether nothing is mapped by a table of 6.12 */
static bool kt_peer_empty(const u64 *table, unsigned int level)
{
	unsigned int i;

	for (i = 0; i < 512; i++) {
		unsigned int next = (table[i] >> 9) & 7;

		if (!table[i])
			continue;
		if (!level || next != level ||
		    !kt_peer_empty(phys_to_virt(table[i] & KT_TABLE_OA),
				   level - 1))
			return false;
	}
	return true;
}

static void kt_compare_table(struct kt *kt, const u64 *ours, const u64 *theirs,
			     unsigned int level, u64 iova)
{
	unsigned int i;

	for (i = 0; i < 512; i++) {
		u64 at = iova + ((u64)i << (12 + 9 * level));
		bool is_table = level && ((theirs[i] >> 9) & 7) == level;

		if (is_table && !ours[i]) {
			const u64 *table =
				phys_to_virt(theirs[i] & KT_TABLE_OA);

			KUNIT_ASSERT_TRUE_MSG(kt->test,
					      kt_peer_empty(table, level - 1),
					      "nothing at %#llx, level %u", at,
					      level);
			continue;
		}
		if (!is_table) {
			KUNIT_ASSERT_EQ_MSG(kt->test, ours[i], theirs[i],
					    "at %#llx, level %u", at, level);
			continue;
		}
		KUNIT_ASSERT_EQ_MSG(kt->test, ours[i] & ~KT_TABLE_OA,
				    theirs[i] & ~KT_TABLE_OA,
				    "at %#llx, level %u", at, level);
		kt_compare_table(kt, phys_to_virt(ours[i] & KT_TABLE_OA),
				 phys_to_virt(theirs[i] & KT_TABLE_OA),
				 level - 1, at);
	}
}

static void kt_compare_trees(struct kt *kt, struct iommu_domain *peer)
{
	unsigned int level;
	u64 *top = pt_peer_amdv1.root(peer, &level);

	KUNIT_ASSERT_EQ_MSG(kt->test, kt->hw_level + 1, level, "levels");
	kt_compare_table(kt, phys_to_virt(kt->hw_root), top, level - 1, 0);
}

/*
 * Map a range in both. 6.12 gets it as iommu_map() cuts it, so many pages of one
 * size a call; we get it the same way, or @whole.
 */
static void kt_map_both(struct kt *kt, struct iommu_domain *peer, u64 iova,
			u64 oa, u64 len, int prot, bool whole)
{
	if (whole)
		kt_map(kt, iova, oa, len, prot);
	while (len) {
		unsigned int lg2 = kt_model_lg2(kt->sizes, iova, oa, len);
		u64 size = 1ULL << lg2, count = 1, done;
		size_t mapped = 0;
		int ret;

		while (len - (count << lg2) &&
		       kt_model_lg2(kt->sizes, iova + (count << lg2),
				    oa + (count << lg2),
				    len - (count << lg2)) == lg2)
			count++;
		ret = peer->ops->map_pages(peer, iova, oa, size, count, prot,
					   GFP_KERNEL, &mapped);
		KUNIT_ASSERT_EQ(kt->test, ret, 0);
		if (!whole) {
			mapped = 0;
			ret = pt_iommu_amdv1_map_pages(&kt->domain, iova, oa,
						       size, count, prot,
						       GFP_KERNEL, &mapped);
			KUNIT_ASSERT_EQ(kt->test, ret, 0);
			KUNIT_ASSERT_EQ(kt->test, mapped, size * count);
			kt_model_map(kt, iova, oa, size * count, prot, U64_MAX,
				     &done);
		}
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
}

static void kt_free_peer(void *peer)
{
	pt_peer_amdv1.free(peer);
}

static struct iommu_domain *kt_new_peer(struct kunit *test)
{
	struct iommu_domain *peer = pt_peer_amdv1.alloc(3);

	KUNIT_ASSERT_NOT_NULL(test, peer);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, kt_free_peer, peer));
	return peer;
}

/* One leaf of each size, at its own IOVA and the highest OA */
static void compare_each_size(struct kunit *test)
{
	struct iommu_domain *peer = kt_new_peer(test);
	struct kt *kt = test->priv;
	unsigned int lg2;

	for (lg2 = kt->min_lg2; lg2; lg2 = kt_next_lg2(kt, lg2)) {
		u64 size = 1ULL << lg2;

		kt_map_both(kt, peer, size, kt_oa(kt, lg2), size, KT_RW,
			    lg2 % 2);
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
		len = min(len - 1, kt->last - iova) + 1;
		len = min(len - 1, kt->oa_last - oa) + 1;
		align = pt_align_lg2(iova ^ oa);
		align = pt_floor_lg2(kt->sizes & pt_low_mask(align + 1));
		if (len >> align > KT_RANDOM_RANGE)
			len = (u64)KT_RANDOM_RANGE << align;
		leaf = kt_model_next(kt, iova, iova + len - 1);
		if (!leaf && kt->nr_leaves < KT_RANDOM_LEAVES) {
			kt_map_both(kt, peer, iova, oa, len, prot,
				    kt_below(&rnd, 2));
		} else if (leaf) {
			kt_unmap_both(kt, peer, leaf);
		}
		kt_compare_trees(kt, peer);
	}
	kt_check(kt);
}

/* Both see the same dirty leaves, whichever item hardware has marked */
static void compare_dirty(struct kunit *test)
{
	struct iommu_domain *peer = kt_new_peer(test);
	struct kt *kt = test->priv;
	unsigned int lg2, i;

	for (lg2 = kt->min_lg2; lg2 && lg2 < 36; lg2 = kt_next_lg2(kt, lg2)) {
		u64 size = 1ULL << lg2;

		kt_map_both(kt, peer, size, 0, size, KT_RW, true);
	}
	for (lg2 = kt->min_lg2; lg2 && lg2 < 36; lg2 = kt_next_lg2(kt, lg2)) {
		u64 iova = 1ULL << lg2;

		for (i = 0; i < 3; i++) {
			struct iommu_iotlb_gather ours, theirs;
			struct iommu_dirty_bitmap dirty;
			unsigned long flags;
			unsigned int level;
			struct kt_hw hw;
			u64 at = iova + i * (iova / 3), *table;

			kt_op_set_dirty(kt, at);
			table = pt_peer_amdv1.root(peer, &level);
			while (level--) {
				table += at >> (12 + 9 * level) & 511;
				hw = kt_fmt_decode(kt->cfg, *table, level);
				if (hw.kind != KT_TABLE)
					break;
				table = phys_to_virt(hw.oa);
			}
			KUNIT_ASSERT_EQ(test, hw.kind, KT_LEAF);
			*table |= 0x40;

			flags = i == 1 ? IOMMU_DIRTY_NO_CLEAR : 0;
			iommu_dirty_bitmap_init(&dirty, NULL, &ours);
			KUNIT_EXPECT_EQ(test, 0,
					kt_op_dirty(kt, iova, iova, flags,
						    &dirty));
			iommu_dirty_bitmap_init(&dirty, NULL, &theirs);
			peer->dirty_ops->read_and_clear_dirty(peer, iova, iova,
							      flags, &dirty);
			KUNIT_EXPECT_EQ(test, ours.start, theirs.start);
			KUNIT_EXPECT_EQ(test, ours.end, theirs.end);
			kt_compare_trees(kt, peer);
		}
	}
}

#else /* !CONFIG_IOMMU_PT_PEERS */

static const void *kt_compare_gen_params(const void *prev, char *desc)
{
	return prev ? NULL : kt_config(0);
}

static void kt_no_peer(struct kunit *test)
{
	kunit_skip(test, "6.12's io_pgtable.c is not in this tree");
}

#define compare_each_size kt_no_peer
#define compare_random_ranges kt_no_peer
#define compare_dirty kt_no_peer

#endif /* CONFIG_IOMMU_PT_PEERS */

static struct kunit_case kt_compare_cases[] = {
	KUNIT_CASE_PARAM(compare_each_size, kt_compare_gen_params),
	KUNIT_CASE_PARAM(compare_random_ranges, kt_compare_gen_params),
	KUNIT_CASE_PARAM(compare_dirty, kt_compare_gen_params),
	{},
};

KT_SUITE(compare);

#endif /* __GENERIC_PT_FMT_KUNIT_AMDV1_COMPARE_H */
