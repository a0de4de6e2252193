// SPDX-License-Identifier: GPL-2.0-only
/*
 * What operations cost: write-backs of the CPU's cache, and tables
 */
#include <errno.h>
#include <string.h>

#include <linux/generic_pt/iommu.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include <shim_alloc.h>

#include "contract.h"
#include "wrap.h"

/* Write-backs of the CPU's cache, and their bytes: all calls come by here */
static unsigned long flushes, flushed_bytes;

/* What to do once, before an item is written back */
static void (*meanwhile)(void);
static void *meanwhile_at;

void __wrap_clflush_cache_range(void *start, unsigned int bytes)
{
	void (*run)(void) = meanwhile;

	if (run && start == meanwhile_at) {
		meanwhile = NULL;
		run();
	}
	flushes++;
	flushed_bytes += bytes;
	__real_clflush_cache_range(start, bytes);
}

#define check_flushes(calls, bytes)                                         \
	do {                                                                \
		test_assert(flushes == (calls) && flushed_bytes == (bytes), \
			    "%lu flushes of %lu bytes", flushes,            \
			    flushed_bytes);                                 \
		flushes = 0;                                                \
		flushed_bytes = 0;                                          \
	} while (0)

/* What is stored is flushed once a run; what can be relied on is not again */
static void stores_are_written_back_once(void)
{
	static const struct test_config config = {
		"incoherent", &lib_x86_64, INCOHERENT | RANGE, 3, 48, 52
	};
	struct iommu_iotlb_gather gather;

	flushes = 0;
	flushed_bytes = 0;
	check(!domain_init(&domain, &config));
	check_flushes(1, 4096);
	iommu_iotlb_gather_init(&gather);
	/* Three tables as a whole, and the item that makes them reachable */
	map(0, 0x5000, 4096);
	check_flushes(4, 3 * 4096 + 8);
	map(4096, 0x1000, 4096);
	check_flushes(1, 8);
	map(2 * 4096, 0xf000, 8 * 4096);
	check_flushes(1, 8 * 8);
	/* A leaf in the table above, then a table beside */
	map(M2, M2, M2);
	check_flushes(1, 8);
	map(2 * M2, 4096, 2 * 4096);
	check_flushes(2, 4096 + 8);
	check(unmap(4096, 4096, &gather) == 4096);
	check_flushes(1, 8);
	check(unmap(2 * 4096, 8 * 4096, &gather) == 8 * 4096);
	check_flushes(1, 8 * 8);
	/* Nothing there, nothing to flush */
	check(!unmap(2 * 4096, 8 * 4096, &gather));
	check(!unmap(4096, 4096, &gather));
	check_flushes(0, 0);
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	end();
	check_flushes(0, 0);
}

/* Up to the last item of a table, at once */
static void whole_tables_are_written_back_once(void)
{
	static const struct test_config config = {
		"incoherent", &lib_x86_64, INCOHERENT | NO_GAPS, 3, 48, 52
	};

	check(!domain_init(&domain, &config));
	map(0, 4096, M2);
	map(M2, 4096, M2 - 4096);
	flushes = 0;
	flushed_bytes = 0;
	check(unmap_and_flush(0, M2) == M2);
	check_flushes(1, 4096);
	check(unmap_and_flush(M2, M2 - 4096) == M2 - 4096);
	check_flushes(1, 4096 - 8);
	end();
}

/* Leaves and a table that leaves whole, up to the last item */
static void different_items_are_written_back_once(void)
{
	static const struct test_config config = {
		"incoherent", &lib_x86_64, INCOHERENT | RANGE, 3, 48, 52
	};

	check(!domain_init(&domain, &config));
	map(509 * M2, 509 * M2, M2);
	map(510 * M2, 4096, M2);
	map(511 * M2, 511 * M2, M2);
	flushes = 0;
	flushed_bytes = 0;
	check(unmap_and_flush(509 * M2, 3 * M2) == 3 * M2);
	check_flushes(1, 3 * 8);
	end();
}

/* One that snoops has nothing flushed for */
static void nothing_is_written_back_for_who_snoops(void)
{
	static const struct test_config config = { "coherent", &lib_x86_64,
						   RANGE,      3,
						   48,	       52 };
	struct iommu_iotlb_gather gather;

	flushes = 0;
	flushed_bytes = 0;
	check(!domain_init(&domain, &config));
	iommu_iotlb_gather_init(&gather);
	map(0, 0x5000, 4096);
	map(4096, 0x9000, 8192);
	check(unmap(0, 4096, &gather) == 4096);
	check(unmap(4096, 8192, &gather) == 8192);
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	end();
	check_flushes(0, 0);
}

static void scan(u64 iova, u64 len, unsigned long flags)
{
	struct iommu_dirty_bitmap bitmap = {};

	check(!domain.config->format->read_and_clear_dirty(
		&domain.pt.iommu.domain, iova, len, flags, &bitmap));
}

