/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Map
 *
 * A range is cut into runs: leaves of one size that stand next to each other
 * in one table. A run whose table exists is stored right there. A run whose
 * table is missing is stored into a table of its own first, with the tables
 * above it as far as they are missing too, and one store makes it all visible.
 * So a failure never leaves an empty table behind, and nobody sees one.
 */
#ifndef __GENERIC_PT_IOMMU_PT_MAP_H
#define __GENERIC_PT_IOMMU_PT_MAP_H

#include "iommu_pt_top.h"

/* Tables that are allocated ahead at most, for a range that needs many */
#define PT_MAP_AHEAD 16

/* What the run functions return beside 0 and errors: look again */
#define PT_AGAIN 1

/**
 * struct pt_map - A map in progress
 * @iommu: The page table
 * @common: Its format's part
 * @iova: First byte that is not mapped yet
 * @last: Last byte to map
 * @oa: Output address for @iova
 * @sizes: Leaf sizes that the range can have at all
 * @attrs: What all leaves have in common
 * @gfp: For new tables
 * @spare: Tables that are allocated and not yet needed, linked by their slots
 * @nr_spare: Their number
 * @need: How many tables the next run cannot do without
 */
struct pt_map {
	struct pt_iommu *iommu;
	struct pt_common *common;
	u64 iova;
	u64 last;
	u64 oa;
	u64 sizes;
	pt_item_t attrs;
	gfp_t gfp;
	void *spare;
	unsigned int nr_spare;
	unsigned int need;
};

/**
 * struct pt_run - Leaves of one size in one table
 * @lg2: lg2 of their size
 * @level: Level of the table
 * @repeat_lg2: lg2 of the items of each leaf
 * @items: Number of items
 */
struct pt_run {
	unsigned int lg2;
	unsigned int level;
	unsigned int repeat_lg2;
	unsigned int items;
};

/*
 * Choose the run that [@iova, @last] begins with: the largest leaves that fit,
 * as many as are alike
 */
static inline struct pt_run pt_map_run(u64 iova, u64 last, u64 oa, u64 sizes)
{
	u64 left = last - iova + 1;
	struct pt_run run;
	unsigned int fit, room;
	u64 fitting, larger, count;

	fit = min(pt_align_lg2(iova | oa), pt_floor_lg2(left));
	fitting = sizes & pt_low_mask(fit + 1);
	run.lg2 = pt_floor_lg2(fitting);
	run.level = ptf_leaf_level(run.lg2);
	run.repeat_lg2 = run.lg2 - pt_item_lg2(run.level);

	count = left >> run.lg2;
	larger = sizes & ~pt_low_mask(run.lg2 + 1);
	if (larger) {
		/* Stop where larger leaves begin, if one fits there */
		unsigned int next_lg2 = __ffs64(larger);
		u64 before = -iova & pt_low_mask(next_lg2);

		if (before < left && left - before > pt_low_mask(next_lg2))
			count = min(count, before >> run.lg2);
	}
	room = PTF_ITEMS - pt_index(iova, run.level);
	run.items = min_t(u64, count << run.repeat_lg2, room);
	return run;
}

/*
 * Store as much of a run as is free into the table that exists, which the walk
 * reached by pointers whose AND is @tables. Returns the number of items, or
 * -ENOENT when the table is dead.
 */
static noinline int pt_map_store(struct pt_iommu *iommu, pt_item_t *slot,
				 pt_item_t item, pt_item_t step,
				 unsigned int items, unsigned int repeat_lg2,
				 pt_item_t tables)
{
	struct pt_desc *desc = pt_slot_desc(slot);
	unsigned int stored;

	if (unlikely(!pt_users_get(desc, items)))
		return -ENOENT;
	stored = pt_store_leaves(slot, items, item, step, repeat_lg2, false);
	pt_flush_items(iommu, slot, stored);
	pt_show_path(iommu, desc, tables);
	if (unlikely(stored != items))
		pt_users_put(iommu, desc, items - stored);
	return stored;
}

static inline void *pt_spare_take(struct pt_map *map)
{
	void *table = map->spare;

	map->spare = pt_env_desc(table)->slot;
	map->nr_spare--;
	return table;
}

static inline void pt_spare_give(struct pt_map *map, void *table)
{
	pt_env_desc(table)->slot = map->spare;
	map->spare = table;
	map->nr_spare++;
}

static noinline __cold void pt_spare_free(struct pt_map *map)
{
	pt_usage_give(map->iommu, map->nr_spare);
	while (map->nr_spare)
		pt_env_free(pt_spare_take(map));
}

