/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation fails by other means here, see pages.c
 */
#ifndef SHIM_KUNIT_STATIC_STUB_H
#define SHIM_KUNIT_STATIC_STUB_H

#include <linux/kernel.h>

#endif /* SHIM_KUNIT_STATIC_STUB_H */
