/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A look into the library, for one format
 *
 * Included by lib_<format>.c after the library and these:
 *
 *  - LIB_NAME: part of the format's public names
 *  - LIB_HW: its struct hw_format
 *  - LIB_ARENA: where its tables are
 *  - lib_init(), lib_root(), lib_prot() and, where there are such things,
 *    LIB_FORCE_COHERENT, lib_memory_type as a macro for itself
 */
#include "domain.h"
#include "lib.h"

#ifndef LIB_FORCE_COHERENT
#define LIB_FORCE_COHERENT 0
#endif

#ifndef lib_memory_type
#define lib_memory_type NULL
#endif

#define LIB_PASTE(a, b) a##b
#define LIB_CONCAT(a, b) LIB_PASTE(a, b)
/* The names of a format's functions are made from their argument as it stands */
#define LIB_DOMAIN_OPS(name) IOMMU_PT_DOMAIN_OPS(name)

static void lib_table(struct pt_iommu *iommu, const void *table,
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
	for (i = 0; i < iommu->nr_parked; i++)
		info->has_place |= iommu->parked[i] == desc;
}

static struct lib_event lib_events[] = {
	{ "pt_park", pt_park },
	{ "pt_remove", pt_remove },
	{ "pt_flush_tables", pt_flush_tables },
	{ "pt_map_bury", pt_map_bury },
	{ "pt_map_bury_dead", pt_map_bury_dead },
	{ "pt_map_reap", pt_map_reap },
	{ "pt_remove_empty", pt_remove_empty },
	{ "pt_collect", pt_collect, .only_gaps = true },
	{ "pt_grow_locked", pt_grow_locked, .only_grows = true },
	{ "pt_users_put_top", pt_users_put_top },
};

static const struct iommu_domain_ops lib_ops = {
	LIB_DOMAIN_OPS(LIB_NAME),
	.iotlb_sync = driver_iotlb_sync,
	.flush_iotlb_all = driver_flush_all,
};

const struct test_format LIB_CONCAT(lib_, LIB_NAME) = {
	.name = __stringify(LIB_NAME),
	.hw = &LIB_HW,
	.arena_pa = LIB_ARENA,
	.ops = &lib_ops,
	.init = lib_init,
	.root = lib_root,
	.read_and_clear_dirty = PTF_FN(read_and_clear_dirty),
	.prot = lib_prot,
	.memory_type = lib_memory_type,
	.force_coherent = LIB_FORCE_COHERENT,
	.table = lib_table,
	.events = lib_events,
	.nr_events = ARRAY_SIZE(lib_events),
};
