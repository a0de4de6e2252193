/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the linker (--wrap) puts in the place of others, which get the
 * name that begins with __real
 */
#ifndef WRAP_H
#define WRAP_H

#include <linux/compiler.h>

__noreturn void __real__exit(int status);
__noreturn void __wrap__exit(int status);

void __real_clflush_cache_range(void *start, unsigned int bytes);
void __wrap_clflush_cache_range(void *start, unsigned int bytes);

#endif /* WRAP_H */
