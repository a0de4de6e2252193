// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache maintenance for formats that are modules
 *
 * Architectures do not export what the DMA API uses, so this is always built
 * in. It goes by address: a page table is no mapping of the DMA API.
 */
#include <linux/dma-map-ops.h>
#include <linux/export.h>

#include "pt_env.h"

void iommu_pt_flush_cache(const void *mem, size_t size)
{
	/* What shall be written back is in the cache by now */
	mb();
	arch_sync_dma_for_device(virt_to_phys((void *)mem), size,
				 DMA_TO_DEVICE);
	/* Nothing that follows is stored before it arrived */
	mb();
}
EXPORT_SYMBOL_NS_GPL(iommu_pt_flush_cache, GENERIC_PT_IOMMU);
