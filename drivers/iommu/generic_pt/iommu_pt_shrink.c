// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table memory that can be taken back
 *
 * Each domain keeps a few empty tables for the next map, see pt_tables.h. They
 * are taken from it some time later, and so is what was kept for nothing. When
 * memory is short they are taken from all domains at once, those first that were
 * not asked for the longest time.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/shrinker.h>
#include <linux/workqueue.h>

#include "pt_env.h"

/* Held while a domain is asked, so that it does not go away meanwhile */
static DEFINE_SPINLOCK(domains_lock);
static LIST_HEAD(domains);
static struct shrinker *shrinker;

static void trim_work(struct work_struct *work)
{
	struct pt_iommu *iommu =
		container_of(to_delayed_work(work), struct pt_iommu, trim);

	iommu->ops->reclaim(iommu);
}

void iommu_pt_shrink_later(struct pt_iommu *iommu)
{
	if (!delayed_work_pending(&iommu->trim))
		queue_delayed_work(system_power_efficient_wq, &iommu->trim,
				   msecs_to_jiffies(PT_IOMMU_PARKED_MS));
}
EXPORT_SYMBOL_NS_GPL(iommu_pt_shrink_later, GENERIC_PT_IOMMU);

void iommu_pt_shrink_add(struct pt_iommu *iommu)
{
	INIT_DELAYED_WORK(&iommu->trim, trim_work);
	spin_lock(&domains_lock);
	list_add_tail(&iommu->usage.domains, &domains);
	spin_unlock(&domains_lock);
}
EXPORT_SYMBOL_NS_GPL(iommu_pt_shrink_add, GENERIC_PT_IOMMU);

void iommu_pt_shrink_del(struct pt_iommu *iommu)
{
	spin_lock(&domains_lock);
	list_del(&iommu->usage.domains);
	spin_unlock(&domains_lock);
	cancel_delayed_work_sync(&iommu->trim);
}
EXPORT_SYMBOL_NS_GPL(iommu_pt_shrink_del, GENERIC_PT_IOMMU);

static unsigned long shrink_count(struct shrinker *unused,
				  struct shrink_control *control)
{
	struct pt_iommu *iommu;
	unsigned long nr = 0;

	spin_lock(&domains_lock);
	list_for_each_entry(iommu, &domains, usage.domains)
		/* It may be old when it is returned */
		nr += data_race(iommu->nr_parked);
	spin_unlock(&domains_lock);
	return nr ?: SHRINK_EMPTY;
}

VISIBLE_IF_KUNIT unsigned long
iommu_pt_shrink_scan(struct shrinker *unused, struct shrink_control *control)
{
	unsigned long freed = 0, asked = 0;
	struct pt_iommu *iommu, *last;

	spin_lock(&domains_lock);
	if (!list_empty(&domains)) {
		last = list_last_entry(&domains, struct pt_iommu,
				       usage.domains);
		do {
			iommu = list_first_entry(&domains, struct pt_iommu,
						 usage.domains);
			list_move_tail(&iommu->usage.domains, &domains);
			freed += iommu->ops->reclaim(iommu);
			asked += PT_IOMMU_PARKED;
		} while (asked < control->nr_to_scan && iommu != last);
	}
	spin_unlock(&domains_lock);
	control->nr_scanned = asked;
	return freed ?: SHRINK_STOP;
}
EXPORT_SYMBOL_IF_KUNIT(iommu_pt_shrink_scan);

static int __init iommu_pt_shrink_init(void)
{
	shrinker = shrinker_alloc(0, "iommu-pt");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = iommu_pt_shrink_scan;
	shrinker_register(shrinker);
	return 0;
}
module_init(iommu_pt_shrink_init);

static void __exit iommu_pt_shrink_exit(void)
{
	shrinker_free(shrinker);
}
module_exit(iommu_pt_shrink_exit);

MODULE_DESCRIPTION("Memory of generic IOMMU page tables");
MODULE_LICENSE("GPL");
