// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is counted, not timed
 */
#include "ubench.h"

static const struct pt_peer *const kinds[] = {
	&pt_peer_amdv2, &bench_amdv1,	 &bench_x86_64,
	&bench_vtdss,	&bench_riscv_64,
};

/* Flushes of the walk cache that were asked for: tables in the gather */
static unsigned long walk_flushes;

static void count_sync(struct iommu_domain *domain,
		       struct iommu_iotlb_gather *gather)
{
	if (list_empty(&gather->freelist))
		return;
	walk_flushes++;
	iommu_put_pages_list_now(&gather->freelist);
}

/*
 * P14: random ranges come and go, dense ones and far apart. Each flush of walk
 * caches must be due to a table that left, and each table that left must have
 * been flushed before it was freed.
 */
static void count_flushes(struct kunit *test, const struct pt_peer *kind)
{
	static u64 iovas[64];
	static unsigned long pages[64];
	unsigned long vain = 0, missing = 0, unmaps = 0, before, flushes;
	struct iommu_domain_ops ops;
	struct bench_table table;
	unsigned int i, slot;
	long left;

	bench_table_alloc(test, &table, kind, 4);
	ops = *table.domain->ops;
	ops.iotlb_sync = count_sync;
	table.domain->ops = &ops;
	bench_failed = false;
	memset(pages, 0, sizeof(pages));
	for (i = 0; i < 200000; i++) {
		slot = get_random_u64() % ARRAY_SIZE(iovas);
		if (!pages[slot]) {
			pages[slot] = get_random_u64() % 2 ?
					      1 + get_random_u64() % 4 :
					      1 + get_random_u64() % 2048;
			/* Near each other, or alone */
			iovas[slot] = slot % 2 ? slot * SZ_1M * 16 :
						 slot * SZ_1G;
			bench_map(table.domain, iovas[slot],
				  iovas[slot] + SZ_4K, SZ_4K, pages[slot]);
			continue;
		}
		before = ubench_pages_used();
		flushes = walk_flushes;
		bench_unmap(table.domain, iovas[slot], SZ_4K, pages[slot]);
		pages[slot] = 0;
		unmaps++;
		left = before - ubench_pages_used();
		if (walk_flushes != flushes && !left)
			vain++;
		if (walk_flushes == flushes && left)
			missing++;
	}
	BUG_ON(bench_failed || !unmaps);
	/* A count of flushes that cannot happen would prove nothing */
	BUG_ON(kind != &pt_peer_amdv2 && !walk_flushes);
	bench_print_count("P14", "walk-cache flushes in vain", kind->name,
			  "flushes", vain);
	bench_print_count("P14", "tables freed without a flush", kind->name,
			  "flushes", missing);
	bench_table_free(&table);
}

void ubench_flushes(struct kunit *test)
{
	unsigned int k;

	for (k = 1; k < ARRAY_SIZE(kinds); k++)
		count_flushes(test, kinds[k]);
}

#define CALLS 1000

/*
 * One page each is mapped, looked up and unmapped, where the table is there and
 * stays. Prints nothing: callgrind counts the instructions of what is called.
 */
void ubench_calls(struct kunit *test)
{
	struct bench_table table;
	unsigned int k, i;

	bench_failed = false;
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		bench_table_alloc(test, &table, kinds[k], 4);
		bench_map(table.domain, SZ_1M, SZ_1M, SZ_4K, 1);
		for (i = 0; i < CALLS; i++) {
			bench_map(table.domain, SZ_4K, SZ_1M, SZ_4K, 1);
			if (table.domain->ops->iova_to_phys(table.domain,
							    SZ_4K) != SZ_1M)
				bench_failed = true;
			bench_unmap(table.domain, SZ_4K, SZ_4K, 1);
		}
		bench_table_free(&table);
	}
	BUG_ON(bench_failed);
}
