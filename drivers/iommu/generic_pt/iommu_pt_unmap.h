/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unmap
 *
 * A range is emptied table by table. A table that the range covers and that is
 * full leaves the tree as it is: no byte of it is read or written. Anything
 * else is emptied item by item, up to the first hole.
 */
#ifndef __GENERIC_PT_IOMMU_PT_UNMAP_H
#define __GENERIC_PT_IOMMU_PT_UNMAP_H

#include "iommu_pt_lookup.h"
#include "pt_tables.h"

/**
 * struct pt_unmap - An unmap in progress
 * @iommu: The page table
 * @common: Its format's part
 * @gather: Takes tables that left the tree
 * @iova: First byte that is not unmapped yet
 * @left: Bytes from @iova to the end of the range, 0 when done
 * @level: Lowest level that leaves were unmapped at
 * @dropped: Number of tables that left the tree whole
 */
struct pt_unmap {
	struct pt_iommu *iommu;
	struct pt_common *common;
	struct iommu_iotlb_gather *gather;
	u64 iova;
	u64 left;
	unsigned int level;
	unsigned int dropped;
};

/* Bytes were unmapped, perhaps more than were left */
static __always_inline void pt_unmap_advance(struct pt_unmap *unmap, u64 bytes)
{
	unmap->iova += bytes;
	unmap->left -= min(bytes, unmap->left);
}

/* Whether a table and all tables below it are full, so that no hole is there */
static noinline bool pt_table_full(const struct pt_common *common,
				   const pt_item_t *table, unsigned int level)
{
	unsigned int i;

	if (!pt_users_full(pt_env_desc(table)))
		return false;
	for (i = 0; level && i < PTF_ITEMS; i++) {
		pt_item_t item = READ_ONCE(table[i]);

		if (!ptf_present(item))
			return false;
		if (ptf_is_table(item, level) &&
		    !pt_table_full(common, pt_child(common, item), level - 1))
			return false;
	}
	return true;
}

/* Put a full table that was unlinked on the freelist */
static inline void pt_collect(struct pt_unmap *unmap, struct pt_desc *desc)
{
	pt_forget(unmap->iommu, desc);
	pt_env_defer(&unmap->gather->freelist, desc);
	unmap->dropped++;
}

/* Put all below such a table there */
static noinline void pt_collect_children(struct pt_unmap *unmap,
					 pt_item_t *table, unsigned int level)
{
	unsigned int i;

	for (i = 0; i < PTF_ITEMS; i++) {
		/* Who removed a table from here may still try its tombstone */
		pt_item_t item = READ_ONCE(table[i]);

		if (!ptf_is_table(item, level))
			continue;
		if (level > 1)
			pt_collect_children(unmap,
					    pt_child(unmap->common, item),
					    level - 1);
		pt_collect(unmap, pt_child_desc(unmap->common, item));
	}
}

/* Whether the table at an item can leave the tree whole */
static noinline bool pt_unmap_can_drop(const struct pt_unmap *unmap,
				       pt_item_t item, unsigned int level)
{
	const struct pt_common *common = unmap->common;

	return !pt_feature(common, PT_FEAT_FLUSH_RANGE_NO_GAPS) &&
	       pt_is_aligned(unmap->iova, pt_item_lg2(level)) &&
	       unmap->left > pt_low_mask(pt_item_lg2(level)) &&
	       pt_table_full(common, pt_child(common, item), level - 1);
}

/*
 * Empty a run of leaves in one table, from @slot on. Returns the number of
 * items, 0 when the first leaf begins before the range.
 */
static inline unsigned int pt_unmap_leaves(struct pt_unmap *unmap,
					   pt_item_t *slot, unsigned int level)
{
	unsigned int item_lg2 = pt_item_lg2(level);
	unsigned int index = pt_index(unmap->iova, level);
	unsigned int nr, lg2;
	pt_item_t item;

	if (!pt_is_aligned(unmap->iova, ptf_leaf_lg2(READ_ONCE(*slot), level)))
		return 0;
	nr = min_t(u64, PTF_ITEMS - index, ((unmap->left - 1) >> item_lg2) + 1);
	/* The last leaf may go on after the range */
	item = READ_ONCE(slot[nr - 1]);
	if (ptf_present(item) && !ptf_is_table(item, level)) {
		lg2 = ptf_leaf_lg2(item, level) - item_lg2;
		nr = round_up(index + nr, 1U << lg2) - index;
	}

	nr = pt_store_clear(slot, nr, level);
	unmap->level = min(unmap->level, level);
	pt_unmap_advance(unmap, (u64)nr << item_lg2);
	return nr;
}

/*
 * Take a table out of the tree that can leave whole, with all below it. Or, when
 * it is one of leaves, as many as stand next to it and are full. Returns their
 * number.
 */
static noinline unsigned int pt_unmap_drop(struct pt_unmap *unmap,
					   pt_item_t *slot, pt_item_t item,
					   unsigned int level)
{
	unsigned int lg2 = pt_item_lg2(level), i = 0;
	unsigned int nr = min_t(u64, unmap->left >> lg2,
				PTF_ITEMS - pt_index(unmap->iova, level));

	if (level > 1)
		nr = 1;
	do {
		struct pt_desc *desc = pt_child_desc(unmap->common, item);

		if (i && !pt_users_full(desc))
			break;
		pt_store_empty(&slot[i]);
		if (level > 1)
			pt_collect_children(unmap,
					    pt_child(unmap->common, item),
					    level - 1);
		pt_collect(unmap, desc);
		if (++i == nr)
			break;
		item = READ_ONCE(slot[i]);
	} while (ptf_is_table(item, level));
	unmap->level = 0;
	pt_unmap_advance(unmap, (u64)i << lg2);
	return i;
}

