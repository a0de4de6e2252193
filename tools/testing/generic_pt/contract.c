// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an operation returns and tells, where a sequence of operations does not
 * show it: configurations that are refused, what the gather says, what is added
 * to and what is replaced
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/generic_pt/iommu.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include <shim_alloc.h>

#include "contract.h"

struct test_domain domain;

void begin(u32 features, unsigned int start, unsigned int iova_lg2)
{
	static struct test_config config;

	config = (struct test_config){ "contract", &lib_amdv1, features,
				       start,	   iova_lg2,   52 };
	test_assert(!domain_init(&domain, &config), "init");
}

void end(void)
{
	domain_free(&domain);
}

size_t map(u64 iova, u64 oa, u64 len)
{
	size_t mapped = 0;
	int ret = domain.pt.iommu.ops->map_range(&domain.pt.iommu, iova, oa,
						 len, IOMMU_READ | IOMMU_WRITE,
						 GFP_KERNEL, &mapped);

	test_assert(!ret == (mapped == len), "it says %d, and mapped %#zx", ret,
		    mapped);
	return mapped;
}

size_t unmap(u64 iova, u64 len, struct iommu_iotlb_gather *gather)
{
	return domain.pt.iommu.ops->unmap_range(&domain.pt.iommu, iova, len,
						gather);
}

size_t unmap_and_flush(u64 iova, u64 len)
{
	struct iommu_iotlb_gather gather;
	size_t unmapped;

	iommu_iotlb_gather_init(&gather);
	unmapped = unmap(iova, len, &gather);
	if (unmapped)
		iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	return unmapped;
}

static void mapped_is_added_to(void)
{
	struct iommu_domain *iommu_domain;
	const struct iommu_domain_ops *ops;
	struct iommu_iotlb_gather gather;
	size_t mapped = 7;

	begin(RANGE, 2, 39);
	iommu_domain = &domain.pt.iommu.domain;
	ops = iommu_domain->ops;
	iommu_iotlb_gather_init(&gather);
	check(!ops->map_pages(iommu_domain, M2, 0x1000, 4096, 3, IOMMU_READ,
			      GFP_KERNEL, &mapped));
	check(mapped == 7 + 3 * 4096);
	check(!ops->map_pages(iommu_domain, 0, 0x9000, 4096, 1, IOMMU_READ,
			      GFP_KERNEL, &mapped));
	check(!ops->map_pages(iommu_domain, 4096, 0xf000, 4096, 1, IOMMU_READ,
			      GFP_KERNEL, &mapped));
	check(mapped == 7 + 5 * 4096);
	check(ops->map_pages(iommu_domain, 4096, 0xf000, 4096, 1, IOMMU_READ,
			     GFP_KERNEL, &mapped) == -EADDRINUSE);
	check(mapped == 7 + 5 * 4096);
	check(ops->iova_to_phys(iommu_domain, M2 + 0x2345) == 0x3345);
	check(ops->iova_to_phys(iommu_domain, M2 + 0x3000) == 0);
	check(ops->unmap_pages(iommu_domain, M2, 4096, 3, &gather) == 3 * 4096);
	check(ops->unmap_pages(iommu_domain, 0, 4096, 2, &gather) == 2 * 4096);
	iommu_iotlb_sync(iommu_domain, &gather);
	end();
}

static void lookup_beyond_the_top_finds_nothing(void)
{
	struct pt_iommu_entry entry;
	struct pt_iommu *iommu;

	begin(GROWS | FULL, 0, 64);
	iommu = &domain.pt.iommu;
	check(map(0, 0x5000, 4096) == 4096);
	check(iommu->ops->lookup(iommu, 0xabc, &entry) == 0);
	check(entry.oa == 0x5abc && entry.size == 4096);
	check(iommu->ops->lookup(iommu, M2 + 0xabc, &entry) == -ENOENT);
	check(iommu->domain.ops->iova_to_phys(&iommu->domain, M2) == 0);
	check(iommu->ops->set_dirty(iommu, M2) == -ENOENT);
	check(iommu->ops->set_dirty(iommu, 4096) == -ENOENT);
	check(iommu->ops->set_dirty(iommu, 0) == 0);
	end();
}

static void gather_is_what_was_unmapped(u32 features, size_t pgsize)
{
	struct iommu_iotlb_gather gather;

	begin(features, 2, 39);
	iommu_iotlb_gather_init(&gather);
	/* Nothing there: nothing to flush */
	check(!unmap(M2, 4096, &gather));
	check(!unmap(M2, M2, &gather));
	check(gather.start > gather.end && !gather.pgsize);
	map(M2, M2, 2 * M2);
	check(unmap(M2 + 4096, 4096, &gather) == 0);
	check(gather.start > gather.end && !gather.pgsize);
	check(unmap(M2, 4096, &gather) == M2);
	check(gather.start == M2 && gather.end == 2 * M2 - 1);
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);

	map(8 * M2, M2 + 4096, 3 * 4096);
	check(unmap(8 * M2, 4096, &gather) == 4096);
	check(gather.start == 8 * M2 && gather.end == 8 * M2 + 0xfff);
	check(gather.pgsize == pgsize);
	check(unmap(8 * M2 + 4096, M2, &gather) == 2 * 4096);
	check(gather.start == 8 * M2 && gather.end == 8 * M2 + 0x2fff);
	check(gather.pgsize == pgsize);
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	end();
}

