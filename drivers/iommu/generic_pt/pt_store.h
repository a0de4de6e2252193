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
#define PT_LINE_ITEMS 8
/* From here on it pays to clear them with one instruction */
#define PT_STRING_ITEMS 64

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
 * A line's worth of items ORed. Written out, since compilers do not unroll loops
 * over volatile accesses.
 */
static __always_inline pt_item_t pt_line_or(const pt_item_t *items)
{
	return READ_ONCE(items[0]) | READ_ONCE(items[1]) | READ_ONCE(items[2]) |
	       READ_ONCE(items[3]) | READ_ONCE(items[4]) | READ_ONCE(items[5]) |
	       READ_ONCE(items[6]) | READ_ONCE(items[7]);
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
	const unsigned int two = 2 * PT_LINE_ITEMS;
	unsigned int i = 0;

	while (i + two <= nr && !((pt_line_or(items + i) |
				   pt_line_or(items + i + PT_LINE_ITEMS)) &
				  PTF_DIRTY))
		i += two;
	if (i + PT_LINE_ITEMS <= nr && pt_line_clean(items + i))
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

/* Whether an item is a leaf */
static __always_inline bool pt_item_leaf(const pt_item_t *slot,
					 unsigned int level)
{
	pt_item_t item = READ_ONCE(*slot);

	return ptf_present(item) && !ptf_is_table(item, level);
}

/*
 * Whether all of a line's worth of items are leaves. Above level 0 all must be of
 * one kind, or a pointer could be among them. False also where presence is no
 * bit that all have in common.
 */
static __always_inline bool pt_line_leaves(const pt_item_t *items,
					   unsigned int level)
{
	pt_item_t all = ~0ULL, any = 0;
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < PT_LINE_ITEMS; i++) {
		pt_item_t item = READ_ONCE(items[i]);

		all &= item;
		any |= item;
	}
	if (!ptf_present(all))
		return false;
	return !level ||
	       (!((all ^ any) & PTF_KIND_MASK) && !ptf_is_table(all, level));
}

/* Fill a line: what is added to @item for each place is in @add */
static __always_inline void pt_line_store(pt_item_t *items, pt_item_t item,
					  const pt_item_t add[PT_LINE_ITEMS])
{
	WRITE_ONCE(items[0], item);
	WRITE_ONCE(items[1], item + add[1]);
	WRITE_ONCE(items[2], item + add[2]);
	WRITE_ONCE(items[3], item + add[3]);
	WRITE_ONCE(items[4], item + add[4]);
	WRITE_ONCE(items[5], item + add[5]);
	WRITE_ONCE(items[6], item + add[6]);
	WRITE_ONCE(items[7], item + add[7]);
}

/* Fill a line with leaves of one item each */
static __always_inline void pt_line_store_single(pt_item_t *items,
						 pt_item_t item, pt_item_t step)
{
	const pt_item_t add[PT_LINE_ITEMS] = {
		0,	  step,	    2 * step, 3 * step,
		4 * step, 5 * step, 6 * step, 7 * step,
	};

	pt_line_store(items, item, add);
}

static __always_inline void pt_line_clear(pt_item_t *items)
{
	WRITE_ONCE(items[0], 0);
	WRITE_ONCE(items[1], 0);
	WRITE_ONCE(items[2], 0);
	WRITE_ONCE(items[3], 0);
	WRITE_ONCE(items[4], 0);
	WRITE_ONCE(items[5], 0);
	WRITE_ONCE(items[6], 0);
	WRITE_ONCE(items[7], 0);
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

/* Lines, or leaves where these are larger, of leaves that repeat */
static noinline unsigned int
pt_store_repeated(pt_item_t *items, unsigned int nr, pt_item_t item,
		  pt_item_t step, unsigned int repeat_lg2, bool fresh)
{
	const unsigned int unit =
		max_t(unsigned int, 1U << repeat_lg2, PT_LINE_ITEMS);
	pt_item_t add[PT_LINE_ITEMS];
	unsigned int i, j;

	for (i = 0; i < PT_LINE_ITEMS; i++)
		add[i] = (i >> repeat_lg2) * step;
	for (i = 0; i + unit <= nr; i += unit) {
		if (!fresh && !pt_items_empty(items + i, unit))
			break;
		for (j = i; j < i + unit; j += PT_LINE_ITEMS)
			pt_line_store(items + j, item, add);
		item += (unit >> repeat_lg2) * step;
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
static noinline unsigned int pt_store_leaves(pt_item_t *items, unsigned int nr,
					     pt_item_t item, pt_item_t step,
					     unsigned int repeat_lg2,
					     bool fresh)
{
	const unsigned int repeat = 1U << repeat_lg2;
	unsigned int i, j;

	if (repeat_lg2) {
		i = pt_store_repeated(items, nr, item, step, repeat_lg2, fresh);
		item += (i >> repeat_lg2) * step;
	} else {
		for (i = 0; i + PT_LINE_ITEMS <= nr; i += PT_LINE_ITEMS) {
			if (!fresh && !pt_line_empty(items + i))
				break;
			pt_line_store_single(items + i, item, step);
			item += PT_LINE_ITEMS * step;
		}
	}
	/* Less than a line, or up to what is in use in one */
	for (; i < nr; i += repeat) {
		if (!fresh && !pt_items_empty(items + i, repeat))
			break;
		for (j = 0; j < repeat; j++)
			WRITE_ONCE(items[i + j], item);
		item += step;
	}
	return i;
}

/*
 * Where the lines of leaves end that begin at @items. By address, not by index,
 * since compilers compute that of each volatile access anew.
 */
static __always_inline pt_item_t *
pt_lines_of_leaves(pt_item_t *items, pt_item_t *end, unsigned int level)
{
	while (items + PT_LINE_ITEMS <= end && pt_line_leaves(items, level))
		items += PT_LINE_ITEMS;
	return items;
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
static noinline unsigned int pt_store_clear(pt_item_t *items, unsigned int nr,
					    unsigned int level)
{
	pt_item_t *at = items, *end = items + nr, *lines;

	for (;;) {
		lines = level ? pt_lines_of_leaves(at, end, level) :
				pt_lines_of_leaves(at, end, 0);
		if (lines - at >= PT_STRING_ITEMS) {
			pt_env_clear(at, lines - at);
			at = lines;
		}
		for (; at < lines; at += PT_LINE_ITEMS)
			pt_line_clear(at);
		/* Some are something else, or it is less than a line */
		if (at == end || !pt_item_leaf(at, level))
			return at - items;
		WRITE_ONCE(*at, 0);
		at++;
	}
}

#endif /* __GENERIC_PT_STORE_H */
