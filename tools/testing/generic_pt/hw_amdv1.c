// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an AMD IOMMU does with a v1 page table, see hw_amdv1.h
 *
 * An entry is 64 bits, a table 4096 bytes, levels are counted from 1:
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
 */
#include <string.h>

#include "hw_amdv1.h"

#define ENTRY_PRESENT 0x0000000000000001ULL
#define ENTRY_DIRTY 0x0000000000000040ULL
#define ENTRY_ADDRESS 0x000ffffffffff000ULL
#define ENTRY_FC 0x1000000000000000ULL
#define ENTRY_IR 0x2000000000000000ULL
#define ENTRY_IW 0x4000000000000000ULL
#define ENTRY_ACCESS (ENTRY_IR | ENTRY_IW)
/* All that may be set in a page's entry and in a directory's */
#define ENTRY_PAGE_BITS 0x7000000000000e41ULL
#define ENTRY_TABLE_BITS 0x6000000000000e01ULL

static unsigned int next_level(uint64_t entry)
{
	return (entry >> 9) & 7;
}

/* lg2 of the bytes below one entry of a level */
static unsigned int reach(unsigned int level)
{
	return 3 + 9 * level;
}

static uint64_t low_bits(unsigned int nr)
{
	return nr >= 64 ? ~0ULL : (1ULL << nr) - 1;
}

static uint64_t entry_pa_of(uint64_t table_pa, unsigned int level, uint64_t iova)
{
	return table_pa + 8 * ((iova >> reach(level)) % 512);
}

/*
 * Size of a page whose next level is 7: the lowest address bit that is zero is
 * the top bit of the page's offset (Table 15, "Example Page Size Encodings":
 * address bit 12 zero, 8 KiB; bit 13 zero and 12 one, 16 KiB).
 */
static unsigned int coded_size(uint64_t entry)
{
	unsigned int bit = 12;

	while (bit < 52 && (entry >> bit & 1))
		bit++;
	return bit + 1;
}

static enum hw_result decode_page(const struct hw_root *root,
				  struct hw_step step, uint64_t iova,
				  uint64_t entry, uint64_t access,
				  struct hw_page *page)
{
	unsigned int lg2 = reach(step.level);
	uint64_t address = entry & ENTRY_ADDRESS & ~root->c_bit;

	if (entry & ~(ENTRY_PAGE_BITS | ENTRY_ADDRESS))
		return HW_MALFORMED;
	if (next_level(entry) == 7) {
		lg2 = coded_size(entry & ~root->c_bit);
		/* It must be one that this level stands for */
		if (lg2 <= reach(step.level) || lg2 >= reach(step.level + 1))
			return HW_MALFORMED;
	} else if (address & low_bits(lg2)) {
		return HW_MALFORMED;
	}
	/* Hardware has no such page */
	if (lg2 == 39 || lg2 > 52)
		return HW_MALFORMED;

	page->iova = iova & ~low_bits(lg2);
	page->pa = address & ~low_bits(lg2);
	page->size_lg2 = lg2;
	page->read = access & entry & ENTRY_IR;
	page->write = access & entry & ENTRY_IW;
	page->encrypted = entry & root->c_bit;
	page->force_coherent = entry & ENTRY_FC;
	page->dirty = entry & ENTRY_DIRTY;
	page->entries = 1U << (lg2 - reach(step.level));
	page->entry_pa = entry_pa_of(step.table_pa, step.level, page->iova);
	page->level = step.level;
	return HW_OK;
}

enum hw_result hw_walk_from(const struct hw_root *root, struct hw_step step,
			    uint64_t iova, struct hw_walk *walk)
{
	uint64_t access = ENTRY_ACCESS;

	walk->steps = 0;
	for (;;) {
		walk->step[walk->steps++] = step;
		walk->entry_pa = entry_pa_of(step.table_pa, step.level, iova);
		if (!hw_read64(walk->entry_pa, &walk->entry))
			return walk->result = HW_FREED_TABLE;
		if (!(walk->entry & ENTRY_PRESENT))
			return walk->result = HW_NOT_PRESENT;
		if (!next_level(walk->entry) || next_level(walk->entry) == 7)
			break;
		/* Tables may be skipped by hardware, but not by the library */
		if (next_level(walk->entry) != step.level - 1 ||
		    (walk->entry & ~(ENTRY_TABLE_BITS | ENTRY_ADDRESS)) ||
		    (root->c_bit && !(walk->entry & root->c_bit)))
			return walk->result = HW_MALFORMED;
		access &= walk->entry;
		step.table_pa = walk->entry & ENTRY_ADDRESS & ~root->c_bit;
		step.level--;
	}
	walk->result = decode_page(root, step, iova, walk->entry, access,
				   &walk->page);
	return walk->result;
}

