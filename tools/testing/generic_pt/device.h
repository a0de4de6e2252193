/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device with an IOTLB and a page walk cache
 *
 * It caches what the vendors' rules let it cache: pages, or any aligned part of
 * one; the table that a walk came to at each level; and, where hardware says so
 * (AMD's NpCache, Intel's caching mode), that something is not present. It drops
 * only what a flush names:
 *
 *  - AMD, INVALIDATE_IOMMU_PAGES: pages of the range, and what is known of tables
 *    on the way there if PDE is set.
 *  - Intel, page-selective invalidation: the same, by the hint IH being clear.
 *  - RISC-V, IOTINVAL.VMA: with an address the pages there, nothing of tables.
 *    What is known of them goes only with everything (AV = 0).
 *
 * A page that is named by any of its addresses goes with all its parts.
 *
 * Where the configuration says so it sets the accessed bit in what it followed.
 *
 * As a test's device it is as hostile as the rules permit: it looks at the
 * tables after every single store.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "hw.h"

#include <linux/types.h>

struct device;
struct test_config;

/* What a device took for the truth about [first, last] */
struct device_view {
	u64 first;
	u64 last;
	bool present;
	/* Physical address of @first */
	u64 pa;
	int prot;
	/* From a cache, not from a walk just now */
	bool cached;
};

/**
 * struct device_ops - What a device asks of its test
 * @check: Fail if a view is wrong at this moment
 * @next: Some IOVA to translate after a store; @nr counts up from 0. False
 *	when there are no more.
 */
struct device_ops {
	void (*check)(void *arg, const struct device_view *view);
	bool (*next)(void *arg, unsigned int nr, u64 *iova);
};

struct device *device_create(const struct hw_root *root,
			     const struct test_config *config,
			     const struct device_ops *ops, void *arg);
void device_destroy(struct device *device);

/* Translate as a DMA would. False when it is refused. */
bool device_translate(struct device *device, u64 iova,
		      struct device_view *view);

/*
 * Invalidate a range; directory entries too if @tables. If @step is not 0, only
 * one address each so many bytes is named.
 */
void device_flush(struct device *device, u64 first, u64 last, u64 step,
		  bool tables);
void device_set_root(struct device *device, const struct hw_root *root);

/* The allocator gets a table back: no cache may know it, no walk find it */
void device_table_leaves(struct device *device, u64 table_pa);

/* All that is cached must be the truth now; directory entries if @tables */
void device_check_all(struct device *device, bool tables);

/* Look at the tables after each store from now on, or not any more */
void device_watch(struct device *device);

/* How often it looked after a store, hit a page, and hit a directory entry */
struct device_stats {
	unsigned long stores;
	unsigned long tlb_hits;
	unsigned long walk_hits;
	unsigned long walks;
};

const struct device_stats *device_stats(const struct device *device);

#endif /* DEVICE_H */
