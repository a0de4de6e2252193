// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a VT-d IOMMU takes an entry of a second stage table for, see hw.h
 *
 * From Intel's Virtualization Technology for Directed I/O, section 9.8,
 * "Second-Stage Paging Entries":
 *
 *   bits 0, 1   R, W: what is allowed. An entry with neither is not present.
 *   bit 2       X, ignored
 *   bits 3..6   EMT and IPAT, 0 here
 *   bit 7       PS at the levels of 2 MiB and 1 GiB: a page. Must be zero above.
 *   bits 8, 9   A, D (pages only)
 *   bit 10      ignored
 *   bit 11      SNP (pages only)
 *   bits 12..51 address; below the size of a page reserved, must be zero
 *   bits 52..61 ignored
 *   bit 62      TM, 0 here
 *   bit 63      ignored
 *
 * Access needs R or W at all levels.
 */
#include "hw.h"

#define R 0x001ULL
#define W 0x002ULL
#define PS 0x080ULL
#define A 0x100ULL
#define D 0x200ULL
#define SNP 0x800ULL
#define ADDRESS 0x000ffffffffff000ULL
/* Where the library keeps what only software reads: in pointers to tables */
#define IGNORED 0x3ff0000000000000ULL

static enum hw_result decode(const struct hw_root *root, unsigned int level,
			     u64 entry, struct hw_entry *out)
{
	static const unsigned int size_lg2[] = { 0, 12, 21, 30 };

	if (!(entry & (R | W)))
		return HW_NOT_PRESENT;
	out->read = entry & R;
	out->write = entry & W;
	out->pa = entry & ADDRESS;
	out->table = level > 1 && !(entry & PS);
	if (out->table)
		return entry & ~(R | W | A | ADDRESS | IGNORED) ? HW_MALFORMED :
								  HW_OK;
	/* No page is larger than 1 GiB */
	if (level > 3)
		return HW_MALFORMED;
	if (entry & ~(R | W | A | D | SNP | ADDRESS | (level > 1 ? PS : 0)))
		return HW_MALFORMED;
	out->size_lg2 = size_lg2[level];
	out->force_coherent = entry & SNP;
	out->dirty = entry & D;
	return HW_OK;
}

const struct hw_format hw_vtdss = {
	.name = "vtdss",
	.granule_lg2 = 12,
	.index_lg2 = 9,
	.dirty = D,
	.accessed = A,
	.ignored = IGNORED,
	.decode = decode,
};
