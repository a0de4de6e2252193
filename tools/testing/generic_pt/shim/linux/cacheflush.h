/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace has no walker that does not snoop: nothing is flushed */
#ifndef _SHIM_LINUX_CACHEFLUSH_H
#define _SHIM_LINUX_CACHEFLUSH_H

#endif /* _SHIM_LINUX_CACHEFLUSH_H */
