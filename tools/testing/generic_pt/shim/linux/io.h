/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_IO_H
#define SHIM_LINUX_IO_H

#include <linux/mm.h>

#endif /* SHIM_LINUX_IO_H */
