/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: The life of a table
 *
 * Callers own IOVA ranges, not tables: two of them may work in one table at the
 * same time, even in one cache line. A table that holds nothing goes away, and
 * nobody takes a lock on the way to a leaf. This is how it works.
 *
 * Users. Each table has a word beside it that counts its present items, and
 * holds two more reasons to stay: being the top, and being parked. A table
 * that is found with none of these left is marked dead, for good. Whoever stores
 * present items adds them to the count first (pt_users_get(), which fails on a
 * dead table), whoever empties items subtracts them afterwards
 * (pt_users_put()). So a table in which a caller stores is never dead. Both are
 * one atomic addition with full ordering, once per run of items. What a failed
 * get adds and takes back is not looked at in a dead table.
 *
 * Parking. The put that takes the last user makes the table parked, unless a
 * new user came in between: it stays in the tree, empty, and the next map finds
 * it. Only PT_IOMMU_PARKED tables of a domain can be parked; parking one more
 * unparks the oldest, and those parked after it as long as they stand next to
 * each other in one parent, since these can share their flushes. A parked table
 * that is in use again stays parked, so a range that is mapped and unmapped
 * again and again touches nothing but the count. A place is given and taken
 * under park_lock, which is not taken otherwise. Only who unparks a table under
 * that lock can mark it dead, so one without users that is not parked yet is
 * safe. Between the put that parks a table and the lock somebody who owns the
 * table's whole range may take it out of the tree, so the mark decides, not the
 * place.
 *
 * Removal. Who unparks an empty table marks it dead, and is its one remover. A
 * dead table is no user of its parent any more: the parent's count goes down
 * under the same lock, which may park the parent. Then, for one table or for
 * several that died together:
 *
 *  1. With PT_FEAT_FLUSH_RANGE_NO_GAPS the table's range is flushed: its leaves
 *     are empty, and nothing refers to them any more.
 *  2. The pointer in the parent becomes a tombstone: hardware takes it for not
 *     present, software still sees which table stood there. It is the same one
 *     whatever was set in the pointer (accessed, PT_SW_FLUSHED).
 *  3. The table's range is flushed with the table on the gather's freelist, so
 *     that the driver flushes walk caches too. The driver frees the list, which
 *     waits for two RCU grace periods.
 *  4. The tombstone is emptied, if it is still there.
 *
 * It all happens within one RCU read side, so the first grace period ends after
 * step 4. Whoever saw the tombstone began before that, so the second one ends
 * after him: as long as somebody may compare with a tombstone, the memory of the
 * table does not come back, and the tombstone names this table alone. The parent
 * may die and be removed meanwhile; its memory stays as long.
 *
 * A map that meets a dead table or a tombstone (its range is disjoint from what
 * the remover unmapped, yet in the same table) must not wait: it may have
 * interrupted the remover. It does steps 1 to 3 itself, with a flush of
 * everything since it has no table to free, and puts its own new table into the
 * tombstone's place as it would into an empty item. The remover then fails in
 * step 4, or in step 2 already. Each of these stores is a compare and exchange,
 * so each happens once.
 *
 * A range that covers a whole table is different: its caller owns all of the
 * IOVA in it until the flush, nobody can come by. A full table (count equal to
 * the number of items) that an unmap covers is emptied from the parent's item,
 * put on the caller's freelist, and its items are not even read. With
 * PT_FEAT_FLUSH_RANGE_NO_GAPS leaves must be flushed before, so it is emptied
 * item by item and goes by the way above.
 *
 * Growth. A new top points to the old one by its item 0. The driver's lock is
 * held: the old top gets its place in the new one, the driver changes the
 * hardware's pointer and flushes, then the new top is published to software.
 * Only then can something be mapped that needs it. Last, the old top loses the
 * user that being the top was, by the caller who grew the tree or by one who
 * finds the table in its way before. A walk that began at the old top stays
 * valid, since the old top translates its part as before.
 *
 * Rest. Some time after a table was parked iommu_pt_shrink.c unparks all of its
 * domain, and those of all domains when memory is short, as a put that needs their
 * places would. So a domain where nothing happens keeps no empty table.
 *
 * With walkers that do not snoop, "stored" above means that and flushed from
 * the CPU's cache; what to flush when stands in pt_store.h.
 */
#ifndef __GENERIC_PT_TABLES_H
#define __GENERIC_PT_TABLES_H

#include "pt_store.h"
#include "pt_usage.h"

