/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations as data: run one by one against the specification, written to a
 * replay file and read from it
 *
 * An operation can run in the middle of another one, as an interrupt handler
 * does, or another CPU while this one is held up. The ranges of both are
 * disjoint, so each must do what it does alone.
 */
#ifndef OPS_H
#define OPS_H

#include <stdio.h>

#include "domain.h"

enum op_type {
	OP_MAP,
	OP_UNMAP,
	/* Unmap, and leave the flush to a later operation */
	OP_UNMAP_KEEP,
	/* Hardware sets the dirty bit that it meets at an IOVA */
	OP_DIRTY,
	OP_SCAN,
	OP_SCAN_CLEAR,
	OP_LOOKUP,
	/* Take back tables that are empty, as if memory were short */
	OP_RECLAIM,
	OP_RECOUNT,
	OP_NR,
};

#define OP_ALONE (~0U)
/* Count only steps that order others */
#define OP_AT_SYNC 0x40000000U
/* Try each such step, plus a number */
#define OP_AT_EACH 0x20000000U

/**
 * struct op - One operation
 * @type: Which
 * @prot: IOMMU_READ and so on, for map
 * @at: After how many steps of the next operation that has OP_ALONE here, and
 *	of those within it, this one runs
 * @fail_after: Allocations that succeed, ~0ULL for all
 * @iova: First byte
 * @oa: Output address, for map
 * @len: Bytes
 */
struct op {
	enum op_type type;
	int prot;
	unsigned int at;
	u64 fail_after;
	u64 iova;
	u64 oa;
	u64 len;
};

#define MAX_ACTIVE 4
#define MAX_NESTED 8

/**
 * struct active - An operation in progress
 * @op: Which
 * @extent: Bytes from its IOVA on that it may change
 * @first: First byte that nobody else may touch
 * @last: Last one
 */
struct active {
	const struct op *op;
	u64 extent;
	u64 first;
	u64 last;
};

/**
 * struct run - A sequence of operations in progress
 * @domain: The domain
 * @model: What must be mapped now
 * @stale: What was unmapped and may still be cached
 * @gather: Unmaps that wait for a flush
 * @nr_active: Operations in progress
 * @active: They, the innermost last
 * @nr_nested: Operations that wait for their time to run within another
 * @next_nested: The next of them
 * @nested: They
 * @steps: Steps of the outermost operation and those within it so far
 * @syncs: Those of them that order others
 * @failed: An allocation of the last map did not succeed
 * @checking: The test looks; nothing runs meanwhile
 * @rng: For what is looked at
 * @done: Operations so far
 * @interrupts: Operations that ran within another
 * @result: How often each type succeeded, was refused, ran out of memory
 */
struct run {
	struct test_domain domain;
	struct model model;
	struct model stale;
	struct iommu_iotlb_gather gather;
	unsigned int nr_active;
	struct active active[MAX_ACTIVE];
	unsigned int nr_nested;
	unsigned int next_nested;
	struct op nested[MAX_NESTED];
	unsigned int steps;
	unsigned int syncs;
	bool failed;
	bool checking;
	struct rng *rng;
	unsigned long done;
	unsigned long interrupts;
	unsigned long result[OP_NR][3];
};

/* Begin with an empty domain; with a hostile device if @watched */
void run_init(struct run *run, const struct test_config *config, bool watched);
void run_free(struct run *run);

/* Run an operation, or keep one that runs within the next */
void run_op(struct run *run, const struct op *op);

/* Whether an operation in progress owns part of a range */
bool run_is_busy(const struct run *run, u64 first, u64 last);

/* The range that an operation needs for itself; all of leaves that it meets */
void run_closure(const struct model *model, const struct op *op, u64 *first,
		 u64 *last);

/* The library, hardware and the specification agree about an address */
void run_probe(struct run *run, u64 iova);

/* An address at some edge of what is mapped */
u64 run_random_iova(struct run *run);

struct device_ops;
extern const struct device_ops run_device_ops;

void op_print(FILE *file, const struct op *op);
/* False when it is no operation */
bool op_parse(const char *line, struct op *op);

void config_print(FILE *file, const struct test_config *config, bool watched);
bool config_parse(const char *line, struct test_config *config, bool *watched);

#endif /* OPS_H */
