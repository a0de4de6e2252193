// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an IOMMU takes an entry of an x86-64 page table for, see hw.h
 *
 * From the AMD64 Architecture Programmer's Manual, volume 2, section 5.4,
 * "Page-Translation-Table Entry Fields", and Intel's VT-d specification, section
 * 9.7, "First-Stage Paging Entries":
 *
 *   bit 0       P, present
 *   bit 1       R/W: 1 if it may be written
 *   bit 2       U/S: 1 if a user may access it, which a DMA counts as
 *   bits 3, 4   PWT, PCD: caching, 0 here
 *   bits 5, 6   A, D (pages only)
 *   bit 7       PS at the levels of 2 MiB and 1 GiB: a page. PAT at the lowest.
 *               Must be zero above.
 *   bit 8       G (pages only), 0 here
 *   bits 9..11  for software; Intel's extended accessed is bit 10
 *   bit 12      PAT, in pages larger than the smallest
 *   bits ..51   address; below the size of a page reserved, must be zero
 *   bits 52..62 for software and protection keys
 *   bit 63      no execute, 0 here
 *
 * Access needs R/W, and U/S, at all levels.
 */
#include "hw.h"

#define P 0x001ULL
#define RW 0x002ULL
#define US 0x004ULL
#define A 0x020ULL
#define D 0x040ULL
#define PS 0x080ULL
#define EA 0x400ULL
#define ADDRESS 0x000ffffffffff000ULL
/* Where the library keeps what only software reads: in pointers to tables */
#define SOFTWARE 0x07f0000000000000ULL

static enum hw_result decode(const struct hw_root *root, unsigned int level,
			     u64 entry, struct hw_entry *out)
{
	u64 address = entry & ADDRESS & ~root->c_bit;
	unsigned int lg2 = level == 1 ? 12 : level == 2 ? 21 : 30;

	if (!(entry & P))
		return HW_NOT_PRESENT;
	out->read = entry & US;
	out->write = (entry & US) && (entry & RW);
	out->encrypted = entry & root->c_bit;
	out->table = level > 1 && !(entry & PS);
	out->pa = address;
	if (out->table) {
		if (entry & ~(P | RW | US | A | EA | ADDRESS | SOFTWARE))
			return HW_MALFORMED;
		return HW_OK;
	}
	/* No page is larger than 1 GiB */
	if (level > 3)
		return HW_MALFORMED;
	if (entry &
	    ~(P | RW | US | A | D | EA | ADDRESS | (level > 1 ? PS : 0)))
		return HW_MALFORMED;
	/* Hardware that does not set them itself would fault */
	if ((entry & (A | D)) != (A | D))
		return HW_MALFORMED;
	out->size_lg2 = lg2;
	return HW_OK;
}

const struct hw_format hw_x86_64 = {
	.name = "x86_64",
	.granule_lg2 = 12,
	.index_lg2 = 9,
	.accessed = EA,
	.ignored = SOFTWARE,
	.decode = decode,
};
