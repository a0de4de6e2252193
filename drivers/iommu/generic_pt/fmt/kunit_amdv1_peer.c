// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: AMDv1 tables of Linux 6.12's own code, to compare with
 *
 * The Makefile says where that code is. Here is what it needs of the driver
 * around it, under names that do not clash with the driver's.
 */
#include <linux/mem_encrypt.h>

#define amd_iommu_pgsize_bitmap kt_peer_pgsizes
#define amd_iommu_update_and_flush_device_table kt_peer_flush_devices
#define amd_iommu_domain_flush_pages kt_peer_flush_pages
#define io_pgtable_amd_iommu_v1_init_fns kt_peer_v1_init_fns

#include "io_pgtable.c"

#include <linux/module.h>

#include "kunit_amdv1_peer.h"

unsigned long kt_peer_pgsizes = AMD_IOMMU_PGSIZES;

void kt_peer_flush_devices(struct protection_domain *domain)
{
}

void kt_peer_flush_pages(struct protection_domain *domain, u64 address,
			 size_t size)
{
}

struct kt_peer {
	struct protection_domain domain;
};

static struct io_pgtable_ops *kt_peer_ops(struct kt_peer *peer)
{
	return &peer->domain.iop.pgtbl.ops;
}

struct kt_peer *kt_peer_alloc(void)
{
	struct kt_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);

	if (!peer)
		return NULL;
	spin_lock_init(&peer->domain.lock);
	peer->domain.iop.pgtbl.cfg.amd.nid = NUMA_NO_NODE;
	if (!kt_peer_v1_init_fns.alloc(&peer->domain.iop.pgtbl.cfg, NULL)) {
		kfree(peer);
		return NULL;
	}
	return peer;
}
EXPORT_SYMBOL_GPL(kt_peer_alloc);

void kt_peer_free(struct kt_peer *peer)
{
	if (peer)
		kt_peer_v1_init_fns.free(&peer->domain.iop.pgtbl);
	kfree(peer);
}
EXPORT_SYMBOL_GPL(kt_peer_free);

int kt_peer_map(struct kt_peer *peer, u64 iova, u64 oa, u64 size, u64 count,
		int prot)
{
	int peer_prot = 0;
	size_t mapped = 0;

	/* As the AMD driver translates it */
	if (prot & IOMMU_READ)
		peer_prot |= IOMMU_PROT_IR;
	if (prot & IOMMU_WRITE)
		peer_prot |= IOMMU_PROT_IW;
	return kt_peer_ops(peer)->map_pages(kt_peer_ops(peer), iova, oa, size,
					    count, peer_prot, GFP_KERNEL,
					    &mapped);
}
EXPORT_SYMBOL_GPL(kt_peer_map);

size_t kt_peer_unmap(struct kt_peer *peer, u64 iova, u64 size, u64 count)
{
	return kt_peer_ops(peer)->unmap_pages(kt_peer_ops(peer), iova, size,
					      count, NULL);
}
EXPORT_SYMBOL_GPL(kt_peer_unmap);

void kt_peer_read_dirty(struct kt_peer *peer, u64 iova, u64 len,
			unsigned long flags, struct iommu_dirty_bitmap *dirty)
{
	kt_peer_ops(peer)->read_and_clear_dirty(kt_peer_ops(peer), iova, len,
						flags, dirty);
}
EXPORT_SYMBOL_GPL(kt_peer_read_dirty);

u64 *kt_peer_top(struct kt_peer *peer, unsigned int *level)
{
	*level = peer->domain.iop.mode - 1;
	return peer->domain.iop.root;
}
EXPORT_SYMBOL_GPL(kt_peer_top);

MODULE_DESCRIPTION("AMDv1 tables of Linux 6.12, for KUnit tests");
MODULE_LICENSE("GPL");
