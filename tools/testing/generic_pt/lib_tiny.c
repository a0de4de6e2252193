// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for the tiny format
 */
#include "tiny.h"

#include "fmt/iommu_template.h"

#define LIB_NAME tiny
#define LIB_HW hw_tiny
#define LIB_ARENA 0x000f700000000000ULL

#include "lib_amdv1.h"
