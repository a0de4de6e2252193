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

struct lib_event lib_events[] = {
	{ "pt_park", pt_park },
	{ "pt_remove", pt_remove },
	{ "pt_flush_table", pt_flush_table },
	{ "pt_map_bury", pt_map_bury },
	{ "pt_map_bury_dead", pt_map_bury_dead },
	{ "pt_map_reap", pt_map_reap },
	{ "pt_remove_empty", pt_remove_empty },
	{ "pt_table_collect", pt_table_collect, .only_gaps = true },
	{ "pt_grow_locked", pt_grow_locked, .only_grows = true },
	{ "pt_users_put_top", pt_users_put_top },
};

const unsigned int nr_lib_events = ARRAY_SIZE(lib_events);