static void gathers_say_what_was_unmapped(void)
{
	gather_is_what_was_unmapped(RANGE, 0);
	gather_is_what_was_unmapped(NO_GAPS, 0);
	gather_is_what_was_unmapped(RANGE | DETAILED, 4096);
	gather_is_what_was_unmapped(NO_GAPS | DETAILED, 4096);
}

/* The size of pages in a detailed gather is that of the smallest table item */
static void gather_has_the_smallest_size(void)
{
	struct iommu_iotlb_gather gather;

	begin(RANGE | DETAILED, 3, 48);
	iommu_iotlb_gather_init(&gather);
	map(1ULL << 30, 1ULL << 30, 1ULL << 30);
	check(unmap(1ULL << 30, 1ULL << 30, &gather) == 1ULL << 30);
	check(gather.pgsize == 1ULL << 30);
	map(M2, M2, M2);
	check(unmap(M2, M2, &gather) == M2);
	check(gather.pgsize == M2);
	map(4 * M2, 4 * M2, 4 * M2);
	check(unmap(4 * M2, 4 * M2, &gather) == 4 * M2);
	check(gather.pgsize == M2);
	map(M2, 4096, 4096);
	check(unmap(M2, 4096, &gather) == 4096);
	check(gather.pgsize == 4096);
	map(1ULL << 30, 1ULL << 30, 1ULL << 30);
	check(unmap(1ULL << 30, 1ULL << 30, &gather) == 1ULL << 30);
	check(gather.pgsize == 4096);
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);

	/* A table that leaves whole has leaves of any size */
	iommu_iotlb_gather_init(&gather);
	map(M2, 4096, M2);
	check(unmap(M2, M2, &gather) == M2);
	check(gather.pgsize == 4096);
	check(!list_empty(&gather.freelist));
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	end();
}

/* Gaps must not be flushed then, so what came before is; unless it is queued */
static void ranges_apart_are_flushed_apart(void)
{
	struct iommu_iotlb_gather gather;
	unsigned int queued;

	for (queued = 0; queued < 2; queued++) {
		begin(NO_GAPS, 2, 39);
		map(M2, 4096, 16 * 4096);
		iommu_iotlb_gather_init(&gather);
		gather.queued = queued;
		check(unmap(M2, 4096, &gather) == 4096);
		check(unmap(M2 + 4096, 4096, &gather) == 4096);
		check(domain.flushed == 0);
		check(gather.start == M2 && gather.end == M2 + 0x1fff);
		check(unmap(M2 + 0x3000, 4096, &gather) == 4096);
		check(domain.flushed == !queued);
		check(gather.start == (queued ? M2 : M2 + 0x3000));
		check(gather.end == M2 + 0x3fff);
		/* The one before */
		check(unmap(M2 + 0x2000, 4096, &gather) == 4096);
		check(domain.flushed == !queued);
		check(gather.end == M2 + 0x3fff);
		gather.queued = false;
		iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
		end();
	}
	/* Where gaps may be flushed, all is one range */
	begin(RANGE, 2, 39);
	map(M2, 4096, 16 * 4096);
	iommu_iotlb_gather_init(&gather);
	check(unmap(M2, 4096, &gather) == 4096);
	check(unmap(M2 + 0x3000, 4096, &gather) == 4096);
	check(!domain.flushed);
	check(gather.start == M2 && gather.end == M2 + 0x3fff);
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	end();
}

/* Some are parked and kept; when there are more the oldest ones go at once */
static void empty_tables_are_kept_and_go(void)
{
	struct iommu_iotlb_gather gather;
	unsigned long flushed;
	u64 i;

	begin(RANGE, 2, 39);
	iommu_iotlb_gather_init(&gather);
	flushed = domain.flushed;
	for (i = 1; i < 9; i++) {
		map(i << 30, 4096, 4096);
		map((i << 30) + 4096, 0xf000, 4096);
		check(unmap(i << 30, 8192, &gather) == 8192);
		rcu_barrier();
		/* The top, two parked ones, their parents */
		check(shim_pages_used() <= 1 + 2 * PT_IOMMU_PARKED);
	}
	check(domain.flushed > flushed);
	/* What is parked is used again: nothing is allocated or flushed */
	flushed = shim_pages_allocated();
	for (i = 0; i < 10; i++) {
		map(8ULL << 30, 4096, 4096);
		check(unmap(8ULL << 30, 4096, &gather) == 4096);
	}
	check(flushed == shim_pages_allocated());
	iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
	end();
}

