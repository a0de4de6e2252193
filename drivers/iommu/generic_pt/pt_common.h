/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One name for each thing that a format can do
 *
 * Included after the format's header and the defaults. The prototypes are the
 * contract of a format: since each ptf_ name is a macro for the format's own
 * function, the compiler checks that function against them.
 *
 * A format also defines, as constants:
 *
 *  - PTF_NAME: part of its public names
 *  - PTF_GRANULE_LG2: lg2 of its smallest leaf
 *  - PTF_INDEX_LG2: lg2 of the number of items in a table
 *  - PTF_MAX_LEVELS, PTF_MAX_IOVA_LG2, PTF_MAX_OA_LG2: its limits
 *  - PTF_FEATURES: mask of the feature bits that it understands
 *  - PTF_PRESENT_MASK: bits that ptf_present_bits() sets for a present item
 *  - PTF_KIND_MASK: bits that make an item a leaf, a pointer or neither: two
 *    items of a table that agree in them are of the same kind
 *
 * and where the default is wrong:
 *
 *  - PTF_MIN_LEVELS: fewest levels that a tree can have (1)
 *  - PTF_STRUCT: part of the names of its public structs (PTF_NAME)
 *  - PTF_CANONICAL: hardware takes sign-extended IOVAs only, so without
 *    PT_FEAT_SIGN_EXTEND there is but the lower half (false)
 *  - PTF_DIRTY: the bit that hardware sets on a write, if it has one (0)
 *  - PTF_ACCESSED: the bit that hardware sets in pointers that it followed, if
 *    it has one and the format does not set it beforehand (0)
 */
#ifndef __GENERIC_PT_COMMON_INTERNAL_H
#define __GENERIC_PT_COMMON_INTERNAL_H

#include "pt_defs.h"

#define PTF_ITEMS ((unsigned int)BIT(PTF_INDEX_LG2))
#define PTF_TABLE_BYTES (PTF_ITEMS << PT_ITEM_LG2)

/**
 * ptf_present() - Whether hardware takes an item for a leaf or a table pointer
 * @item: Any item
 *
 * Return: true when hardware would use it.
 */
static inline bool ptf_present(pt_item_t item);

/**
 * ptf_present_bits() - Presence as bits, so that items can be tested together
 * @item: Any item
 *
 * Return: A word in which PTF_PRESENT_MASK is all set if the item is present,
 * and not all set if it is not. The other bits mean nothing.
 */
static inline pt_item_t ptf_present_bits(pt_item_t item);

/**
 * ptf_is_table() - Whether an item points to a table
 * @item: Any item, present or not
 * @level: Level of the table that it stands in
 *
 * Return: true when it is present and a pointer.
 */
static inline bool ptf_is_table(pt_item_t item, unsigned int level);

/**
 * ptf_table_oa() - Physical address of the table that an item points to
 * @common: The page table
 * @item: A table pointer, or what ptf_tombstone() made of one
 *
 * Return: The address, without an encryption bit.
 */
static inline u64 ptf_table_oa(const struct pt_common *common, pt_item_t item);

/**
 * ptf_table_item() - Encode a table pointer
 * @common: The page table
 * @oa: Physical address of the table
 * @level: Level of the table that the pointer will stand in
 *
 * Return: The item.
 */
static inline pt_item_t ptf_table_item(const struct pt_common *common, u64 oa,
				       unsigned int level);

/**
 * ptf_sizes() - Leaf sizes that a table can hold
 * @common: The page table
 * @level: Level of the table
 *
 * Return: A mask of sizes in bytes, 0 for none.
 */
static inline u64 ptf_sizes(const struct pt_common *common, unsigned int level);

/**
 * ptf_leaf_level() - Level of the table that holds leaves of a size
 * @lg2: lg2 of a size that some level can hold
 *
 * Return: The level.
 */
static inline unsigned int ptf_leaf_level(unsigned int lg2);

