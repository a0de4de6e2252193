// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an AMD IOMMU takes an entry of a v1 page table for, see hw.h
 *
 * From AMD publication 48882, section 2.2.3, "I/O Page Tables for Host
 * Translations":
 *
 *   bit 0       PR, present
 *   bits 1..4   ignored
 *   bits 5, 6   accessed, dirty
 *   bits 7..8   ignored
 *   bits 9..11  next level: 0 for a page of the level's own size, 7 for a page
 *               whose size is coded in its address, else the level of the table
 *               that the address points to
 *   bits 12..51 address
 *   bits 52..58 reserved, must be zero
 *   bits 59..62 U and FC (pages only), IR, IW
 *   bit 63      ignored
 *
 * Access needs IR or IW at all levels. The library keeps the ignored bits clear;
 * that is checked here as well.
 *
 * No hardware has the mock format. Its entries are the same, but an address is
 * half of what its place says.
 */
#include "hw.h"

#define ENTRY_PRESENT 0x0000000000000001ULL
#define ENTRY_ACCESSED 0x0000000000000020ULL
#define ENTRY_DIRTY 0x0000000000000040ULL
#define ENTRY_ADDRESS 0x000ffffffffff000ULL
#define ENTRY_FC 0x1000000000000000ULL
#define ENTRY_IR 0x2000000000000000ULL
#define ENTRY_IW 0x4000000000000000ULL
/* All that may be set in a page's entry and in a directory's */
#define ENTRY_PAGE_BITS 0x7000000000000e61ULL
#define ENTRY_TABLE_BITS 0x6000000000000e21ULL

static unsigned int next_level(u64 entry)
{
	return (entry >> 9) & 7;
}

/*
 * Size of a page whose next level is 7: the lowest address bit that is zero is
 * the top bit of the page's offset (Table 15, "Example Page Size Encodings":
 * address bit 12 zero, 8 KiB; bit 13 zero and 12 one, 16 KiB).
 */
static unsigned int coded_size(u64 entry)
{
	unsigned int bit = 12;

	while (bit < 52 && (entry >> bit & 1))
		bit++;
	return bit + 1;
}

/* @halve: bits by which an address stands higher than it is */
static enum hw_result decode(const struct hw_root *root, unsigned int level,
			     u64 entry, unsigned int halve,
			     struct hw_entry *out)
{
	/* As hardware would see it, before it is halved */
	unsigned int lg2 = 3 + 9 * level;
	u64 address = entry & ENTRY_ADDRESS & ~root->c_bit;

	if (!(entry & ENTRY_PRESENT))
		return HW_NOT_PRESENT;
	out->read = entry & ENTRY_IR;
	out->write = entry & ENTRY_IW;
	out->encrypted = entry & root->c_bit;
	out->table = next_level(entry) && next_level(entry) != 7;
	if (out->table) {
		/* Hardware may skip tables, the library does not */
		out->pa = address >> halve;
		if (next_level(entry) != level - 1 ||
		    (entry & ~(ENTRY_TABLE_BITS | ENTRY_ADDRESS)))
			return HW_MALFORMED;
		return HW_OK;
	}

	if (entry & ~(ENTRY_PAGE_BITS | ENTRY_ADDRESS))
		return HW_MALFORMED;
	if (next_level(entry) == 7) {
		lg2 = coded_size(entry & ~root->c_bit);
		/* It must be one that this level stands for */
		if (lg2 <= 3 + 9 * level || lg2 >= 3 + 9 * (level + 1))
			return HW_MALFORMED;
		/* The bits that code it are no address */
		address &= ~((1ULL << lg2) - 1);
	}
	/* Hardware has no such page */
	if ((lg2 == 39 && !halve) || lg2 > 52)
		return HW_MALFORMED;
	out->pa = address >> halve;
	out->size_lg2 = lg2 - halve;
	out->force_coherent = entry & ENTRY_FC;
	out->dirty = entry & ENTRY_DIRTY;
	return HW_OK;
}

static enum hw_result decode_real(const struct hw_root *root,
				  unsigned int level, u64 entry,
				  struct hw_entry *out)
{
	return decode(root, level, entry, 0, out);
}

static enum hw_result decode_mock(const struct hw_root *root,
				  unsigned int level, u64 entry,
				  struct hw_entry *out)
{
	return decode(root, level, entry, 1, out);
}

const struct hw_format hw_amdv1 = {
	.name = "amdv1",
	.granule_lg2 = 12,
	.index_lg2 = 9,
	.dirty = ENTRY_DIRTY,
	.accessed = ENTRY_ACCESSED,
	.decode = decode_real,
};

const struct hw_format hw_amdv1_mock = {
	.name = "amdv1_mock",
	.granule_lg2 = 11,
	.index_lg2 = 9,
	.dirty = ENTRY_DIRTY,
	.accessed = ENTRY_ACCESSED,
	.decode = decode_mock,
};
