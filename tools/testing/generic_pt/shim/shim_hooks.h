/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where tests get between the instructions of the library
 */
#ifndef SHIM_HOOKS_H
#define SHIM_HOOKS_H

#include <stdbool.h>

/* Called before and after each store, with what is stored to; NULL for none */
extern void (*shim_storing_hook)(const void *item);
extern void (*shim_store_hook)(const void *item);

/* Called after each store, before that: the CPU's cache. NULL for none. */
extern void (*shim_cache_hook)(const void *item);

/*
 * Called before each access to what threads share; NULL for none. @sync for
 * those that order others: read-modify-write, locks, the edges of a read side.
 */
extern void (*shim_point_hook)(bool sync);

static inline void shim_storing(const void *item)
{
	if (__builtin_expect(!!shim_storing_hook, 0))
		shim_storing_hook(item);
}

static inline void shim_stored(const void *item)
{
	if (__builtin_expect(!!shim_cache_hook, 0))
		shim_cache_hook(item);
	if (__builtin_expect(!!shim_store_hook, 0))
		shim_store_hook(item);
}

static inline void shim_point(void)
{
	if (__builtin_expect(!!shim_point_hook, 0))
		shim_point_hook(false);
}

static inline void shim_sync_point(void)
{
	if (__builtin_expect(!!shim_point_hook, 0))
		shim_point_hook(true);
}

#endif /* SHIM_HOOKS_H */