/* Allocate the tables that are needed, and some ahead if that is easy */
static noinline __cold int pt_spare_fill(struct pt_map *map, unsigned int level)
{
	unsigned int lg2 = pt_item_lg2(level + 1);
	u64 ahead = min_t(u64, (map->last >> lg2) - (map->iova >> lg2),
			  PT_MAP_AHEAD);
	unsigned int need = map->need - map->nr_spare;
	unsigned int nr = pt_tables_take(map->iommu, need, need + ahead);
	unsigned int i;

	if (!nr)
		return -EDQUOT;
	for (i = 0; i < nr; i++) {
		void *table = pt_env_alloc(map->iommu, map->gfp);

		if (!table)
			break;
		pt_spare_give(map, table);
	}
	pt_usage_give(map->iommu, nr - i);
	if (map->nr_spare < map->need)
		return -ENOMEM;
	map->need = 0;
	return 0;
}

/*
 * A walk met a table that is being removed, or the tombstone of one: do what
 * its remover does, so that the item can be used at once.
 */
static noinline __cold void pt_map_bury(struct pt_map *map, pt_item_t *slot,
					pt_item_t item)
{
	struct iommu_domain *domain = &map->iommu->domain;
	bool flush = domain->ops && domain->ops->flush_iotlb_all;

	if (ptf_present(item)) {
		if (flush &&
		    pt_feature(map->common, PT_FEAT_FLUSH_RANGE_NO_GAPS))
			domain->ops->flush_iotlb_all(domain);
		pt_store_tombstone(map->iommu, slot, item);
	} else {
		pt_flush_items(map->iommu, slot, 1);
	}
	if (flush)
		domain->ops->flush_iotlb_all(domain);
}

/* A walk ended in a dead table: bury it, unless it has left already */
static noinline __cold void
pt_map_bury_dead(struct pt_map *map, const void *table, unsigned int level)
{
	unsigned long top = pt_read_top(map->common);
	struct pt_pos pos;

	pos = pt_walk_from(map->common, top, map->iova, level + 1);
	if (pos.level == level + 1 && ptf_is_table(pos.item, pos.level) &&
	    pt_child(map->common, pos.item) == table)
		pt_map_bury(map, pos.slot, pos.item);
}

/*
 * An item that a leaf shall go to is in use. Make it free if nothing is mapped
 * there: a tombstone, or a table that is empty but for empty tables. The caller
 * owns all of the IOVA that the item covers. True when it is free.
 */
static noinline __cold bool pt_map_reap(struct pt_map *map, pt_item_t *slot,
					unsigned int level)
{
	pt_item_t item = READ_ONCE(*slot);
	pt_item_t *table;
	unsigned int i;

	if (ptf_present(item)) {
		if (!ptf_is_table(item, level))
			return false;
		table = pt_child(map->common, item);
		for (i = 0; level > 1 && i < PTF_ITEMS; i++)
			if (READ_ONCE(table[i]) &&
			    !pt_map_reap(map, &table[i], level - 1))
				return false;
		if (pt_remove_empty(map->iommu, pt_env_desc(table)))
			return true;
		if (!pt_users_dead(pt_env_desc(table)))
			return false;
	}
	/* Somebody else is removing it */
	if (item) {
		pt_map_bury(map, slot, item);
		pt_store_table(map->iommu, slot, ptf_tombstone(item), 0);
	}
	return true;
}

/* Make all items free that a leaf above level 0 shall go to, if they can be */
static noinline __cold int
pt_map_reap_leaf(struct pt_map *map, const struct pt_run *run, pt_item_t *slot)
{
	unsigned int i;

	for (i = 0; i < 1U << run->repeat_lg2; i++)
		if (!run->level || !pt_map_reap(map, &slot[i], run->level))
			return -EADDRINUSE;
	return PT_AGAIN;
}

/*
 * Build the missing tables from the level below @pos down to the run's, and
 * install them at @pos, which is empty or a tombstone. The AND of the pointers
 * on the way there is @tables.
 */
