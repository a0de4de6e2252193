/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is the same for all formats that are set up as AMDv1 is
 *
 * Included by lib_<format>.c after the library, and after LIB_NAME, LIB_HW and
 * LIB_ARENA, see lib_template.h.
 */
#include "domain.h"

static int lib_init(struct test_domain *domain,
		    const struct test_config *config,
		    const struct pt_iommu_cfg *common)
{
	struct pt_iommu_amdv1_cfg cfg = {
		.common = *common,
		.starting_level = config->start,
	};

	return PTF_FN(init)(&domain->pt.amdv1, &cfg, GFP_KERNEL);
}

static void lib_root(struct test_domain *domain, struct hw_root *root)
{
	struct pt_iommu_amdv1_hw_info info;

	PTF_FN(hw_info)(&domain->pt.amdv1, &info);
	root->table_pa = info.host_pt_root;
	root->mode = info.mode;
}

static int lib_prot(const struct test_config *config, int prot)
{
	return prot & (IOMMU_READ | IOMMU_WRITE);
}

#include "lib_template.h"
