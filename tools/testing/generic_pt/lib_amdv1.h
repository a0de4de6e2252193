/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The library, and a look at what it keeps to itself
 */
#ifndef LIB_AMDV1_H
#define LIB_AMDV1_H

#include <linux/generic_pt/iommu.h>
#include <linux/types.h>

#include "domain.h"

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

/**
 * struct lib_event - A function that is a branch of the protocol
 * @name: Its name
 * @function: Its address
 * @only_grows: Only a tree that grows comes by
 * @only_gaps: Nobody comes by under PT_FEAT_FLUSH_RANGE_NO_GAPS
 * @count: How often it was entered
 */
struct lib_event {
	const char *name;
	void *function;
	bool only_grows;
	bool only_gaps;
	unsigned long count;
};

extern struct lib_event lib_events[];
extern const unsigned int nr_lib_events;

/* The compiler calls these at the start and the end of each function */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* Called when one of them is entered; NULL for none */
extern void (*lib_event_hook)(void);

void lib_events_reset(void);
/* Whether all were entered that should be */
bool lib_events_complete(const struct test_config *config);
/* Say how often; false when one is missing */
bool lib_events_report(const char *title, const struct test_config *config);

#endif /* LIB_AMDV1_H */
