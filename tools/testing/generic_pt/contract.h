/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an operation returns and tells, see contract.c
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "domain.h"

#define RANGE BIT(PT_FEAT_FLUSH_RANGE)
#define DETAILED BIT(PT_FEAT_DETAILED_GATHER)
#define NO_GAPS BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS)
#define GROWS BIT(PT_FEAT_DYNAMIC_TOP)
#define FULL BIT(PT_FEAT_FULL_VA)
#define SIGNED BIT(PT_FEAT_SIGN_EXTEND)
#define INCOHERENT BIT(PT_FEAT_DMA_INCOHERENT)
#define NAPOT BIT(PT_FEAT_RISCV_SVNAPOT_64K)
#define M2 BIT_ULL(21)

struct iommu_dirty_bitmap {
	unsigned int nr;
	u64 iova;
	u64 len;
};

/* The domain of the test that runs */
extern struct test_domain domain;

#define check(condition) test_assert(condition, "%s", #condition)

/* Make and free an AMDv1 domain */
void begin(u32 features, unsigned int start, unsigned int iova_lg2);
void end(void);

/* Map all of a range or fail; returns its length */
size_t map(u64 iova, u64 oa, u64 len);
size_t unmap(u64 iova, u64 len, struct iommu_iotlb_gather *gather);
size_t unmap_and_flush(u64 iova, u64 len);

/**
 * struct shape - A tree that does not grow
 * @config: What it is made from
 * @granule_lg2: lg2 of its smallest leaf
 * @index_lg2: lg2 of the items of a table
 * @levels: Their number, 0 at the end of @shapes
 */
struct shape {
	struct test_config config;
	unsigned int granule_lg2;
	unsigned int index_lg2;
	unsigned int levels;
};

/* Some for each format */
extern const struct shape shapes[];

/* Bytes of the smallest leaf, and of what a table of such leaves covers */
extern u64 page, table;

/* Make a domain of a shape, to be freed by end() */
void begin_shape(const struct shape *shape);

struct contract_test {
	const char *name;
	void (*run)(void);
};

#define TEST(name)          \
	{                   \
#name, name \
	}

/* Each ends with an empty one */
extern const struct contract_test contract_init[];
extern const struct contract_test contract_flush[];
extern const struct contract_test contract_between[];
extern const struct contract_test contract_usage[];
extern const struct contract_test contract_runs[];

#endif /* CONTRACT_H */