/**
 * ptf_leaf_lg2() - lg2 of the size of a leaf
 * @item: Any item of the leaf
 * @level: Level of the table that it stands in
 *
 * Return: lg2 of bytes, of the whole contiguous entry where it is one.
 */
static inline unsigned int ptf_leaf_lg2(pt_item_t item, unsigned int level);

/**
 * ptf_leaf_mask() - Bits of an address that are below the size of a leaf
 * @item: Any item of the leaf
 * @level: Level of the table that it stands in
 *
 * Return: The size in bytes, less one.
 */
static inline u64 ptf_leaf_mask(pt_item_t item, unsigned int level);

/**
 * ptf_leaf_oa() - Output address of the first byte of a leaf
 * @common: The page table
 * @item: Any item of the leaf
 * @level: Level of the table that it stands in
 *
 * Return: The address, without an encryption bit.
 */
static inline u64 ptf_leaf_oa(const struct pt_common *common, pt_item_t item,
			      unsigned int level);

/**
 * ptf_leaf_item() - Encode a leaf
 * @attrs: What ptf_attrs() made of the protection
 * @oa: Output address, aligned to the size
 * @level: Level of the table that the leaf will stand in
 * @lg2: lg2 of its size, one of ptf_sizes() of @level
 *
 * Return: The item, the same for all items of a contiguous entry.
 */
static inline pt_item_t ptf_leaf_item(pt_item_t attrs, u64 oa,
				      unsigned int level, unsigned int lg2);

/**
 * ptf_leaf_step() - What is added to a leaf's item to get that of the next OA
 * @lg2: lg2 of the size of the leaves
 *
 * Return: The difference of the two items.
 */
static inline pt_item_t ptf_leaf_step(unsigned int lg2);

/**
 * ptf_attrs() - Encode everything of a leaf but its OA and size
 * @common: The page table
 * @prot: IOMMU_READ and so on
 * @attrs: Filled in on success
 *
 * Return: 0, or -EOPNOTSUPP when the format cannot express @prot.
 */
static inline int ptf_attrs(const struct pt_common *common, unsigned int prot,
			    pt_item_t *attrs);

/**
 * ptf_prot() - Decode what a leaf permits
 * @item: Any item of the leaf
 *
 * Return: IOMMU_READ and IOMMU_WRITE.
 */
static inline int ptf_prot(pt_item_t item);

/**
 * ptf_tombstone() - Make a table pointer not present without losing its address
 * @item: A table pointer
 *
 * Return: An item that is not present and not 0, the same for each pointer to
 * that table, whatever hardware has set in it.
 */
static inline pt_item_t ptf_tombstone(pt_item_t item);

/**
 * ptf_sw_bit() - A bit of a table pointer that hardware ignores
 * @nr: Number of the bit, from 0 on
 *
 * ptf_table_item() leaves it clear. Bit 0 is PT_SW_FLUSHED, which formats that
 * can do PT_FEAT_DMA_INCOHERENT have and ptf_tombstone() clears; bit 1 is
 * PT_SW_TOMBSTONE, which ptf_tombstone() sets if there is one.
 *
 * Return: The bit, or 0 when the format has not so many.
 */
static inline pt_item_t ptf_sw_bit(unsigned int nr);

/**
 * ptf_common() - The struct pt_common that belongs to a struct pt_iommu
 * @iommu: The page table
 *
 * Return: It.
 */
static inline struct pt_common *ptf_common(struct pt_iommu *iommu);

static inline bool pt_feature(const struct pt_common *common, unsigned int bit)
{
	/* Constant for what the format does not have */
	return (PTF_FEATURES & BIT(bit)) && (common->features & BIT(bit));
}

/* The upper half would move with each new top */
static_assert(!(PTF_FEATURES & BIT(PT_FEAT_SIGN_EXTEND)) ||
	      !(PTF_FEATURES & BIT(PT_FEAT_DYNAMIC_TOP)));

#endif /* __GENERIC_PT_COMMON_INTERNAL_H */
