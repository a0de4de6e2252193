/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MEM_ENCRYPT_H
#define SHIM_LINUX_MEM_ENCRYPT_H

#include <linux/types.h>

/* The encryption bit of this machine, or 0; a test sets it */
extern u64 shim_sme_mask;

#define __sme_set(address) ((address) | shim_sme_mask)

#endif /* SHIM_LINUX_MEM_ENCRYPT_H */
