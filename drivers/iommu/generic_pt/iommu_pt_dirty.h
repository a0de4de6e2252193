/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dirty tracking
 *
 * Hardware sets the dirty bit of a leaf when a device writes through it. A scan
 * reports leaves that have it, and clears it with an atomic operation on that
 * bit alone, so that it never undoes what hardware sets next to it. Walkers
 * that do not snoop set it by operations that do, since a store by the CPU to
 * the same cache line would undo it otherwise.
 *
 * Reporting may sleep: the bitmap can be memory of a process that has to be
 * read in first. So what is dirty is noted while a table is scanned, and is
 * reported after the read side.
 */
#ifndef __GENERIC_PT_IOMMU_PT_DIRTY_H
#define __GENERIC_PT_IOMMU_PT_DIRTY_H

#include "iommu_pt_lookup.h"
#include "pt_store.h"

/* Dirty stretches that are noted before the scan must stop to report them */
#define PT_DIRTY_NOTED 16

/**
 * struct pt_stretch - A stretch of IOVA
 * @iova: Its first byte
 * @bytes: Its length
 */
struct pt_stretch {
	u64 iova;
	u64 bytes;
};

/**
 * struct pt_dirty - A dirty scan in progress
 * @iommu: The page table
 * @bitmap: Takes what is dirty
 * @clear: Clear what is reported
 * @iova: First byte that is not looked at yet
 * @left: Bytes from @iova to the end of the range
 * @open: The dirty stretch that ends at @iova, empty for none
 * @noted: Stretches that have ended, to be reported
 * @nr_noted: Number of them
 * @cleared: First item of the table at hand that was cleared, or NULL
 * @cleared_end: Item after the last one
 */
struct pt_dirty {
	struct pt_iommu *iommu;
	struct iommu_dirty_bitmap *bitmap;
	bool clear;
	u64 iova;
	u64 left;
	struct pt_stretch open;
	struct pt_stretch noted[PT_DIRTY_NOTED];
	unsigned int nr_noted;
	pt_item_t *cleared;
	pt_item_t *cleared_end;
};

/* Note the stretch that ends here, if there is one */
static inline void pt_dirty_note(struct pt_dirty *dirty)
{
	if (dirty->open.bytes)
		dirty->noted[dirty->nr_noted++] = dirty->open;
	dirty->open.bytes = 0;
}

/* Whether what comes next may not be looked at before pt_dirty_report() */
static inline bool pt_dirty_full(const struct pt_dirty *dirty)
{
	return dirty->nr_noted == PT_DIRTY_NOTED;
}

/* Report what was noted. May sleep. */
static noinline void pt_dirty_report(struct pt_dirty *dirty)
{
	unsigned int i;

	for (i = 0; i < dirty->nr_noted; i++)
		iommu_dirty_bitmap_record(dirty->bitmap, dirty->noted[i].iova,
					  dirty->noted[i].bytes);
	dirty->nr_noted = 0;
}

/*
 * Go on by some bytes, which are dirty or not. Notes one stretch at most; after
 * bytes that are not dirty the next call notes none.
 */
static noinline void pt_dirty_advance(struct pt_dirty *dirty, u64 bytes,
				      bool is_dirty)
{
	if (is_dirty) {
		if (!dirty->open.bytes)
			dirty->open.iova = dirty->iova;
		dirty->open.bytes += bytes;
	} else if (dirty->open.bytes) {
		pt_dirty_note(dirty);
	}
	dirty->iova += bytes;
	dirty->left -= min(bytes, dirty->left);
}

/* Test, and as asked clear, the dirty bit in all items of one leaf */
static noinline bool pt_dirty_test(struct pt_dirty *dirty, pt_item_t *slot,
				   unsigned int nr)
{
	bool is_dirty = false;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!(READ_ONCE(slot[i]) & PTF_DIRTY))
			continue;
		is_dirty = true;
		if (!dirty->clear)
			break;
		pt_store_clear_bits(&slot[i], PTF_DIRTY);
	}
	if (is_dirty && dirty->clear) {
		if (!dirty->cleared)
			dirty->cleared = slot;
		dirty->cleared_end = slot + nr;
	}
	return is_dirty;
}

/* lg2 of the items of the leaf that an item belongs to, 0 when it is none */
static inline unsigned int pt_dirty_items_lg2(const pt_item_t *slot,
					      unsigned int level)
{
	pt_item_t item = READ_ONCE(*slot);

	if (!ptf_present(item))
		return 0;
	return ptf_leaf_lg2(item, level) - pt_item_lg2(level);
}

/*
 * Scan the leaf of item @index. The range may begin or end inside of it: all of
 * it counts. Returns the index of what comes after it.
 */
static noinline unsigned int pt_dirty_leaf(struct pt_dirty *dirty,
					   pt_item_t *table, unsigned int index,
					   unsigned int level)
{
	unsigned int lg2 = pt_dirty_items_lg2(&table[index], level);
	u64 mask = pt_low_mask(pt_item_lg2(level) + lg2);

	index = round_down(index, 1U << lg2);
	pt_dirty_advance(dirty, mask + 1 - (dirty->iova & mask),
			 pt_dirty_test(dirty, &table[index], 1U << lg2));
	return index + (1U << lg2);
}