#define PT_USERS_LIVE GENMASK(23, 0)
#define PT_USERS_PARKED BIT(24)
#define PT_USERS_TOP BIT(25)
#define PT_USERS_ANY GENMASK(25, 0)
#define PT_USERS_DEAD BIT(26)
/* Constant for the life of a table */
#define PT_USERS_LEVEL GENMASK(31, 28)

static inline unsigned int pt_desc_level(struct pt_desc *desc)
{
	return (u32)atomic_read(&desc->users) >> 28;
}

/* Set up the words beside a table that nobody else sees yet */
static inline void pt_desc_init(struct pt_desc *desc, unsigned int level,
				unsigned int users, void *slot)
{
	atomic_set(&desc->users, (level << 28) | users);
	desc->slot = slot;
}

/* The table that an item stands in */
static inline struct pt_desc *pt_slot_desc(const pt_item_t *slot)
{
	return pt_env_desc(slot);
}

static inline bool pt_users_full(struct pt_desc *desc)
{
	return (atomic_read(&desc->users) & PT_USERS_LIVE) == PTF_ITEMS;
}

static inline bool pt_users_dead(struct pt_desc *desc)
{
	return atomic_read(&desc->users) & PT_USERS_DEAD;
}

/**
 * pt_users_get() - Announce present items before they are stored
 * @desc: The table
 * @nr: Number of items
 *
 * Return: false when the table is dead.
 */
static __always_inline bool pt_users_get(struct pt_desc *desc, unsigned int nr)
{
	if (likely(!(atomic_add_return(nr, &desc->users) & PT_USERS_DEAD)))
		return true;
	/* Nobody asks how many users a dead table has */
	atomic_sub_return(nr, &desc->users);
	return false;
}

/* Flush pointers to a table, and to those above it, that are not yet */
static noinline __cold void pt_show_tables(struct pt_iommu *iommu,
					   struct pt_desc *desc)
{
	pt_item_t *slot;

	while ((slot = READ_ONCE(desc->slot))) {
		if (!(READ_ONCE(*slot) & PT_SW_FLUSHED)) {
			pt_flush_items(iommu, slot, 1);
			pt_store_flushed(slot);
		}
		desc = pt_slot_desc(slot);
	}
}

/**
 * pt_show_path() - Have hardware see all pointers on the way to a table
 * @iommu: The page table
 * @desc: The table. The caller has users of it, so all of these stay.
 * @tables: What pt_walk_noting() noted on the way there
 *
 * To be called by a map before it returns, see pt_store.h.
 */
static __always_inline void pt_show_path(struct pt_iommu *iommu,
					 struct pt_desc *desc, pt_item_t tables)
{
	if (pt_feature(ptf_common(iommu), PT_FEAT_DMA_INCOHERENT) &&
	    unlikely(!(tables & PT_SW_FLUSHED)))
		pt_show_tables(iommu, desc);
}

static noinline __cold void pt_park(struct pt_iommu *iommu,
				    struct pt_desc *desc);

/*
 * A table was seen without a user. True when this parked it; false when there is
 * a new one, which will take care of it, or somebody else parked it.
 */
static noinline __cold bool pt_users_park(struct pt_desc *desc, int users)
{
	return atomic_try_cmpxchg(&desc->users, &users,
				  users | PT_USERS_PARKED);
}

/*
 * Subtract items. True when that parked the table, which now needs a place.
 */
static __always_inline bool pt_users_sub(struct pt_desc *desc, unsigned int nr)
{
	int left = atomic_sub_return(nr, &desc->users);

	PT_WARN_ON(((left + nr) & PT_USERS_LIVE) < nr);
	return unlikely(!(left & PT_USERS_ANY)) && pt_users_park(desc, left);
}

/*
 * The tree has a new top: the table that was it is one like any other now. Who
 * notices that first takes the mark away. True when that parked the table, which
 * now needs a place.
 */
static noinline __cold bool pt_users_put_top(struct pt_desc *desc)
{
	int users = atomic_read(&desc->users);
	int left;

	do {
		if (!(users & PT_USERS_TOP))
			return false;
		left = users & ~PT_USERS_TOP;
		if (!(left & PT_USERS_ANY))
			left |= PT_USERS_PARKED;
	} while (!atomic_try_cmpxchg(&desc->users, &users, left));

	return !(users & PT_USERS_PARKED) && (left & PT_USERS_PARKED);
}