static noinline __cold int pt_map_fresh(struct pt_map *map,
					const struct pt_run *run,
					const struct pt_pos *pos,
					pt_item_t tables)
{
	unsigned int index = pt_index(map->iova, run->level);
	struct pt_desc *parent = pt_slot_desc(pos->slot);
	unsigned int level = run->level;
	pt_item_t *table = pt_spare_take(map);
	u64 bytes = (u64)run->items << pt_item_lg2(run->level);
	pt_item_t *child;
	pt_item_t item;

	/* What the run fills need not be zeroed or tested first */
	memset64(table, 0, index);
	memset64(table + index + run->items, 0, PTF_ITEMS - index - run->items);
	pt_store_leaves(table + index, run->items,
			ptf_leaf_item(map->attrs, map->oa, run->level,
				      run->lg2),
			ptf_leaf_step(run->lg2), run->repeat_lg2, true);
	pt_flush_items(map->iommu, table, PTF_ITEMS);
	pt_desc_init(pt_env_desc(table), level, run->items, pos->slot);

	while (++level < pos->level) {
		child = table;
		table = pt_spare_take(map);
		memset64(table, 0, PTF_ITEMS);
		index = pt_index(map->iova, level);
		table[index] = pt_fresh_pointer(map->common, child, level);
		pt_env_desc(child)->slot = &table[index];
		pt_flush_items(map->iommu, table, PTF_ITEMS);
		pt_desc_init(pt_env_desc(table), level, 1, pos->slot);
	}

	item = ptf_table_item(map->common, pt_env_table_oa(table), pos->level);
	if (!pt_users_get(parent, 1)) {
		pt_map_bury_dead(map, pt_env_desc_table(parent), pos->level);
		goto again;
	}
	if (pt_store_table(map->iommu, pos->slot, pos->item, item)) {
		if (pt_feature(map->common, PT_FEAT_DMA_INCOHERENT))
			pt_store_flushed(pos->slot);
		pt_show_path(map->iommu, parent, tables);
		map->iova += bytes;
		map->oa += bytes;
		return 0;
	}
	pt_users_put(map->iommu, parent, 1);

again:
	/* Somebody else was there first: take it apart and look again */
	while (--level > run->level) {
		child = pt_child(map->common,
				 table[pt_index(map->iova, level)]);
		pt_spare_give(map, table);
		table = child;
	}
	pt_spare_give(map, table);
	return PT_AGAIN;
}

/* Map one run, or the free part of it, or nothing yet for want of tables */
static __always_inline int pt_map_one_run(struct pt_map *map,
					  const struct pt_run *run)
{
	pt_item_t tables;
	struct pt_pos pos;
	int stored;

	pos = pt_walk_noting(map->common, pt_read_top(map->common), map->iova,
			     run->level, &tables);
	if (likely(pos.level == run->level)) {
		stored = pt_map_store(map->iommu, pos.slot,
				      ptf_leaf_item(map->attrs, map->oa,
						    run->level, run->lg2),
				      ptf_leaf_step(run->lg2), run->items,
				      run->repeat_lg2, tables);
		if (unlikely(stored < 0)) {
			pt_map_bury_dead(
				map, pt_env_desc_table(pt_slot_desc(pos.slot)),
				run->level);
			return PT_AGAIN;
		}
		map->iova += (u64)stored << pt_item_lg2(run->level);
		map->oa += (u64)stored << pt_item_lg2(run->level);
		if (likely(stored == run->items))
			return 0;
		return pt_map_reap_leaf(map, run, &pos.slot[stored]);
	}
	if (ptf_present(pos.item))
		return -EADDRINUSE;
	map->need = pos.level - run->level;
	if (map->nr_spare < map->need)
		return PT_AGAIN;
	map->need = 0;
	if (unlikely(pos.item))
		pt_map_bury(map, pos.slot, pos.item);
	return pt_map_fresh(map, run, &pos, tables);
}

/* Grow the tree until it covers @last */
static int pt_map_grow(struct pt_map *map)
{
	unsigned int level = pt_top_level(pt_read_top(map->common));

	if (likely(pt_level_covers(map->common, level, map->last)))
		return 0;
	while (!pt_level_covers(map->common, level, map->last))
		level++;
	return pt_grow(map->iommu, level, map->gfp);
}

