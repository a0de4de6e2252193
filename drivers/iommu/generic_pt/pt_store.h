/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every store to a live table
 *
 * All stores that hardware may see go through the functions below, so that
 * whatever must accompany a store has one place.
 *
 * Ordering: a table is filled before the item that makes it reachable is
 * stored, with release or stronger; walks and hardware follow pointers, so the
 * address dependency does the rest. A leaf store needs no order of its own:
 * telling a device about an IOVA, or flushing after an unmap, orders it.
 */

/**
 * DOC: Walkers that do not snoop
 *
 * With PT_FEAT_DMA_INCOHERENT hardware reads tables from memory, behind the
 * CPU's cache. There a store may arrive at any time from when it was done, and
 * surely has when pt_flush_items() returns. So:
 *
 *  - A fresh table, or a new top, is flushed as a whole before the store that
 *    makes it reachable.
 *  - Any other store is flushed once a run of items, after the last of them,
 *    and before anything that relies on hardware seeing it: the return of the
 *    operation, the IOTLB flush that follows an unlinked table, users that are
 *    taken back from a table which others may then remove.
 *  - A map returns when hardware can see all pointers on the way to what it
 *    stored, also those that another caller has stored and not flushed yet.
 *    So a pointer gets the software bit PT_SW_FLUSHED after it was flushed. A
 *    walk notes whether all pointers that it followed had it; if not, the map
 *    flushes those that lack it itself. The bit need not reach memory. It is
 *    never set in an item that means another table meanwhile, and not at all
 *    without the feature.
 *
 * Whoever clears an item without being sure that it was his store which did so
 * flushes it nevertheless: the other one may not have come that far.
 */
#ifndef __GENERIC_PT_STORE_H
#define __GENERIC_PT_STORE_H

#include <linux/string.h>

#include "pt_iter.h"

/* Items that one cache line holds: runs are tested line by line */
#define PT_LINE_LG2 3
#define PT_LINE_ITEMS 8

/* Have a walker that does not snoop see what was stored to a run of items */
static __always_inline void
pt_flush_items(struct pt_iommu *iommu, const pt_item_t *items, unsigned int nr)
{
	if (pt_feature(ptf_common(iommu), PT_FEAT_DMA_INCOHERENT) && nr)
		pt_env_flush(iommu, items, nr << PT_ITEM_LG2);
}

/* A pointer in a table that is flushed as a whole before it can be reached */
static inline pt_item_t pt_fresh_pointer(const struct pt_common *common,
					 const void *table, unsigned int level)
{
	pt_item_t item = ptf_table_item(common, pt_env_table_oa(table), level);

	if (pt_feature(common, PT_FEAT_DMA_INCOHERENT))
		item |= PT_SW_FLUSHED;
	return item;
}

/*
 * Replace a pointer to a table, a tombstone of one, or an empty item by
 * another, and flush it
 */
static inline bool pt_store_table(struct pt_iommu *iommu, pt_item_t *slot,
				  pt_item_t old, pt_item_t item)
{
	bool stored = cmpxchg64(slot, old, item) == old;

	pt_flush_items(iommu, slot, 1);
	return stored;
}

/*
 * Make a pointer to a dead table its tombstone, unless that has happened
 * already, and flush it. Hardware may set its accessed bit meanwhile, so look
 * again.
 */
static inline void pt_store_tombstone(struct pt_iommu *iommu, pt_item_t *slot,
				      pt_item_t item)
{
	pt_item_t tombstone = ptf_tombstone(item);

	item = READ_ONCE(*slot);
	while (ptf_present(item) && ptf_tombstone(item) == tombstone &&
	       !try_cmpxchg64(slot, &item, tombstone))
		;
	pt_flush_items(iommu, slot, 1);
}

/*
 * Say in a pointer that it was flushed. The caller has users of the table that
 * it points to, so nothing but an accessed or this bit can change meanwhile.
 */
static inline void pt_store_flushed(pt_item_t *slot)
{
	pt_item_t item = READ_ONCE(*slot);

	while (!(item & PT_SW_FLUSHED) &&
	       !try_cmpxchg64(slot, &item, item | PT_SW_FLUSHED))
		;
}

/* Empty an item whose IOVA the caller owns */
static inline void pt_store_empty(pt_item_t *slot)
{
	WRITE_ONCE(*slot, 0);
}