enum hw_result hw_walk(const struct hw_root *root, uint64_t iova,
		       struct hw_walk *walk)
{
	struct hw_step step = { root->table_pa, root->mode };

	memset(walk, 0, sizeof(*walk));
	if (root->mode < 6 && iova >> reach(root->mode + 1))
		return walk->result = HW_TOO_HIGH;
	return hw_walk_from(root, step, iova, walk);
}

enum hw_result hw_check_page(const struct hw_root *root, struct hw_page *page)
{
	uint64_t first, entry;
	unsigned int i;

	if (!hw_read64(page->entry_pa, &first))
		return HW_FREED_TABLE;
	page->dirty = false;
	for (i = 0; i < page->entries; i++) {
		if (!hw_read64(page->entry_pa + 8 * i, &entry))
			return HW_FREED_TABLE;
		/* The dirty bit may be set in any of them */
		if ((entry ^ first) & ~ENTRY_DIRTY)
			return HW_MALFORMED;
		page->dirty |= !!(entry & ENTRY_DIRTY);
	}
	return HW_OK;
}

/* A table and all below it; counts present entries of the table itself */
static void visit(const struct hw_root *root, const struct hw_visitor *visitor,
		  void *arg, struct hw_step step, uint64_t iova,
		  uint64_t access)
{
	unsigned int i, present = 0;

	for (i = 0; i < 512;) {
		uint64_t at = iova | (uint64_t)i << reach(step.level);
		struct hw_step below = { .level = step.level - 1 };
		enum hw_result result;
		struct hw_page page;
		uint64_t entry;

		if (!hw_read64(step.table_pa + 8 * i, &entry)) {
			visitor->fault(arg, at, 0, HW_FREED_TABLE);
			return;
		}
		/* Nothing is left behind either: what is not present is zero */
		if (!(entry & ENTRY_PRESENT)) {
			if (entry)
				visitor->fault(arg, at, entry, HW_MALFORMED);
			i++;
			continue;
		}
		present++;
		if (next_level(entry) == step.level - 1 && step.level > 1) {
			below.table_pa = entry & ENTRY_ADDRESS & ~root->c_bit;
			if ((entry & ~(ENTRY_TABLE_BITS | ENTRY_ADDRESS)) ||
			    (root->c_bit && !(entry & root->c_bit)))
				visitor->fault(arg, at, entry, HW_MALFORMED);
			else
				visit(root, visitor, arg, below, at,
				      access & entry);
			i++;
			continue;
		}
		result = HW_MALFORMED;
		if (!next_level(entry) || next_level(entry) == 7)
			result = decode_page(root, step, at, entry, access,
					     &page);
		if (result == HW_OK && page.iova != at)
			result = HW_MALFORMED;
		if (result == HW_OK)
			result = hw_check_page(root, &page);
		if (result != HW_OK) {
			visitor->fault(arg, at, entry, result);
			i++;
			continue;
		}
		visitor->page(arg, &page);
		present += page.entries - 1;
		i += page.entries;
	}
	visitor->table(arg, step, present, iova);
}

void hw_for_each(const struct hw_root *root, const struct hw_visitor *visitor,
		 void *arg)
{
	struct hw_step step = { root->table_pa, root->mode };

	visit(root, visitor, arg, step, 0, ENTRY_ACCESS);
}

const char *hw_result_name(enum hw_result result)
{
	switch (result) {
	case HW_OK:
		return "translated";
	case HW_NOT_PRESENT:
		return "not present";
	case HW_MALFORMED:
		return "malformed entry";
	case HW_TOO_HIGH:
		return "above the mode's reach";
	case HW_FREED_TABLE:
		return "freed table";
	}
	return "?";
}
