/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The library, and a look at what it keeps to itself
 */
#ifndef LIB_AMDV1_H
#define LIB_AMDV1_H

#include <linux/generic_pt/iommu.h>
#include <linux/types.h>

/* What the library knows about a table, see pt_tables.h */
struct lib_table {
	unsigned int live;
	bool parked;
	bool top;
	unsigned int level;
	const void *slot;
	/* It has a place among the parked */
	bool has_place;
};

void lib_table(struct pt_iommu *iommu, const void *table,
	       struct lib_table *info);

/* Take a parked table's place away; true when there was one */
unsigned int lib_nr_parked(struct pt_iommu *iommu);

#endif /* LIB_AMDV1_H */
