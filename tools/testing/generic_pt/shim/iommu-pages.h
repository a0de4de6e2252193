/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Table pages, counted. The lists are drivers/iommu/iommu-pages.c itself.
 */
#ifndef SHIM_IOMMU_PAGES_H
#define SHIM_IOMMU_PAGES_H

#include <linux/mm.h>

static inline void *iommu_alloc_page_node_unzeroed(int nid, gfp_t gfp)
{
	struct page *page = alloc_pages_node(nid, gfp, 0);

	if (!page)
		return NULL;
	mod_node_page_state(page_pgdat(page), NR_IOMMU_PAGES, 1);
	mod_lruvec_page_state(page, NR_SECONDARY_PAGETABLE, 1);
	return page_address(page);
}

static inline void iommu_free_page(void *virt)
{
	struct page *page = virt_to_page(virt);

	mod_node_page_state(page_pgdat(page), NR_IOMMU_PAGES, -1);
	mod_lruvec_page_state(page, NR_SECONDARY_PAGETABLE, -1);
	__free_page(page);
}

void iommu_put_pages_list(struct list_head *pages);
void iommu_put_pages_list_now(struct list_head *pages);

#endif /* SHIM_IOMMU_PAGES_H */
