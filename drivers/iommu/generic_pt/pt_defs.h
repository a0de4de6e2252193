/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words, types and assertions that every layer uses
 *
 * Words:
 *
 *  - IOVA: the address that a device uses. OA: the output (physical) address.
 *  - Item: one machine word of a table. Entry: one or more items that act as
 *    one (contiguous entries). Leaf: an entry with an OA.
 *  - Level 0 is the table whose leaves are smallest; levels count up to the
 *    top. The table that an item of level L points to has level L - 1.
 *  - lg2: log2 of a size in bytes. "last" is inclusive, "end" exclusive.
 *
 * Prefixes tell the layer: ptf_ is the format's (bits only), pt_ the walker's
 * and the implementation's, pt_iommu_ what drivers see.
 */
#ifndef __GENERIC_PT_DEFS_H
#define __GENERIC_PT_DEFS_H

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/generic_pt/common.h>
#include <linux/types.h>

#include "pt_log2.h"

typedef u64 pt_item_t;

#define PT_ITEM_LG2 3

/* In a pointer to a table: walkers that do not snoop see it, see pt_store.h */
#define PT_SW_FLUSHED ptf_sw_bit(0)
/* What a pointer had is a tombstone now, even if the table is at address 0 */
#define PT_SW_TOMBSTONE ptf_sw_bit(1)

/* Debug builds check more; they do not behave differently */
#if defined(CONFIG_DEBUG_GENERIC_PT) && defined(CONFIG_KUNIT)
#include <kunit/test-bug.h>

/* A test in which the library warns has failed, whatever it looks at */
static inline bool pt_warned(bool warned)
{
	if (unlikely(warned))
		kunit_fail_current_test("the library warned");
	return warned;
}

#define PT_WARN_ON(condition) pt_warned(WARN_ON(condition))
#elif defined(CONFIG_DEBUG_GENERIC_PT)
#define PT_WARN_ON(condition) WARN_ON(condition)
#else
#define PT_WARN_ON(condition)              \
	({                                 \
		if (0)                     \
			(void)(condition); \
		0;                         \
	})
#endif

#endif /* __GENERIC_PT_DEFS_H */
