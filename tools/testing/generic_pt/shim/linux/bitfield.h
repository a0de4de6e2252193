/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of words, by their masks
 */
#ifndef SHIM_LINUX_BITFIELD_H
#define SHIM_LINUX_BITFIELD_H

#include <linux/bits.h>

#define SHIM_FIELD_UNIT(mask) ((mask) & ~((mask) << 1))
#define FIELD_PREP(mask, value) (((value) * SHIM_FIELD_UNIT(mask)) & (mask))
#define FIELD_GET(mask, word) (((word) & (mask)) / SHIM_FIELD_UNIT(mask))

#endif /* SHIM_LINUX_BITFIELD_H */
