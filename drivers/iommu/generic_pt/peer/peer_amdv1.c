// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AMD driver's v1 (host) page table
 */
/* Comes with other headers where the driver can be built */
#include <linux/mem_encrypt.h>

#define amd_iommu_domain_flush_pages peer_amdv1_flush_pages
#define amd_iommu_pgsize_bitmap peer_amdv1_pgsize_bitmap
#define amd_iommu_update_and_flush_device_table peer_amdv1_change_top
#define io_pgtable_amd_iommu_v1_init_fns peer_amdv1_fns

/* In place of the header that no longer knows this format */
#include "io-pgtable.h"

#undef pr_fmt
#undef dev_fmt
#include "amd/io_pgtable.c"

#include "peer_amd.h"

/* All but the size that hardware does not take */
unsigned long amd_iommu_pgsize_bitmap = ~0xFFFUL & ~(1UL << 39);

/* No hardware looks at these tables */
void amd_iommu_domain_flush_pages(struct protection_domain *domain, u64 address,
				  size_t size)
{
}

void amd_iommu_update_and_flush_device_table(struct protection_domain *domain)
{
}

static struct protection_domain *peer_amdv1_pdom(struct iommu_domain *domain)
{
	return container_of(domain, struct protection_domain, domain);
}

static int peer_amdv1_dirty(struct iommu_domain *domain, unsigned long iova,
			    size_t size, unsigned long flags,
			    struct iommu_dirty_bitmap *dirty)
{
	struct io_pgtable_ops *ops = peer_ops(domain);

	return ops->read_and_clear_dirty(ops, iova, size, flags, dirty);
}

static const struct iommu_dirty_ops peer_amdv1_dirty_ops = {
	.read_and_clear_dirty = peer_amdv1_dirty,
};

static struct iommu_domain *peer_amdv1_alloc(unsigned int levels)
{
	struct iommu_domain *domain = peer_alloc(&peer_amdv1_fns);

	if (!domain)
		return NULL;
	domain->dirty_ops = &peer_amdv1_dirty_ops;
	/* The tree is empty, any number of levels does */
	peer_amdv1_pdom(domain)->iop.mode = levels;
	return domain;
}

static void peer_amdv1_free(struct iommu_domain *domain)
{
	peer_free(&peer_amdv1_fns, domain);
}

static u64 *peer_amdv1_root(struct iommu_domain *domain, unsigned int *levels)
{
	*levels = peer_amdv1_pdom(domain)->iop.mode;
	return peer_amdv1_pdom(domain)->iop.root;
}

const struct pt_peer pt_peer_amdv1 = {
	.name = "6.12 amd v1",
	.min_levels = 1,
	.max_levels = 6,
	.alloc = peer_amdv1_alloc,
	.free = peer_amdv1_free,
	.root = peer_amdv1_root,
	.dirty = BIT_ULL(6),
};
