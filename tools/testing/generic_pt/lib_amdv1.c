// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's one compilation unit for AMDv1, and a look into it
 */
#include "fmt/iommu_amdv1.c"

#include "lib_amdv1.h"

void lib_table(struct pt_iommu *iommu, const void *table,
	       struct lib_table *info)
{
	struct pt_desc *desc = pt_env_desc(table);
	unsigned int users = atomic_read(&desc->users);
	unsigned int i;

	*info = (struct lib_table){
		.live = users & PT_USERS_LIVE,
		.parked = users & PT_USERS_PARKED,
		.top = users & PT_USERS_TOP,
		.level = pt_desc_level(desc),
		.slot = desc->slot,
	};
	for (i = 0; i < PT_IOMMU_PARKED; i++)
		info->has_place |= iommu->parked[i] == desc;
}

unsigned int lib_nr_parked(struct pt_iommu *iommu)
{
	unsigned int i, nr = 0;

	for (i = 0; i < PT_IOMMU_PARKED; i++)
		nr += iommu->parked[i] != NULL;
	return nr;
}
