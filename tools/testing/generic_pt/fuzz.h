/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes as operations
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <linux/types.h>

struct named_config;

/**
 * fuzz_one() - Run the operations that some bytes mean against the specification
 * @named: The configuration
 * @data: The bytes. Any are good.
 * @size: Their number
 *
 * Ends the process when something is wrong.
 */
void fuzz_one(const struct named_config *named, const unsigned char *data,
	      unsigned long size);

/* What libFuzzer calls; the first byte chooses the configuration */
int fuzz_begin(int *argc, char ***argv) __asm__("LLVMFuzzerInitialize");
int fuzz_input(const unsigned char *data,
	       unsigned long size) __asm__("LLVMFuzzerTestOneInput");

#endif /* FUZZ_H */
