/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walking down the tree
 *
 * A walk starts at the top and follows table pointers to the item that decides
 * about an IOVA. It takes no lock, stores nothing and has no policy.
 *
 * Under rcu_read_lock() a walk may run beside anything: a table that it reaches
 * stays allocated until the read side ends, even when it has left the tree
 * meanwhile. Whoever wants to store into a table must hold users of it, see
 * pt_tables.h, or own all of the IOVA that the table covers.
 */
#ifndef __GENERIC_PT_ITER_H
#define __GENERIC_PT_ITER_H

#include "pt_common.h"
#include "pt_env.h"

#define PT_TOP_LEVEL_MASK 7UL

static inline unsigned long pt_top_encode(void *table, unsigned int level)
{
	return (unsigned long)table | level;
}

static inline pt_item_t *pt_top_table(unsigned long top)
{
	return (pt_item_t *)(top & ~PT_TOP_LEVEL_MASK);
}

static inline unsigned int pt_top_level(unsigned long top)
{
	return top & PT_TOP_LEVEL_MASK;
}

/* Pairs with the release of a new top: its items are read through it */
static inline unsigned long pt_read_top(const struct pt_common *common)
{
	return READ_ONCE(common->top);
}

/* lg2 of the bytes that one item of a table of @level covers */
static inline unsigned int pt_item_lg2(unsigned int level)
{
	return PTF_GRANULE_LG2 + PTF_INDEX_LG2 * level;
}

/* Index of the item that covers @iova in a table of @level */
static inline unsigned int pt_index(u64 iova, unsigned int level)
{
	return (iova >> pt_item_lg2(level)) & (PTF_ITEMS - 1);
}

/* Byte in a table where the item stands that covers 2^@lg2 bytes at @iova */
static inline unsigned long pt_item_offset(u64 iova, unsigned int lg2)
{
	return (iova >> (lg2 - PT_ITEM_LG2)) & ((PTF_ITEMS - 1) << PT_ITEM_LG2);
}

/*
 * Whether a tree whose top is of @level covers @iova. The top item bit of a
 * signed IOVA repeats up to bit 63; adding half the space turns the two halves
 * into one, without a hole.
 */
static inline bool pt_level_covers(const struct pt_common *common,
				   unsigned int level, u64 iova)
{
	if (pt_feature(common, PT_FEAT_SIGN_EXTEND))
		iova += 1ULL << (pt_item_lg2(level + 1) - 1);
	/* Two shifts, each below 64 */
	return !((iova >> PTF_GRANULE_LG2) >> (PTF_INDEX_LG2 * (level + 1)));
}

static inline pt_item_t *pt_child(const struct pt_common *common,
				  pt_item_t item)
{
	return pt_env_table_at(ptf_table_oa(common, item));
}

/* What is known about the table that an item points to */
static inline struct pt_desc *pt_child_desc(const struct pt_common *common,
					    pt_item_t item)
{
	return pt_env_desc_at(ptf_table_oa(common, item));
}

/**
 * struct pt_pos - Where a walk ended
 * @slot: The item in its table
 * @item: Its value when the walk came by
 * @level: Level of the table that it stands in
 * @table_oa: Physical address of that table, as the walk met it in the pointer
 */
struct pt_pos {
	pt_item_t *slot;
	pt_item_t item;
	unsigned int level;
	u64 table_oa;
};

/*
 * What is known about the table where a walk ended that took at least one step,
 * which is a few instructions shorter than to begin with the item's address
 */
static __always_inline struct pt_desc *pt_pos_desc(const struct pt_pos *pos)
{
	return pt_env_desc_at(pos->table_oa);
}

/**
 * pt_walk_noting() - Walk down, and note the pointers that were followed
 * @common: The page table
 * @top: What pt_read_top() returned
 * @iova: Address to walk to, covered by that top
 * @target: Level to stop at
 * @tables: Set to the AND of all pointers that were followed, all ones for
 *	none. For pt_show_path(); the compiler drops it where that is nothing.
 *
 * Context: Within rcu_read_lock(), which lockdep checks.
 *
 * From one load to the next there is a mask and an addition to wait for. All
 * that has to do with @iova and levels is done beside that.
 *
 * Return: As for pt_walk_from().
 */
static __always_inline struct pt_pos
pt_walk_noting(const struct pt_common *common, unsigned long top, u64 iova,
	       unsigned int target, pt_item_t *tables)
{
	unsigned int level = pt_top_level(top);
	unsigned int lg2 = pt_item_lg2(level);
	pt_item_t *slot = (void *)pt_top_table(top) + pt_item_offset(iova, lg2);
	/* A walk to level 0 takes a step, unless that can be the top's */
	u64 oa = PTF_MIN_LEVELS > 1 ? 0 : pt_env_table_oa(pt_top_table(top));
	pt_item_t item;

	lockdep_assert_in_rcu_read_lock();
	*tables = ~0ULL;
	for (;;) {
		item = READ_ONCE(*slot);
		if (level <= target || !ptf_is_table(item, level))
			return (struct pt_pos){ slot, item, level, oa };
		if (PTF_FEATURES & BIT(PT_FEAT_DMA_INCOHERENT))
			*tables &= item;
		lg2 -= PTF_INDEX_LG2;
		oa = ptf_table_oa(common, item);
		slot = pt_env_item_at(oa, pt_item_offset(iova, lg2));
		level--;
	}
}

/**
 * pt_walk_from() - Walk down from a top that was read before
 * @common: The page table
 * @top: What pt_read_top() returned
 * @iova: Address to walk to, covered by that top
 * @target: Level to stop at
 *
 * Return: The item for @iova at level @target, or the item above that is no
 * table pointer and so ends the walk earlier. When the top is below @target,
 * the top's own item.
 */
static __always_inline struct pt_pos
pt_walk_from(const struct pt_common *common, unsigned long top, u64 iova,
	     unsigned int target)
{
	pt_item_t tables;

	return pt_walk_noting(common, top, iova, target, &tables);
}

#endif /* __GENERIC_PT_ITER_H */
