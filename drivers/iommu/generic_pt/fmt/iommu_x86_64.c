// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86_64 page table as an iommu_domain
 */
#include "x86_64.h"

#include "iommu_template.h"