/* Clear bits that hardware sets, if the item is still a leaf with them */
static inline void pt_store_clear_bits(pt_item_t *slot, pt_item_t bits)
{
	pt_item_t item = READ_ONCE(*slot);

	while ((item & bits) && !try_cmpxchg64(slot, &item, item & ~bits))
		;
}

/* Set bits as hardware does: never in an item that is not present any more */
static inline void pt_store_set_bits(pt_item_t *slot, pt_item_t bits)
{
	pt_item_t item = READ_ONCE(*slot);

	while (ptf_present(item) && !try_cmpxchg64(slot, &item, item | bits))
		;
}

/*
 * A line's worth of items ORed, ANDed, and their presence ANDed. Written out,
 * since compilers do not unroll loops over volatile accesses.
 */
static __always_inline pt_item_t pt_line_or(const pt_item_t *items)
{
	return READ_ONCE(items[0]) | READ_ONCE(items[1]) | READ_ONCE(items[2]) |
	       READ_ONCE(items[3]) | READ_ONCE(items[4]) | READ_ONCE(items[5]) |
	       READ_ONCE(items[6]) | READ_ONCE(items[7]);
}

static __always_inline pt_item_t pt_line_and(const pt_item_t *items)
{
	return READ_ONCE(items[0]) & READ_ONCE(items[1]) & READ_ONCE(items[2]) &
	       READ_ONCE(items[3]) & READ_ONCE(items[4]) & READ_ONCE(items[5]) &
	       READ_ONCE(items[6]) & READ_ONCE(items[7]);
}

static __always_inline pt_item_t pt_line_present_bits(const pt_item_t *items)
{
	return ptf_present_bits(READ_ONCE(items[0])) &
	       ptf_present_bits(READ_ONCE(items[1])) &
	       ptf_present_bits(READ_ONCE(items[2])) &
	       ptf_present_bits(READ_ONCE(items[3])) &
	       ptf_present_bits(READ_ONCE(items[4])) &
	       ptf_present_bits(READ_ONCE(items[5])) &
	       ptf_present_bits(READ_ONCE(items[6])) &
	       ptf_present_bits(READ_ONCE(items[7]));
}

/* Whether none of a line's worth of items has the dirty bit */
static __always_inline bool pt_line_clean(const pt_item_t *items)
{
	return !(pt_line_or(items) & PTF_DIRTY);
}

/* How many items the first one with the dirty bit comes after */
static __always_inline unsigned int pt_items_clean(const pt_item_t *items,
						   unsigned int nr)
{
	unsigned int i = 0;

	while (i + PT_LINE_ITEMS <= nr && pt_line_clean(items + i))
		i += PT_LINE_ITEMS;
	while (i < nr && !(READ_ONCE(items[i]) & PTF_DIRTY))
		i++;
	return i;
}

/* Whether none of a line's worth of items is used */
static __always_inline bool pt_line_empty(const pt_item_t *items)
{
	return !pt_line_or(items);
}

/* Whether all of a line's worth of items are present */
static __always_inline bool pt_line_present(const pt_item_t *items)
{
	return (pt_line_present_bits(items) & PTF_PRESENT_MASK) ==
	       PTF_PRESENT_MASK;
}

/* Whether an item is a leaf */
static __always_inline bool pt_item_leaf(const pt_item_t *slot,
					 unsigned int level)
{
	pt_item_t item = READ_ONCE(*slot);

	return ptf_present(item) && !ptf_is_table(item, level);
}

/* Whether all of a line's worth of items are leaves, of the same kind */
static __always_inline bool pt_line_leaves(const pt_item_t *items,
					   unsigned int level)
{
	pt_item_t all = pt_line_and(items), any = pt_line_or(items);

	return !((all ^ any) & PTF_KIND_MASK) && ptf_present(all) &&
	       !ptf_is_table(all, level);
}

/* Fill a line with leaves that repeat 2^@repeat_lg2 times each */
static __always_inline void pt_line_store(pt_item_t *items, pt_item_t item,
					  pt_item_t step,
					  unsigned int repeat_lg2)
{
	WRITE_ONCE(items[0], item);
	WRITE_ONCE(items[1], item + (1 >> repeat_lg2) * step);
	WRITE_ONCE(items[2], item + (2 >> repeat_lg2) * step);
	WRITE_ONCE(items[3], item + (3 >> repeat_lg2) * step);
	WRITE_ONCE(items[4], item + (4 >> repeat_lg2) * step);
	WRITE_ONCE(items[5], item + (5 >> repeat_lg2) * step);
	WRITE_ONCE(items[6], item + (6 >> repeat_lg2) * step);
	WRITE_ONCE(items[7], item + (7 >> repeat_lg2) * step);
}

