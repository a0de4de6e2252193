// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware and others do between two instructions of an operation, and
 * what a driver leaves out
 */
#include <errno.h>
#include <string.h>

#include <linux/generic_pt/iommu.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include <iommu-pages.h>
#include <shim_alloc.h>
#include <shim_hooks.h>

#include "contract.h"

#define AMDV1_A BIT_ULL(5)
#define AMDV1_D BIT_ULL(6)

/* Before the next store to an item it becomes something else, @times times */
static u64 set_bits, clear_bits;
static unsigned int times, stored;

static void before_store(const void *item)
{
	u64 *there = (u64 *)item;

	if (shim_page_state(item) != SHIM_PAGE_USED)
		return;
	stored++;
	if (times) {
		times--;
		*there = (*there | set_bits) & ~clear_bits;
	}
}

static void meanwhile(u64 set, u64 clear, unsigned int nr)
{
	set_bits = set;
	clear_bits = clear;
	times = nr;
	if (nr)
		stored = 0;
	shim_storing_hook = nr ? before_store : NULL;
}

static u64 *item_at(u64 iova)
{
	struct hw_walk walk;

	check(hw_walk(&domain.root, iova, &walk) == HW_OK);
	return phys_to_virt(walk.entry_pa);
}

static int scan_and_clear(u64 iova, u64 len, struct iommu_dirty_bitmap *bitmap)
{
	return domain.config->format->read_and_clear_dirty(
		&domain.pt.iommu.domain, iova, len, 0, bitmap);
}

/* A bit that hardware sets next to the dirty bit is not lost with it */
static void clearing_dirty_keeps_what_hardware_sets(void)
{
	struct iommu_dirty_bitmap bitmap = {};
	u64 old;

	begin(RANGE, 2, 39);
	map(M2, 4096, 4096);
	old = *item_at(M2);
	*item_at(M2) |= AMDV1_D;
	meanwhile(AMDV1_A, 0, 1);
	check(!scan_and_clear(M2, 4096, &bitmap));
	meanwhile(0, 0, 0);
	check(bitmap.nr == 1 && bitmap.iova == M2 && bitmap.len == 4096);
	check(*item_at(M2) == (old | AMDV1_A));
	check(stored == 2);
	/* Somebody else has cleared it: nothing is left to do */
	*item_at(M2) |= AMDV1_D;
	meanwhile(0, AMDV1_D, 1);
	check(!scan_and_clear(M2, 4096, &bitmap));
	check(*item_at(M2) == (old | AMDV1_A) && stored == 1);
	meanwhile(0, 0, 0);
	end();
}

/* The dirty bit is set in what is there, and not where nothing is any more */
static void setting_dirty_looks_again(void)
{
	struct pt_iommu *iommu = &domain.pt.iommu;
	u64 old;

	begin(RANGE, 2, 39);
	map(M2, 4096, 4096);
	old = *item_at(M2);
	meanwhile(AMDV1_A, 0, 1);
	check(!iommu->ops->set_dirty(iommu, M2));
	check(*item_at(M2) == (old | AMDV1_A | AMDV1_D) && stored == 2);
	/* Unmapped meanwhile, by whoever owns it */
	meanwhile(0, ~0ULL, 1);
	iommu->ops->set_dirty(iommu, M2);
	meanwhile(0, 0, 0);
	check(stored == 1);
	check(iommu->ops->set_dirty(iommu, M2) == -ENOENT);
	/* So that it can be freed */
	map(2 * M2, 0, 4096);
	*item_at(2 * M2) = 0;
	end();
}

/* One who has nothing to flush gets tables freed nevertheless */
static void tables_are_freed_without_a_driver(void)
{
	static const struct iommu_domain_ops nothing;
	struct iommu_iotlb_gather gather;
	unsigned int i;
	u64 iova;

	for (i = 0; i < 2; i++) {
		begin(i ? NO_GAPS : RANGE, 2, 39);
		domain.pt.iommu.domain.ops = i ? &nothing : NULL;
		for (iova = 0; iova < 16 * M2; iova += M2) {
			iommu_iotlb_gather_init(&gather);
			gather.queued = true;
			map(iova, 4096, 4096);
			check(unmap(iova, 4096, &gather) == 4096);
			check(list_empty(&gather.freelist));
			rcu_barrier();
			check(shim_pages_used() <= 2 + PT_IOMMU_PARKED);
		}
		/* A leaf over empty tables */
		map(15 * M2, M2, M2);
		map(14 * M2, 15 * M2, M2);
		rcu_barrier();
		check(shim_pages_used() == 2);
		end();
	}
}

