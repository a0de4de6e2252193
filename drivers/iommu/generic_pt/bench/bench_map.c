// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map and unmap in tables that are there
 */
#include <linux/gfp.h>
#include <linux/sprintf.h>

#include "bench.h"

/* Items of a range at most: half a table, so that one more page keeps it */
#define SPAN_ITEMS 256
/* Ranges: enough for the least window, and all in three levels */
#define SPANS_MAX 512
#define SPANS_LARGE_MAX 128

/**
 * struct bench_span - Ranges that are mapped in one call each
 * @table: Where
 * @pgsize: Size of the leaves
 * @pgcount: Number of leaves
 * @half: Bytes that half a table covers
 *
 * Range i is in the lower half of a table when i is even, in the upper one when
 * it is odd, so that all of the cache is used. Its OA allows no larger leaves.
 */
struct bench_span {
	struct bench_table *table;
	size_t pgsize;
	size_t pgcount;
	u64 half;
};

static u64 span_iova(const struct bench_span *span, unsigned int i)
{
	return i * 3 * span->half;
}

static void run_map(void *arg, unsigned int nr)
{
	const struct bench_span *span = arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		bench_map(span->table->domain, span_iova(span, i),
			  span_iova(span, i) + span->pgsize, span->pgsize,
			  span->pgcount);
}

static void run_unmap(void *arg, unsigned int nr)
{
	const struct bench_span *span = arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		bench_unmap(span->table->domain, span_iova(span, i),
			    span->pgsize, span->pgcount);
}

/* One page in the other half of each table that holds a range */
static u64 keeper_iova(const struct bench_span *span, unsigned int i)
{
	return span_iova(span, i) ^ span->half;
}

static void keep_tables(const struct bench_span *span, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		bench_map(span->table->domain, keeper_iova(span, i),
			  span->pgsize, span->pgsize, 1);
}

/**
 * struct bench_floor - Items that lie as those of the ranges, one page a table
 * @loop: How to store them
 * @nr: Items of each range
 * @items: Start of each range's
 */
struct bench_floor {
	const struct bench_loop *loop;
	unsigned int nr;
	u64 *items[SPANS_MAX];
};

static void run_fill(void *arg, unsigned int nr)
{
	const struct bench_floor *floor = arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		floor->loop->fill(floor->items[i], floor->nr, SZ_1G | 1);
}

static void run_clear(void *arg, unsigned int nr)
{
	const struct bench_floor *floor = arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		floor->loop->clear(floor->items[i], floor->nr);
}

static struct bench_floor *floors_add(struct kunit *test, struct bench_row *row,
				      unsigned int nr)
{
	struct bench_floor *floors =
		kunit_kcalloc(test, BENCH_LOOPS, sizeof(*floors), GFP_KERNEL);
	unsigned int i, f;

	for (i = 0; i < SPANS_MAX; i++) {
		u64 *page = (u64 *)get_zeroed_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		/* All work on the same, as they leave it empty */
		for (f = 0; f < BENCH_LOOPS; f++)
			floors[f].items[i] = page + (i % 2) * SPAN_ITEMS;
	}
	for (f = 0; f < BENCH_LOOPS; f++) {
		const struct bench_way way = {
			.name = bench_loops[f].name,
			.run = { run_fill, run_clear },
		};

		floors[f].loop = &bench_loops[f];
		floors[f].nr = nr;
		bench_row_add(row, &way, &floors[f]);
	}
	return floors;
}

static void floors_free(const struct bench_floor *floors)
{
	unsigned int i;

	for (i = 0; i < SPANS_MAX; i++)
		free_page((unsigned long)floors[0].items[i] & PAGE_MASK);
}

