// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMDv1 page table of 2 KiB granules as an iommu_domain, for tests
 */
#define AMDV1_MOCK
#include "amdv1.h"

#include "iommu_template.h"
