/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the library needs of its surroundings
 *
 * Table memory with a few words beside each table, conversion between the
 * physical address in an item and the table, lists of tables that wait for a
 * flush. A build outside the kernel supplies its own version of this file.
 */
#ifndef __GENERIC_PT_ENV_H
#define __GENERIC_PT_ENV_H

#include <kunit/static_stub.h>
#include <linux/cacheflush.h>
#include <linux/generic_pt/iommu.h>
#include <linux/instrumented.h>
#include <linux/io.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/shrinker.h>
#include <linux/string.h>

#include "../iommu-pages.h"
#include "pt_defs.h"

/**
 * struct pt_desc - What is known about a table, kept outside of its memory
 * @lru: Place in a list of tables that left the tree
 * @users: Present items and other reasons to stay, see pt_tables.h
 * @slot: The item of the parent that points here; NULL for the top. While a
 *	table is not in the tree yet, the next spare one.
 *
 * Lies over the struct page of the table, as struct ptdesc does for the CPU's
 * tables. What the page allocator looks at is left alone.
 */
struct pt_desc {
	/* private: */
	unsigned long __flags;
	/* public: */
	struct list_head lru;
	/* private: */
	void *__mapping;
	/* public: */
	union {
		atomic_t users;
		/* private: */
		unsigned long __index;
		/* public: */
	};
	void *slot;
};

#define PT_DESC_MATCH(pg, desc)                    \
	static_assert(offsetof(struct page, pg) == \
		      offsetof(struct pt_desc, desc))
PT_DESC_MATCH(flags, __flags);
PT_DESC_MATCH(lru, lru);
PT_DESC_MATCH(mapping, __mapping);
PT_DESC_MATCH(index, __index);
PT_DESC_MATCH(private, slot);
#undef PT_DESC_MATCH
static_assert(sizeof(struct pt_desc) <= sizeof(struct page));

static inline struct pt_desc *pt_env_desc(const void *table)
{
	return (struct pt_desc *)virt_to_page(table);
}

/* The same for a table at a physical address */
static inline struct pt_desc *pt_env_desc_at(u64 oa)
{
	return (struct pt_desc *)pfn_to_page(oa >> PAGE_SHIFT);
}

static inline void *pt_env_desc_table(const struct pt_desc *desc)
{
	return page_address((const struct page *)desc);
}

void iommu_pt_flush_cache(const void *mem, size_t size);

/* Have memory pressure take empty tables from a domain, until _del() */
void iommu_pt_shrink_add(struct pt_iommu *iommu);
void iommu_pt_shrink_del(struct pt_iommu *iommu);
/* Have them taken after PT_IOMMU_PARKED_MS in any case */
void iommu_pt_shrink_later(struct pt_iommu *iommu);

#if IS_ENABLED(CONFIG_KUNIT)
unsigned long iommu_pt_shrink_scan(struct shrinker *unused,
				   struct shrink_control *control);
#endif

static inline void *pt_env_table_at(u64 oa)
{
	return phys_to_virt(oa);
}

/**
 * pt_env_item_at() - Find an item of a table
 * @oa: Physical address of the table
 * @offset: Where in the table it stands, in bytes
 *
 * A walk knows all offsets beforehand and waits for each table's address. Where
 * the direct map is an addition, all but one of the additions can be done while
 * it waits.
 *
 * Return: The item.
 */
static __always_inline void *pt_env_item_at(u64 oa, unsigned long offset)
{
#if defined(CONFIG_X86_64) || defined(CONFIG_UML) || defined(CONFIG_RISCV)
	unsigned long origin = (unsigned long)phys_to_virt(offset);

	/* The compiler shall not add in another order */
	OPTIMIZER_HIDE_VAR(origin);
	return (void *)(origin + oa);
#else
	return phys_to_virt(oa) + offset;
#endif
}

static inline u64 pt_env_table_oa(const void *table)
{
	return virt_to_phys((void *)table);
}

/**
 * pt_env_clear() - Empty many items that hardware may look at
 * @items: The first one
 * @nr: Number of items
 *
 * Each item changes at once. Which one does so first is left open.
 */
static inline void pt_env_clear(u64 *items, unsigned int nr)
{
#if defined(CONFIG_X86_64)
	/* A string of stores of 8 bytes, twice as fast as these one by one */
	instrument_atomic_write(items, nr * sizeof(*items));
	memset64(items, 0, nr);
#else
	unsigned int i;

	for (i = 0; i < nr; i++)
		WRITE_ONCE(items[i], 0);
#endif
}

/**
 * pt_env_alloc() - Allocate one table
 * @iommu: The page table that it is for
 * @gfp: How
 *
 * Return: Memory that is not zeroed, or NULL.
 */
static inline void *pt_env_alloc(struct pt_iommu *iommu, gfp_t gfp)
{
#if IS_ENABLED(CONFIG_IOMMU_PT_KUNIT_TEST)
	KUNIT_STATIC_STUB_REDIRECT(pt_env_alloc, iommu, gfp);
#endif
	return iommu_alloc_page_node_unzeroed(iommu->nid, gfp);
}

/* Free a table at once: neither hardware nor a walk can have seen it */
static inline void pt_env_free(void *table)
{
	iommu_free_page(table);
}

/* Add a table that left the tree to those that wait for a flush */
static inline void pt_env_defer(struct list_head *freelist,
				struct pt_desc *desc)
{
	list_add_tail(&desc->lru, freelist);
}

/* Free tables after the flush, as soon as no walk can see them */
static inline void pt_env_free_deferred(struct list_head *freelist)
{
	iommu_put_pages_list(freelist);
}

/**
 * pt_env_flush() - Write items back from the CPU's cache
 * @iommu: The page table that they are of, one with PT_FEAT_DMA_INCOHERENT
 * @items: The first one
 * @bytes: Size of them all
 *
 * Stores to them from before the call are seen by a walker that does not snoop
 * no later than any store from after it.
 */
static inline void pt_env_flush(struct pt_iommu *iommu, const void *items,
				size_t bytes)
{
#if IS_ENABLED(CONFIG_IOMMU_PT_KUNIT_TEST)
	KUNIT_STATIC_STUB_REDIRECT(pt_env_flush, iommu, items, bytes);
#endif
#if defined(CONFIG_X86)
	/* DMA of devices is coherent, only that of IOMMUs may not be */
	clflush_cache_range((void *)items, bytes);
#elif defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_DEVICE)
	iommu_pt_flush_cache(items, bytes);
#endif
}

/* A table is empty, and stays for a while */
static inline void pt_env_trim_later(struct pt_iommu *iommu)
{
#if IS_ENABLED(CONFIG_IOMMU_PT_KUNIT_TEST)
	KUNIT_STATIC_STUB_REDIRECT(pt_env_trim_later, iommu);
#endif
	iommu_pt_shrink_later(iommu);
}

/* Ask the core for whole ranges. Without that it cuts them by page sizes. */
static inline void pt_env_take_whole_ranges(struct iommu_domain *domain)
{
#ifdef IOMMU_DOMAIN_WHOLE_RANGE
	domain->whole_range = true;
#endif
}

#endif /* __GENERIC_PT_ENV_H */
