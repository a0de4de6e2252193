// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMDv1 page table as an iommu_domain
 */
#include "amdv1.h"

#include "iommu_template.h"
