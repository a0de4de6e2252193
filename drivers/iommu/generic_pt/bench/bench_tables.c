// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page tables that are compared
 */
#include "bench.h"

void bench_table_alloc(struct kunit *test, struct bench_table *table,
		       const struct pt_peer *kind, unsigned int levels)
{
	table->kind = kind;
	table->levels = clamp(levels, kind->min_levels, kind->max_levels);
	table->domain = kind->alloc(table->levels);
	KUNIT_ASSERT_NOT_NULL_MSG(test, table->domain, "%s: no memory",
				  kind->name);
}

void bench_table_free(struct bench_table *table)
{
	table->kind->free(table->domain);
}

/* Begin anew, with a tree that has only its top */
void bench_table_reset(struct bench_table *table)
{
	struct iommu_domain *domain = table->kind->alloc(table->levels);

	if (!domain) {
		bench_failed = true;
		return;
	}
	table->kind->free(table->domain);
	table->domain = domain;
}

/* One of each kind, of as many levels as it can have of those */
void bench_tables_alloc(struct kunit *test, struct bench_tables *tables,
			unsigned int levels)
{
	for (tables->nr = 0; bench_kinds[tables->nr]; tables->nr++)
		bench_table_alloc(test, &tables->table[tables->nr],
				  bench_kinds[tables->nr], levels);
}

/* One of each kind that can have so many levels */
void bench_tables_alloc_exactly(struct kunit *test, struct bench_tables *tables,
				unsigned int levels)
{
	const struct pt_peer *const *kind;

	tables->nr = 0;
	for (kind = bench_kinds; *kind; kind++)
		if (levels >= (*kind)->min_levels &&
		    levels <= (*kind)->max_levels)
			bench_table_alloc(test, &tables->table[tables->nr++],
					  *kind, levels);
}

void bench_tables_free(struct bench_tables *tables)
{
	while (tables->nr--)
		bench_table_free(&tables->table[tables->nr]);
}