void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length)
{
	dirty->nr++;
	dirty->iova = iova;
	dirty->len = length;
}

/* Pages that are dirty next to each other are one range, also across tables */
static void dirty_ranges_are_joined(void)
{
	struct iommu_dirty_bitmap bitmap = {};
	struct iommu_domain *iommu_domain;
	struct pt_iommu *iommu;
	u64 i;

	begin(RANGE, 2, 39);
	iommu = &domain.pt.iommu;
	iommu_domain = &iommu->domain;
	map(0, 4096, 4 * M2);
	for (i = M2 - 8 * 4096; i < M2 + 16 * 4096; i += 4096)
		check(!iommu->ops->set_dirty(iommu, i));
	check(!pt_iommu_amdv1_read_and_clear_dirty(iommu_domain, 0, 4 * M2, 0,
						   &bitmap));
	check(bitmap.nr == 1 && bitmap.iova == M2 - 8 * 4096 &&
	      bitmap.len == 24 * 4096);
	check(!pt_iommu_amdv1_read_and_clear_dirty(iommu_domain, 0, 4 * M2, 0,
						   &bitmap));
	check(bitmap.nr == 1);
	end();
}

/* The halves of a signed space are two: no range goes from one to the other */
static void signed_halves_are_apart(void)
{
	static const struct test_config config = { "signed", &lib_x86_64,
						   SIGNED,   3,
						   48,	     52 };
	u64 half = 1ULL << 47;
	size_t mapped = 0;
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct pt_iommu_entry entry;

	check(!domain_init(&domain, &config));
	check(map(half - 4096, 0x1000, 4096) == 4096);
	check(map(-half, 0x2000, 4096) == 4096);
	check(!iommu->ops->lookup(iommu, half - 1, &entry));
	check(!iommu->ops->lookup(iommu, -half, &entry));
	check(iommu->ops->lookup(iommu, half, &entry) == -ERANGE);
	check(iommu->ops->lookup(iommu, -half - 1, &entry) == -ERANGE);
	check(iommu->ops->map_range(iommu, half - 8192, 0, 12288, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -ERANGE);
	check(iommu->ops->map_range(iommu, half - 4096, 0, -2 * half + 8192,
				    IOMMU_READ, GFP_KERNEL,
				    &mapped) == -ERANGE);
	check(iommu->ops->map_range(iommu, -half - 4096, 0, 4096, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -ERANGE);
	check(iommu->ops->map_range(iommu, -4096ULL, 0, 8192, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -ERANGE);
	check(!mapped);
	end();
}

/* Where hardware takes each page for writeable, no other can be */
static void read_only_is_refused_where_it_cannot_be(void)
{
	static const struct test_config config = {
		"writeable", &lib_vtdss, BIT(PT_FEAT_VTDSS_FORCE_WRITEABLE),
		2,	     39,	 52
	};
	struct pt_iommu *iommu = &domain.pt.iommu;
	size_t mapped = 0;

	check(!domain_init(&domain, &config));
	check(iommu->ops->map_range(iommu, 0, 0, 4096, IOMMU_READ, GFP_KERNEL,
				    &mapped) == -EOPNOTSUPP);
	check(!mapped);
	check(!iommu->ops->map_range(iommu, 0, 0, 4096, IOMMU_WRITE, GFP_KERNEL,
				     &mapped));
	end();
}

static const struct contract_test contract_ops[] = {
	TEST(mapped_is_added_to),
	TEST(lookup_beyond_the_top_finds_nothing),
	TEST(gathers_say_what_was_unmapped),
	TEST(gather_has_the_smallest_size),
	TEST(ranges_apart_are_flushed_apart),
	TEST(empty_tables_are_kept_and_go),
	TEST(dirty_ranges_are_joined),
	TEST(signed_halves_are_apart),
	TEST(read_only_is_refused_where_it_cannot_be),
	{}
};

/* Each in a child, so that one that fails does not hide the others */
static bool run(const struct contract_test *test)
{
	bool good = true;
	int status;
	pid_t pid;

	for (; test->name; test++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			test_cpu_limit(60);
			test->run();
			_exit(0);
		}
		waitpid(pid, &status, 0);
		good &= !status;
		printf("%sok - contract: %s\n", status ? "not " : "",
		       test->name);
	}
	return good;
}

int main(void)
{
	bool good = run(contract_init);

	good &= run(contract_ops);
	good &= run(contract_flush);
	good &= run(contract_between);
	good &= run(contract_usage);
	good &= run(contract_runs);
	return !good;
}
