// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lookup
 *
 * Each lookup waits for the one before: its address depends on that result, in
 * a way that the CPU cannot know and that changes nothing. Otherwise several
 * would run at the same time, and short ones more of them.
 */
#include <linux/io.h>
#include <linux/random.h>
#include <linux/sprintf.h>

#include "bench.h"

#define LOOKUPS 4096

/**
 * struct bench_walk - Addresses to look up
 * @table: Where
 * @iovas: LOOKUPS of them
 * @next: Where the next round goes on
 */
struct bench_walk {
	struct bench_table *table;
	const u64 *iovas;
	unsigned int next;
};

/* 0, but the compiler does not know that no physical address has this bit */
static __always_inline u64 after(u64 oa)
{
	OPTIMIZER_HIDE_VAR(oa);
	return oa >> 63;
}

static void run_lookup(void *arg, unsigned int nr)
{
	struct bench_walk *walk = arg;
	struct iommu_domain *domain = walk->table->domain;
	unsigned int i, next = walk->next;
	u64 iova = 0, oa = 0;

	for (i = 0; i < nr; i++) {
		iova = walk->iovas[(next + i) % LOOKUPS] + after(oa);
		oa = domain->ops->iova_to_phys(domain, iova);
		if (unlikely(!oa))
			bench_failed = true;
	}
	walk->next = next + nr;
}

/* One dependent load a level, of tables that only this walks */
static __always_inline u64 chase_loop(const u64 *table, u64 iova,
				      unsigned int levels)
{
	u64 item;

	while (levels--) {
		item = table[(iova >> (12 + 9 * levels)) % 512];
		table = phys_to_virt(item & GENMASK_ULL(51, 12));
	}
	return (item & GENMASK_ULL(51, 12)) | (iova & ~PAGE_MASK);
}

static noinline u64 chase_3_loop(const u64 *table, u64 iova)
{
	return chase_loop(table, iova, 3);
}

static noinline u64 chase_4_loop(const u64 *table, u64 iova)
{
	return chase_loop(table, iova, 4);
}

/* The lower three levels written out */
static __always_inline u64 chase_unrolled(const u64 *table, u64 iova)
{
	u64 item;

	item = table[(iova >> 30) % 512];
	table = phys_to_virt(item & GENMASK_ULL(51, 12));
	item = table[(iova >> 21) % 512];
	table = phys_to_virt(item & GENMASK_ULL(51, 12));
	item = table[(iova >> 12) % 512];
	return (item & GENMASK_ULL(51, 12)) | (iova & ~PAGE_MASK);
}

static noinline u64 chase_3_unrolled(const u64 *table, u64 iova)
{
	return chase_unrolled(table, iova);
}

static noinline u64 chase_4_unrolled(const u64 *table, u64 iova)
{
	u64 item = table[(iova >> 39) % 512];

	return chase_unrolled(phys_to_virt(item & GENMASK_ULL(51, 12)), iova);
}

static __always_inline void run_chase(struct bench_walk *walk, unsigned int nr,
				      u64 (*chase)(const u64 *table, u64 iova))
{
	unsigned int i, next = walk->next, levels;
	u64 *root = walk->table->kind->root(walk->table->domain, &levels);
	u64 iova, oa = 0;

	for (i = 0; i < nr; i++) {
		iova = walk->iovas[(next + i) % LOOKUPS] + after(oa);
		oa = chase(root, iova);
		if (unlikely(!oa))
			bench_failed = true;
	}
	walk->next = next + nr;
}

static void run_chase_3_loop(void *arg, unsigned int nr)
{
	run_chase(arg, nr, chase_3_loop);
}

static void run_chase_3_unrolled(void *arg, unsigned int nr)
{
	run_chase(arg, nr, chase_3_unrolled);
}

static void run_chase_4_loop(void *arg, unsigned int nr)
{
	run_chase(arg, nr, chase_4_loop);
}

static void run_chase_4_unrolled(void *arg, unsigned int nr)
{
	run_chase(arg, nr, chase_4_unrolled);
}

static const struct bench_way chase_ways[][2] = {
	{ { "floor loop", { run_chase_3_loop } },
	  { "floor unrolled", { run_chase_3_unrolled } } },
	{ { "floor loop", { run_chase_4_loop } },
	  { "floor unrolled", { run_chase_4_unrolled } } },
};

static void walk_init(struct bench_walk *walk, struct bench_table *table,
		      const u64 *iovas, u64 bytes)
{
	u64 iova;

	for (iova = 0; iova < bytes; iova += SZ_2M)
		bench_map(table->domain, iova, iova + SZ_4K, SZ_4K,
			  SZ_2M / SZ_4K);
	*walk = (struct bench_walk){ .table = table, .iovas = iovas };
}

static void bench_lookups(struct kunit *test, const char *what,
			  const u64 *iovas, u64 bytes, unsigned int levels)
{
	struct bench_row *row = kunit_kzalloc(test, sizeof(*row), GFP_KERNEL);
	struct bench_walk walks[BENCH_TABLES_MAX], chase;
	struct bench_tables tables;
	struct bench_table floor;
	unsigned int t;

	*row = (struct bench_row){
		.id = { "P4" },
		.min_nr = 256,
		.max_nr = LOOKUPS,
	};
	snprintf(row->what[0], sizeof(row->what[0]), "%s, %u levels", what,
		 levels);
	/* Tables of its own, so that nobody warms the cache for another */
	bench_table_alloc(test, &floor, &bench_amdv1, levels);
	walk_init(&chase, &floor, iovas, bytes);
	for (t = 0; t < (bytes > SZ_1G ? 1 : ARRAY_SIZE(chase_ways[0])); t++)
		bench_row_add(row, &chase_ways[levels - 3][t], &chase);
	bench_tables_alloc_exactly(test, &tables, levels);
	for (t = 0; t < tables.nr; t++) {
		const struct bench_way way = {
			.name = tables.table[t].kind->name,
			.run = { run_lookup },
		};

		walk_init(&walks[t], &tables.table[t], iovas, bytes);
		bench_row_add(row, &way, &walks[t]);
	}
	bench_row_run(test, row);
	bench_tables_free(&tables);
	bench_table_free(&floor);
}

/* P4 */
void bench_lookup(struct kunit *test)
{
	u64 *iovas =
		kunit_kmalloc_array(test, LOOKUPS, sizeof(u64), GFP_KERNEL);
	unsigned int i;

	for (i = 0; i < LOOKUPS; i++)
		iovas[i] = (i * 5 % 64) * SZ_4K + (i & 0xff0);
	bench_lookups(test, "lookup, warm", iovas, SZ_2M, 3);
	bench_lookups(test, "lookup, warm", iovas, SZ_2M, 4);
}

void bench_lookup_random(struct kunit *test)
{
	u64 *iovas =
		kunit_kmalloc_array(test, LOOKUPS, sizeof(u64), GFP_KERNEL);
	unsigned int i;

	for (i = 0; i < LOOKUPS; i++)
		iovas[i] = get_random_u64() % SZ_64G & ~7ULL;
	bench_lookups(test, "lookup, random over 64G", iovas, SZ_64G, 4);
}