/*
 * Empty items of one table, from @slot on: leaves, and tables that can leave
 * whole. False when there is nothing at all.
 */
static bool pt_unmap_items(struct pt_unmap *unmap, pt_item_t *slot,
			   unsigned int level)
{
	unsigned int index = pt_index(unmap->iova, level);
	unsigned int i = 0, nr;

	do {
		pt_item_t item = READ_ONCE(slot[i]);

		if (!ptf_is_table(item, level)) {
			nr = ptf_present(item) ?
				     pt_unmap_leaves(unmap, &slot[i], level) :
				     0;
		} else if (pt_unmap_can_drop(unmap, item, level)) {
			nr = pt_unmap_drop(unmap, &slot[i], item, level);
		} else {
			/* The next round goes down into it */
			nr = 0;
		}
		i += nr;
	} while (nr && unmap->left && index + i < PTF_ITEMS);
	if (i) {
		pt_flush_items(unmap->iommu, slot, i);
		pt_users_put(unmap->iommu, pt_slot_desc(slot), i);
	}
	return i;
}

/* Empty what one table holds of the range. False when that is nothing. */
static bool pt_unmap_table(struct pt_unmap *unmap)
{
	const struct pt_common *common = unmap->common;
	unsigned long top = pt_read_top(common);
	unsigned int level = pt_top_level(top);
	pt_item_t *table = pt_top_table(top);

	if (!pt_level_covers(common, level, unmap->iova))
		return false;
	for (;;) {
		pt_item_t *slot = &table[pt_index(unmap->iova, level)];
		pt_item_t item = READ_ONCE(*slot);

		if (!ptf_present(item))
			return false;
		if (!ptf_is_table(item, level) ||
		    pt_unmap_can_drop(unmap, item, level))
			return pt_unmap_items(unmap, slot, level);
		table = pt_child(common, item);
		level--;
	}
}

/* Empty one item if it is a leaf of the smallest size */
static __always_inline bool pt_unmap_item(struct pt_iommu *iommu,
					  struct pt_pos pos)
{
	if (unlikely(pos.level || !ptf_present(pos.item) ||
		     ptf_leaf_lg2(pos.item, 0) != PTF_GRANULE_LG2))
		return false;
	pt_store_empty(pos.slot);
	pt_flush_items(iommu, pos.slot, 1);
	pt_users_put(iommu, pt_pos_desc(&pos), 1);
	return true;
}

/*
 * One smallest page: the straight way. False, with nothing done, when it is
 * anything else or must be refused.
 */
static __always_inline bool pt_unmap_page(struct pt_iommu *iommu, u64 iova)
{
	const struct pt_common *common = ptf_common(iommu);
	unsigned long top;
	bool done = false;

	if (unlikely(!pt_page_in_aperture(iommu, iova)))
		return false;
	rcu_read_lock();
	top = pt_read_top(common);
	if (likely(pt_top_covers(common, top, iova)))
		done = pt_unmap_item(iommu, pt_walk_from(common, top, iova, 0));
	rcu_read_unlock();
	return done;
}

/*
 * Flush what the gather holds if a gap is between that and a range. A queued
 * flush is of everything, gaps do not matter then.
 */
static noinline __cold void pt_gather_no_gap(struct pt_iommu *iommu,
					     struct iommu_iotlb_gather *gather,
					     u64 iova, u64 bytes)
{
	if (!gather->queued &&
	    iommu_iotlb_gather_is_disjoint(gather, iova, bytes))
		iommu_iotlb_sync(&iommu->domain, gather);
}

/* Tell the gather what was unmapped */
static __always_inline void pt_gather(struct pt_iommu *iommu,
				      struct iommu_iotlb_gather *gather,
				      u64 iova, u64 bytes, unsigned int level)
{
	const struct pt_common *common = ptf_common(iommu);

	if (pt_feature(common, PT_FEAT_FLUSH_RANGE_NO_GAPS))
		pt_gather_no_gap(iommu, gather, iova, bytes);
	if (pt_feature(common, PT_FEAT_DETAILED_GATHER) &&
	    (!gather->pgsize || gather->pgsize > BIT(pt_item_lg2(level))))
		gather->pgsize = BIT(pt_item_lg2(level));
	iommu_iotlb_gather_add_range(gather, iova, bytes);
}

/*
 * Unmap a range, table by table. Out of line, so that one page does not pay for
 * the frame.
 */
static noinline size_t pt_unmap_tables(struct pt_iommu *iommu, u64 iova,
				       u64 len,
				       struct iommu_iotlb_gather *gather)
{
	struct pt_unmap unmap = {
		.iommu = iommu,
		.common = ptf_common(iommu),
		.gather = gather,
		.iova = iova,
		.left = len,
		.level = PTF_MAX_LEVELS - 1,
	};
	u64 last, done;
	bool more;

	if (unlikely(pt_check_range(iommu, iova, len, &last)))
		return 0;
	do {
		rcu_read_lock();
		more = pt_unmap_table(&unmap);
		rcu_read_unlock();
	} while (more && unmap.left);

	pt_usage_left(iommu, unmap.dropped);
	done = unmap.iova - iova;
	if (done)
		pt_gather(iommu, gather, iova, done, unmap.level);
	return done;
}

static inline size_t pt_unmap_range(struct pt_iommu *iommu, u64 iova, u64 len,
				    struct iommu_iotlb_gather *gather)
{
	if (len == BIT_ULL(PTF_GRANULE_LG2) && pt_unmap_page(iommu, iova)) {
		pt_gather(iommu, gather, iova, len, 0);
		return len;
	}
	return pt_unmap_tables(iommu, iova, len, gather);
}

#endif /* __GENERIC_PT_IOMMU_PT_UNMAP_H */
