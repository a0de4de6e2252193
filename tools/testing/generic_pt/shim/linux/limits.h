/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#define INT_MAX __INT_MAX__

#endif /* SHIM_LINUX_LIMITS_H */
