/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#define SHIM_ASSERT(condition, text, ...) _Static_assert(condition, text)
#define static_assert(condition, ...) \
	SHIM_ASSERT(condition, ##__VA_ARGS__, #condition)

#endif /* SHIM_LINUX_BUILD_BUG_H */
