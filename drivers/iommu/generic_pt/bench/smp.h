/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before all else where the benchmark is built
 *
 * A uniprocessor kernel, as UML is, leaves the lock prefix out, and an atomic
 * operation costs a quarter of what it does where these tables are used.
 */
#if defined(__x86_64__) && !defined(CONFIG_SMP)
#include <asm/alternative.h>

#undef LOCK_PREFIX
#define LOCK_PREFIX "lock "
#endif