/*
 * Scan items of a table of level 0 from @index on. Clean ones cost a test a
 * line; which leaf an item belongs to matters only for a dirty one, and where
 * the range begins or ends inside of a leaf.
 */
static void pt_dirty_pages(struct pt_dirty *dirty, pt_item_t *table,
			   unsigned int index)
{
	unsigned int end =
		min_t(u64, PTF_ITEMS, index + (dirty->left >> PTF_GRANULE_LG2));
	unsigned int found, clean;

	end = round_up(end, 1U << pt_dirty_items_lg2(&table[end - 1], 0));
	if (index & ((1U << pt_dirty_items_lg2(&table[index], 0)) - 1))
		index = pt_dirty_leaf(dirty, table, index, 0);

	while (index < end && !pt_dirty_full(dirty)) {
		found = index + pt_items_clean(&table[index], end - index);
		clean = found;
		/* A dirty leaf may begin with clean items */
		if (found < end)
			clean = round_down(found, 1U << pt_dirty_items_lg2(
							  &table[found], 0));
		if (clean > index)
			pt_dirty_advance(
				dirty, (u64)(clean - index) << PTF_GRANULE_LG2,
				false);
		index = found;
		if (found < end)
			index = pt_dirty_leaf(dirty, table, found, 0);
	}
}

/* Scan leaves of a table above level 0 from @index on */
static void pt_dirty_large(struct pt_dirty *dirty, pt_item_t *table,
			   unsigned int index, unsigned int level)
{
	do {
		index = pt_dirty_leaf(dirty, table, index, level);
	} while (dirty->left && index < PTF_ITEMS && !pt_dirty_full(dirty) &&
		 !ptf_is_table(READ_ONCE(table[index]), level));
}

/*
 * Write back what was cleared in one table, at once. There is nothing to do
 * before reading: hardware that sets bits here snoops.
 */
static inline void pt_dirty_flush(struct pt_dirty *dirty)
{
	if (dirty->cleared)
		pt_flush_items(dirty->iommu, dirty->cleared,
			       dirty->cleared_end - dirty->cleared);
	dirty->cleared = NULL;
}

/* Scan one table as far as there is room for notes, or skip a hole */
static void pt_dirty_table(struct pt_dirty *dirty)
{
	const struct pt_common *common = ptf_common(dirty->iommu);
	unsigned long top = pt_read_top(common);
	struct pt_pos pos;
	unsigned int index;
	u64 mask;

	if (!pt_level_covers(common, pt_top_level(top), dirty->iova)) {
		pt_dirty_advance(dirty, dirty->left, false);
		return;
	}
	pos = pt_walk_from(common, top, dirty->iova, 0);
	index = pt_index(dirty->iova, pos.level);
	if (!pos.level) {
		pt_dirty_pages(dirty, pos.slot - index, index);
		pt_dirty_flush(dirty);
		return;
	}
	if (ptf_present(pos.item)) {
		pt_dirty_large(dirty, pos.slot - index, index, pos.level);
		pt_dirty_flush(dirty);
		return;
	}
	mask = pt_low_mask(pt_item_lg2(pos.level));
	pt_dirty_advance(dirty, mask + 1 - (dirty->iova & mask), false);
}

static inline int pt_read_and_clear_dirty(struct pt_iommu *iommu, u64 iova,
					  u64 len, unsigned long flags,
					  struct iommu_dirty_bitmap *bitmap)
{
	struct pt_dirty dirty = {
		.iommu = iommu,
		.bitmap = bitmap,
		.clear = !(flags & IOMMU_DIRTY_NO_CLEAR),
		.iova = iova,
		.left = len,
	};
	u64 last;
	int ret;

	if (!PTF_DIRTY)
		return -EOPNOTSUPP;
	ret = pt_check_range(iommu, iova, len, &last);
	if (ret)
		return ret;
	while (dirty.left) {
		rcu_read_lock();
		pt_dirty_table(&dirty);
		rcu_read_unlock();
		pt_dirty_report(&dirty);
	}
	pt_dirty_note(&dirty);
	pt_dirty_report(&dirty);
	return 0;
}

static inline int pt_set_dirty(struct pt_iommu *iommu, dma_addr_t iova)
{
	struct pt_pos pos;
	int ret = -ENOENT;

	if (!PTF_DIRTY)
		return -EOPNOTSUPP;
	rcu_read_lock();
	pos = pt_find_leaf(ptf_common(iommu), iova);
	if (ptf_present(pos.item)) {
		pt_store_set_bits(pos.slot, PTF_DIRTY);
		pt_flush_items(iommu, pos.slot, 1);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

#endif /* __GENERIC_PT_IOMMU_PT_DIRTY_H */
