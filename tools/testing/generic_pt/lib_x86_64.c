// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for x86_64
 */
#include "fmt/iommu_x86_64.c"

#include "domain.h"

#define LIB_NAME x86_64
#define LIB_HW hw_x86_64
#define LIB_ARENA 0x000f700000000000ULL

static int lib_init(struct test_domain *domain,
		    const struct test_config *config,
		    const struct pt_iommu_cfg *common)
{
	struct pt_iommu_x86_64_cfg cfg = {
		.common = *common,
		.top_level = config->start,
	};

	return pt_iommu_x86_64_init(&domain->pt.x86_64, &cfg, GFP_KERNEL);
}

static void lib_root(struct test_domain *domain, struct hw_root *root)
{
	struct pt_iommu_x86_64_hw_info info;

	pt_iommu_x86_64_hw_info(&domain->pt.x86_64, &info);
	root->table_pa = info.gcr3_pt;
	root->mode = info.levels;
}

/* Nothing can be written that cannot be read */
static int lib_prot(const struct test_config *config, int prot)
{
	return IOMMU_READ | (prot & IOMMU_WRITE);
}

#include "lib_template.h"
