// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware would take an entry of the tiny format for, see hw.h and tiny.h
 */
#include "hw.h"

static enum hw_result decode(const struct hw_root *root, unsigned int level,
			     u64 entry, struct hw_entry *out)
{
	bool contiguous = entry & 0x10;

	if (!(entry & 1))
		return HW_NOT_PRESENT;
	out->pa = entry & 0x000ffffffffff000ULL;
	out->table = entry & 8;
	out->read = out->table || (entry & 2);
	out->write = out->table || (entry & 4);
	out->dirty = entry & 0x20;
	if (out->table)
		return entry & ~0x003ffffffffff009ULL ? HW_MALFORMED : HW_OK;
	if ((entry & ~0x000ffffffffff037ULL) || (contiguous && level > 1))
		return HW_MALFORMED;
	out->size_lg2 = contiguous ? 13 : 10 + 2 * level;
	return HW_OK;
}

const struct hw_format hw_tiny = {
	.name = "tiny",
	.granule_lg2 = 12,
	.index_lg2 = 2,
	.dirty = 0x20,
	.ignored = 0x0030000000000000ULL,
	.decode = decode,
};
