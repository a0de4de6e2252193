/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_EXPORT_H
#define SHIM_LINUX_EXPORT_H

#include <linux/build_bug.h>

#define EXPORT_SYMBOL_GPL(symbol) static_assert(sizeof(symbol))
#define EXPORT_SYMBOL_NS_GPL(symbol, namespace) static_assert(sizeof(symbol))

#endif /* SHIM_LINUX_EXPORT_H */
