// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AMD driver's v2 (guest, x86) page table
 */
/* Comes with other headers where the driver can be built */
#include <linux/mem_encrypt.h>

#define amd_iommu_domain_flush_pages peer_amdv2_flush_pages
#define amd_iommu_gpt_level peer_amdv2_levels
#define io_pgtable_amd_iommu_v2_init_fns peer_amdv2_fns

/* In place of the header that no longer knows this format */
#include "io-pgtable.h"

#undef pr_fmt
#undef dev_fmt
#include "amd/io_pgtable_v2.c"

#include "peer_amd.h"

int amd_iommu_gpt_level = PAGE_MODE_4_LEVEL;

/* No hardware looks at these tables */
void amd_iommu_domain_flush_pages(struct protection_domain *domain, u64 address,
				  size_t size)
{
}

static struct iommu_domain *peer_amdv2_alloc(unsigned int levels)
{
	amd_iommu_gpt_level = levels;
	return peer_alloc(&peer_amdv2_fns);
}

static void peer_amdv2_free(struct iommu_domain *domain)
{
	peer_free(&peer_amdv2_fns, domain);
}

static u64 *peer_amdv2_root(struct iommu_domain *domain, unsigned int *levels)
{
	*levels = amd_iommu_gpt_level;
	return container_of(domain, struct protection_domain, domain)->iop.pgd;
}

const struct pt_peer pt_peer_amdv2 = {
	.name = "6.12 amd v2",
	.min_levels = 4,
	.max_levels = 5,
	.alloc = peer_amdv2_alloc,
	.free = peer_amdv2_free,
	.root = peer_amdv2_root,
};
