/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands between the core and both of the AMD driver's io_pgtables
 *
 * To be included after one of them, which has included the driver's headers.
 */
#ifndef __GENERIC_PT_PEER_AMD_H
#define __GENERIC_PT_PEER_AMD_H

#include <linux/slab.h>

#include "peer.h"

static struct io_pgtable_ops *peer_ops(struct iommu_domain *domain)
{
	return &container_of(domain, struct protection_domain, domain)
			->iop.pgtbl.ops;
}

static int peer_map_pages(struct iommu_domain *domain, unsigned long iova,
			  phys_addr_t paddr, size_t pgsize, size_t pgcount,
			  int prot, gfp_t gfp, size_t *mapped)
{
	struct io_pgtable_ops *ops = peer_ops(domain);

	return ops->map_pages(ops, iova, paddr, pgsize, pgcount,
			      (prot & IOMMU_READ ? IOMMU_PROT_IR : 0) |
				      (prot & IOMMU_WRITE ? IOMMU_PROT_IW : 0),
			      gfp, mapped);
}

static size_t peer_unmap_pages(struct iommu_domain *domain, unsigned long iova,
			       size_t pgsize, size_t pgcount,
			       struct iommu_iotlb_gather *gather)
{
	struct io_pgtable_ops *ops = peer_ops(domain);
	size_t done = ops->unmap_pages(ops, iova, pgsize, pgcount, NULL);

	if (done)
		iommu_iotlb_gather_add_range(gather, iova, done);
	return done;
}

static phys_addr_t peer_iova_to_phys(struct iommu_domain *domain,
				     dma_addr_t iova)
{
	struct io_pgtable_ops *ops = peer_ops(domain);

	return ops->iova_to_phys(ops, iova);
}

static const struct iommu_domain_ops peer_domain_ops = {
	.map_pages = peer_map_pages,
	.unmap_pages = peer_unmap_pages,
	.iova_to_phys = peer_iova_to_phys,
};

static struct iommu_domain *peer_alloc(const struct io_pgtable_init_fns *fns)
{
	struct protection_domain *pdom = kzalloc(sizeof(*pdom), GFP_KERNEL);
	struct io_pgtable_cfg *cfg;

	if (!pdom)
		return NULL;
	spin_lock_init(&pdom->lock);
	cfg = &pdom->iop.pgtbl.cfg;
	cfg->amd.nid = NUMA_NO_NODE;
	if (!fns->alloc(cfg, pdom)) {
		kfree(pdom);
		return NULL;
	}
	pdom->domain.ops = &peer_domain_ops;
	pdom->domain.pgsize_bitmap = cfg->pgsize_bitmap;
	return &pdom->domain;
}

static void peer_free(const struct io_pgtable_init_fns *fns,
		      struct iommu_domain *domain)
{
	struct protection_domain *pdom =
		container_of(domain, struct protection_domain, domain);

	fns->free(&pdom->iop.pgtbl);
	kfree(pdom);
}

#endif /* __GENERIC_PT_PEER_AMD_H */
