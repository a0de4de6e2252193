// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Intel driver's second stage page table
 *
 * Its functions are cut out of the driver's one file. A walker that snoops and
 * hardware that knows 2 MiB and 1 GiB are assumed.
 */
#include <linux/dma-map-ops.h>
#include <linux/pci.h>
#include <linux/slab.h>

#define cache_tag_flush_range peer_vtd_flush_range
#define clflush_cache_range peer_vtd_clflush

static void peer_vtd_clflush(void *addr, unsigned int size)
{
}

#include "intel/iommu.h"
#include "iommu-pages.h"

#include "peer.h"

/* No hardware looks at these tables */
void cache_tag_flush_range(struct dmar_domain *domain, unsigned long start,
			   unsigned long end, int ih)
{
}

#undef pr_fmt
#undef dev_fmt
#include "intel/iommu.c"

static void peer_vtd_sync(struct iommu_domain *domain,
			  struct iommu_iotlb_gather *gather)
{
	iommu_put_pages_list(&gather->freelist);
}

static const struct iommu_domain_ops peer_vtd_domain_ops = {
	.map_pages = intel_iommu_map_pages,
	.unmap_pages = intel_iommu_unmap_pages,
	.iova_to_phys = intel_iommu_iova_to_phys,
	.iotlb_sync = peer_vtd_sync,
};

static struct iommu_domain *peer_vtd_alloc(unsigned int levels)
{
	struct dmar_domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL);

	if (!domain)
		return NULL;
	domain->nid = NUMA_NO_NODE;
	domain->iommu_coherency = true;
	domain->iommu_superpage = 2;
	domain->agaw = levels - 2;
	domain->gaw = agaw_to_width(domain->agaw);
	domain->max_addr = __DOMAIN_MAX_ADDR(domain->gaw);
	domain->domain.ops = &peer_vtd_domain_ops;
	domain->domain.pgsize_bitmap = SZ_4K | SZ_2M | SZ_1G;
	domain->pgd = iommu_alloc_page_node(domain->nid, GFP_KERNEL);
	if (!domain->pgd) {
		kfree(domain);
		return NULL;
	}
	return &domain->domain;
}

static void peer_vtd_free(struct iommu_domain *iommu_domain)
{
	struct dmar_domain *domain = to_dmar_domain(iommu_domain);
	LIST_HEAD(freelist);

	domain_unmap(domain, 0, DOMAIN_MAX_PFN(domain->gaw), &freelist);
	iommu_put_pages_list(&freelist);
	kfree(domain);
}

static u64 *peer_vtd_root(struct iommu_domain *iommu_domain,
			  unsigned int *levels)
{
	struct dmar_domain *domain = to_dmar_domain(iommu_domain);

	*levels = agaw_to_level(domain->agaw);
	return &domain->pgd->val;
}

const struct pt_peer pt_peer_vtd = {
	.name = "6.12 vt-d",
	.min_levels = 3,
	.max_levels = 5,
	.alloc = peer_vtd_alloc,
	.free = peer_vtd_free,
	.root = peer_vtd_root,
};
