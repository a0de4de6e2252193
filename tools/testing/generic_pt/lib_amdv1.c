// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for AMDv1
 */
#include "fmt/iommu_amdv1.c"

#include "domain.h"

#define LIB_NAME amdv1
#define LIB_HW hw_amdv1
#define LIB_ARENA 0x000f700000000000ULL
#define LIB_FORCE_COHERENT BIT(PT_FEAT_AMDV1_FORCE_COHERENCE)

static int lib_init(struct test_domain *domain,
		    const struct test_config *config,
		    const struct pt_iommu_cfg *common)
{
	struct pt_iommu_amdv1_cfg cfg = {
		.common = *common,
		.starting_level = config->start,
	};

	return pt_iommu_amdv1_init(&domain->pt.amdv1, &cfg, GFP_KERNEL);
}

static void lib_root(struct test_domain *domain, struct hw_root *root)
{
	struct pt_iommu_amdv1_hw_info info;

	pt_iommu_amdv1_hw_info(&domain->pt.amdv1, &info);
	root->table_pa = info.host_pt_root;
	root->mode = info.mode;
}

static int lib_prot(const struct test_config *config, int prot)
{
	return prot & (IOMMU_READ | IOMMU_WRITE);
}

#include "lib_template.h"
