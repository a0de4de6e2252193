/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the library uses of the IOMMU subsystem
 */
#ifndef SHIM_LINUX_IOMMU_H
#define SHIM_LINUX_IOMMU_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>

#define IOMMU_READ (1 << 0)
#define IOMMU_WRITE (1 << 1)
#define IOMMU_CACHE (1 << 2)
#define IOMMU_NOEXEC (1 << 3)
#define IOMMU_MMIO (1 << 4)

#define IOMMU_DIRTY_NO_CLEAR (1 << 0)

struct iommu_domain;
struct iommu_dirty_bitmap;

/* What was unmapped and is not flushed yet; end is the last byte */
struct iommu_iotlb_gather {
	unsigned long start;
	unsigned long end;
	size_t pgsize;
	struct list_head freelist;
	bool queued;
};

struct iommu_domain_ops {
	int (*map_pages)(struct iommu_domain *domain, unsigned long iova,
			 phys_addr_t paddr, size_t pgsize, size_t pgcount,
			 int prot, gfp_t gfp, size_t *mapped);
	size_t (*unmap_pages)(struct iommu_domain *domain, unsigned long iova,
			      size_t pgsize, size_t pgcount,
			      struct iommu_iotlb_gather *gather);
	void (*flush_iotlb_all)(struct iommu_domain *domain);
	void (*iotlb_sync)(struct iommu_domain *domain,
			   struct iommu_iotlb_gather *gather);
	phys_addr_t (*iova_to_phys)(struct iommu_domain *domain,
				    dma_addr_t iova);
};

struct iommu_domain_geometry {
	dma_addr_t aperture_start;
	dma_addr_t aperture_end;
	bool force_aperture;
};

struct iommu_domain {
	const struct iommu_domain_ops *ops;
	unsigned long pgsize_bitmap;
	struct iommu_domain_geometry geometry;
};

static inline void iommu_iotlb_gather_init(struct iommu_iotlb_gather *gather)
{
	*gather = (struct iommu_iotlb_gather){ .start = ~0UL };
	INIT_LIST_HEAD(&gather->freelist);
}

static inline void iommu_iotlb_sync(struct iommu_domain *domain,
				    struct iommu_iotlb_gather *gather)
{
	if (domain->ops && domain->ops->iotlb_sync)
		domain->ops->iotlb_sync(domain, gather);
	iommu_iotlb_gather_init(gather);
}

/* Whether there is IOVA between what was gathered and a range */
static inline bool
iommu_iotlb_gather_is_disjoint(struct iommu_iotlb_gather *gather,
			       unsigned long iova, size_t size)
{
	if (!gather->end)
		return false;
	return (iova && iova - 1 > gather->end) ||
	       (gather->start && iova + (size - 1) < gather->start - 1);
}

static inline void
iommu_iotlb_gather_add_range(struct iommu_iotlb_gather *gather,
			     unsigned long iova, size_t size)
{
	gather->start = min(gather->start, iova);
	gather->end = max(gather->end, iova + (size - 1));
}

/* A test says where what is dirty goes to */
void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length);

#endif /* SHIM_LINUX_IOMMU_H */
