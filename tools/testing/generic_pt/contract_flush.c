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

void __wrap_clflush_cache_range(void *start, unsigned int bytes)
{
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

const struct contract_test contract_flush[] = {
	TEST(stores_are_written_back_once),
	TEST(nothing_is_written_back_for_who_snoops),
	TEST(cleared_dirty_bits_are_written_back_once),
	TEST(a_new_top_is_written_back),
	TEST(no_table_is_allocated_in_vain),
	{}
};
