/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Warnings and bugs both end the test
 */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <linux/build_bug.h>
#include <linux/compiler.h>

__noreturn __printf(3, 4)
void shim_bug(const char *file, int line, const char *format, ...);

#define SHIM_BUG(...) shim_bug(__FILE__, __LINE__, __VA_ARGS__)

#define WARN_ON(condition)                                   \
	({                                                   \
		bool shim_warn = !!(condition);              \
		if (unlikely(shim_warn))                     \
			SHIM_BUG("WARN_ON(%s)", #condition); \
		shim_warn;                                   \
	})
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define BUG_ON(condition)                                   \
	do {                                                \
		if (unlikely(condition))                    \
			SHIM_BUG("BUG_ON(%s)", #condition); \
	} while (0)

#endif /* SHIM_LINUX_BUG_H */
