// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables that come and go
 */
#include <linux/delay.h>
#include <linux/generic_pt/iommu.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "bench.h"

#define FRESH_BYTES SZ_256M
#define FRESH_TABLES (FRESH_BYTES / SZ_2M)

/**
 * struct fresh_floor - Tables that are allocated, filled and freed by hand
 * @loop: How to fill
 * @tables: All of them
 */
struct fresh_floor {
	const struct bench_loop *loop;
	u64 *tables[FRESH_TABLES + 1];
};

static void run_alloc_fill(void *arg, unsigned int nr)
{
	struct fresh_floor *floor = arg;
	unsigned int i;

	for (i = 0; i < FRESH_TABLES + 1; i++) {
		floor->tables[i] = (u64 *)get_zeroed_page(GFP_KERNEL);
		if (unlikely(!floor->tables[i]))
			bench_failed = true;
		else if (i)
			floor->loop->fill(floor->tables[i], SZ_4K / sizeof(u64),
					  SZ_1G | 1);
	}
}

static void run_free(void *arg, unsigned int nr)
{
	struct fresh_floor *floor = arg;
	unsigned int i;

	for (i = 0; i < FRESH_TABLES + 1; i++)
		free_page((unsigned long)floor->tables[i]);
}

static void run_map_fresh(void *arg, unsigned int nr)
{
	struct bench_table *table = arg;

	bench_map(table->domain, 0, SZ_4K, SZ_4K, FRESH_BYTES / SZ_4K);
}

static void run_unmap_whole(void *arg, unsigned int nr)
{
	struct bench_table *table = arg;

	bench_unmap(table->domain, 0, SZ_4K, FRESH_BYTES / SZ_4K);
}

static void reset_table(void *arg, unsigned int nr)
{
	bench_table_reset(arg);
}

/* P7 and P8 */
void bench_fresh(struct kunit *test)
{
	struct bench_row *row = kunit_kzalloc(test, sizeof(*row), GFP_KERNEL);
	struct fresh_floor *floors =
		kunit_kcalloc(test, BENCH_LOOPS, sizeof(*floors), GFP_KERNEL);
	struct bench_tables tables;
	unsigned int i;

	*row = (struct bench_row){
		.id = { "P7", "P8" },
		.what = { "map fresh 256M of 4K", "unmap 256M, free tables" },
		.max_nr = 1,
	};
	for (i = 0; i < BENCH_LOOPS; i++) {
		const struct bench_way way = {
			.name = bench_loops[i].name,
			.run = { run_alloc_fill, run_free },
		};

		floors[i].loop = &bench_loops[i];
		bench_row_add(row, &way, &floors[i]);
	}
	bench_tables_alloc(test, &tables, 3);
	for (i = 0; i < tables.nr; i++) {
		const struct bench_way way = {
			.name = tables.table[i].kind->name,
			.run = { run_map_fresh, run_unmap_whole },
			.reset = reset_table,
		};

		bench_row_add(row, &way, &tables.table[i]);
	}
	bench_row_run(test, row);
	bench_tables_free(&tables);
}

#define SPARSE_BYTES (64ULL * SZ_1G)

/* P9: what one page in each table leaves behind */
void bench_sparse(struct kunit *test)
{
	struct bench_tables tables;
	unsigned int t;

	bench_tables_alloc(test, &tables, 3);
	for (t = 0; t < tables.nr; t++) {
		struct iommu_domain *domain = tables.table[t].domain;
		unsigned long before, left;
		u64 iova;

		bench_failed = false;
		before = global_node_page_state(NR_IOMMU_PAGES);
		for (iova = 0; iova < SPARSE_BYTES; iova += SZ_2M)
			bench_map(domain, iova, iova, SZ_4K, 1);
		for (iova = 0; iova < SPARSE_BYTES; iova += SZ_2M)
			bench_unmap(domain, iova, SZ_4K, 1);
		/* They are freed after a while */
		msleep(10 * PT_IOMMU_PARKED_MS);
		left = global_node_page_state(NR_IOMMU_PAGES) - before;
		KUNIT_EXPECT_FALSE(test, bench_failed);
		bench_print_count("P9", "left of 1x4K in each 2M of 64G",
				  tables.table[t].kind->name, "KiB",
				  left * (SZ_4K / SZ_1K));
	}
	bench_tables_free(&tables);
}