/* Whether none of some items is used */
static inline bool pt_items_empty(const pt_item_t *items, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i + PT_LINE_ITEMS <= nr; i += PT_LINE_ITEMS)
		if (!pt_line_empty(items + i))
			return false;
	for (; i < nr; i++)
		if (READ_ONCE(items[i]))
			return false;
	return true;
}

/*
 * Store leaves that repeat 2^@repeat_lg2 times each, less than a line, in @nr
 * items. The compiler knows @repeat_lg2, and whether the table is @fresh.
 */
static __always_inline unsigned int
pt_store_lines(pt_item_t *items, unsigned int nr, pt_item_t item,
	       pt_item_t step, unsigned int repeat_lg2, bool fresh)
{
	const unsigned int repeat = 1U << repeat_lg2;
	unsigned int i, j;

	for (i = 0; i + PT_LINE_ITEMS <= nr; i += PT_LINE_ITEMS) {
		if (!fresh && !pt_line_empty(items + i))
			break;
		pt_line_store(items + i, item, step, repeat_lg2);
		item += (PT_LINE_ITEMS >> repeat_lg2) * step;
	}
	for (; i < nr; i += repeat) {
		if (!fresh && !pt_items_empty(items + i, repeat))
			break;
		for (j = 0; j < repeat; j++)
			WRITE_ONCE(items[i + j], item);
		item += step;
	}
	return i;
}

/* The same for leaves that fill whole lines */
static __always_inline unsigned int
pt_store_large(pt_item_t *items, unsigned int nr, pt_item_t item,
	       pt_item_t step, unsigned int repeat_lg2, bool fresh)
{
	const unsigned int repeat = 1U << repeat_lg2;
	unsigned int i, j;

	for (i = 0; i < nr; i += repeat) {
		if (!fresh && !pt_items_empty(items + i, repeat))
			break;
		for (j = i; j < i + repeat; j += PT_LINE_ITEMS)
			pt_line_store(items + j, item, 0, PT_LINE_LG2);
		item += step;
	}
	return i;
}

/**
 * pt_store_leaves() - Store a run of leaves of one size into one table
 * @items: First item
 * @nr: Number of items, those of whole leaves
 * @item: Value of the first leaf
 * @step: What is added from one leaf to the next
 * @repeat_lg2: lg2 of the items of each leaf
 * @fresh: Nobody sees the table yet, and its memory holds anything
 *
 * All items of a leaf are tested before the first is stored, so hardware never
 * sees part of a leaf that cannot be.
 *
 * Return: How many items were stored, those of whole leaves. Fewer than @nr
 * when an item of the next leaf is in use; what follows is untouched.
 */
static __always_inline unsigned int
pt_store_leaves(pt_item_t *items, unsigned int nr, pt_item_t item,
		pt_item_t step, unsigned int repeat_lg2, bool fresh)
{
	switch (repeat_lg2) {
	case 0:
		return pt_store_lines(items, nr, item, step, 0, fresh);
	case 1:
		return pt_store_lines(items, nr, item, step, 1, fresh);
	case 2:
		return pt_store_lines(items, nr, item, step, 2, fresh);
	default:
		return pt_store_large(items, nr, item, step, repeat_lg2, fresh);
	}
}

/**
 * pt_store_clear() - Empty a run of leaves in one table
 * @items: First item
 * @nr: Number of items
 * @level: Level of the table
 *
 * Return: How many items were emptied. Fewer than @nr when the next one is not
 * present, or a table pointer.
 */
static inline unsigned int pt_store_clear(pt_item_t *items, unsigned int nr,
					  unsigned int level)
{
	unsigned int i = 0;

	if (!level)
		while (i + PT_LINE_ITEMS <= nr && pt_line_present(items + i))
			i += PT_LINE_ITEMS;
	else
		while (i + PT_LINE_ITEMS <= nr &&
		       pt_line_leaves(items + i, level))
			i += PT_LINE_ITEMS;
	while (i < nr && pt_item_leaf(items + i, level))
		i++;
	/* Stores whole items, several of them at once where the CPU can */
	memset64(items, 0, i);
	return i;
}

#endif /* __GENERIC_PT_STORE_H */
