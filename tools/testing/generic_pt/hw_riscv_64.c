// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a RISC-V IOMMU takes an entry of a first stage table for, see hw.h
 *
 * From the RISC-V Privileged Architecture, sections "Sv39: Page-Based 39-bit
 * Virtual-Memory System" and following, and the chapters on Svnapot and Svpbmt:
 *
 *   bit 0       V, valid
 *   bits 1..3   R, W, X: all zero in a pointer to a table; W needs R
 *   bit 4       U: a user may access it, which DMA without a process is
 *   bit 5       G, 0 here
 *   bits 6, 7   A, D: an access, or a write, without them faults if hardware
 *               does not set them
 *   bits 8, 9   RSW, for software
 *   bits 10..53 PPN, a page number: below the size of a page must be zero
 *   bits 54..60 reserved, must be zero
 *   bits 61, 62 PBMT (pages only), 3 is reserved
 *   bit 63      N (pages only): at the lowest level, with 1000 in the low bits
 *               of PPN, the entry is one of 16 of a page of 64 KiB
 *
 * In a pointer to a table D, A and U must be zero. Access is what the page says.
 */
#include "hw.h"

enum {
	V = 1 << 0,
	R = 1 << 1,
	W = 1 << 2,
	X = 1 << 3,
	U = 1 << 4,
	A = 1 << 6,
	D = 1 << 7,
	RSW = 3 << 8,
};

#define PPN_SHIFT 10
#define PPN_BITS 44

static enum hw_result decode(const struct hw_root *root, unsigned int level,
			     u64 entry, struct hw_entry *out)
{
	u64 ppn = entry >> PPN_SHIFT & ((1ULL << PPN_BITS) - 1);
	unsigned int flags = entry & 0x3ff;
	unsigned int pbmt = entry >> 61 & 3;
	bool napot = entry >> 63;

	if (!(flags & V))
		return HW_NOT_PRESENT;
	if (entry >> 54 & 0x7f)
		return HW_MALFORMED;
	out->table = !(flags & (R | W | X));
	out->pa = ppn << 12;
	if (out->table) {
		out->read = true;
		out->write = true;
		return (flags & ~(V | RSW)) || pbmt || napot ? HW_MALFORMED :
							       HW_OK;
	}
	/* Nobody executes, and the library keeps the rest of the bits clear */
	if ((flags & ~(V | R | W | U | A | D)) || !(flags & R) || pbmt == 3)
		return HW_MALFORMED;
	out->size_lg2 = 12 + 9 * (level - 1);
	if (napot) {
		if (level != 1 || (ppn & 0xf) != 0x8)
			return HW_MALFORMED;
		out->size_lg2 = 16;
		out->pa = (ppn & ~0xfULL) << 12;
	}
	out->read = (flags & U) && (flags & A);
	out->write = out->read && (flags & W) && (flags & D);
	out->memory_type = pbmt;
	return HW_OK;
}

const struct hw_format hw_riscv_64 = {
	.name = "riscv_64",
	.granule_lg2 = 12,
	.index_lg2 = 9,
	.ignored = RSW,
	.flush_by_page = true,
	.decode = decode,
};
