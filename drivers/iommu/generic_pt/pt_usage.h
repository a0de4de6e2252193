/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much table memory a domain has
 *
 * Changed once for each batch of tables, never on the way to a leaf.
 */
#ifndef __GENERIC_PT_USAGE_H
#define __GENERIC_PT_USAGE_H

#include <linux/limits.h>

#include "pt_env.h"

/**
 * pt_usage_take() - Account for tables before they are allocated
 * @iommu: The page table
 * @need: How many there must be at least
 * @want: How many are wanted, at least @need
 *
 * Return: How many may be allocated, @need to @want, or 0 when @need would pass
 * the domain's limit.
 */
static inline unsigned int pt_usage_take(struct pt_iommu *iommu,
					 unsigned int need, unsigned int want)
{
	unsigned int limit = READ_ONCE(iommu->max_tables) ?: INT_MAX;
	int used = atomic_read(&iommu->usage.tables);
	unsigned int nr, now, peak;

	do {
		if (used >= limit || limit - used < need)
			return 0;
		nr = min(want, limit - used);
	} while (!atomic_try_cmpxchg(&iommu->usage.tables, &used, used + nr));

	now = used + nr;
	peak = READ_ONCE(iommu->usage.peak);
	while (now > peak && !try_cmpxchg(&iommu->usage.peak, &peak, now))
		;
	return nr;
}

/* Tables were not allocated after all, or are free again without being used */
static inline void pt_usage_give(struct pt_iommu *iommu, unsigned int nr)
{
	if (nr)
		atomic_sub(nr, &iommu->usage.tables);
}

/* Tables left the tree */
static inline void pt_usage_left(struct pt_iommu *iommu, unsigned int nr)
{
	if (!nr)
		return;
	atomic_sub(nr, &iommu->usage.tables);
	atomic_long_add(nr, &iommu->usage.freed);
}

#endif /* __GENERIC_PT_USAGE_H */
