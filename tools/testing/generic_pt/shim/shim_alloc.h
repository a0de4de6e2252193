/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tests ask of the page allocator, see pages.c
 */
#ifndef SHIM_ALLOC_H
#define SHIM_ALLOC_H

#include <linux/types.h>

/* Free pages that are kept back before the first of them is used again */
#define SHIM_PAGES_KEPT 64

/* Pages that are allocated now, were at most, and were ever */
unsigned long shim_pages_used(void);
unsigned long shim_pages_peak(void);
unsigned long shim_pages_allocated(void);

/* Whether the page that was freed last is the next to be handed out */
void shim_pages_reuse_last(bool on);

/* Let allocations fail once @nr more have succeeded; ~0ULL for never */
void shim_fail_after(u64 nr);

/* Whether one failed since then */
bool shim_failed(void);

/*
 * Memory behind the CPU's cache, for walkers that do not snoop. While it is in
 * use, what is stored to a table arrives there when it is written back, and by
 * chance before that. Otherwise both are one.
 */
void shim_memory_use(bool on);
/* What stands at an offset into the arena, as hardware sees it */
u64 shim_memory_read(u64 offset);
/* Write back the cache lines of a range */
void shim_memory_write_back(const void *start, size_t bytes);

/* enum shim_page_state of the page at an address, -1 when it is not a table */
int shim_page_state(const void *address);

#endif /* SHIM_ALLOC_H */
