// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for AMDv1
 */
#include "fmt/iommu_amdv1.c"

#define LIB_NAME amdv1
#define LIB_HW hw_amdv1
#define LIB_ARENA 0x000f700000000000ULL
#define LIB_FORCE_COHERENT BIT(PT_FEAT_AMDV1_FORCE_COHERENCE)

#include "lib_amdv1.h"
