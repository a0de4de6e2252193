/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tells sanitizers about stores that the compiler does not see: here it sees
 * them all
 */
#ifndef SHIM_LINUX_INSTRUMENTED_H
#define SHIM_LINUX_INSTRUMENTED_H

static inline void instrument_atomic_write(const volatile void *at,
					   unsigned long bytes)
{
}

#endif /* SHIM_LINUX_INSTRUMENTED_H */
