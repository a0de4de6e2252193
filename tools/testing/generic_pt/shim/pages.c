// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page allocator of the tests
 *
 * One arena, handed out last in first out, so that a page comes back as quickly
 * as it can, or first in first out, so that whoever still uses it finds it
 * free. A free page is full of poison, and AddressSanitizer knows about it. What
 * is handed out is full of poison too: nobody may take it for zeroes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/mm.h>

#include "shim_alloc.h"

#ifdef __SANITIZE_ADDRESS__
#define SHIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHIM_ASAN 1
#endif
#endif

#ifdef SHIM_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#endif

/* Looks like a present item; as a pointer, like none */
#define POISON 0xdb

char *shim_arena;
struct page *shim_pages;
u64 shim_arena_pa;
u64 shim_sme_mask;
struct pglist_data shim_node[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u32 ring[SHIM_PAGES];
static unsigned long ring_head, ring_used;
static unsigned long used, fresh, peak, allocations;
static bool reuse_last;
static u64 fail_at = ~0ULL, fail_count;
static bool failed;

static void setup(void)
{
	if (shim_arena)
		return;
	shim_arena = mmap(NULL, SHIM_PAGES << PAGE_SHIFT,
			  PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	shim_pages = mmap(NULL, SHIM_PAGES * sizeof(*shim_pages),
			  PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shim_arena == MAP_FAILED || shim_pages == MAP_FAILED)
		SHIM_FAIL("no memory for the arena");
}

static void set_poison(unsigned long nr, bool on)
{
	if (on) {
		ASAN_POISON_MEMORY_REGION(shim_arena + (nr << PAGE_SHIFT),
					  PAGE_SIZE);
		ASAN_POISON_MEMORY_REGION(&shim_pages[nr],
					  offsetof(struct page, state));
	} else {
		ASAN_UNPOISON_MEMORY_REGION(shim_arena + (nr << PAGE_SHIFT),
					    PAGE_SIZE);
		ASAN_UNPOISON_MEMORY_REGION(&shim_pages[nr],
					    offsetof(struct page, state));
	}
}

static bool shall_fail(void)
{
	if (fail_count++ < fail_at)
		return false;
	failed = true;
	return true;
}

struct page *alloc_pages_node(int nid, gfp_t gfp, unsigned int order)
{
	struct page *page = NULL;
	unsigned long nr;

	pthread_mutex_lock(&lock);
	setup();
	if (shall_fail())
		goto out;
	/* Not before some are free, unless the last one shall come back */
	if (ring_used && (reuse_last || ring_used >= SHIM_PAGES_KEPT)) {
		if (reuse_last)
			nr = ring[(ring_head + ring_used - 1) % SHIM_PAGES];
		else
			nr = ring[ring_head++ % SHIM_PAGES];
		ring_used--;
	} else if (fresh < SHIM_PAGES) {
		nr = fresh++;
	} else {
		SHIM_FAIL("the arena is full");
	}
	page = &shim_pages[nr];
	set_poison(nr, false);
	memset(page_address(page), POISON, PAGE_SIZE);
	shim_memory_write_back(page_address(page), PAGE_SIZE);
	memset(page, 0, offsetof(struct page, state));
	__atomic_store_n(&page->state, SHIM_PAGE_USED, __ATOMIC_RELAXED);
	used++;
	allocations++;
	if (used > peak)
		peak = used;
out:
	pthread_mutex_unlock(&lock);
	return page;
}

void __free_page(struct page *page)
{
	unsigned long nr = page - shim_pages;

	pthread_mutex_lock(&lock);
	if (page->state == SHIM_PAGE_FREE)
		SHIM_FAIL("page %lu is freed twice", nr);
	/* A store that comes too late races with this one */
	memset(page_address(page), POISON, PAGE_SIZE);
	memset(page, POISON, offsetof(struct page, state));
	__atomic_store_n(&page->state, SHIM_PAGE_FREE, __ATOMIC_RELAXED);
	set_poison(nr, true);
	ring[(ring_head + ring_used++) % SHIM_PAGES] = nr;
	used--;
	pthread_mutex_unlock(&lock);
}

void put_pages_list(struct list_head *pages)
{
	while (!list_empty(pages)) {
		struct page *page = list_first_entry(pages, struct page, lru);

		list_del(&page->lru);
		__free_page(page);
	}
}

unsigned long shim_pages_used(void)
{
	unsigned long nr;

	pthread_mutex_lock(&lock);
	nr = used;
	pthread_mutex_unlock(&lock);
	return nr;
}

unsigned long shim_pages_peak(void)
{
	return peak;
}

unsigned long shim_pages_allocated(void)
{
	return allocations;
}

void shim_pages_reuse_last(bool on)
{
	reuse_last = on;
}

void shim_fail_after(u64 nr)
{
	fail_at = nr;
	fail_count = 0;
	failed = false;
}

bool shim_failed(void)
{
	return failed;
}

int shim_page_state(const void *address)
{
	unsigned long offset = (const char *)address - shim_arena;

	if (offset >= SHIM_PAGES << PAGE_SHIFT)
		return -1;
	return __atomic_load_n(&shim_pages[offset >> PAGE_SHIFT].state,
			       __ATOMIC_RELAXED);
}