/* Map a range that was checked, run by run, in tables that exist or do not */
static inline int pt_map_runs(struct pt_iommu *iommu, u64 iova, u64 last,
			      u64 oa, u64 sizes, pt_item_t attrs, gfp_t gfp,
			      size_t *mapped)
{
	struct pt_map map = {
		.iommu = iommu,
		.common = ptf_common(iommu),
		.iova = iova,
		.last = last,
		.oa = oa,
		.sizes = sizes,
		.attrs = attrs,
		.gfp = gfp,
	};
	int ret;

	ret = pt_map_grow(&map);
	while (ret >= 0 && map.iova - 1 != last) {
		struct pt_run run =
			pt_map_run(map.iova, last, map.oa, map.sizes);

		if (unlikely(run.level >
			     pt_top_level(pt_read_top(map.common)))) {
			ret = pt_grow(iommu, run.level, gfp);
			if (ret)
				break;
		}

		rcu_read_lock();
		ret = pt_map_one_run(&map, &run);
		rcu_read_unlock();

		if (map.need && ret >= 0)
			ret = pt_spare_fill(&map, run.level);
	}

	pt_spare_free(&map);
	*mapped += map.iova - iova;
	return ret;
}

/* Store one item if its table exists, and nothing is there */
static __always_inline bool
pt_map_item(struct pt_iommu *iommu, unsigned long top, u64 iova, pt_item_t item)
{
	pt_item_t tables;
	const struct pt_pos pos =
		pt_walk_noting(ptf_common(iommu), top, iova, 0, &tables);

	if (unlikely(pos.level || pos.item ||
		     !pt_users_get(pt_pos_desc(&pos), 1)))
		return false;
	WRITE_ONCE(*pos.slot, item);
	pt_flush_items(iommu, pos.slot, 1);
	pt_show_path(iommu, pt_slot_desc(pos.slot), tables);
	return true;
}

/*
 * One smallest page whose table exists and where nothing is: the straight way.
 * False, with nothing done, when it is anything else or must be refused.
 */
static __always_inline bool pt_map_page(struct pt_iommu *iommu, u64 iova,
					u64 oa, unsigned int prot)
{
	const struct pt_common *common = ptf_common(iommu);
	unsigned long top;
	bool done = false;
	pt_item_t attrs;

	if (unlikely(!pt_page_in_aperture(iommu, iova) ||
		     oa > common->oa_last ||
		     !pt_is_aligned(oa, PTF_GRANULE_LG2)))
		return false;
	if (unlikely(!(prot & (IOMMU_READ | IOMMU_WRITE)) ||
		     !(iommu->domain.pgsize_bitmap & BIT(PTF_GRANULE_LG2)) ||
		     ptf_attrs(common, prot, &attrs)))
		return false;

	rcu_read_lock();
	top = pt_read_top(common);
	if (likely(pt_top_covers(common, top, iova)))
		done = pt_map_item(iommu, top, iova,
				   ptf_leaf_item(attrs, oa, 0,
						 PTF_GRANULE_LG2));
	rcu_read_unlock();
	return done;
}

/* Map anything. Out of line, so that one page does not pay for the frame. */
static noinline int pt_map_pages(struct pt_iommu *iommu, u64 iova, u64 oa,
				 u64 len, unsigned int prot, gfp_t gfp,
				 size_t *mapped)
{
	struct pt_common *common = ptf_common(iommu);
	u64 last, sizes = iommu->domain.pgsize_bitmap;
	pt_item_t attrs = 0;
	int ret;

	ret = pt_check_range(iommu, iova, len, &last);
	if (unlikely(ret))
		return ret;
	if (unlikely(!pt_is_aligned(oa, PTF_GRANULE_LG2) ||
		     !(prot & (IOMMU_READ | IOMMU_WRITE))))
		return -EINVAL;
	if (unlikely(oa > common->oa_last || len - 1 > common->oa_last - oa))
		return -ERANGE;
	if (unlikely(!(sizes & BIT_ULL(PTF_GRANULE_LG2)) &&
		     (!sizes ||
		      !pt_is_aligned(iova | oa | len, __ffs64(sizes)))))
		return -EINVAL;
	ret = ptf_attrs(common, prot, &attrs);
	if (unlikely(ret))
		return ret;

	/* IOVA and OA move together, so the sizes that fit both are known */
	sizes &= pt_low_mask(pt_align_lg2(iova ^ oa) + 1);
	return pt_map_runs(iommu, iova, last, oa, sizes, attrs, gfp, mapped);
}

static inline int pt_map_range(struct pt_iommu *iommu, u64 iova, u64 oa,
			       u64 len, unsigned int prot, gfp_t gfp,
			       size_t *mapped)
{
	if (len == BIT_ULL(PTF_GRANULE_LG2) &&
	    pt_map_page(iommu, iova, oa, prot)) {
		*mapped += len;
		return 0;
	}
	return pt_map_pages(iommu, iova, oa, len, prot, gfp, mapped);
}

#endif /* __GENERIC_PT_IOMMU_PT_MAP_H */
