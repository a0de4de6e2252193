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
#define INCOHERENT BIT(PT_FEAT_DMA_INCOHERENT)
#define SIGNED BIT(PT_FEAT_SIGN_EXTEND)

/* As the AMD driver asks for it */
#define AMD (GROWS | RANGE)
#define AMD_NP (GROWS | NO_GAPS)
#define SME .sme_mask = 1ULL << 47

#define NAPOT BIT(PT_FEAT_RISCV_SVNAPOT_64K)
#define PBMT BIT(PT_FEAT_RISCV_SVPBMT)
#define SNOOP BIT(PT_FEAT_VTDSS_FORCE_COHERENCE)
#define WRITEABLE BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE)

/* Name of the format and of the kind, then the rest of struct test_config */
#define CONFIG(format, name, ...)                                          \
	{                                                                  \
		.config = { #format "-" name, &lib_##format, __VA_ARGS__ } \
	}
#define WATCHED(format, name, ...)                                  \
	{                                                           \
		.config = { #format "-device-" name, &lib_##format, \
			    __VA_ARGS__ },                          \
		.watched = true                                     \
	}
#define INTERRUPTED(format, name, ...)                                  \
	{                                                               \
		.config = { #format "-interrupts-" name, &lib_##format, \
			    __VA_ARGS__ },                              \
		.interrupts = true                                      \
	}
#define BOTH(format, name, ...)                                                \
	{                                                                      \
		.config = { #format "-interrupts-device-" name, &lib_##format, \
			    __VA_ARGS__ },                                     \
		.watched = true, .interrupts = true                            \
	}

/* clang-format off */
const struct named_config configs[] = {
	CONFIG(amdv1, "grows-from-level-0", AMD, 0, 64, 52),
	CONFIG(amdv1, "grows-from-level-2", AMD | DETAILED, 2, 64, 52),
	CONFIG(amdv1, "grows-reuse", AMD, 1, 48, 48, .reuse_last = true),
	CONFIG(amdv1, "grows-no-gaps", AMD_NP, 2, 64, 52),
	CONFIG(amdv1, "grows-no-gaps-reuse", AMD_NP, 0, 64, 48,
	       .reuse_last = true),
	CONFIG(amdv1, "queued", AMD, 2, 64, 52, .queued = true),
	CONFIG(amdv1, "queued-no-gaps", AMD_NP, 2, 64, 52, .queued = true),
	CONFIG(amdv1, "fixed-level-0", RANGE, 0, 64, 52),
	CONFIG(amdv1, "fixed-level-1", NO_GAPS, 1, 64, 52),
	CONFIG(amdv1, "fixed-level-2", 0, 2, 64, 52),
	CONFIG(amdv1, "fixed-level-3", RANGE | DETAILED, 3, 48, 48),
	CONFIG(amdv1, "fixed-level-4", NO_GAPS | DETAILED, 4, 57, 52),
	CONFIG(amdv1, "fixed-level-5", RANGE | BIT(PT_FEAT_FULL_VA), 5, 64, 52),
	CONFIG(amdv1, "sizes-4k-2m-1g", AMD, 2, 64, 52, 0x40201000),
	CONFIG(amdv1, "sizes-2m-1g", AMD, 2, 64, 52, 0x40200000),
	CONFIG(amdv1, "sizes-64k", AMD_NP, 1, 40, 40, 0x10000),
	CONFIG(amdv1, "encrypted",
	       AMD | BIT(PT_FEAT_AMDV1_ENCRYPT_TABLES) |
		       BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
	       2, 64, 52, SME),
	WATCHED(amdv1, "range", AMD, 0, 64, 52, .accessed = true),
	WATCHED(amdv1, "range-reuse", AMD, 2, 48, 48, .reuse_last = true),
	WATCHED(amdv1, "no-gaps", AMD_NP, 2, 64, 52, .accessed = true),
	WATCHED(amdv1, "no-gaps-np-cache", AMD_NP, 0, 64, 52,
		.np_cache = true, .reuse_last = true),
	WATCHED(amdv1, "queued", AMD, 2, 64, 52, .queued = true),
	WATCHED(amdv1, "fixed-np-cache", RANGE, 3, 48, 48, .np_cache = true),
	INTERRUPTED(amdv1, "range", AMD, 2, 64, 52),
	INTERRUPTED(amdv1, "reuse", AMD, 0, 48, 48, .reuse_last = true),
	INTERRUPTED(amdv1, "no-gaps", AMD_NP, 1, 64, 52, .reuse_last = true),
	BOTH(amdv1, "range", AMD, 1, 48, 48, .reuse_last = true,
	     .accessed = true),
	BOTH(amdv1, "no-gaps", AMD_NP, 1, 48, 48, .reuse_last = true),

	CONFIG(amdv1_mock, "grows", AMD, 0, 56, 51),
	CONFIG(amdv1_mock, "fixed-level-2", RANGE | DETAILED, 2, 56, 51),
	CONFIG(amdv1_mock, "sizes-2k-8k-1m", AMD_NP, 1, 56, 51, 0x102800),
	WATCHED(amdv1_mock, "snoop",
		AMD | BIT(PT_FEAT_AMDV1_FORCE_COHERENCE), 1, 56, 51,
		.accessed = true),
	BOTH(amdv1_mock, "no-gaps", AMD_NP, 1, 48, 48, .reuse_last = true),

	CONFIG(x86_64, "4-levels", RANGE, 3, 48, 52),
	CONFIG(x86_64, "5-levels", NO_GAPS | DETAILED, 4, 57, 52,
	       .reuse_last = true),
	CONFIG(x86_64, "signed-4-levels", SIGNED | RANGE | DETAILED, 3, 48, 52),
	CONFIG(x86_64, "signed-5-levels", SIGNED | NO_GAPS | BIT(PT_FEAT_FULL_VA),
	       4, 57, 48),
	CONFIG(x86_64, "signed-40-bits", SIGNED, 3, 40, 40),
	CONFIG(x86_64, "queued", NO_GAPS, 3, 39, 52, .queued = true),
	CONFIG(x86_64, "sizes-4k-1g", RANGE, 3, 48, 52, 0x40001000),
	CONFIG(x86_64, "sizes-2m", RANGE, 3, 48, 52, 0x200000),
	CONFIG(x86_64, "incoherent", RANGE | INCOHERENT, 3, 48, 52),
	CONFIG(x86_64, "encrypted",
	       RANGE | BIT(PT_FEAT_X86_64_AMD_ENCRYPT_TABLES), 3, 48, 52, SME),
	WATCHED(x86_64, "signed", SIGNED | RANGE, 3, 48, 52, .accessed = true),
	WATCHED(x86_64, "incoherent", NO_GAPS | INCOHERENT, 4, 57, 52,
		.np_cache = true, .accessed = true),
	INTERRUPTED(x86_64, "incoherent", RANGE | INCOHERENT, 3, 48, 52,
		    .reuse_last = true),
	BOTH(x86_64, "signed", SIGNED | NO_GAPS | INCOHERENT, 3, 48, 52,
	     .reuse_last = true),

	CONFIG(vtdss, "3-levels", RANGE, 2, 39, 52),
	CONFIG(vtdss, "4-levels", NO_GAPS | DETAILED, 3, 48, 46,
	       .reuse_last = true),
	CONFIG(vtdss, "5-levels", RANGE | DETAILED, 4, 57, 52),
	CONFIG(vtdss, "queued", RANGE | SNOOP, 3, 48, 52, .queued = true),
	CONFIG(vtdss, "snoop-writeable", RANGE | SNOOP | WRITEABLE, 3, 48, 52),
	CONFIG(vtdss, "sizes-4k", RANGE, 3, 48, 52, 0x1000),
	CONFIG(vtdss, "sizes-2m-1g", RANGE, 3, 48, 52, 0x40200000),
	CONFIG(vtdss, "incoherent", RANGE | INCOHERENT, 3, 48, 52),
	CONFIG(vtdss, "incoherent-no-gaps", NO_GAPS | INCOHERENT, 2, 39, 52,
	       .reuse_last = true),
	WATCHED(vtdss, "caching-mode", NO_GAPS | DETAILED, 2, 39, 52,
		.np_cache = true, .accessed = true),
	WATCHED(vtdss, "incoherent", RANGE | INCOHERENT, 3, 48, 52,
		.accessed = true),
	INTERRUPTED(vtdss, "incoherent", RANGE | INCOHERENT, 3, 48, 52,
		    .reuse_last = true),
	BOTH(vtdss, "incoherent", NO_GAPS | INCOHERENT, 2, 39, 52,
	     .reuse_last = true, .accessed = true),

	CONFIG(riscv_64, "sv39", RANGE | DETAILED, 0, 39, 56),
	CONFIG(riscv_64, "sv48", NO_GAPS | NAPOT, 0, 48, 56,
	       .reuse_last = true),
	CONFIG(riscv_64, "sv57", RANGE | PBMT, 0, 57, 56),
	CONFIG(riscv_64, "signed-sv39", SIGNED | RANGE | NAPOT | PBMT, 0, 39,
	       56),
	CONFIG(riscv_64, "signed-sv48", SIGNED | NO_GAPS | DETAILED, 0, 48, 50),
	CONFIG(riscv_64, "signed-sv57", SIGNED | RANGE | NAPOT, 0, 57, 56),
	CONFIG(riscv_64, "queued", SIGNED | NAPOT, 0, 48, 56, .queued = true),
	CONFIG(riscv_64, "sizes-4k-64k", RANGE | NAPOT, 0, 48, 56, 0x11000),
	CONFIG(riscv_64, "sizes-64k-1g", RANGE | NAPOT, 0, 48, 56, 0x40010000),
	CONFIG(riscv_64, "incoherent", RANGE | INCOHERENT | NAPOT | PBMT, 0, 48,
	       56),
	WATCHED(riscv_64, "napot", RANGE | DETAILED | NAPOT, 0, 39, 56),
	WATCHED(riscv_64, "incoherent", SIGNED | NO_GAPS | INCOHERENT | NAPOT,
		0, 39, 56),
	INTERRUPTED(riscv_64, "incoherent", RANGE | INCOHERENT | NAPOT, 0, 48,
		    56, .reuse_last = true),
	BOTH(riscv_64, "napot", SIGNED | RANGE | NAPOT, 0, 48, 56,
	     .reuse_last = true),

	CONFIG(tiny, "grows", GROWS | RANGE, 0, 18, 18),
	BOTH(tiny, "incoherent", NO_GAPS | INCOHERENT | DETAILED, 2, 18, 20,
	     .reuse_last = true),
};

/* clang-format on */

const unsigned int nr_configs = ARRAY_SIZE(configs);

const struct test_format *const formats[] = {
	&lib_amdv1, &lib_amdv1_mock, &lib_x86_64,
	&lib_vtdss, &lib_riscv_64,   &lib_tiny,
};

const unsigned int nr_formats = ARRAY_SIZE(formats);