/**
 * pt_users_put() - Take back items after they were emptied
 * @iommu: The page table
 * @desc: The table
 * @nr: Number of items
 *
 * Context: Within an RCU read side. May flush.
 */
static __always_inline void pt_users_put(struct pt_iommu *iommu,
					 struct pt_desc *desc, unsigned int nr)
{
	if (pt_users_sub(desc, nr))
		pt_park(iommu, desc);
}

/* The first IOVA that a table covers */
static noinline __cold u64 pt_desc_iova(const struct pt_common *common,
					struct pt_desc *desc)
{
	unsigned int unused;
	pt_item_t *slot;
	u64 iova = 0;

	while ((slot = READ_ONCE(desc->slot))) {
		desc = pt_slot_desc(slot);
		iova |= (u64)(slot - (pt_item_t *)pt_env_desc_table(desc))
			<< pt_item_lg2(pt_desc_level(desc));
	}
	if (!pt_feature(common, PT_FEAT_SIGN_EXTEND))
		return iova;
	/* The bits above those that the top translates repeat the highest */
	unused = 64 - pt_item_lg2(pt_desc_level(desc) + 1);
	return (s64)(iova << unused) >> unused;
}

/**
 * struct pt_dead - A dead table that is about to leave
 * @slot: Where its pointer is. Once it is dead its parents may go too, and then
 *	nothing tells any more.
 * @item: The pointer, without what hardware sets in it
 */
struct pt_dead {
	pt_item_t *slot;
	pt_item_t item;
};

/**
 * struct pt_leaving - Dead tables of one parent that leave together
 * @iova: First IOVA that they cover
 * @last: Last IOVA that they cover. There is no gap in between.
 * @parent: Their parent. Then, if it was parked by the loss and needs a place.
 * @tables: The tables
 * @nr: Their number
 * @dead: What is known about each
 */
struct pt_leaving {
	u64 iova;
	u64 last;
	struct pt_desc *parent;
	struct list_head tables;
	unsigned int nr;
	struct pt_dead dead[PT_IOMMU_PARKED];
};

static inline void pt_leaving_init(struct pt_leaving *leaving)
{
	leaving->nr = 0;
	leaving->parent = NULL;
	INIT_LIST_HEAD(&leaving->tables);
}

/* Flush the range of dead tables, and walk caches if @freelist holds them */
static noinline __cold void pt_flush_tables(struct pt_iommu *iommu,
					    const struct pt_leaving *leaving,
					    struct list_head *freelist)
{
	struct iommu_iotlb_gather gather;

	iommu_iotlb_gather_init(&gather);
	gather.start = leaving->iova;
	gather.end = leaving->last;
	gather.pgsize = BIT(PTF_GRANULE_LG2);
	if (freelist)
		list_splice_init(freelist, &gather.freelist);
	if (iommu->domain.ops && iommu->domain.ops->iotlb_sync)
		iommu->domain.ops->iotlb_sync(&iommu->domain, &gather);
	/* A driver that leaves the list alone, or has nothing to flush */
	if (!list_empty(&gather.freelist))
		pt_env_free_deferred(&gather.freelist);
}

/* Take dead tables out of the tree. The caller is their one remover. */
static noinline __cold void pt_remove(struct pt_iommu *iommu,
				      struct pt_leaving *leaving)
{
	const struct pt_dead *dead = leaving->dead;
	unsigned int i;

	if (pt_feature(ptf_common(iommu), PT_FEAT_FLUSH_RANGE_NO_GAPS))
		pt_flush_tables(iommu, leaving, NULL);
	/* Does nothing where a map was faster */
	for (i = 0; i < leaving->nr; i++)
		pt_store_tombstone(iommu, dead[i].slot, dead[i].item);
	pt_usage_left(iommu, leaving->nr);
	pt_flush_tables(iommu, leaving, &leaving->tables);
	for (i = 0; i < leaving->nr; i++)
		pt_store_table(iommu, dead[i].slot, ptf_tombstone(dead[i].item),
			       0);
}

/* Whether a range begins where that of the tables ends, or the other way round */
static inline bool pt_leaving_adjoins(const struct pt_leaving *leaving,
				      u64 iova, u64 last)
{
	/* The last IOVA of all does not adjoin the first */
	return (iova && iova - 1 == leaving->last) ||
	       (leaving->iova && leaving->iova - 1 == last);
}

