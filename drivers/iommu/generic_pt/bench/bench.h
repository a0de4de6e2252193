/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Benchmark of the page tables
 *
 * A row compares ways to do the same work: hand-written loops (floors), page
 * table code that the kernel had before (peers), and the library. All ways of a
 * row take turns, round by round, so that whatever disturbs the machine
 * disturbs all of them. The result of a way is its fastest round; the median
 * tells how much the others differ.
 *
 * A round of a way has one or two phases that are timed one by one (map, then
 * unmap what was mapped), each in a window of at least BENCH_WINDOW_NS, for
 * which the work is repeated on as many places as it takes.
 *
 * Results are printed for tools/generic_pt/bench.py, one line a way and phase:
 *
 *   ptbench: row|ID|WHAT|WAY|REPEATS|MIN|MEDIAN|ROUNDS	(times of one repeat in ps)
 *   ptbench: count|ID|WHAT|WAY|UNIT|COUNT
 */
#ifndef __GENERIC_PT_BENCH_H
#define __GENERIC_PT_BENCH_H

#include <kunit/test.h>
#include <linux/iommu.h>
#include <linux/sizes.h>

#include "../peer/peer.h"

#define BENCH_PHASES 2
#define BENCH_WAYS_MAX 16
#define BENCH_WINDOW_NS 2000

/* Does the work of a way @nr times */
typedef void (*bench_fn)(void *arg, unsigned int nr);

/**
 * struct bench_way - One way to do the work of a row
 * @name: Whose it is; a floor's begins with "floor "
 * @run: The phases. The second may be NULL.
 * @reset: Undo it, not timed, or NULL when the phases do
 * @arg: For these
 * @samples: Results, private to bench_row_run()
 */
struct bench_way {
	const char *name;
	bench_fn run[BENCH_PHASES];
	bench_fn reset;
	void *arg;
	u64 *samples[BENCH_PHASES];
};

/**
 * struct bench_row - Ways to compare
 * @id: Names of the phases in the list of targets, P1 and so on
 * @what: What the phases do, "" for none
 * @min_nr: Repeats that make sense, where that is more than one
 * @max_nr: Repeats that the ways have room for
 * @ways: The ways
 * @nr_ways: Their number
 */
struct bench_row {
	const char *id[BENCH_PHASES];
	char what[BENCH_PHASES][40];
	unsigned int min_nr;
	unsigned int max_nr;
	struct bench_way ways[BENCH_WAYS_MAX];
	unsigned int nr_ways;
};

/* Work that could not be done makes the figure worthless */
extern bool bench_failed;

/* bench_rounds.c */
void bench_clock_init(void);
void bench_row_run(struct kunit *test, struct bench_row *row);
void bench_print_count(const char *id, const char *what, const char *way,
		       const char *unit, unsigned long count);
void bench_row_add(struct bench_row *row, const struct bench_way *way,
		   void *arg);

/**
 * struct bench_table - A page table of somebody
 * @kind: Whose, its name is "ours FORMAT" for the library's
 * @domain: To be called through its ops, as the core does
 * @levels: Number of levels
 */
struct bench_table {
	const struct pt_peer *kind;
	struct iommu_domain *domain;
	unsigned int levels;
};

#define BENCH_TABLES_MAX 8

/* bench_formats.c */
extern const struct pt_peer bench_amdv1;
extern const struct pt_peer bench_x86_64;
extern const struct pt_peer bench_vtdss;
extern const struct pt_peer bench_riscv_64;

/* All that are compared, NULL at the end. Of whoever runs the rows. */
extern const struct pt_peer *const bench_kinds[];

/* One page table of each kind */
struct bench_tables {
	struct bench_table table[BENCH_TABLES_MAX];
	unsigned int nr;
};

/* bench_tables.c */
void bench_table_alloc(struct kunit *test, struct bench_table *table,
		       const struct pt_peer *kind, unsigned int levels);
void bench_table_free(struct bench_table *table);
void bench_table_reset(struct bench_table *table);
void bench_tables_alloc(struct kunit *test, struct bench_tables *tables,
			unsigned int levels);
void bench_tables_alloc_exactly(struct kunit *test, struct bench_tables *tables,
				unsigned int levels);
void bench_tables_free(struct bench_tables *tables);

/*
 * Map and unmap as the core does it: until all is done, since some do one table
 * a call. What does not work sets bench_failed.
 */
static inline void bench_map(struct iommu_domain *domain, u64 iova, u64 oa,
			     size_t pgsize, size_t pgcount)
{
	const struct iommu_domain_ops *ops = domain->ops;
	const int prot = IOMMU_READ | IOMMU_WRITE;
	const size_t bytes = pgsize * pgcount;
	size_t done = 0, mapped;
	int ret;

	do {
		mapped = 0;
		ret = ops->map_pages(domain, iova + done, oa + done, pgsize,
				     (bytes - done) / pgsize, prot, GFP_KERNEL,
				     &mapped);
		if (unlikely(ret || !mapped))
			bench_failed = true;
		done += mapped;
	} while (unlikely(done < bytes) && mapped);
}

static inline void bench_unmap(struct iommu_domain *domain, u64 iova,
			       size_t pgsize, size_t pgcount)
{
	const size_t bytes = pgsize * pgcount;
	struct iommu_iotlb_gather gather;
	size_t done = 0, unmapped;

	iommu_iotlb_gather_init(&gather);
	do {
		unmapped = domain->ops->unmap_pages(domain, iova + done, pgsize,
						    (bytes - done) / pgsize,
						    &gather);
		if (unlikely(!unmapped))
			bench_failed = true;
		done += unmapped;
	} while (unlikely(done < bytes) && unmapped);
	iommu_iotlb_sync(domain, &gather);
}

/**
 * struct bench_loop - One variant of the loops that tables cannot do without
 * @name: Its name
 * @fill: Store @nr ascending items where none is
 * @clear: Store 0 to @nr items that are present
 */
struct bench_loop {
	const char *name;
	void (*fill)(u64 *items, unsigned int nr, u64 item);
	void (*clear)(u64 *items, unsigned int nr);
};

#define BENCH_LOOPS 4

/* bench_floor.c: @nr of each is a multiple of 16 */
extern const struct bench_loop bench_loops[BENCH_LOOPS];

/* The cases */
void bench_map_unmap(struct kunit *test);
void bench_contiguous(struct kunit *test);
void bench_one_page(struct kunit *test);
void bench_lookup(struct kunit *test);
void bench_lookup_random(struct kunit *test);
void bench_fresh(struct kunit *test);
void bench_sparse(struct kunit *test);
void bench_dirty(struct kunit *test);

#endif /* __GENERIC_PT_BENCH_H */
