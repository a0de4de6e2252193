// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for VT-d's second stage
 */
#include "fmt/iommu_vtdss.c"

#include "domain.h"

#define LIB_NAME vtdss
#define LIB_HW hw_vtdss
#define LIB_ARENA 0x000f700000000000ULL
#define LIB_FORCE_COHERENT BIT(PT_FEAT_VTDSS_FORCE_COHERENCE)

static int lib_init(struct test_domain *domain,
		    const struct test_config *config,
		    const struct pt_iommu_cfg *common)
{
	struct pt_iommu_vtdss_cfg cfg = {
		.common = *common,
		.top_level = config->start,
	};

	return pt_iommu_vtdss_init(&domain->pt.vtdss, &cfg, GFP_KERNEL);
}

/* VT-d specification, section 9.3: AW 1 is 39 bits, 3 levels; 2 is 48, 3 is 57 */
static void lib_root(struct test_domain *domain, struct hw_root *root)
{
	struct pt_iommu_vtdss_hw_info info;

	pt_iommu_vtdss_hw_info(&domain->pt.vtdss, &info);
	root->table_pa = info.ssptptr;
	root->mode = info.aw + 2;
}

/* Nothing can be written that cannot be read */
static int lib_prot(const struct test_config *config, int prot)
{
	if (!(prot & IOMMU_WRITE) &&
	    (config->features & BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE)))
		return -EOPNOTSUPP;
	return IOMMU_READ | (prot & IOMMU_WRITE);
}

#include "lib_template.h"