/*
 * Unpark a table. When that was its last user it is dead, and among those that
 * leave. False, with nothing done, if it cannot leave together with them.
 * pt_leaving_end_locked() must follow.
 */
static noinline __cold bool pt_unpark_locked(struct pt_iommu *iommu,
					     struct pt_desc *desc,
					     struct pt_leaving *leaving)
{
	const struct pt_common *common = ptf_common(iommu);
	unsigned int level = pt_desc_level(desc);
	void *table = pt_env_desc_table(desc);
	int left, users = atomic_read(&desc->users);
	/* If it is in use somebody may free it as soon as it is not parked */
	pt_item_t *slot = READ_ONCE(desc->slot);
	struct pt_desc *parent = pt_slot_desc(slot);
	struct pt_dead *dead;
	u64 iova, last;

	/* It is in the tree as long as it is parked, so ask it now */
	iova = pt_desc_iova(common, desc);
	last = iova | pt_low_mask(pt_item_lg2(level + 1));
	if (leaving->nr && (leaving->parent != parent ||
			    !pt_leaving_adjoins(leaving, iova, last)))
		return false;
	do {
		left = users & ~PT_USERS_PARKED;
		if (!(left & PT_USERS_ANY))
			left |= PT_USERS_DEAD;
	} while (!atomic_try_cmpxchg(&desc->users, &users, left));
	if (!(left & PT_USERS_DEAD)) {
		WRITE_ONCE(iommu->usage.reused, iommu->usage.reused + 1);
		return true;
	}

	leaving->iova = leaving->nr ? min(leaving->iova, iova) : iova;
	leaving->last = leaving->nr ? max(leaving->last, last) : last;
	dead = &leaving->dead[leaving->nr++];
	dead->slot = slot;
	dead->item = ptf_table_item(common, pt_env_table_oa(table), level + 1);
	pt_env_defer(&leaving->tables, desc);
	leaving->parent = parent;
	return true;
}

/* Dead tables are no users of their parent */
static inline void pt_leaving_end_locked(struct pt_leaving *leaving)
{
	if (leaving->nr && !pt_users_sub(leaving->parent, leaving->nr))
		leaving->parent = NULL;
}

/* Take a table off the parked ones, if it has a place among them */
static void pt_unplace_locked(struct pt_iommu *iommu, struct pt_desc *desc)
{
	unsigned int i;

	for (i = 0; i < iommu->nr_parked; i++) {
		if (iommu->parked[i] != desc)
			continue;
		iommu->nr_parked--;
		memmove(&iommu->parked[i], &iommu->parked[i + 1],
			(iommu->nr_parked - i) * sizeof(iommu->parked[0]));
		return;
	}
}

/*
 * Unpark the oldest table. If it is empty those parked after it leave too, as far
 * as they can leave with it.
 */
static noinline __cold void pt_evict_locked(struct pt_iommu *iommu,
					    struct pt_leaving *leaving)
{
	unsigned int nr = 0;

	while (nr < iommu->nr_parked &&
	       pt_unpark_locked(iommu, iommu->parked[nr], leaving)) {
		nr++;
		if (!leaving->nr)
			break;
	}
	pt_leaving_end_locked(leaving);
	iommu->nr_parked -= nr;
	memmove(&iommu->parked[0], &iommu->parked[nr],
		iommu->nr_parked * sizeof(iommu->parked[0]));
}

/* Give a parked table its place if there is one. What was taken away needs none. */
static noinline __cold bool pt_place_locked(struct pt_iommu *iommu,
					    struct pt_desc *desc)
{
	/* Who owns its whole range may have done that meanwhile */
	if (!(atomic_read(&desc->users) & PT_USERS_PARKED))
		return true;
	if (iommu->nr_parked == PT_IOMMU_PARKED)
		return false;
	iommu->parked[iommu->nr_parked++] = desc;
	return true;
}

/*
 * Make room for a parked table. Returns a parent that has become empty by that,
 * was parked and needs a place itself, or NULL.
 */
static noinline __cold struct pt_desc *pt_make_place(struct pt_iommu *iommu,
						     struct pt_desc *desc)
{
	struct pt_leaving leaving;
	unsigned long flags;

	pt_leaving_init(&leaving);
	raw_spin_lock_irqsave(&iommu->park_lock, flags);
	if (!pt_place_locked(iommu, desc)) {
		pt_evict_locked(iommu, &leaving);
		pt_place_locked(iommu, desc);
	}
	raw_spin_unlock_irqrestore(&iommu->park_lock, flags);

