/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: threads that map, unmap and look in the same tables at the same time
 *
 * Each thread owns a few pages of every table and maps or unmaps one of them at
 * random, most of them for a moment only. So tables become empty, are parked,
 * removed and needed again all the time, while another thread looks up, scans and
 * reclaims. What kunit_race.h has in order happens here in any order: something to
 * watch for KCSAN, lockdep and memory checkers, on more than one CPU.
 */
#ifndef __GENERIC_PT_KUNIT_STRESS_H
#define __GENERIC_PT_KUNIT_STRESS_H

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "kunit_life.h"

static unsigned int kunit_turns = 3000;
module_param(kunit_turns, uint, 0444);
MODULE_PARM_DESC(kunit_turns, "What each thread of the stress suite maps");

/* Pages of a table that one thread owns */
#define KT_STRESS_PAGES 2
/* Tables at most; more than are parked */
#define KT_STRESS_TABLES (4 * PT_IOMMU_PARKED)
/* Threads that map at most */
#define KT_STRESS_THREADS 4U

/**
 * struct kt_stress - A domain that threads share
 * @domain: The domain, as a driver lays it over the library's
 * @table: The page table
 * @top_lock: The driver's lock
 * @kt: Says what the table is like; only read
 * @tables: Number of tables in use
 * @wrong: How often something was not as it must be
 * @freed: Tables that went through a flush
 * @stop: The one that only looks shall end
 */
struct kt_stress {
	union {
		struct iommu_domain domain;
		struct PTF_TABLE table;
	};
	/* What a driver protects its list of devices with */
	spinlock_t top_lock;
	struct kt *kt;
	unsigned int tables;
	atomic_t wrong;
	atomic_t freed;
	bool stop;
};

PT_IOMMU_CHECK_DOMAIN(struct kt_stress, table.iommu, domain);

/**
 * struct kt_stresser - One thread
 * @stress: What it works on
 * @index: Its number among those that map
 * @task: The thread
 * @done: It has ended
 */
struct kt_stresser {
	struct kt_stress *stress;
	unsigned int index;
	struct task_struct *task;
	struct completion done;
};

static void kt_stress_sync(struct iommu_domain *domain,
			   struct iommu_iotlb_gather *gather)
{
	struct kt_stress *stress =
		container_of(domain, struct kt_stress, domain);
	struct page *page;

	list_for_each_entry(page, &gather->freelist, lru)
		atomic_inc(&stress->freed);
	iommu_put_pages_list(&gather->freelist);
}

static void kt_stress_flush_all(struct iommu_domain *domain)
{
}

static const struct iommu_domain_ops kt_stress_domain_ops = {
	KT_DOMAIN_OPS(PTF_NAME),
	.iotlb_sync = kt_stress_sync,
	.flush_iotlb_all = kt_stress_flush_all,
};

static void kt_stress_change_top(struct pt_iommu *iommu, phys_addr_t top_paddr,
				 unsigned int top_level)
{
}

static spinlock_t *kt_stress_top_lock(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct kt_stress, table.iommu)->top_lock;
}

static const struct pt_iommu_driver_ops kt_stress_driver_ops = {
	.change_top = kt_stress_change_top,
	.get_top_lock = kt_stress_top_lock,
};

static u64 kt_stress_iova(const struct kt_stress *stress, unsigned int table,
			  unsigned int page)
{
	return ((u64)table << kt_table_lg2(stress->kt)) +
	       ((u64)page << stress->kt->min_lg2);
}

/* The n-th page of a thread's own */
static u64 kt_stress_own(const struct kt_stresser *me, unsigned int n)
{
	return kt_stress_iova(me->stress, n / KT_STRESS_PAGES,
			      me->index * KT_STRESS_PAGES +
				      n % KT_STRESS_PAGES);
}

/* Never 0, which stands for nothing */
static phys_addr_t kt_stress_oa(const struct kt_stress *stress, u64 iova)
{
	u64 size = 1ULL << stress->kt->min_lg2, mask = stress->kt->oa_last;

	return ((iova & (mask >> 1)) + size) & mask;
}

static void kt_stress_expect(struct kt_stress *stress, bool good)
{
	if (!good)
		atomic_inc(&stress->wrong);
}

static void kt_stress_map(struct kt_stress *stress, u64 iova)
{
	size_t size = 1UL << stress->kt->min_lg2, mapped = 0;
	int ret;

	ret = PTF_FN(map_pages)(&stress->domain, iova,
				kt_stress_oa(stress, iova), size, 1, KT_RW,
				GFP_KERNEL, &mapped);
	kt_stress_expect(stress, !ret && mapped == size);
	kt_stress_expect(stress, PTF_FN(iova_to_phys)(&stress->domain, iova) ==
					 kt_stress_oa(stress, iova));
}

static void kt_stress_unmap(struct kt_stress *stress, u64 iova)
{
	size_t size = 1UL << stress->kt->min_lg2;
	struct iommu_iotlb_gather gather;

	iommu_iotlb_gather_init(&gather);
	kt_stress_expect(stress, PTF_FN(unmap_pages)(&stress->domain, iova,
						     size, 1, &gather) == size);
	iommu_iotlb_sync(&stress->domain, &gather);
	kt_stress_expect(stress, !PTF_FN(iova_to_phys)(&stress->domain, iova));
}

