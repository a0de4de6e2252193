// SPDX-License-Identifier: GPL-2.0-only
/*
 * Freeing lists of IOMMU table pages
 *
 * Tables that left the tree of a domain are collected on a list, linked through
 * page->lru, until the IOTLB is flushed. After that no hardware refers to them,
 * but somebody who looks up an address, dumps the tables or scans them for
 * dirty pages may still be reading one: such readers take no lock, only
 * rcu_read_lock(). So the list waits for a grace period, all of it for one, and
 * then for a second: whoever removed a table may hold its read side a little
 * longer, and until then leave traces of the table that others come across. They
 * are gone after the first period, and so is all who saw them after the second.
 *
 *	list ---> first ---> second ---> ... ---> last ---> list
 *
 * The first page leaves the list, because its rcu_head lies over its lru. The
 * others stay linked in a circle without a head, which the first page's private
 * points to:
 *
 *	first.rcu_head
 *	first.private ---> second ---> ... ---> last ---> second
 *
 * This takes the same few stores for a list of any length. Whatever the owner of
 * the tables kept in page->private is lost when they go on their way here.
 */
#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "iommu-pages.h"

/* Whether both pages are accounted to the same node and memory cgroup */
static bool accounted_alike(struct page *a, struct page *b)
{
#ifdef CONFIG_MEMCG
	if (a->memcg_data != b->memcg_data)
		return false;
#endif
	return page_pgdat(a) == page_pgdat(b);
}

static void account_freed(struct page *page, int count)
{
	mod_node_page_state(page_pgdat(page), NR_IOMMU_PAGES, -count);
	mod_lruvec_page_state(page, NR_SECONDARY_PAGETABLE, -count);
}

/**
 * iommu_put_pages_list_now - free a list of pages at once
 * @pages: List of pages, linked through lru. Empty on return.
 *
 * For teardown, when neither hardware nor anybody who reads under
 * rcu_read_lock() can see the pages any more.
 *
 * Context: Any.
 */
void iommu_put_pages_list_now(struct list_head *pages)
{
	struct page *first, *page;
	int count = 0;

	if (list_empty(pages))
		return;

	/* Neighbours nearly always share their counters: add them up first */
	first = list_first_entry(pages, struct page, lru);
	list_for_each_entry(page, pages, lru) {
		if (!accounted_alike(first, page)) {
			account_freed(first, count);
			first = page;
			count = 0;
		}
		count++;
	}
	account_freed(first, count);

	put_pages_list(pages);
}
EXPORT_SYMBOL_GPL(iommu_put_pages_list_now);

/* The second grace period is over */
static void put_pages_rcu(struct rcu_head *rcu)
{
	struct page *first = container_of(rcu, struct page, rcu_head);
	struct page *second = (struct page *)page_private(first);
	LIST_HEAD(pages);

	/* Put the new list's head into the circle, then the first page */
	if (second)
		list_add_tail(&pages, &second->lru);
	list_add(&first->lru, &pages);

	iommu_put_pages_list_now(&pages);
}

/* The first grace period is over: nobody comes across the pages any more */
static void put_pages_rcu_again(struct rcu_head *rcu)
{
	call_rcu(rcu, put_pages_rcu);
}

/**
 * iommu_put_pages_list - free a list of pages after two grace periods
 * @pages: List of pages, linked through lru. Empty on return.
 *
 * For pages that hardware does not see any more, because they are out of the
 * tables and the IOTLB is flushed. They are freed, and leave the statistics,
 * when everybody who may have found them under rcu_read_lock() is done.
 *
 * Context: Any. Takes the same time for each length of the list.
 */
void iommu_put_pages_list(struct list_head *pages)
{
	struct page *first, *second = NULL;

	if (list_empty(pages))
		return;

	first = list_first_entry(pages, struct page, lru);
	list_del(&first->lru);
	if (!list_empty(pages)) {
		second = list_first_entry(pages, struct page, lru);
		list_del_init(pages);
	}
	set_page_private(first, (unsigned long)second);
	call_rcu(&first->rcu_head, put_pages_rcu_again);
}
EXPORT_SYMBOL_GPL(iommu_put_pages_list);