	if (leaving.nr)
		pt_remove(iommu, &leaving);
	return leaving.parent;
}

/* Give a parked table its place, and remove what must make room for it */
static noinline __cold void pt_place(struct pt_iommu *iommu,
				     struct pt_desc *desc)
{
	unsigned long flags;
	bool placed;

	while (desc) {
		raw_spin_lock_irqsave(&iommu->park_lock, flags);
		placed = pt_place_locked(iommu, desc);
		raw_spin_unlock_irqrestore(&iommu->park_lock, flags);
		if (placed)
			return;
		desc = pt_make_place(iommu, desc);
	}
}

/* An operation parked a table */
static noinline __cold void pt_park(struct pt_iommu *iommu,
				    struct pt_desc *desc)
{
	/* As if it were always on the way to its place */
	if (IS_ENABLED(CONFIG_IOMMU_PT_KEEP_TABLES))
		return;
	pt_place(iommu, desc);
	pt_env_trim_later(iommu);
}

/*
 * Remove a table if it is empty, whether it has a place or not. False when it
 * is in use, or somebody else removes it.
 */
static noinline __cold bool pt_remove_empty(struct pt_iommu *iommu,
					    struct pt_desc *desc)
{
	struct pt_leaving leaving;
	unsigned long flags;
	bool parked;

	/* It has a parent, so if it was the top it is no more */
	parked = pt_users_put_top(desc);

	pt_leaving_init(&leaving);
	raw_spin_lock_irqsave(&iommu->park_lock, flags);
	if ((atomic_read(&desc->users) & PT_USERS_ANY) == PT_USERS_PARKED) {
		pt_unplace_locked(iommu, desc);
		pt_unpark_locked(iommu, desc, &leaving);
		pt_leaving_end_locked(&leaving);
	}
	raw_spin_unlock_irqrestore(&iommu->park_lock, flags);

	if (leaving.nr) {
		pt_remove(iommu, &leaving);
		if (leaving.parent)
			pt_park(iommu, leaving.parent);
	} else if (parked) {
		pt_park(iommu, desc);
	}
	return leaving.nr;
}

/**
 * pt_reclaim() - Take all parked tables that are empty out of the tree
 * @iommu: The page table
 *
 * Tables above them that become empty by that go too.
 *
 * Return: How many tables left.
 */
static unsigned long pt_reclaim(struct pt_iommu *iommu)
{
	struct pt_leaving leaving;
	unsigned long removed = 0;
	unsigned long flags;
	bool more;

	rcu_read_lock();
	do {
		pt_leaving_init(&leaving);
		raw_spin_lock_irqsave(&iommu->park_lock, flags);
		pt_evict_locked(iommu, &leaving);
		more = iommu->nr_parked || leaving.parent;
		raw_spin_unlock_irqrestore(&iommu->park_lock, flags);

		if (leaving.nr) {
			pt_remove(iommu, &leaving);
			pt_place(iommu, leaving.parent);
			removed += leaving.nr;
		}
	} while (more);
	rcu_read_unlock();
	return removed;
}

/*
 * pt_usage_take(), that looks for tables to give back before it says that there
 * are too many. Not within an RCU read side of a walk that goes on after it.
 */
static noinline __cold unsigned int
pt_tables_take(struct pt_iommu *iommu, unsigned int need, unsigned int want)
{
	unsigned int nr = pt_usage_take(iommu, need, want);

	if (!nr && pt_reclaim(iommu))
		nr = pt_usage_take(iommu, need, want);
	return nr;
}

static noinline __cold void pt_forget_parked(struct pt_iommu *iommu,
					     struct pt_desc *desc, int users)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&iommu->park_lock, flags);
	pt_unplace_locked(iommu, desc);
	/* Who parked it may still be on the way to give it a place */
	while (!atomic_try_cmpxchg(&desc->users, &users,
				   (users & ~PT_USERS_ANY) | PT_USERS_DEAD))
		;
	raw_spin_unlock_irqrestore(&iommu->park_lock, flags);
}

/* Forget a table that its owner takes out of the tree whole, parked or not */
static inline void pt_forget(struct pt_iommu *iommu, struct pt_desc *desc)
{
	int users = atomic_read(&desc->users);

	if (unlikely(users & PT_USERS_PARKED))
		pt_forget_parked(iommu, desc, users);
}

#endif /* __GENERIC_PT_TABLES_H */