/* Rows of one leaf size, whose range has @items items: map, then unmap */
static void bench_spans(struct kunit *test, const char *id_map,
			const char *id_unmap, size_t pgsize, size_t pgcount,
			unsigned int items)
{
	struct bench_row *row = kunit_kzalloc(test, sizeof(*row), GFP_KERNEL);
	struct bench_span spans[BENCH_TABLES_MAX];
	struct bench_tables tables;
	struct bench_floor *floors;
	char size[16];
	unsigned int t;

	*row = (struct bench_row){
		.id = { id_map, id_unmap },
		.max_nr = pgsize >= SZ_2M ? SPANS_LARGE_MAX : SPANS_MAX,
	};
	if (pgsize < SZ_1M)
		snprintf(size, sizeof(size), "%zux%zuK", pgcount,
			 pgsize / SZ_1K);
	else
		snprintf(size, sizeof(size), "%zux%zuM", pgcount,
			 pgsize / SZ_1M);
	snprintf(row->what[0], sizeof(row->what[0]), "map %s", size);
	snprintf(row->what[1], sizeof(row->what[1]), "unmap %s", size);
	floors = floors_add(test, row, items);
	bench_tables_alloc(test, &tables, 3);
	for (t = 0; t < tables.nr; t++) {
		const struct bench_way way = {
			.name = tables.table[t].kind->name,
			.run = { run_map, run_unmap },
		};

		spans[t] = (struct bench_span){
			.table = &tables.table[t],
			.pgsize = pgsize,
			.pgcount = pgcount,
			.half = SPAN_ITEMS * ((u64)pgsize * pgcount / items),
		};
		/* Not each format has each size */
		if (!(tables.table[t].domain->pgsize_bitmap & pgsize))
			continue;
		keep_tables(&spans[t], row->max_nr);
		bench_row_add(row, &way, &spans[t]);
	}
	bench_row_run(test, row);
	bench_tables_free(&tables);
	floors_free(floors);
}

/* P1 and P2 */
void bench_map_unmap(struct kunit *test)
{
	bench_spans(test, "P1", "P2", SZ_4K, SPAN_ITEMS, SPAN_ITEMS);
	bench_spans(test, "P1", "P2", SZ_2M, SPAN_ITEMS, SPAN_ITEMS);
	bench_spans(test, "P1", "P2", SZ_4K, 16, 16);
}

/* P16: leaves of several items, as many as fill the same 256 items */
void bench_contiguous(struct kunit *test)
{
	size_t pgsize;

	for (pgsize = SZ_8K; pgsize <= SZ_1M; pgsize *= 2)
		bench_spans(test, "P16", "P16", pgsize, SZ_1M / pgsize,
			    SPAN_ITEMS);
}

static void run_one_page(void *arg, unsigned int nr)
{
	const struct bench_span *span = arg;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u64 iova = (i % SPAN_ITEMS) * SZ_4K;

		bench_map(span->table->domain, iova, iova + SZ_4K, SZ_4K, 1);
		bench_unmap(span->table->domain, iova, SZ_4K, 1);
	}
}

static void bench_page(struct kunit *test, unsigned int levels)
{
	struct bench_row *row = kunit_kzalloc(test, sizeof(*row), GFP_KERNEL);
	struct bench_span spans[BENCH_TABLES_MAX];
	struct bench_tables tables;
	unsigned int t;

	*row = (struct bench_row){
		.id = { "P3" },
		.max_nr = 1024,
	};
	snprintf(row->what[0], sizeof(row->what[0]),
		 "map + unmap one 4K page, %u levels", levels);
	bench_tables_alloc_exactly(test, &tables, levels);
	for (t = 0; t < tables.nr; t++) {
		const struct bench_way way = {
			.name = tables.table[t].kind->name,
			.run = { run_one_page },
		};

		spans[t] = (struct bench_span){
			.table = &tables.table[t],
			.pgsize = SZ_4K,
			.pgcount = SPAN_ITEMS,
			.half = SPAN_ITEMS * SZ_4K,
		};
		keep_tables(&spans[t], 1);
		bench_row_add(row, &way, &spans[t]);
	}
	bench_row_run(test, row);
	bench_tables_free(&tables);
}

/* P3 */
void bench_one_page(struct kunit *test)
{
	bench_page(test, 3);
	bench_page(test, 4);
}
