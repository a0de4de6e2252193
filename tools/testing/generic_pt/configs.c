// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kinds of domains that are tested
 */
#include <linux/kernel.h>

#include "configs.h"

#define GROWS (BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA))
#define RANGE BIT(PT_FEAT_FLUSH_RANGE)
#define NO_GAPS BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS)
#define DETAILED BIT(PT_FEAT_DETAILED_GATHER)

/* As the AMD driver asks for it */
#define AMD (GROWS | RANGE)
#define AMD_NP (GROWS | NO_GAPS)

const struct named_config configs[] = {
	{ { "grows-from-level-0", AMD, 0, 64, 52 } },
	{ { "grows-from-level-2", AMD | DETAILED, 2, 64, 52 } },
	{ { "grows-reuse", AMD, 1, 48, 48, .reuse_last = true } },
	{ { "grows-no-gaps", AMD_NP, 2, 64, 52 } },
	{ { "grows-no-gaps-reuse", AMD_NP, 0, 64, 48, .reuse_last = true } },
	{ { "queued", AMD, 2, 64, 52, .queued = true } },
	{ { "queued-no-gaps", AMD_NP, 2, 64, 52, .queued = true } },
	{ { "fixed-level-0", RANGE, 0, 64, 52 } },
	{ { "fixed-level-1", NO_GAPS, 1, 64, 52 } },
	{ { "fixed-level-2", 0, 2, 64, 52 } },
	{ { "fixed-level-3", RANGE | DETAILED, 3, 48, 48 } },
	{ { "fixed-level-4", NO_GAPS | DETAILED, 4, 57, 52 } },
	{ { "fixed-level-5", RANGE | BIT(PT_FEAT_FULL_VA), 5, 64, 52 } },
	{ { "sizes-4k-2m-1g", AMD, 2, 64, 52, 0x40201000 } },
	{ { "sizes-2m-1g", AMD, 2, 64, 52, 0x40200000 } },
	{ { "sizes-64k", AMD_NP, 1, 40, 40, 0x10000 } },
	{ { "encrypted",
	    AMD | BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES) |
		    BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
	    2, 64, 52, .sme_mask = 1ULL << 47 } },
	{ { "device-range", AMD, 0, 64, 52 }, .watched = true },
	{ { "device-range-reuse", AMD, 2, 48, 48, .reuse_last = true },
	  .watched = true },
	{ { "device-no-gaps", AMD_NP, 2, 64, 52 }, .watched = true },
	{ { "device-no-gaps-np-cache", AMD_NP, 0, 64, 52, .np_cache = true,
	    .reuse_last = true },
	  .watched = true },
	{ { "device-queued", AMD, 2, 64, 52, .queued = true },
	  .watched = true },
	{ { "device-fixed-np-cache", RANGE, 3, 48, 48, .np_cache = true },
	  .watched = true },
	{ { "interrupts", AMD, 2, 64, 52 }, .interrupts = true },
	{ { "interrupts-grows-reuse", AMD, 0, 48, 48, .reuse_last = true },
	  .interrupts = true },
	{ { "interrupts-no-gaps", AMD_NP, 1, 64, 52, .reuse_last = true },
	  .interrupts = true },
	{ { "interrupts-device", AMD, 1, 48, 48, .reuse_last = true },
	  .watched = true, .interrupts = true },
	{ { "interrupts-device-no-gaps", AMD_NP, 1, 48, 48,
	    .reuse_last = true },
	  .watched = true, .interrupts = true },
};

const unsigned int nr_configs = ARRAY_SIZE(configs);
