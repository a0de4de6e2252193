// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Sv39, Sv48 or Sv57 page table as an iommu_domain
 */
#include "riscv_64.h"

#include "iommu_template.h"
