/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The library, compiled for each format, and a look at what it keeps to itself
 *
 * lib_<format>.c is the library's one compilation unit for a format, with
 * lib_template.h after it.
 */
#ifndef LIB_H
#define LIB_H

#include <linux/generic_pt/iommu.h>
#include <linux/types.h>

#include "hw.h"

struct test_config;
struct test_domain;

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

/**
 * struct test_format - A format, and what the specification must know about it
 * @name: Its name
 * @hw: What hardware does
 * @arena_pa: Where tables shall be: with the highest bit that an OA can have
 * @ops: Operations of a domain, those of the driver too
 * @init: Make a domain as configured
 * @root: Tell hardware what hw_info says
 * @read_and_clear_dirty: The library's
 * @prot: What a leaf permits, IOMMU_READ and IOMMU_WRITE, that is mapped with
 *	some prot, or -EOPNOTSUPP
 * @memory_type: What RISC-V's PBMT shall be for some prot, or NULL
 * @force_coherent: Feature that forces DMA to snoop, or 0
 * @table: Look at a table
 * @events: Branches of the protocol
 * @nr_events: Their number
 */
struct test_format {
	const char *name;
	const struct hw_format *hw;
	u64 arena_pa;
	const struct iommu_domain_ops *ops;
	int (*init)(struct test_domain *domain,
		    const struct test_config *config,
		    const struct pt_iommu_cfg *cfg);
	void (*root)(struct test_domain *domain, struct hw_root *root);
	int (*read_and_clear_dirty)(struct iommu_domain *domain,
				    unsigned long iova, size_t size,
				    unsigned long flags,
				    struct iommu_dirty_bitmap *dirty);
	int (*prot)(const struct test_config *config, int prot);
	unsigned int (*memory_type)(const struct test_config *config, int prot);
	u32 force_coherent;
	void (*table)(struct pt_iommu *iommu, const void *table,
		      struct lib_table *info);
	struct lib_event *events;
	unsigned int nr_events;
};

extern const struct test_format lib_amdv1;
extern const struct test_format lib_amdv1_mock;
extern const struct test_format lib_x86_64;
extern const struct test_format lib_vtdss;
extern const struct test_format lib_riscv_64;
extern const struct test_format lib_tiny;

extern const struct test_format *const formats[];
extern const unsigned int nr_formats;

/* The compiler calls these at the start and the end of each function */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* Called when one of them is entered; NULL for none */
extern void (*lib_event_hook)(void);

/* Count branches of this format from 0 */
void lib_events_reset(const struct test_format *format);
/* Whether all were entered that should be */
bool lib_events_complete(const struct test_config *config);
/* Say how often; false when one is missing */
bool lib_events_report(const char *title, const struct test_config *config);

#endif /* LIB_H */
