// SPDX-License-Identifier: GPL-2.0-only
/*
 * Domains that memory can be taken back from: only their number is of interest.
 * Time does not pass, tests take it back when they want to.
 */
#include "pt_env.h"

static int nr_domains;

void iommu_pt_shrink_add(struct pt_iommu *iommu)
{
	__atomic_add_fetch(&nr_domains, 1, __ATOMIC_RELAXED);
}

void iommu_pt_shrink_del(struct pt_iommu *iommu)
{
	if (__atomic_sub_fetch(&nr_domains, 1, __ATOMIC_RELAXED) < 0)
		__builtin_trap();
}

void iommu_pt_shrink_later(struct pt_iommu *iommu)
{
}
