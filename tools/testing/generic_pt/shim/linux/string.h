/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling memory. Tables are filled item by item, as hardware may see it.
 */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <string.h>

#include <linux/compiler.h>

static inline void *memset64(u64 *items, u64 item, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		WRITE_ONCE(items[i], item);
	return items;
}

#endif /* SHIM_LINUX_STRING_H */
