/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a format may leave out
 *
 * Included after the format's header. A format overrides a default by defining
 * the name as a macro for its own function.
 */
#ifndef __GENERIC_PT_FMT_DEFAULTS_H
#define __GENERIC_PT_FMT_DEFAULTS_H

#include "pt_defs.h"

/* Most formats have structs of their own */
#ifndef PTF_STRUCT
#define PTF_STRUCT PTF_NAME
#endif

/* Most hardware can be told to take any IOVA that the levels cover */
#ifndef PTF_CANONICAL
#define PTF_CANONICAL false
#endif

/* Fewest levels that a tree can have */
#ifndef PTF_MIN_LEVELS
#define PTF_MIN_LEVELS 1
#endif

/* Formats without dirty bits have no operation for them */
#ifndef PTF_DIRTY
#define PTF_DIRTY 0ULL
#endif

/* Formats whose hardware does not mark what it walked through */
#ifndef PTF_ACCESSED
#define PTF_ACCESSED 0ULL
#endif

/* Presence is PTF_PRESENT_MASK in the item itself */
#ifndef ptf_present_bits
static inline pt_item_t pt_default_present_bits(pt_item_t item)
{
	return item;
}

#define ptf_present_bits pt_default_present_bits
#endif

#ifndef ptf_present
static inline bool pt_default_present(pt_item_t item)
{
	return (ptf_present_bits(item) & PTF_PRESENT_MASK) == PTF_PRESENT_MASK;
}

#define ptf_present pt_default_present
#endif

/* The table level that holds leaves of a size */
#ifndef ptf_leaf_level
static inline unsigned int pt_default_leaf_level(unsigned int lg2)
{
	return (lg2 - PTF_GRANULE_LG2) / PTF_INDEX_LG2;
}

#define ptf_leaf_level pt_default_leaf_level
#endif

/* The bits of an address that are below a leaf's size */
#ifndef ptf_leaf_mask
static inline u64 pt_default_leaf_mask(pt_item_t item, unsigned int level)
{
	return pt_low_mask(ptf_leaf_lg2(item, level));
}

#define ptf_leaf_mask pt_default_leaf_mask
#endif

/* What the items of two consecutive leaves of a size differ by */
#ifndef ptf_leaf_step
static inline pt_item_t pt_default_leaf_step(unsigned int lg2)
{
	return 1ULL << lg2;
}

#define ptf_leaf_step pt_default_leaf_step
#endif

/* Bits of a table pointer that are free for software */
#ifndef ptf_sw_bit
static inline pt_item_t pt_default_sw_bit(unsigned int nr)
{
	return 0;
}

#define ptf_sw_bit pt_default_sw_bit
#endif

/*
 * A table pointer that hardware takes for nothing and that still names the
 * table, see the life of a table in pt_tables.h.
 */
#ifndef ptf_tombstone
static inline pt_item_t pt_default_tombstone(pt_item_t item)
{
	item &= ~(PTF_PRESENT_MASK | PTF_ACCESSED | PT_SW_FLUSHED);
	return item | PT_SW_TOMBSTONE;
}

#define ptf_tombstone pt_default_tombstone
#endif

#endif /* __GENERIC_PT_FMT_DEFAULTS_H */
