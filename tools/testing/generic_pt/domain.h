/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A domain and its driver, and a recount of the domain's tables
 */
#ifndef DOMAIN_H
#define DOMAIN_H

#include <linux/bug.h>
#include <linux/generic_pt/iommu.h>

#include "hw.h"
#include "lib.h"
#include "model.h"

#define ARENA_AT_0 (~0ULL)

/**
 * struct test_config - What kind of domain
 * @name: For people
 * @format: Format of its table
 * @features: Bits of enum pt_features
 * @start: Level of the first top, counted from 0
 * @iova_lg2: lg2 of the hardware's IOVA space
 * @oa_lg2: lg2 of the hardware's OA space
 * @sizes: What the driver leaves of the leaf sizes, 0 for all
 * @sme_mask: The machine's encryption bit
 * @arena_pa: Where tables are, 0 for where the format says, ARENA_AT_0
 * @queued: Unmaps are flushed later, all at once
 * @np_cache: Hardware caches what is not present
 * @reuse_last: A freed page is the next that is allocated
 * @accessed: Hardware sets accessed bits
 */
struct test_config {
	const char *name;
	const struct test_format *format;
	u32 features;
	unsigned int start;
	unsigned int iova_lg2;
	unsigned int oa_lg2;
	u64 sizes;
	u64 sme_mask;
	u64 arena_pa;
	bool queued;
	bool np_cache;
	bool reuse_last;
	bool accessed;
};

struct device;

/**
 * struct test_domain - A domain
 * @pt: The library's part, by format
 * @top_lock: The driver's lock
 * @config: What it was made from
 * @root: What the device table entry says
 * @device: Device with caches that uses it, or NULL
 * @check_flush: Called before a flush of a range, or NULL
 * @flushed: Flushes of a range so far
 * @flushed_all: Flushes of everything so far
 * @grown: Changes of the top so far
 */
struct test_domain {
	union {
		struct pt_iommu iommu;
		struct pt_iommu_amdv1 amdv1;
		struct pt_iommu_x86_64 x86_64;
		struct pt_iommu_vtdss vtdss;
		struct pt_iommu_riscv_64 riscv_64;
	} pt;
	spinlock_t top_lock; /* the driver's, for its hardware's top */
	const struct test_config *config;
	struct hw_root root;
	struct device *device;
	void (*check_flush)(struct test_domain *domain, u64 first, u64 last);
	unsigned long flushed;
	unsigned long flushed_all;
	unsigned long grown;
};

/* Make a domain; returns what the library's init returns */
int domain_init(struct test_domain *domain, const struct test_config *config);
void domain_free(struct test_domain *domain);

/* What a driver does for a domain of any format */
void driver_iotlb_sync(struct iommu_domain *iommu_domain,
		       struct iommu_iotlb_gather *gather);
void driver_flush_all(struct iommu_domain *iommu_domain);

/* Free tables after a flush: from here on hardware must not find them */
void domain_free_tables(struct test_domain *domain, struct list_head *tables);

/* Recount all tables. Nothing else may run. @model may be NULL. */
void domain_recount(struct test_domain *domain, const struct model *model);

/*
 * End the process when it has used so many seconds of CPUs: it goes on forever.
 * Not by the clock, which also runs while others have the CPU. 0 for no limit.
 */
void test_cpu_limit(unsigned int seconds);

/* End the test with a message */
#define test_fail(...) shim_fail(__FILE__, __LINE__, __VA_ARGS__)
#define test_assert(condition, ...)             \
	do {                                    \
		if (unlikely(!(condition)))     \
			test_fail(__VA_ARGS__); \
	} while (0)

#endif /* DOMAIN_H */
