// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ARM drivers' page table, stage 1 of 64 bits, as an SMMUv3 uses it
 *
 * The kernel's own file is untouched by us and compiled at its place.
 */
#include <linux/device.h>
#include <linux/io-pgtable.h>
#include <linux/slab.h>

#include "peer.h"

/**
 * struct peer_lpae - A page table as a domain
 * @domain: The domain
 * @ops: Its io_pgtable
 * @dev: The walker, which has a NUMA node and nothing else
 */
struct peer_lpae {
	struct iommu_domain domain;
	struct io_pgtable_ops *ops;
	struct device dev;
};

static struct peer_lpae *peer_lpae(struct iommu_domain *domain)
{
	return container_of(domain, struct peer_lpae, domain);
}

static int peer_lpae_map_pages(struct iommu_domain *domain, unsigned long iova,
			       phys_addr_t paddr, size_t pgsize, size_t pgcount,
			       int prot, gfp_t gfp, size_t *mapped)
{
	struct io_pgtable_ops *ops = peer_lpae(domain)->ops;

	return ops->map_pages(ops, iova, paddr, pgsize, pgcount, prot, gfp,
			      mapped);
}

static size_t peer_lpae_unmap_pages(struct iommu_domain *domain,
				    unsigned long iova, size_t pgsize,
				    size_t pgcount,
				    struct iommu_iotlb_gather *gather)
{
	struct io_pgtable_ops *ops = peer_lpae(domain)->ops;

	return ops->unmap_pages(ops, iova, pgsize, pgcount, gather);
}

static phys_addr_t peer_lpae_iova_to_phys(struct iommu_domain *domain,
					  dma_addr_t iova)
{
	struct io_pgtable_ops *ops = peer_lpae(domain)->ops;

	return ops->iova_to_phys(ops, iova);
}

static const struct iommu_domain_ops peer_lpae_domain_ops = {
	.map_pages = peer_lpae_map_pages,
	.unmap_pages = peer_lpae_unmap_pages,
	.iova_to_phys = peer_lpae_iova_to_phys,
};

/* No hardware looks at these tables */
static void peer_lpae_flush_all(void *cookie)
{
}

static void peer_lpae_flush_walk(unsigned long iova, size_t size,
				 size_t granule, void *cookie)
{
}

static void peer_lpae_add_page(struct iommu_iotlb_gather *gather,
			       unsigned long iova, size_t granule, void *cookie)
{
	struct peer_lpae *lpae = cookie;

	iommu_iotlb_gather_add_page(&lpae->domain, gather, iova, granule);
}

static const struct iommu_flush_ops peer_lpae_flush = {
	.tlb_flush_all = peer_lpae_flush_all,
	.tlb_flush_walk = peer_lpae_flush_walk,
	.tlb_add_page = peer_lpae_add_page,
};

static struct iommu_domain *peer_lpae_alloc(unsigned int levels)
{
	struct peer_lpae *lpae = kzalloc(sizeof(*lpae), GFP_KERNEL);
	struct io_pgtable_cfg cfg = {
		.pgsize_bitmap = SZ_4K | SZ_2M | SZ_1G,
		.ias = levels == 3 ? 39 : 48,
		.oas = 48,
		.coherent_walk = true,
		.tlb = &peer_lpae_flush,
	};

	if (!lpae)
		return NULL;
	set_dev_node(&lpae->dev, NUMA_NO_NODE);
	cfg.iommu_dev = &lpae->dev;
	lpae->domain.ops = &peer_lpae_domain_ops;
	lpae->ops = alloc_io_pgtable_ops(ARM_64_LPAE_S1, &cfg, lpae);
	if (!lpae->ops) {
		kfree(lpae);
		return NULL;
	}
	lpae->domain.pgsize_bitmap = cfg.pgsize_bitmap;
	return &lpae->domain;
}

static void peer_lpae_free(struct iommu_domain *domain)
{
	free_io_pgtable_ops(peer_lpae(domain)->ops);
	kfree(peer_lpae(domain));
}

const struct pt_peer pt_peer_lpae = {
	.name = "6.12 lpae",
	.min_levels = 3,
	.max_levels = 4,
	.alloc = peer_lpae_alloc,
	.free = peer_lpae_free,
};
