// SPDX-License-Identifier: GPL-2.0-only
/*
 * P9: what it costs that empty tables go away, and what stays
 *
 * "ours" are compared with "kept": the same sources, compiled so that empty
 * tables stay in the tree (CONFIG_IOMMU_PT_KEEP_TABLES).
 */
#include <linux/generic_pt/iommu.h>

#include "ubench.h"

#define SPAN (64ULL * SZ_1G)
/* Too large for a page in each table at a time */
#define LARGE_SPAN BIT_ULL(44)

static const struct pt_peer *const kinds[][2] = {
	{ &bench_amdv1, &keep_bench_amdv1 },
	{ &bench_x86_64, &keep_bench_x86_64 },
	{ &bench_vtdss, &keep_bench_vtdss },
	{ &bench_riscv_64, &keep_bench_riscv_64 },
};

/**
 * struct sparse - A table to map one page in each 2 MiB of
 * @table: The table
 * @name: "ours FORMAT" or "kept FORMAT"
 */
struct sparse {
	struct bench_table table;
	char name[20];
};

static void run_map(void *arg, unsigned int nr)
{
	const struct sparse *sparse = arg;
	u64 iova;

	for (iova = 0; iova < SPAN; iova += SZ_2M)
		bench_map(sparse->table.domain, iova, iova, SZ_4K, 1);
}

static void run_unmap(void *arg, unsigned int nr)
{
	const struct sparse *sparse = arg;
	u64 iova;

	for (iova = 0; iova < SPAN; iova += SZ_2M)
		bench_unmap(sparse->table.domain, iova, SZ_4K, 1);
}

static void run_both(void *arg, unsigned int nr)
{
	run_map(arg, nr);
	run_unmap(arg, nr);
}

static void cycle(struct iommu_domain *domain, u64 span)
{
	u64 iova;

	for (iova = 0; iova < span; iova += SZ_2M) {
		bench_map(domain, iova, iova, SZ_4K, 1);
		bench_unmap(domain, iova, SZ_4K, 1);
	}
}

static void run_cycle(void *arg, unsigned int nr)
{
	const struct sparse *sparse = arg;

	cycle(sparse->table.domain, SPAN);
}

static void run_both_free(void *arg, unsigned int nr)
{
	struct sparse *sparse = arg;

	run_both(arg, nr);
	bench_table_reset(&sparse->table);
}

static void sort_pages(void *arg, unsigned int nr)
{
	ubench_pages_sort();
}

static void reset(void *arg, unsigned int nr)
{
	struct sparse *sparse = arg;

	bench_table_reset(&sparse->table);
	ubench_pages_sort();
}

/* Times of all pages, in tables that begin empty */
static void time_rows(struct kunit *test)
{
	static const struct {
		const char *what[BENCH_PHASES];
		struct bench_way way;
	} rows[] = {
		{ { "1x4K/2M of 64G, all mapped, unmapped" },
		  { .run = { run_both }, .reset = reset } },
		{ { "1x4K/2M of 64G, all, domain freed too" },
		  { .run = { run_both_free }, .reset = sort_pages } },
		{ { "1x4K/2M of 64G, each unmapped at once" },
		  { .run = { run_cycle }, .reset = reset } },
		{ { "1x4K/2M of 64G, map all", "1x4K/2M of 64G, unmap all" },
		  { .run = { run_map, run_unmap }, .reset = reset } },
	};
	struct sparse sparse[ARRAY_SIZE(kinds)][2];
	struct bench_row row;
	struct bench_way way;
	unsigned int r, k, kept, p;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (kept = 0; kept < 2; kept++) {
			struct sparse *at = &sparse[k][kept];

			bench_table_alloc(test, &at->table, kinds[k][kept], 3);
			snprintf(at->name, sizeof(at->name), "%s%s",
				 kept ? "kept" : "ours",
				 kinds[k][kept]->name + strlen("ours"));
		}
	}
	for (r = 0; r < ARRAY_SIZE(rows); r++) {
		row = (struct bench_row){ .id = { "P9", "P9" }, .max_nr = 1 };
		for (p = 0; p < BENCH_PHASES && rows[r].what[p]; p++)
			strscpy(row.what[p], rows[r].what[p],
				sizeof(row.what[p]));
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			for (kept = 0; kept < 2; kept++) {
				way = rows[r].way;
				way.name = sparse[k][kept].name;
				bench_row_add(&row, &way, &sparse[k][kept]);
			}
		}
		bench_row_run(test, &row);
	}
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		for (kept = 0; kept < 2; kept++)
			bench_table_free(&sparse[k][kept].table);
}

/* Tables left of a span that no kept tables have room for */
static void count_left(struct kunit *test, const struct pt_peer *kind)
{
	struct bench_table table;
	struct pt_iommu *iommu;
	unsigned long before;

	bench_table_alloc(test, &table, kind, 4);
	before = ubench_pages_used();
	cycle(table.domain, LARGE_SPAN);
	/* Time does not pass here: what would happen some time later */
	iommu = container_of(table.domain, struct pt_iommu, domain);
	iommu->ops->reclaim(iommu);
	bench_print_count(
		"P9", "left of 1x4K in each 2M of 16T, each unmapped at once",
		kind->name, "KiB",
		(ubench_pages_used() - before) * (SZ_4K / SZ_1K));
	bench_table_free(&table);
}

void ubench_sparse(struct kunit *test)
{
	unsigned int k;

	time_rows(test);
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		count_left(test, kinds[k][0]);
}
