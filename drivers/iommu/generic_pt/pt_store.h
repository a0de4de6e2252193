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
#ifndef __GENERIC_PT_STORE_H
#define __GENERIC_PT_STORE_H

#include "pt_iter.h"

/* Items that one cache line holds: runs are tested line by line */
#define PT_LINE_ITEMS 8

/* Replace a pointer to a table, a tombstone of one, or an empty item by another */
static inline bool pt_store_table(pt_item_t *slot, pt_item_t old,
				  pt_item_t item)
{
	return cmpxchg64(slot, old, item) == old;
}

/*
 * Make a pointer to a dead table its tombstone, unless that has happened
 * already. Hardware may set its accessed bit meanwhile, so look again.
 */
static inline void pt_store_tombstone(pt_item_t *slot, pt_item_t item)
{
	pt_item_t tombstone = ptf_tombstone(item);

	item = READ_ONCE(*slot);
	while (ptf_present(item) && ptf_tombstone(item) == tombstone &&
	       !try_cmpxchg64(slot, &item, tombstone))
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

/* Whether none of a line's worth of items has the dirty bit */
static __always_inline bool pt_line_clean(const pt_item_t *items)
{
	pt_item_t any = 0;
	unsigned int i;

	for (i = 0; i < PT_LINE_ITEMS; i++)
		any |= READ_ONCE(items[i]);
	return !(any & PTF_DIRTY);
}

/* Whether none of a line's worth of items is used */
static __always_inline bool pt_line_empty(const pt_item_t *items)
{
	pt_item_t any = 0;
	unsigned int i;

	for (i = 0; i < PT_LINE_ITEMS; i++)
		any |= READ_ONCE(items[i]);
	return !any;
}

/* Whether all of a line's worth of items are present */
static __always_inline bool pt_line_present(const pt_item_t *items)
{
	pt_item_t all = PTF_PRESENT_MASK;
	unsigned int i;

	for (i = 0; i < PT_LINE_ITEMS; i++)
		all &= ptf_present_bits(READ_ONCE(items[i]));
	return all == PTF_PRESENT_MASK;
}

/*
 * Store @nr items of leaves that repeat 2^@repeat_lg2 times each, a multiple of
 * that, until one is in use already. The compiler knows @repeat_lg2, 3 stands
 * for all above too, and whether the table is @fresh: nothing to test then.
 */
static __always_inline unsigned int
pt_store_leaves_of(pt_item_t *items, unsigned int nr, pt_item_t item,
		   pt_item_t step, unsigned int repeat_lg2, bool fresh)
{
	const unsigned int repeat = 1U << repeat_lg2;
	unsigned int i, j;

	for (i = 0; i + PT_LINE_ITEMS <= nr; i += PT_LINE_ITEMS) {
		if (!fresh && !pt_line_empty(items + i))
			break;
		for (j = 0; j < PT_LINE_ITEMS; j++)
			WRITE_ONCE(items[i + j],
				   item + (j >> repeat_lg2) * step);
		item += (PT_LINE_ITEMS >> repeat_lg2) * step;
	}
	for (; i < nr; i++) {
		if (!fresh && READ_ONCE(items[i]))
			break;
		WRITE_ONCE(items[i], item);
		if (!((i + 1) & (repeat - 1)))
			item += step;
	}
	return i;
}

/**
 * pt_store_leaves() - Store a run of leaves of one size into one table
 * @items: First item
 * @nr: Number of items
 * @item: Value of the first leaf
 * @step: What is added from one leaf to the next
 * @repeat_lg2: lg2 of the items of each leaf
 * @fresh: Nobody sees the table yet, and its memory holds anything
 *
 * Return: How many items were stored. Fewer than @nr when the next one is in
 * use; it and what follows are untouched. That may be inside of a leaf.
 */
static __always_inline unsigned int
pt_store_leaves(pt_item_t *items, unsigned int nr, pt_item_t item,
		pt_item_t step, unsigned int repeat_lg2, bool fresh)
{
	unsigned int i, stored;

	switch (repeat_lg2) {
	case 0:
		return pt_store_leaves_of(items, nr, item, step, 0, fresh);
	case 1:
		return pt_store_leaves_of(items, nr, item, step, 1, fresh);
	case 2:
		return pt_store_leaves_of(items, nr, item, step, 2, fresh);
	}
	for (i = 0; i < nr; i += 1U << repeat_lg2) {
		stored = pt_store_leaves_of(items + i, 1U << repeat_lg2, item,
					    0, 3, fresh);
		if (stored != 1U << repeat_lg2)
			return i + stored;
		item += step;
	}
	return nr;
}

/**
 * pt_store_clear() - Empty a run of leaves in one table of level 0
 * @items: First item
 * @nr: Number of items
 *
 * Return: How many items were emptied. Fewer than @nr when the next one is not
 * present.
 */
static inline unsigned int pt_store_clear(pt_item_t *items, unsigned int nr)
{
	unsigned int i = 0, j;

	for (; i + PT_LINE_ITEMS <= nr; i += PT_LINE_ITEMS) {
		if (!pt_line_present(items + i))
			break;
		for (j = 0; j < PT_LINE_ITEMS; j++)
			WRITE_ONCE(items[i + j], 0);
	}
	for (; i < nr; i++) {
		if (!ptf_present(READ_ONCE(items[i])))
			break;
		WRITE_ONCE(items[i], 0);
	}
	return i;
}

#endif /* __GENERIC_PT_STORE_H */
