/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: AMDv1 tables of Linux 6.12's own code, to compare with
 *
 * kunit_amdv1_peer.c compiles that code from the kernel tree.
 */
#ifndef __GENERIC_PT_FMT_KUNIT_AMDV1_PEER_H
#define __GENERIC_PT_FMT_KUNIT_AMDV1_PEER_H

#include <linux/iommu.h>
#include <linux/types.h>

struct kt_peer;

struct kt_peer *kt_peer_alloc(void);
void kt_peer_free(struct kt_peer *peer);
int kt_peer_map(struct kt_peer *peer, u64 iova, u64 oa, u64 size, u64 count,
		int prot);
size_t kt_peer_unmap(struct kt_peer *peer, u64 iova, u64 size, u64 count);
void kt_peer_read_dirty(struct kt_peer *peer, u64 iova, u64 len,
			unsigned long flags, struct iommu_dirty_bitmap *dirty);
/* The top table and its level, counted from 0 */
u64 *kt_peer_top(struct kt_peer *peer, unsigned int *level);

#endif /* __GENERIC_PT_FMT_KUNIT_AMDV1_PEER_H */
