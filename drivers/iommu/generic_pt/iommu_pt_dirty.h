/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dirty tracking
 *
 * Hardware sets the dirty bit of a leaf when a device writes through it. A scan
 * reports leaves that have it, and clears it with an atomic operation on that
 * bit alone, so that it never undoes what hardware sets next to it. Walkers
 * that do not snoop set it by operations that do, since a store by the CPU to
 * the same cache line would undo it otherwise.
 */
#ifndef __GENERIC_PT_IOMMU_PT_DIRTY_H
#define __GENERIC_PT_IOMMU_PT_DIRTY_H

#include "iommu_pt_lookup.h"
#include "pt_store.h"

/**
 * struct pt_dirty - A dirty scan in progress
 * @iommu: The page table
 * @bitmap: Takes what is dirty
 * @clear: Clear what is reported
 * @iova: First byte that is not looked at yet
 * @left: Bytes from @iova to the end of the range
 * @start: First byte of a dirty stretch that is not reported yet
 * @bytes: Length of that stretch, 0 for none
 */
struct pt_dirty {
	struct pt_iommu *iommu;
	struct iommu_dirty_bitmap *bitmap;
	bool clear;
	u64 iova;
	u64 left;
	u64 start;
	u64 bytes;
};

static void pt_dirty_report(struct pt_dirty *dirty)
{
	if (dirty->bytes)
		iommu_dirty_bitmap_record(dirty->bitmap, dirty->start,
					  dirty->bytes);
	dirty->bytes = 0;
}

/* Go on by some bytes, which are dirty or not */
static inline void pt_dirty_advance(struct pt_dirty *dirty, u64 bytes,
				    bool is_dirty)
{
	if (is_dirty) {
		if (!dirty->bytes)
			dirty->start = dirty->iova;
		dirty->bytes += bytes;
	} else if (dirty->bytes) {
		pt_dirty_report(dirty);
	}
	dirty->iova += bytes;
	dirty->left -= min(bytes, dirty->left);
}

/* Test, and as asked clear, the dirty bit in all items of one leaf */
static bool pt_dirty_leaf(const struct pt_dirty *dirty, pt_item_t *slot,
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
	return is_dirty;
}

/* Scan items of one table, from @slot on, until a table pointer or its end */
static void pt_dirty_items(struct pt_dirty *dirty, pt_item_t *slot,
			   unsigned int level)
{
	unsigned int item_lg2 = pt_item_lg2(level);
	unsigned int line_lg2 = item_lg2 + PT_LINE_LG2;
	unsigned int nr = PTF_ITEMS - pt_index(dirty->iova, level);
	unsigned int i = 0, in_leaf, before;
	pt_item_t *cleared = NULL, *end = slot;
	u64 rest;

	while (i < nr && dirty->left) {
		pt_item_t item = READ_ONCE(slot[i]);
		pt_item_t *leaf;
		unsigned int lg2;
		bool is_dirty;

		if (ptf_is_table(item, level))
			break;
		lg2 = ptf_present(item) ? ptf_leaf_lg2(item, level) : item_lg2;
		/* A clean line of whole leaves costs one test */
		if (!level && lg2 <= line_lg2 &&
		    pt_is_aligned(dirty->iova, line_lg2) &&
		    dirty->left > pt_low_mask(line_lg2) &&
		    pt_line_clean(&slot[i])) {
			pt_dirty_advance(dirty, 1ULL << line_lg2, false);
			i += PT_LINE_ITEMS;
			continue;
		}
		/* The range may begin inside of a leaf: look at all of it */
		rest = (1ULL << lg2) - (dirty->iova & pt_low_mask(lg2));
		before = (dirty->iova & pt_low_mask(lg2)) >> item_lg2;
		in_leaf = 1U << (lg2 - item_lg2);
		leaf = &slot[(int)i - (int)before];
		is_dirty = pt_dirty_leaf(dirty, leaf, in_leaf);
		if (is_dirty && dirty->clear) {
			cleared = cleared ?: leaf;
			end = leaf + in_leaf;
		}
		pt_dirty_advance(dirty, rest, is_dirty);
		i += in_leaf - before;
	}
	/* Nothing to do before reading: hardware that sets bits here snoops */
	if (cleared)
		pt_flush_items(dirty->iommu, cleared, end - cleared);
}

/* Scan one table, or skip a hole */
static void pt_dirty_table(struct pt_dirty *dirty)
{
	const struct pt_common *common = ptf_common(dirty->iommu);
	unsigned long top = pt_read_top(common);
	struct pt_pos pos;
	u64 mask;

	if (!pt_level_covers(common, pt_top_level(top), dirty->iova)) {
		pt_dirty_advance(dirty, dirty->left, false);
		return;
	}
	pos = pt_walk_from(common, top, dirty->iova, 0);
	if (ptf_present(pos.item) || !pos.level) {
		pt_dirty_items(dirty, pos.slot, pos.level);
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
	}
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
