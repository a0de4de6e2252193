// SPDX-License-Identifier: GPL-2.0-only
/*
 * P11: whether an operation costs more where more is mapped, or with more levels
 *
 * All of one format and operation take turns, as the ways of a row do. Their
 * names are "ours FORMAT CONDITION".
 */
#include "ubench.h"

/* Where the operations work: the end of 16 TiB, alone in the tables there */
#define SPAN (1ULL << 44)
#define PLACE (SPAN - SZ_1G)
/* What is mapped elsewhere: tables full of pages, evenly over the span */
#define GROUP_PAGES 512
#define WALKS 256

static const struct pt_peer *const formats[] = {
	&bench_amdv1,
	&bench_x86_64,
	&bench_vtdss,
	&bench_riscv_64,
};

/**
 * struct place - A table that has something mapped, and where to work in it
 * @table: The table
 * @name: Of the format and the condition
 * @iova: Where
 */
struct place {
	struct bench_table table;
	char name[40];
	u64 iova;
};

static void place_init(struct kunit *test, struct place *place,
		       const struct pt_peer *kind, unsigned int levels,
		       unsigned long pages, u64 iova, const char *condition)
{
	unsigned long nr = min(pages, (unsigned long)GROUP_PAGES), i;
	u64 step = SPAN / (pages / nr);

	bench_table_alloc(test, &place->table, kind, levels);
	for (i = 0; i < pages / nr; i++)
		bench_map(place->table.domain, i * step, i * step + SZ_4K,
			  SZ_4K, nr);
	/* Keeps the table, so that all find one there */
	bench_map(place->table.domain, iova + SZ_2M - SZ_4K, SZ_1G, SZ_4K, 1);
	place->iova = iova;
	snprintf(place->name, sizeof(place->name), "%s %s", kind->name,
		 condition);
}

static void run_256(void *arg, unsigned int nr)
{
	const struct place *place = arg;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		bench_map(place->table.domain, place->iova, SZ_1G + SZ_4K,
			  SZ_4K, 256);
		bench_unmap(place->table.domain, place->iova, SZ_4K, 256);
	}
}

static void run_page(void *arg, unsigned int nr)
{
	const struct place *place = arg;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u64 iova = place->iova + (i % 256) * SZ_4K;

		bench_map(place->table.domain, iova, SZ_1G, SZ_4K, 1);
		bench_unmap(place->table.domain, iova, SZ_4K, 1);
	}
}

static void run_lookup(void *arg, unsigned int nr)
{
	const struct place *place = arg;
	struct iommu_domain *domain = place->table.domain;
	u64 oa = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		/* Depends on the one before, and is always the same */
		oa = domain->ops->iova_to_phys(
			domain, place->iova + SZ_2M - SZ_4K + (oa >> 63));
		if (unlikely(oa != SZ_1G))
			bench_failed = true;
	}
}

static void run_rows(struct kunit *test, struct place *places, unsigned int nr,
		     const char *by)
{
	static const struct {
		const char *what;
		bench_fn run;
	} rows[] = {
		{ "map + unmap 256x4K", run_256 },
		{ "map + unmap one page", run_page },
		{ "lookup", run_lookup },
	};
	unsigned int r, p;

	for (r = 0; r < ARRAY_SIZE(rows); r++) {
		struct bench_row row = {
			.id = { "P11" },
			.min_nr = WALKS,
			.max_nr = 4096,
		};

		snprintf(row.what[0], sizeof(row.what[0]), "%s, by %s",
			 rows[r].what, by);
		for (p = 0; p < nr; p++) {
			const struct bench_way way = {
				.name = places[p].name,
				.run = { rows[r].run },
			};

			bench_row_add(&row, &way, &places[p]);
		}
		bench_row_run(test, &row);
	}
	for (p = 0; p < nr; p++)
		bench_table_free(&places[p].table);
}

void ubench_growth(struct kunit *test)
{
	static const unsigned long pages[] = { 1, 1UL << 10, 1UL << 20 };
	struct place places[4];
	unsigned int f, i, nr;
	char condition[16];

	for (f = 0; f < ARRAY_SIZE(formats); f++) {
		for (i = 0; i < ARRAY_SIZE(pages); i++) {
			snprintf(condition, sizeof(condition), "%lu", pages[i]);
			place_init(test, &places[i], formats[f], 4, pages[i],
				   PLACE, condition);
		}
		run_rows(test, places, i, "mapped pages");

		nr = 0;
		for (i = formats[f]->min_levels; i <= formats[f]->max_levels;
		     i++) {
			if (i < 3)
				continue;
			snprintf(condition, sizeof(condition), "%u", i);
			place_init(test, &places[nr++], formats[f], i, 1, SZ_1G,
				   condition);
		}
		run_rows(test, places, nr, "levels");
	}
}
