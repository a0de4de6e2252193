// SPDX-License-Identifier: GPL-2.0-only
/*
 * VT-d second stage page table as an iommu_domain
 */
#include "vtdss.h"

#include "iommu_template.h"
