// SPDX-License-Identifier: GPL-2.0-only
/*
 * P12: as many threads as there are CPUs, in one page table
 *
 * What they reach is compared with what as many threads reach that have a page
 * table each: CPUs may share a core, or slow each other down otherwise.
 */
#include <pthread.h>
#include <unistd.h>

#include "ubench.h"

#define THREADS_MAX 64
#define ROUNDS 9
#define ROUND_NS (30 * NSEC_PER_MSEC)
#define BATCH 64

static const struct pt_peer *const kinds[] = {
	&pt_peer_amdv2, &bench_amdv1,	 &bench_x86_64,
	&bench_vtdss,	&bench_riscv_64,
};

/**
 * struct worker - A thread that maps and unmaps one page after another
 * @domain: Where
 * @iova: First page, of as many as there are in a batch
 * @ops: How many pages it did
 */
struct worker {
	pthread_t thread;
	struct iommu_domain *domain;
	u64 iova;
	unsigned long ops;
};

static pthread_barrier_t start;

static void *work(void *arg)
{
	struct worker *worker = arg;
	u64 end;
	unsigned int i;

	pthread_barrier_wait(&start);
	end = ktime_get_ns() + ROUND_NS;
	worker->ops = 0;
	do {
		for (i = 0; i < BATCH; i++) {
			u64 iova = worker->iova + i % 16 * SZ_4K;

			bench_map(worker->domain, iova, SZ_1G + iova, SZ_4K, 1);
			bench_unmap(worker->domain, iova, SZ_4K, 1);
		}
		worker->ops += BATCH;
	} while (ktime_get_ns() < end);
	return NULL;
}

/* Time of one page in one of the threads, in ps */
static u64 run_round(struct worker *workers, unsigned int nr)
{
	unsigned long ops = 0;
	unsigned int i;

	pthread_barrier_init(&start, NULL, nr);
	for (i = 0; i < nr; i++)
		BUG_ON(pthread_create(&workers[i].thread, NULL, work,
				      &workers[i]));
	for (i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		ops += workers[i].ops;
	}
	pthread_barrier_destroy(&start);
	return ROUND_NS * 1000 * nr / ops;
}

static int compare_u64(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print(const char *what, const char *way, u64 *samples)
{
	qsort(samples, ROUNDS, sizeof(u64), compare_u64);
	printf("ptbench: row|P12|%s|%s|%u|%llu|%llu|%u\n", what, way, BATCH,
	       samples[0], samples[ROUNDS / 2], ROUNDS);
}

static void run_kind(struct kunit *test, const struct pt_peer *kind,
		     unsigned int nr)
{
	struct worker apart[THREADS_MAX], windows[THREADS_MAX];
	struct worker table[THREADS_MAX];
	u64 apart_ps[ROUNDS], windows_ps[ROUNDS], table_ps[ROUNDS];
	struct bench_table tables[THREADS_MAX] = {};
	unsigned int i, r;
	char what[64], floor[64];

	for (i = 0; i < nr; i++) {
		bench_table_alloc(test, &tables[i], kind, 4);
		/* Keep the tables */
		bench_map(tables[i].domain, SZ_1G, SZ_1G, SZ_4K, 1);
	}
	for (i = 0; i < nr; i++) {
		bench_map(tables[0].domain, i * SZ_2M + SZ_1M, SZ_1G, SZ_4K, 1);
		bench_map(tables[i].domain, SZ_64G + SZ_1M, SZ_1G, SZ_4K, 1);
		apart[i] = (struct worker){ .domain = tables[i].domain,
					    .iova = SZ_64G };
		windows[i] = (struct worker){ .domain = tables[0].domain,
					      .iova = i * SZ_2M };
		/* Lines of their own, as an allocator of IOVA hands them out */
		table[i] =
			(struct worker){ .domain = tables[0].domain,
					 .iova = SZ_1G + SZ_64G + i * SZ_64K };
	}
	bench_map(tables[0].domain, SZ_1G + SZ_64G + SZ_2M - SZ_4K, SZ_1G,
		  SZ_4K, 1);
	for (r = 0; r < ROUNDS; r++) {
		apart_ps[r] = run_round(apart, nr);
		windows_ps[r] = run_round(windows, nr);
		table_ps[r] = run_round(table, nr);
	}
	snprintf(floor, sizeof(floor), "floor tables apart");
	snprintf(what, sizeof(what), "2M windows, %u threads (%s)", nr,
		 kind->name);
	print(what, floor, apart_ps);
	print(what, kind->name, windows_ps);
	snprintf(what, sizeof(what), "one leaf table, %u threads (%s)", nr,
		 kind->name);
	print(what, floor, apart_ps);
	print(what, kind->name, table_ps);
	for (i = 0; i < nr; i++)
		bench_table_free(&tables[i]);
}

void ubench_threads(struct kunit *test)
{
	unsigned int nr = min(sysconf(_SC_NPROCESSORS_ONLN), THREADS_MAX);
	unsigned int k;

	bench_failed = false;
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		run_kind(test, kinds[k], nr);
	BUG_ON(bench_failed);
}
