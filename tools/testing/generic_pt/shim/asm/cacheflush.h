/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Caches are coherent here
 */
#ifndef SHIM_ASM_CACHEFLUSH_H
#define SHIM_ASM_CACHEFLUSH_H

#endif /* SHIM_ASM_CACHEFLUSH_H */
