/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MODULE_H
#define SHIM_LINUX_MODULE_H

#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/kernel.h>

#define MODULE_DESCRIPTION(text) static_assert(sizeof(text))
#define MODULE_LICENSE(text) static_assert(sizeof(text))
#define MODULE_IMPORT_NS(name) static_assert(1)

#endif /* SHIM_LINUX_MODULE_H */
