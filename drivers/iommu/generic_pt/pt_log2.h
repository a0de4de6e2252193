/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic with powers of two that holds up to 64 bits
 *
 * An address space of 64 bits has edges where plain shifts overflow: a length
 * of 2^64, a shift by 64, a zero that is aligned to everything. These helpers
 * are total: each is defined for each argument of its type.
 */
#ifndef __GENERIC_PT_LOG2_H
#define __GENERIC_PT_LOG2_H

#include <linux/bitops.h>
#include <linux/types.h>

/* A mask of the low @lg2 bits, 0 to 64 */
static inline u64 pt_low_mask(unsigned int lg2)
{
	return lg2 < 64 ? (1ULL << lg2) - 1 : ~0ULL;
}

/* lg2 of the largest power of two that divides @value; 64 for 0 */
static inline unsigned int pt_align_lg2(u64 value)
{
	return value ? __ffs64(value) : 64;
}

/* lg2 of the largest power of two that is not above @value, which is not 0 */
static inline unsigned int pt_floor_lg2(u64 value)
{
	return fls64(value) - 1;
}

static inline bool pt_is_aligned(u64 value, unsigned int lg2)
{
	return !(value & pt_low_mask(lg2));
}

#endif /* __GENERIC_PT_LOG2_H */
