/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding bits. What the kernel leaves undefined stops the test here.
 */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/types.h>

static inline unsigned long __ffs64(u64 word)
{
	BUG_ON(!word);
	return __builtin_ctzll(word);
}

static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

#endif /* SHIM_LINUX_BITOPS_H */
