// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dirty scan
 */
#include <linux/gfp.h>
#include <linux/io.h>

#include "bench.h"

#define SCAN_BYTES SZ_256M
#define SCAN_TABLES (SCAN_BYTES / SZ_2M)
#define SCAN_ITEMS (SZ_4K / sizeof(u64))

/**
 * struct bench_scan - A table to scan
 * @table: The table
 * @every: Make one item of so many dirty again after each scan, 0 for none
 */
struct bench_scan {
	struct bench_table *table;
	unsigned int every;
};

static void run_scan(void *arg, unsigned int nr)
{
	const struct bench_scan *scan = arg;
	struct iommu_domain *domain = scan->table->domain;
	const struct iommu_dirty_ops *ops = domain->dirty_ops;
	struct iommu_iotlb_gather gather;
	struct iommu_dirty_bitmap dirty;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		iommu_iotlb_gather_init(&gather);
		iommu_dirty_bitmap_init(&dirty, NULL, &gather);
		if (ops->read_and_clear_dirty(domain, 0, SCAN_BYTES, 0, &dirty))
			bench_failed = true;
		/* What is dirty is in the gather */
		if (scan->every && !gather.end)
			bench_failed = true;
	}
}

/* As hardware does it, in tables of three levels */
static void make_dirty(void *arg, unsigned int nr)
{
	const struct bench_scan *scan = arg;
	const u64 dirty = scan->table->kind->dirty;
	unsigned int levels, t, i = 0;
	u64 *root, *table, *items;

	root = scan->table->kind->root(scan->table->domain, &levels);
	table = phys_to_virt(root[0] & GENMASK_ULL(51, 12));
	for (t = 0; t < SCAN_TABLES; t++) {
		items = phys_to_virt(table[t] & GENMASK_ULL(51, 12));
		for (; i < SCAN_ITEMS; i += scan->every)
			items[i] |= dirty;
		i -= SCAN_ITEMS;
	}
}

static u64 *floor_tables[SCAN_TABLES];

static noinline u64 scan_lines(const u64 *items)
{
	const u64 *end = items + SCAN_ITEMS;
	u64 any = 0;

	for (; items < end; items += 8)
		any |= items[0] | items[1] | items[2] | items[3] | items[4] |
		       items[5] | items[6] | items[7];
	return any;
}

static noinline u64 scan_items(const u64 *items)
{
	u64 any = 0;
	unsigned int i;

	for (i = 0; i < SCAN_ITEMS; i++)
		any |= items[i];
	return any;
}

static noinline u64 scan_unrolled(const u64 *items)
{
	const u64 *end = items + SCAN_ITEMS;
	u64 a = 0, b = 0, c = 0, d = 0;

	for (; items < end; items += 16) {
		a |= items[0] | items[4] | items[8] | items[12];
		b |= items[1] | items[5] | items[9] | items[13];
		c |= items[2] | items[6] | items[10] | items[14];
		d |= items[3] | items[7] | items[11] | items[15];
	}
	return a | b | c | d;
}

static void run_floor(void *arg, unsigned int nr)
{
	u64 (*scan)(const u64 *items) = arg;
	unsigned int i, t;

	for (i = 0; i < nr; i++)
		for (t = 0; t < SCAN_TABLES; t++)
			if (scan(floor_tables[t]))
				bench_failed = true;
}

static void floors_add(struct kunit *test, struct bench_row *row)
{
	const struct bench_way ways[] = {
		{ "floor items", { run_floor } },
		{ "floor lines", { run_floor } },
		{ "floor unrolled", { run_floor } },
	};
	unsigned int t;

	for (t = 0; t < SCAN_TABLES; t++) {
		floor_tables[t] = (u64 *)get_zeroed_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, floor_tables[t]);
	}
	bench_row_add(row, &ways[0], scan_items);
	bench_row_add(row, &ways[1], scan_lines);
	bench_row_add(row, &ways[2], scan_unrolled);
}

static void floors_free(void)
{
	unsigned int t;

	for (t = 0; t < SCAN_TABLES; t++)
		free_page((unsigned long)floor_tables[t]);
}

static void bench_scans(struct kunit *test, const char *what,
			unsigned int every)
{
	struct bench_row *row = kunit_kzalloc(test, sizeof(*row), GFP_KERNEL);
	struct bench_scan scans[BENCH_TABLES_MAX];
	struct bench_tables tables;
	unsigned int t;

	*row = (struct bench_row){ .id = { "P10" }, .max_nr = 1 };
	strscpy(row->what[0], what, sizeof(row->what[0]));
	floors_add(test, row);
	bench_tables_alloc(test, &tables, 3);
	for (t = 0; t < tables.nr; t++) {
		struct bench_table *table = &tables.table[t];
		struct bench_way way = {
			.name = table->kind->name,
			.run = { run_scan },
		};

		/* Formats without dirty bits have no scan */
		if (!table->domain->dirty_ops)
			continue;
		bench_map(table->domain, 0, SZ_4K, SZ_4K, SCAN_BYTES / SZ_4K);
		scans[t] = (struct bench_scan){ table, every };
		if (every) {
			make_dirty(&scans[t], 1);
			way.reset = make_dirty;
		}
		bench_row_add(row, &way, &scans[t]);
	}
	bench_row_run(test, row);
	bench_tables_free(&tables);
	floors_free();
}

/* P10 */
void bench_dirty(struct kunit *test)
{
	bench_scans(test, "dirty scan 256M of 4K, clean", 0);
	bench_scans(test, "dirty scan 256M of 4K, 1% dirty", 100);
}
