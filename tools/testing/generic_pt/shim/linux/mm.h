/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages and what is known about each, see pages.c
 *
 * All memory for tables is one arena. An array beside it has a struct page for
 * each page. Both are poisoned while the page is free.
 */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)

/* Members that the library looks at, with the kernel's names and unions */
struct page {
	unsigned long flags;
	union {
		struct {
			struct list_head lru;
			void *mapping;
			unsigned long index;
			unsigned long private;
		};
		struct rcu_head rcu_head;
	};
	/* private: state of the page, what a free page has there is poison */
	int state;
};

enum shim_page_state {
	SHIM_PAGE_FREE,
	SHIM_PAGE_USED,
	/* Given back, and waits for a grace period */
	SHIM_PAGE_LEAVING,
};

#define SHIM_PAGES_LG2 18
#define SHIM_PAGES (1UL << SHIM_PAGES_LG2)

extern char *shim_arena;
extern struct page *shim_pages;
/* Physical address of the arena, a test may change it before it allocates */
extern u64 shim_arena_pa;

static inline struct page *virt_to_page(const void *address)
{
	unsigned long offset = (const char *)address - shim_arena;

	if (unlikely(offset >= SHIM_PAGES << PAGE_SHIFT))
		SHIM_FAIL("virt_to_page(%p): no table", address);
	return &shim_pages[offset >> PAGE_SHIFT];
}

static inline void *page_address(const struct page *page)
{
	unsigned long nr = page - shim_pages;

	if (unlikely(nr >= SHIM_PAGES))
		SHIM_FAIL("page_address(%p): no page", (const void *)page);
	return shim_arena + (nr << PAGE_SHIFT);
}

static inline u64 virt_to_phys(const void *address)
{
	return (const char *)address - shim_arena + shim_arena_pa;
}

static inline void *phys_to_virt(u64 pa)
{
	if (unlikely(pa - shim_arena_pa >= SHIM_PAGES << PAGE_SHIFT))
		SHIM_FAIL("phys_to_virt(%#llx): no table", pa);
	return shim_arena + (pa - shim_arena_pa);
}

static inline struct page *pfn_to_page(unsigned long pfn)
{
	return virt_to_page(phys_to_virt((u64)pfn << PAGE_SHIFT));
}

static inline unsigned long page_private(const struct page *page)
{
	return page->private;
}

/* Somebody who walks up the tables may read it at the same time */
static inline void set_page_private(struct page *page, unsigned long private)
{
	WRITE_ONCE(page->private, private);
}

struct page *alloc_pages_node(int nid, gfp_t gfp, unsigned int order);
void __free_page(struct page *page);
void put_pages_list(struct list_head *pages);

/* Statistics: one node, whose counter must come back to 0 */
#define NR_IOMMU_PAGES 0
#define NR_SECONDARY_PAGETABLE 1

struct pglist_data {
	atomic_t stat[2];
};

extern struct pglist_data shim_node;

static inline struct pglist_data *page_pgdat(const struct page *page)
{
	return &shim_node;
}

static inline void mod_node_page_state(struct pglist_data *node, int item,
				       int nr)
{
	atomic_add_return(nr, &node->stat[item]);
}

static inline void mod_lruvec_page_state(struct page *page, int item, int nr)
{
	atomic_add_return(nr, &page_pgdat(page)->stat[item]);
}

#endif /* SHIM_LINUX_MM_H */
