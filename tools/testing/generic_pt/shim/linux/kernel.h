/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small helpers that any kernel file gets by one way or another
 */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <errno.h>
#include <string.h>

#include <linux/container_of.h>

#define min_t(type, a, b)                        \
	({                                       \
		type shim_a = (a);               \
		type shim_b = (b);               \
		shim_a < shim_b ? shim_a : shim_b; \
	})
#define max_t(type, a, b)                        \
	({                                       \
		type shim_a = (a);               \
		type shim_b = (b);               \
		shim_a > shim_b ? shim_a : shim_b; \
	})
#define min(a, b) min_t(typeof(1 ? (a) : (b)), a, b)
#define max(a, b) max_t(typeof(1 ? (a) : (b)), a, b)

/* To a power of two */
#define round_down(x, to) ((x) & ~((typeof(x))(to) - 1))
#define round_up(x, to) ((((x) - 1) | ((typeof(x))(to) - 1)) + 1)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define SHIM_STRINGIFY(...) #__VA_ARGS__
#define __stringify(...) SHIM_STRINGIFY(__VA_ARGS__)

/* 1 for a macro that is 1, 0 for one that is not defined */
#define SHIM_SHIFT_1 0,
#define SHIM_SECOND(ignored, value, ...) value
#define SHIM_IS_ONE(shift) SHIM_SECOND(shift 1, 0, 0)
#define SHIM_PASTE(value) SHIM_IS_ONE(SHIM_SHIFT_##value)
#define IS_ENABLED(option) SHIM_PASTE(option)

#endif /* SHIM_LINUX_KERNEL_H */
