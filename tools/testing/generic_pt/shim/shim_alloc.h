/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tests ask of the page allocator, see pages.c
 */
#ifndef SHIM_ALLOC_H
#define SHIM_ALLOC_H

#include <linux/types.h>

/* Tables have the highest OA bit, so that one that loses it is found */
#define SHIM_ARENA_PA 0x000f700000000000ULL

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

/* enum shim_page_state of the page at an address, -1 when it is not a table */
int shim_page_state(const void *address);

#endif /* SHIM_ALLOC_H */
