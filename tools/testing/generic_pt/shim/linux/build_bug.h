/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#define SHIM_ASSERT(condition, text, ...) _Static_assert(condition, text)
#define static_assert(condition, ...) \
	SHIM_ASSERT(condition, ##__VA_ARGS__, #condition)

/* Once the compiler knows what inline functions return, as in the kernel */
__attribute__((__error__("BUILD_BUG_ON"))) void shim_build_bug(void);

#ifdef __OPTIMIZE__
#define BUILD_BUG_ON(condition)           \
	do {                              \
		if (condition)            \
			shim_build_bug(); \
	} while (0)
#else
#define BUILD_BUG_ON(condition) ((void)sizeof(!!(condition)))
#endif

#endif /* SHIM_LINUX_BUILD_BUG_H */