static void cleared_dirty_bits_are_written_back_once(void)
{
	static const struct test_config config = {
		"incoherent", &lib_vtdss, INCOHERENT | RANGE, 2, 39, 52
	};
	struct pt_iommu *iommu = &domain.pt.iommu;

	check(!domain_init(&domain, &config));
	map(0, 4096, 2 * M2);
	map(4 * M2, 4 * M2, 3 * M2);
	flushes = 0;
	flushed_bytes = 0;
	check(!iommu->ops->set_dirty(iommu, 3 * 4096));
	check_flushes(1, 8);
	check(!iommu->ops->set_dirty(iommu, 20 * 4096));
	check(!iommu->ops->set_dirty(iommu, M2));
	check_flushes(2, 16);
	check(iommu->ops->set_dirty(iommu, 2 * M2) == -ENOENT);
	scan(0, 2 * M2, IOMMU_DIRTY_NO_CLEAR);
	check_flushes(0, 0);
	/* From the first to the last that were cleared in each table */
	scan(0, 2 * M2, 0);
	check_flushes(2, 18 * 8 + 8);
	scan(0, 2 * M2, 0);
	check_flushes(0, 0);
	check(!iommu->ops->set_dirty(iommu, 4 * M2));
	check(!iommu->ops->set_dirty(iommu, 6 * M2));
	check_flushes(2, 16);
	scan(0, 8 * M2, 0);
	check_flushes(1, 3 * 8);
	end();
}

/* The dirty bit may be in any of a leaf's items, so all of them are */
static void all_items_of_a_dirty_leaf_are_written_back(void)
{
	static const struct test_config config = {
		"incoherent", &lib_tiny, INCOHERENT | RANGE, 2, 18, 20
	};
	struct pt_iommu *iommu = &domain.pt.iommu;

	check(!domain_init(&domain, &config));
	map(0, 0x40000, 2 * 4096);
	check(!iommu->ops->set_dirty(iommu, 0));
	flushes = 0;
	flushed_bytes = 0;
	scan(0, 2 * 4096, 0);
	check_flushes(1, 2 * 8);
	end();
}

/* Growth: the new top as a whole */
static void a_new_top_is_written_back(void)
{
	static const struct test_config config = {
		"incoherent", &lib_tiny, INCOHERENT | GROWS | RANGE, 0, 18, 20
	};

	check(!domain_init(&domain, &config));
	map(0, 0x5000, 4096);
	flushes = 0;
	flushed_bytes = 0;
	/* The item of the old top, and two new tops of 4 items */
	map(4096, 0x8000, 4096);
	check_flushes(1, 8);
	map(16 * 4096, 0x8000, 4096);
	check(domain.grown == 2);
	/* With a table of each level but the top, and the item in the top */
	check_flushes(5, 4 * 32 + 8);
	end();
}

/* What is allocated ahead is needed */
static void no_table_is_allocated_in_vain(void)
{
	unsigned long allocated, used;

	begin(RANGE, 3, 48);
	allocated = shim_pages_allocated();
	used = shim_pages_used();
	/* Three for the first, one for each of the others */
	map(M2, 4096, 8 * M2);
	check(shim_pages_used() - used == 2 + 8);
	check(shim_pages_allocated() - allocated == 2 + 8);
	map(512 * M2 - M2, 4096, 2 * M2);
	check(shim_pages_allocated() - allocated == 2 + 8 + 3);
	check(shim_pages_used() - used == 2 + 8 + 3);
	/* Not more at once than are worth it */
	map(1024 * M2, 4096, 100 * M2);
	check(shim_pages_allocated() - allocated == shim_pages_used() - used);
	/* None where all that is needed is there */
	allocated = shim_pages_allocated();
	map(0, 4096, 4096);
	map(101ULL << 39, 1ULL << 30, 1ULL << 30);
	check(shim_pages_allocated() - allocated == 2);
	end();
}

static u64 pointer_pa;
static unsigned int flushed_early, flushed_late;

static void flush_of_all(struct iommu_domain *iommu_domain)
{
	u64 item = 0;

	check(hw_read64(pointer_pa, &item));
	/* x86_64: present */
	if (item & 1)
		flushed_early++;
	else
		flushed_late++;
	driver_flush_all(iommu_domain);
}

static void map_where_a_table_leaves(void)
{
	map(2 * 4096, 0x7000, 4096);
}

/*
 * A map takes over from who removes a table, and has not yet flushed that from
 * the CPU's cache: hardware must not find the table after the IOTLB is flushed
 */
static void a_tombstone_is_written_back_before_the_iotlb_is_flushed(void)
{
	static const struct test_config config = {
		"incoherent", &lib_x86_64, INCOHERENT | RANGE, 3, 48, 52
	};
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct iommu_domain_ops ops;
	struct hw_walk walk;
	unsigned int i;

	/* By chance it may arrive by itself */
	for (i = 0; i < 16; i++) {
		check(!domain_init(&domain, &config));
		ops = *iommu->domain.ops;
		ops.flush_iotlb_all = flush_of_all;
		iommu->domain.ops = &ops;
		map(0, 0x5000, 4096);
		check(hw_walk(&domain.root, 0, &walk) == HW_OK);
		pointer_pa = walk.step[walk.steps - 2].table_pa;
		check(unmap_and_flush(0, 4096) == 4096);
		meanwhile_at = phys_to_virt(pointer_pa);
		meanwhile = map_where_a_table_leaves;
		iommu->ops->reclaim(iommu);
		check(!meanwhile);
		check(hw_walk(&domain.root, 2 * 4096, &walk) == HW_OK);
		end();
	}
	check(!flushed_early && flushed_late == 16);
}

const struct contract_test contract_flush[] = {
	TEST(a_tombstone_is_written_back_before_the_iotlb_is_flushed),
	TEST(stores_are_written_back_once),
	TEST(whole_tables_are_written_back_once),
	TEST(different_items_are_written_back_once),
	TEST(nothing_is_written_back_for_who_snoops),
	TEST(cleared_dirty_bits_are_written_back_once),
	TEST(all_items_of_a_dirty_leaf_are_written_back),
	TEST(a_new_top_is_written_back),
	TEST(no_table_is_allocated_in_vain),
	{}
};
