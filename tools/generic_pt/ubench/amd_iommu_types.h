/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the AMD driver's v2 page table uses of the driver and of io-pgtable.h
 */
#ifndef UBENCH_AMD_IOMMU_TYPES_H
#define UBENCH_AMD_IOMMU_TYPES_H

#include <linux/mem_encrypt.h>
#include <linux/spinlock.h>

#define __sme_clr(address) ((address) & ~shim_sme_mask)

struct io_pgtable_ops {
	int (*map_pages)(struct io_pgtable_ops *ops, unsigned long iova,
			 phys_addr_t paddr, size_t pgsize, size_t pgcount,
			 int prot, gfp_t gfp, size_t *mapped);
	size_t (*unmap_pages)(struct io_pgtable_ops *ops, unsigned long iova,
			      size_t pgsize, size_t pgcount,
			      struct iommu_iotlb_gather *gather);
	phys_addr_t (*iova_to_phys)(struct io_pgtable_ops *ops,
				    unsigned long iova);
};

struct iommu_flush_ops {
	void (*tlb_flush_all)(void *cookie);
	void (*tlb_flush_walk)(unsigned long iova, size_t size, size_t granule,
			       void *cookie);
	void (*tlb_add_page)(struct iommu_iotlb_gather *gather,
			     unsigned long iova, size_t granule, void *cookie);
};

struct io_pgtable_cfg {
	unsigned long pgsize_bitmap;
	unsigned int ias;
	unsigned int oas;
	const struct iommu_flush_ops *tlb;
	struct {
		int nid;
	} amd;
};

struct io_pgtable {
	int fmt;
	void *cookie;
	struct io_pgtable_cfg cfg;
	struct io_pgtable_ops ops;
};

struct io_pgtable_init_fns {
	struct io_pgtable *(*alloc)(struct io_pgtable_cfg *cfg, void *cookie);
	void (*free)(struct io_pgtable *iop);
};

struct amd_io_pgtable {
	unsigned int seqcount;
	struct io_pgtable pgtbl;
	int mode;
	u64 *root;
	u64 *pgd;
};

struct protection_domain {
	struct list_head dev_list;
	struct iommu_domain domain;
	struct amd_io_pgtable iop;
	spinlock_t lock;
};

#define io_pgtable_ops_to_data(x)                             \
	container_of(container_of(x, struct io_pgtable, ops), \
		     struct amd_io_pgtable, pgtbl)
#define io_pgtable_ops_to_domain(x) \
	container_of(io_pgtable_ops_to_data(x), struct protection_domain, iop)

extern int amd_iommu_gpt_level;
void amd_iommu_domain_flush_pages(struct protection_domain *domain, u64 address,
				  size_t size);

#define io_pgtable_cfg_to_data(x)                             \
	container_of(container_of(x, struct io_pgtable, cfg), \
		     struct amd_io_pgtable, pgtbl)

static inline u64 iommu_virt_to_phys(void *address)
{
	return __sme_set(virt_to_phys(address));
}

static inline void *iommu_phys_to_virt(unsigned long address)
{
	return phys_to_virt(__sme_clr(address));
}

#define AMD_IOMMU_PGSIZES_V2 (PAGE_SIZE | (1ULL << 21) | (1ULL << 30))
#define IOMMU_IN_ADDR_BIT_SIZE 52
#define IOMMU_OUT_ADDR_BIT_SIZE 52
#define PAGE_MODE_1_LEVEL 1
#define PAGE_MODE_2_LEVEL 2
#define PAGE_MODE_3_LEVEL 3
#define PAGE_MODE_4_LEVEL 4
#define PAGE_MODE_5_LEVEL 5
#define PM_LEVEL_SHIFT(x) (12 + (x)*9)
#define PM_LEVEL_INDEX(x, address) (((address) >> PM_LEVEL_SHIFT(x)) & 0x1ffULL)
#define PM_ADDR_MASK 0x000ffffffffff000ULL
#define PAGE_SIZE_ALIGN(address, size) ((address) & ~((size)-1))
#define IOMMU_PTE_PRESENT(pte) ((pte)&1)
#define IOMMU_PROT_MASK 3
#define IOMMU_PROT_IR 1
#define IOMMU_PROT_IW 2

#endif /* UBENCH_AMD_IOMMU_TYPES_H */
