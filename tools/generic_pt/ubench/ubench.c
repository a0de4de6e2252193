// SPDX-License-Identifier: GPL-2.0-only
/*
 * The benchmark in userspace: rows of drivers/iommu/generic_pt/bench/ as they
 * are, and rows that UML cannot do
 *
 * usage: ubench [one_page|lookup|growth|threads|flushes|sparse|calls ...]...
 */
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "ubench.h"

/* Where the kernel has the direct map and struct pages with KASLR, and so far apart */
#define ARENA_BASE 0x100000000000UL
#define PAGES_BASE 0x200000000000UL
#define ARENA_PAGES (SZ_64G >> PAGE_SHIFT)

unsigned long page_offset_base = ARENA_BASE;
unsigned long vmemmap_base = PAGES_BASE;
unsigned long phys_base;
u64 shim_sme_mask;

__noreturn void shim_fail(const char *file, int line, const char *format, ...)
{
	fprintf(stderr, "%s:%d: cannot be measured\n", file, line);
	exit(1);
}

u64 ktime_get_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

u64 get_random_u64(void)
{
	static u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

void shim_lock(raw_spinlock_t *lock)
{
	while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

void shim_unlock(raw_spinlock_t *lock)
{
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

/*
 * Pages: each thread has free ones of its own, linked by their first words, and
 * takes new ones of the arena a few at a time, as the kernel's CPUs do.
 */
#define PAGES_BATCH 64

static unsigned long arena_next = 1;
static __thread void *free_pages;
static __thread unsigned long batch_next, batch_end;
static __thread long pages_used;

static void arena_init(void)
{
	void *arena = mmap(
		(void *)ARENA_BASE, ARENA_PAGES << PAGE_SHIFT,
		PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	void *pages = mmap(
		(void *)PAGES_BASE, ARENA_PAGES * sizeof(struct page),
		PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	BUG_ON(arena == MAP_FAILED || pages == MAP_FAILED);
	/* As the direct map is, mapped by large pages */
	madvise(arena, ARENA_PAGES << PAGE_SHIFT, MADV_HUGEPAGE);
	madvise(pages, ARENA_PAGES * sizeof(struct page), MADV_HUGEPAGE);
}

void *ubench_page_alloc(void)
{
	void *page = free_pages;

	pages_used++;
	if (page) {
		free_pages = *(void **)page;
		return page;
	}
	if (batch_next == batch_end) {
		batch_next = __atomic_fetch_add(&arena_next, PAGES_BATCH,
						__ATOMIC_RELAXED);
		batch_end = batch_next + PAGES_BATCH;
		BUG_ON(batch_end > ARENA_PAGES);
	}
	return (void *)(ARENA_BASE + (batch_next++ << PAGE_SHIFT));
}

static void ubench_page_link(void *page)
{
	*(void **)page = free_pages;
	free_pages = page;
}

void ubench_page_free(void *page)
{
	pages_used--;
	ubench_page_link(page);
}

static int compare_pages(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Have free pages given out by address. Memory is faster in that order, and
 * nobody shall gain by how the one before freed it.
 */
void ubench_pages_sort(void)
{
	unsigned long nr = 0, i;
	void **pages, *page;

	for (page = free_pages; page; page = *(void **)page)
		nr++;
	pages = malloc(nr * sizeof(*pages));
	BUG_ON(!pages);
	for (i = 0, page = free_pages; page; page = *(void **)page)
		pages[i++] = page;
	qsort(pages, nr, sizeof(*pages), compare_pages);
	free_pages = NULL;
	while (i)
		ubench_page_link(pages[--i]);
	free(pages);
}

unsigned long ubench_pages_used(void)
{
	return pages_used;
}

void iommu_put_pages_list_now(struct list_head *pages)
{
	struct list_head *at, *next;

	for (at = pages->next; at != pages; at = next) {
		next = at->next;
		ubench_page_free(
			page_address(list_entry(at, struct page, lru)));
	}
	INIT_LIST_HEAD(pages);
}

/* Nothing here is dirty */
void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length)
{
	bench_failed = true;
}

const struct pt_peer *const bench_kinds[] = {
	&pt_peer_amdv2, &bench_amdv1,	 &bench_x86_64,
	&bench_vtdss,	&bench_riscv_64, NULL,
};

static const struct {
	const char *name;
	void (*run)(struct kunit *test);
} cases[] = {
	{ "one_page", bench_one_page },
	{ "lookup", bench_lookup },
	{ "lookup_random", bench_lookup_random },
	{ "map", bench_map_unmap },
	{ "growth", ubench_growth },
	{ "threads", ubench_threads },
	{ "flushes", ubench_flushes },
	{ "sparse", ubench_sparse },
	{ "calls", ubench_calls },
};

int main(int argc, char **argv)
{
	struct kunit test = { "ubench" };
	unsigned int c;
	int i;

	arena_init();
	bench_clock_init();
	for (i = 1; i < argc; i++) {
		for (c = 0; c < ARRAY_SIZE(cases); c++)
			if (!strcmp(argv[i], cases[c].name))
				break;
		if (c == ARRAY_SIZE(cases)) {
			fprintf(stderr, "ubench: no case %s\n", argv[i]);
			return 2;
		}
		cases[c].run(&test);
		fflush(stdout);
	}
	return 0;
}
