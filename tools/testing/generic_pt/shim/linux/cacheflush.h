/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walkers that do not snoop, as on x86: the CPU's cache is flushed by range
 */
#ifndef SHIM_LINUX_CACHEFLUSH_H
#define SHIM_LINUX_CACHEFLUSH_H

#define CONFIG_X86 1

void clflush_cache_range(void *start, unsigned int bytes);

#endif /* SHIM_LINUX_CACHEFLUSH_H */
