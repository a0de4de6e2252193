/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growth of the top
 *
 * The protocol stands in pt_tables.h.
 */
#ifndef __GENERIC_PT_IOMMU_PT_TOP_H
#define __GENERIC_PT_IOMMU_PT_TOP_H

#include "pt_tables.h"

/* Put a prepared table on top of the tree, under the driver's lock */
static noinline __cold void pt_grow_locked(struct pt_iommu *iommu,
					   struct pt_common *common,
					   pt_item_t *table)
{
	unsigned long top = pt_read_top(common);
	struct pt_desc *old = pt_env_desc(pt_top_table(top));
	unsigned int level = pt_top_level(top) + 1;

	memset(table, 0, PTF_TABLE_BYTES);
	table[0] = pt_fresh_pointer(common, pt_top_table(top), level);
	pt_flush_items(iommu, table, PTF_ITEMS);
	pt_desc_init(pt_env_desc(table), level, PT_USERS_TOP | 1, NULL);
	WRITE_ONCE(old->slot, &table[0]);

	/* Hardware first: nothing may be mapped that it cannot reach yet */
	iommu->driver_ops->change_top(iommu, pt_env_table_oa(table), level);
	/* The items of the new top first; pairs with pt_read_top() */
	smp_store_release(&common->top, pt_top_encode(table, level));
}

/**
 * pt_grow() - Grow the tree until its top is of a level
 * @iommu: The page table
 * @level: The level that is needed
 * @gfp: For the new tables
 *
 * Return: 0, -ERANGE when the tree cannot grow that far, -ENOMEM, -EDQUOT. What
 * grew before a failure stays.
 */
static noinline __cold int pt_grow(struct pt_iommu *iommu, unsigned int level,
				   gfp_t gfp)
{
	struct pt_common *common = ptf_common(iommu);
	spinlock_t *lock; /* The driver's, see pt_iommu_driver_ops */

	if (level > common->max_level)
		return -ERANGE;

	lock = iommu->driver_ops->get_top_lock(iommu);
	while (pt_top_level(pt_read_top(common)) < level) {
		struct pt_desc *old = NULL;
		unsigned long flags;
		void *table;

		if (!pt_tables_take(iommu, 1, 1))
			return -EDQUOT;
		table = pt_env_alloc(iommu, gfp);
		if (!table) {
			pt_usage_give(iommu, 1);
			return -ENOMEM;
		}

		rcu_read_lock();
		spin_lock_irqsave(lock, flags);
		/* Another caller may have grown it meanwhile */
		if (pt_top_level(pt_read_top(common)) < level) {
			old = pt_env_desc(pt_top_table(pt_read_top(common)));
			pt_grow_locked(iommu, common, table);
			table = NULL;
		}
		spin_unlock_irqrestore(lock, flags);

		/* The top that was is a table like any other now */
		if (old && pt_users_put_top(old))
			pt_park(iommu, old);
		rcu_read_unlock();
		if (table) {
			pt_usage_give(iommu, 1);
			pt_env_free(table);
		}
	}
	return 0;
}

#endif /* __GENERIC_PT_IOMMU_PT_TOP_H */