/* Map and unmap pages of one's own */
static int kt_stress_mapper(void *arg)
{
	DECLARE_BITMAP(mapped, KT_STRESS_TABLES * KT_STRESS_PAGES) = {};
	struct kt_stresser *me = arg;
	struct kt_stress *stress = me->stress;
	unsigned int pages = stress->tables * KT_STRESS_PAGES, i, n;

	for (i = 0; i < kunit_turns; i++) {
		n = get_random_u32_below(pages);
		if (!test_bit(n, mapped)) {
			kt_stress_map(stress, kt_stress_own(me, n));
			__set_bit(n, mapped);
			if (!get_random_u32_below(4))
				continue;
		}
		kt_stress_unmap(stress, kt_stress_own(me, n));
		__clear_bit(n, mapped);
		cond_resched();
	}
	for_each_set_bit(n, mapped, pages)
		kt_stress_unmap(stress, kt_stress_own(me, n));
	complete(&me->done);
	return 0;
}

static void kt_stress_scan(struct kt_stress *stress)
{
	u64 len = kt_stress_iova(stress, stress->tables, 0);
	struct iommu_dirty_bitmap dirty;
	int ret;

	iommu_dirty_bitmap_init(&dirty, NULL, NULL);
	ret = PTF_FN(read_and_clear_dirty)(&stress->domain, 0, len, 0, &dirty);
	kt_stress_expect(stress, !ret);
}

/* Look at pages of others, scan all, take back what is parked */
static int kt_stress_looker(void *arg)
{
	struct kt_stresser *me = arg;
	struct kt_stress *stress = me->stress;
	phys_addr_t oa;
	u64 iova;

	while (!READ_ONCE(stress->stop)) {
		iova = kt_stress_iova(stress,
				      get_random_u32_below(stress->tables),
				      get_random_u32_below(KT_STRESS_THREADS *
							   KT_STRESS_PAGES));
		oa = PTF_FN(iova_to_phys)(&stress->domain, iova);
		kt_stress_expect(stress,
				 !oa || oa == kt_stress_oa(stress, iova));
		if (PTF_DIRTY && !get_random_u32_below(8))
			kt_stress_scan(stress);
		if (!get_random_u32_below(64))
			stress->table.iommu.ops->reclaim(&stress->table.iommu);
		cond_resched();
	}
	complete(&me->done);
	return 0;
}

static bool kt_stress_start(struct kt_stresser *me, int (*run)(void *arg))
{
	init_completion(&me->done);
	me->task = kthread_run(run, me, "pt-stress/%u", me->index);
	return !IS_ERR(me->task);
}

static int kt_stress_init(struct kt_stress *stress, struct kt *kt)
{
	struct PTF_CFG fmt_cfg = kt_fmt_cfg(kt->cfg);
	unsigned int lg2 = kt_table_lg2(kt);
	int ret;

	spin_lock_init(&stress->top_lock);
	stress->kt = kt;
	stress->tables = KT_STRESS_TABLES;
	while (stress->tables > 1 &&
	       !kt_fits(kt, 0, (u64)stress->tables << lg2))
		stress->tables /= 2;
	stress->table.iommu.driver_ops = &kt_stress_driver_ops;
	stress->table.iommu.nid = NUMA_NO_NODE;
	ret = PTF_FN(init)(&stress->table, &fmt_cfg, GFP_KERNEL);
	stress->domain.type = IOMMU_DOMAIN_UNMANAGED;
	stress->domain.ops = &kt_stress_domain_ops;
	return ret;
}

/* Several callers, each within IOVA of its own, and a reader */
static void stress_one_tree(struct kunit *test)
{
	struct kt *kt = test->priv;
	unsigned int nr = min(num_online_cpus() + 1, KT_STRESS_THREADS), i;
	struct kt_stresser *mappers, *looker;
	struct kt_stress *stress;
	struct pt_iommu_info info;

	stress = kunit_kzalloc(test, sizeof(*stress), GFP_KERNEL);
	mappers = kunit_kcalloc(test, nr, sizeof(*mappers), GFP_KERNEL);
	looker = kunit_kzalloc(test, sizeof(*looker), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stress);
	KUNIT_ASSERT_NOT_NULL(test, mappers);
	KUNIT_ASSERT_NOT_NULL(test, looker);
	kunit_deactivate_static_stub(test, pt_env_alloc);
	kunit_deactivate_static_stub(test, pt_env_flush);
	kunit_deactivate_static_stub(test, pt_env_trim_later);
	KUNIT_ASSERT_EQ(test, 0, kt_stress_init(stress, kt));

	looker->stress = stress;
	KUNIT_EXPECT_TRUE(test, kt_stress_start(looker, kt_stress_looker));
	for (i = 0; i < nr; i++) {
		mappers[i].stress = stress;
		mappers[i].index = i;
		KUNIT_EXPECT_TRUE(test, kt_stress_start(&mappers[i],
							kt_stress_mapper));
	}
	for (i = 0; i < nr; i++)
		if (!IS_ERR(mappers[i].task))
			wait_for_completion(&mappers[i].done);
	WRITE_ONCE(stress->stop, true);
	if (!IS_ERR(looker->task))
		wait_for_completion(&looker->done);

	KUNIT_EXPECT_EQ(test, 0, atomic_read(&stress->wrong));
	stress->table.iommu.ops->reclaim(&stress->table.iommu);
	stress->table.iommu.ops->get_info(&stress->table.iommu, &info);
	/* All is empty: the top alone is left */
	KUNIT_EXPECT_EQ(test, 1, info.tables);
	KUNIT_EXPECT_EQ(test, info.freed_tables, atomic_read(&stress->freed));
	if (stress->tables > PT_IOMMU_PARKED)
		KUNIT_EXPECT_GT(test, info.freed_tables, 0);
	pt_iommu_deinit(&stress->table.iommu);
}

static struct kunit_case kt_stress_cases[] = {
	KT_CASE(stress_one_tree),
	{},
};

KT_SUITE(stress);

#endif /* __GENERIC_PT_KUNIT_STRESS_H */
