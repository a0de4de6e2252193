/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes, and memory accesses that the compiler must not touch
 *
 * Each access is a point at which a test can stop a thread, each store one at
 * which a device can look at the tables.
 *
 * For ThreadSanitizer the accesses are atomic ones. A load is an acquire there:
 * it stands for the address dependency that orders a walk in the kernel. So a
 * pointer that is stored without release is still found.
 */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

#include <linux/types.h>

#include "../shim_hooks.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif
#ifndef noinline
#define noinline __attribute__((__noinline__))
#endif
#ifndef __cold
#define __cold __attribute__((__cold__))
#endif
#ifndef __maybe_unused
#define __maybe_unused __attribute__((__unused__))
#endif
#ifndef __printf
#define __printf(f, a) __attribute__((__format__(__printf__, f, a)))
#endif
#ifndef __noreturn
#define __noreturn __attribute__((__noreturn__))
#endif

#ifndef fallthrough
#define fallthrough __attribute__((__fallthrough__))
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#ifdef SHIM_TSAN
#define shim_load(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define shim_store(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#else
#define shim_load(p) (*(const volatile typeof(*(p)) *)(p))
#define shim_store(p, v) (*(volatile typeof(*(p)) *)(p) = (v))
#endif

#define READ_ONCE(x)             \
	({                       \
		shim_point();    \
		shim_load(&(x)); \
	})

#define WRITE_ONCE(x, v)                      \
	do {                                  \
		typeof(&(x)) shim_ptr = &(x); \
		shim_point();                 \
		shim_storing(shim_ptr);       \
		shim_store(shim_ptr, v);      \
		shim_stored(shim_ptr);        \
	} while (0)

#define OPTIMIZER_HIDE_VAR(var) __asm__("" : "+r"(var))

#define smp_store_release(p, v)                           \
	do {                                              \
		shim_point();                             \
		__atomic_store_n(p, v, __ATOMIC_RELEASE); \
	} while (0)

#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

#endif /* SHIM_LINUX_COMPILER_H */
