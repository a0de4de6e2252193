/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page table code that the kernel had before, to compare with
 *
 * The preparation of the kernel tree puts untouched copies of that code beside
 * this file (amd/, intel/). Each peer_*.c compiles one of them, under names of its own, so
 * that drivers which still use it can be in the same kernel.
 *
 * A peer is an iommu_domain, and is called through its struct iommu_domain_ops
 * as the core calls a driver. Between the two stands what the driver has there:
 * translation of the protection, the call of the io_pgtable, the gather.
 */
#ifndef __GENERIC_PT_PEER_H
#define __GENERIC_PT_PEER_H

#include <linux/iommu.h>

/**
 * struct pt_peer - Page table code to compare with
 * @name: What to print
 * @min_levels: Least levels that it can have
 * @max_levels: Most levels that it can have
 * @alloc: Make a page table of that many levels, or NULL without memory. The
 *	domain holds ops, pgsize_bitmap and dirty_ops where there are any.
 * @free: Free it with all its tables
 * @root: The top table, and how many levels there are by now. Not of
 *	LPAE.
 * @dirty: Dirty bit of a leaf of 4 KiB, 0 if there is no dirty tracking
 */
struct pt_peer {
	const char *name;
	unsigned int min_levels;
	unsigned int max_levels;
	struct iommu_domain *(*alloc)(unsigned int levels);
	void (*free)(struct iommu_domain *domain);
	u64 *(*root)(struct iommu_domain *domain, unsigned int *levels);
	u64 dirty;
};

/* AMD v1: grows by itself */
extern const struct pt_peer pt_peer_amdv1;
/* AMD v2: as many levels as the last that was made, for all */
extern const struct pt_peer pt_peer_amdv2;
/* VT-d second stage */
extern const struct pt_peer pt_peer_vtd;
#ifdef CONFIG_IOMMU_IO_PGTABLE_LPAE
/* LPAE stage 1 */
extern const struct pt_peer pt_peer_lpae;
#endif

#endif /* __GENERIC_PT_PEER_H */
