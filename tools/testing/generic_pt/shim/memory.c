// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory behind the CPU's cache, see shim_alloc.h
 *
 * The arena is what CPUs see. Here is a second one, which hardware reads.
 */
#include <string.h>
#include <sys/mman.h>

#include <linux/cacheflush.h>
#include <linux/mm.h>

#include "shim_alloc.h"

#define LINE 64UL

static char *memory;
static bool used;
static char locked;
static __thread unsigned int chance = 1;

u64 shim_memory_read(u64 offset)
{
	const char *from = used ? memory : shim_arena;

	return __atomic_load_n((const u64 *)(from + offset), __ATOMIC_ACQUIRE);
}

/*
 * A line arrives whole, and never an old one after a new one. ThreadSanitizer
 * shall not take the lock for order that the library made.
 */
__attribute__((__no_sanitize__("thread"))) static void write_line(u64 offset)
{
	unsigned int i;

	while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE))
		;
	for (i = 0; i < LINE; i += 8) {
		u64 item = __atomic_load_n((u64 *)(shim_arena + offset + i),
					   __ATOMIC_RELAXED);

		__atomic_store_n((u64 *)(memory + offset + i), item,
				 __ATOMIC_RELAXED);
	}
	__atomic_clear(&locked, __ATOMIC_RELEASE);
}

void shim_memory_write_back(const void *start, size_t bytes)
{
	u64 first = (const char *)start - shim_arena, offset;

	if (!used)
		return;
	for (offset = first & ~(LINE - 1); offset < first + bytes;
	     offset += LINE)
		write_line(offset);
}

/* Any CPU may write a line back at any time */
static void evict(const void *item)
{
	if (shim_page_state(item) != SHIM_PAGE_USED)
		return;
	chance = chance * 1103515245 + 12345;
	if (chance >> 16 & 1)
		shim_memory_write_back(item, 8);
}

void shim_memory_use(bool on)
{
	used = on;
	shim_cache_hook = on ? evict : NULL;
	if (!on || memory)
		return;
	memory = mmap(NULL, SHIM_PAGES << PAGE_SHIFT, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		SHIM_FAIL("no memory for what is behind the cache");
}

/* What the library calls */
void clflush_cache_range(void *start, unsigned int bytes)
{
	shim_sync_point();
	shim_memory_write_back(start, bytes);
	shim_stored(start);
}