static u64 *pointer;
static unsigned int tombstones;

static void sync_while_a_table_leaves(struct iommu_domain *iommu_domain,
				      struct iommu_iotlb_gather *gather)
{
	struct hw_entry entry = {};

	if (!list_empty(&gather->freelist)) {
		check(*pointer);
		check(gather->pgsize == page);
		check(domain.root.format->decode(&domain.root, 2, *pointer,
						 &entry) == HW_NOT_PRESENT);
		tombstones++;
	}
	driver_iotlb_sync(iommu_domain, gather);
}

/* The page with the lowest address, which is free */
static void *first_page(void)
{
	void *other[64], *first;
	unsigned int nr = 0;

	shim_pages_reuse_last(true);
	first = iommu_alloc_page_node_unzeroed(0, 0);
	while (first != (void *)shim_arena) {
		check(nr < ARRAY_SIZE(other));
		other[nr++] = first;
		first = iommu_alloc_page_node_unzeroed(0, 0);
	}
	while (nr)
		iommu_free_page(other[--nr]);
	return first;
}

/* Who comes by must see that a table leaves, also where its address is 0 */
static void a_tombstone_is_not_empty(void)
{
	struct iommu_domain_ops ops;
	const struct shape *shape;
	struct shape at_0;
	struct hw_walk walk;
	void *first;

	for (shape = shapes; shape->levels; shape++) {
		at_0 = *shape;
		at_0.config.arena_pa = ARENA_AT_0;
		at_0.config.reuse_last = true;
		/* It is neither the top nor what is above a table */
		first = first_page();
		begin_shape(&at_0);
		ops = *domain.pt.iommu.domain.ops;
		ops.iotlb_sync = sync_while_a_table_leaves;
		domain.pt.iommu.domain.ops = &ops;
		map(0, 0, page);
		iommu_free_page(first);
		map(table, 0, page);
		check(hw_walk(&domain.root, 0, &walk) == HW_OK);
		pointer = phys_to_virt(walk.step[walk.steps - 2].table_pa);
		pointer++;
		check(hw_walk(&domain.root, table, &walk) == HW_OK);
		check(walk.step[walk.steps - 1].table_pa == 0);
		check(unmap_and_flush(table, page) == page);
		check(domain.pt.iommu.ops->reclaim(&domain.pt.iommu) == 1);
		check(!*pointer);
		end();
	}
	check(tombstones == shape - shapes);
}

static void list_page(struct list_head *pages)
{
	void *page = iommu_alloc_page_node_unzeroed(0, 0);

	list_add_tail(&virt_to_page(page)->lru, pages);
}

/* A list of pages of several nodes leaves the statistics of each */
static void lists_are_freed_and_counted(void)
{
	LIST_HEAD(pages);
	unsigned int i;

	begin(RANGE, 0, 21);
	iommu_put_pages_list_now(&pages);
	iommu_put_pages_list(&pages);
	for (i = 0; i < 8; i++)
		list_page(&pages);
	check(shim_pages_used() == 9);
	iommu_put_pages_list_now(&pages);
	check(list_empty(&pages) && shim_pages_used() == 1);
	for (i = 0; i < 5; i++)
		list_page(&pages);
	iommu_put_pages_list(&pages);
	check(list_empty(&pages) && shim_pages_used() == 6);
	list_page(&pages);
	iommu_put_pages_list(&pages);
	check(shim_pages_used() == 7);
	rcu_barrier();
	check(shim_pages_used() == 1);
	end();
}

