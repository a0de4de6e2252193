// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for RISC-V
 */
#include "fmt/iommu_riscv_64.c"

#include "domain.h"

#define LIB_NAME riscv_64
#define LIB_HW hw_riscv_64
#define LIB_ARENA 0x00f7000000000000ULL
#define lib_memory_type lib_memory_type

static int lib_init(struct test_domain *domain,
		    const struct test_config *config,
		    const struct pt_iommu_cfg *common)
{
	struct pt_iommu_riscv_64_cfg cfg = { .common = *common };

	return pt_iommu_riscv_64_init(&domain->pt.riscv_64, &cfg, GFP_KERNEL);
}

/* Privileged architecture, satp.MODE: 8 is Sv39, 9 Sv48, 10 Sv57 */
static void lib_root(struct test_domain *domain, struct hw_root *root)
{
	struct pt_iommu_riscv_64_hw_info info;

	pt_iommu_riscv_64_hw_info(&domain->pt.riscv_64, &info);
	root->table_pa = info.ppn << 12;
	root->mode = info.fsc_iosatp_mode - 5;
	/* Hardware wants canonical addresses, whatever software asked for */
	root->sign_extend = true;
}

/* Nothing can be written that cannot be read */
static int lib_prot(const struct test_config *config, int prot)
{
	return IOMMU_READ | (prot & IOMMU_WRITE);
}

/* 0 is what the memory is of itself, 1 non-cacheable, 2 I/O */
static unsigned int lib_memory_type(const struct test_config *config, int prot)
{
	if (!(config->features & BIT(PT_FEAT_RISCV_SVPBMT)))
		return 0;
	if (prot & IOMMU_MMIO)
		return 2;
	return prot & IOMMU_CACHE ? 0 : 1;
}

#include "lib_template.h"