/* What a driver takes from the aperture or the sizes is not there */
static void a_driver_may_leave_less(void)
{
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct iommu_iotlb_gather gather;
	struct pt_iommu_entry entry;
	size_t mapped = 0;

	begin(RANGE, 2, 39);
	iommu_iotlb_gather_init(&gather);
	iommu->domain.geometry.aperture_start = M2;
	check(iommu->ops->map_range(iommu, M2 - 4096, 0, 4096, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -ERANGE);
	check(iommu->ops->map_range(iommu, M2 - 4096, 0, 8192, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -ERANGE);
	check(iommu->ops->lookup(iommu, M2 - 1, &entry) == -ERANGE);
	check(iommu->ops->lookup(iommu, M2, &entry) == -ENOENT);
	check(map(M2, 0, 4096) == 4096);
	check(!unmap(M2 - 4096, 8192, &gather));
	iommu->domain.pgsize_bitmap = 0;
	check(iommu->ops->map_range(iommu, 2 * M2, 0, 4096, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -EINVAL);
	iommu->domain.pgsize_bitmap = M2;
	check(iommu->ops->map_range(iommu, 2 * M2, 0, 4096, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -EINVAL);
	check(iommu->ops->map_range(iommu, 2 * M2, 4096, M2, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -EINVAL);
	check(!mapped);
	check(map(2 * M2, 0, M2) == M2);
	check(unmap(M2, 4096, &gather) == 4096);
	iommu_iotlb_sync(&iommu->domain, &gather);
	end();
}

/*
 * VT-d's second stage has R and W of their own: what may be written alone is
 * there, even though no map makes it
 */
static void what_may_be_written_alone_is_mapped(void)
{
	static const struct test_config config = { "written", &lib_vtdss, RANGE,
						   2,	      39,	  52 };
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct pt_iommu_entry entry;

	check(!domain_init(&domain, &config));
	map(M2, 0x5000, 3 * 4096);
	*item_at(M2) &= ~1ULL;
	*item_at(M2 + 4096) &= ~2ULL;
	*item_at(M2 + 8192) &= ~3ULL;
	check(!iommu->ops->lookup(iommu, M2, &entry));
	check(entry.oa == 0x5000 && entry.prot == IOMMU_WRITE);
	check(!iommu->ops->lookup(iommu, M2 + 4096, &entry));
	check(entry.oa == 0x6000 && entry.prot == IOMMU_READ);
	check(iommu->ops->lookup(iommu, M2 + 8192, &entry) == -ENOENT);
	check(unmap_and_flush(M2, 3 * 4096) == 2 * 4096);
	end();
}

/* Lengths that are no multiple of a page, or that wrap around */
static void lengths_are_whole_pages(void)
{
	static const u64 lengths[] = { 0,	 1,	   4095,
				       4097,	 M2 - 1,   ~0ULL,
				       -4095ULL, ~4096ULL, ~8192ULL };
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct iommu_dirty_bitmap bitmap = {};
	struct iommu_iotlb_gather gather;
	struct pt_iommu_entry entry;
	size_t mapped = 0;
	unsigned int i;

	begin(FULL | RANGE, 5, 64);
	map(M2, 0x5000, 4096);
	map(0, 0x9000, 4096);
	iommu_iotlb_gather_init(&gather);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		check(iommu->ops->map_range(iommu, 4096, 0, lengths[i],
					    IOMMU_READ, GFP_KERNEL,
					    &mapped) == -EINVAL);
		check(!unmap(M2, lengths[i], &gather));
		check(scan_and_clear(M2, lengths[i], &bitmap) == -EINVAL);
	}
	/* Whole pages, and more than there is */
	check(iommu->ops->map_range(iommu, 4096, 0, -4096ULL, IOMMU_READ,
				    GFP_KERNEL, &mapped) == -ERANGE);
	check(!unmap(M2, -4096ULL, &gather));
	check(!mapped && !bitmap.nr && gather.start > gather.end);
	check(iommu->ops->lookup(iommu, 4096, &entry) == -ENOENT);
	check(!iommu->ops->lookup(iommu, M2, &entry) && entry.oa == 0x5000);
	end();
}

/* A scan goes beyond what a tree that grows covers now */
static void a_scan_goes_beyond_the_top(void)
{
	struct iommu_dirty_bitmap bitmap = {};

	begin(GROWS | FULL, 0, 64);
	map(0, 4096, 8192);
	check(!domain.pt.iommu.ops->set_dirty(&domain.pt.iommu, 4096));
	check(!scan_and_clear(0, 1ULL << 40, &bitmap));
	check(bitmap.nr == 1 && bitmap.iova == 4096 && bitmap.len == 4096);
	check(!scan_and_clear(M2, 1ULL << 40, &bitmap) && bitmap.nr == 1);
	check(scan_and_clear(4096, -4096ULL, &bitmap) == 0 && bitmap.nr == 1);
	check(scan_and_clear(4096, -4095ULL, &bitmap) == -EINVAL);
	check(scan_and_clear(8192, -4096ULL, &bitmap) == -ERANGE);
	end();
}

static void nothing_is_at(u64 iova, struct iommu_iotlb_gather *gather)
{
	struct iommu_domain *iommu_domain = &domain.pt.iommu.domain;
	struct pt_iommu *iommu = &domain.pt.iommu;

	check(!unmap(iova, 4096, gather));
	check(iommu->ops->set_dirty(iommu, iova) == -ENOENT);
	check(!iommu_domain->ops->iova_to_phys(iommu_domain, iova));
}

/* Each depth of a tree, at both ends of each table */
static void all_depths_are_walked(void)
{
	struct iommu_iotlb_gather gather;
	struct pt_iommu_entry entry;
	unsigned int level, lg2;
	u64 last;

	for (level = 0; level < 6; level++) {
		begin(FULL, level, 64);
		iommu_iotlb_gather_init(&gather);
		lg2 = 12 + 9 * (level + 1);
		last = lg2 < 64 ? (1ULL << lg2) - 1 : ~0ULL;
		check(domain.pt.iommu.domain.geometry.aperture_end == last);
		check(domain.pt.iommu.ops->lookup(&domain.pt.iommu, last,
						  &entry) == -ENOENT);
		nothing_is_at(0, &gather);
		nothing_is_at(last - 4095, &gather);
		map(0, 0x7000, 4096);
		nothing_is_at(4096, &gather);
		nothing_is_at(last - 4095, &gather);
		map(last - 4095, 0x9000, 4096);
		check(!domain.pt.iommu.ops->lookup(&domain.pt.iommu, last,
						   &entry));
		check(entry.oa == 0x9fff && entry.size == 4096);
		check(!domain.pt.iommu.ops->lookup(&domain.pt.iommu, 1,
						   &entry));
		check(entry.oa == 0x7001 && entry.size == 4096);
		domain_recount(&domain, NULL);
		check(unmap(last - 4095, 4096, &gather) == 4096);
		check(unmap(0, 4096, &gather) == 4096);
		iommu_iotlb_sync(&domain.pt.iommu.domain, &gather);
		end();
	}
}

/* x86_64 has no dirty bits that could be asked for */
static void no_dirty_bits_are_no_operation(void)
{
	static const struct test_config config = { "not dirty", &lib_x86_64,
						   RANGE,	3,
						   48,		52 };
	struct iommu_dirty_bitmap bitmap = {};

	check(!domain_init(&domain, &config));
	map(0, 4096, 4096);
	check(scan_and_clear(0, 4096, &bitmap) == -EOPNOTSUPP);
	check(domain.pt.iommu.ops->set_dirty(&domain.pt.iommu, 0) ==
	      -EOPNOTSUPP);
	check(!bitmap.nr);
	end();
}

const struct contract_test contract_between[] = {
	TEST(no_dirty_bits_are_no_operation),
	TEST(clearing_dirty_keeps_what_hardware_sets),
	TEST(setting_dirty_looks_again),
	TEST(tables_are_freed_without_a_driver),
	TEST(a_tombstone_is_not_empty),
	TEST(lists_are_freed_and_counted),
	TEST(a_driver_may_leave_less),
	TEST(what_may_be_written_alone_is_mapped),
	TEST(lengths_are_whole_pages),
	TEST(a_scan_goes_beyond_the_top),
	TEST(all_depths_are_walked),
	{}
};
