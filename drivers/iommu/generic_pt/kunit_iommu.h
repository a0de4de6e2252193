/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: a domain whose driver watches what the library does
 *
 * The suites are compiled into the unit of each format, after the library, so
 * that they can call anything in it. Each case runs once for each configuration
 * of the format, see struct kt_config.
 *
 *   here            the domain, its driver and its allocator
 *   kunit_fixture.h how they begin and end, and for which configurations
 *   kunit_model.h   an oracle: what is mapped, as a flat list of leaves
 *   kunit_tree.h    a walk as hardware does it, and a recount of the tree
 *   kunit_ops.h     operations that are checked against both
 *   kunit_fmt.h     suite of the format, walker and arithmetic
 *   kunit_map.h     suites of the operations, like kunit_unmap.h,
 *                   kunit_flush.h, kunit_grow.h, kunit_dirty.h, kunit_life.h,
 *                   kunit_halves.h, kunit_incoherent.h, kunit_race.h,
 *                   kunit_random.h, kunit_stress.h and kunit_usage.h
 *   fmt/kunit_*.h   what only the format knows: configurations, decoder
 */
#ifndef __GENERIC_PT_KUNIT_IOMMU_H
#define __GENERIC_PT_KUNIT_IOMMU_H

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/generic_pt/iommu.h>
#include <linux/maple_tree.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "iommu_pt.h"

/* Flushes that are remembered of one operation */
#define KT_FLUSHES 64
/* Writes to memory that are remembered of one operation */
#define KT_WRITEBACKS 128
/* What a new table holds: each item looks present */
#define KT_POISON 0xdb

struct kt;

/**
 * struct kt_config - One way to use a format
 * @name: What the log calls it
 * @features: Features to turn on
 * @vasz_lg2: &pt_iommu_cfg.hw_max_vasz_lg2
 * @oasz_lg2: &pt_iommu_cfg.hw_max_oasz_lg2
 * @top_level: Level to begin with
 * @pgsizes: What the driver narrows the page sizes to, or 0
 * @enc_mask: Memory encryption bit, which this machine does not have
 */
struct kt_config {
	const char *name;
	u32 features;
	u8 vasz_lg2;
	u8 oasz_lg2;
	u8 top_level;
	u64 pgsizes;
	u64 enc_mask;
};

/**
 * struct kt_hw - What hardware understands by an item
 * @kind: Kind of item
 * @oa: Address of the table, or first OA of the leaf
 * @lg2: lg2 of the leaf's size
 * @prot: What the leaf says about permissions and memory, as kt_fmt_prot()
 * @dirty: The dirty bit is set
 */
struct kt_hw {
	enum {
		KT_NONE,
		KT_TABLE,
		KT_LEAF,
		KT_BAD
	} kind;
	u64 oa;
	unsigned int lg2;
	int prot;
	bool dirty;
};

/* A format's file supplies the following five, from the manual alone */

/* The configurations by number, then NULL */
static const struct kt_config *kt_config(unsigned int nr);

/* The format's own config struct */
static struct PTF_CFG kt_fmt_cfg(const struct kt_config *cfg);

/* Where hardware is told to find the top, without encryption bit */
static u64 kt_fmt_root(const struct kt_config *cfg, struct PTF_TABLE *table,
		       unsigned int *level);

/* What a leaf can say of what a caller asks for; calling it twice is the same */
static int kt_fmt_prot(const struct kt_config *cfg, int prot);

/* Decode an item of a table of @level; KT_BAD if it does not fit @cfg */
static struct kt_hw kt_fmt_decode(const struct kt_config *cfg, u64 item,
				  unsigned int level);

/**
 * struct kt_flush - One flush that the driver was asked for
 * @all: Of everything
 * @start: First byte
 * @last: Last byte
 * @pgsize: Page size of the gather
 * @tables: Tables on the freelist
 */
struct kt_flush {
	bool all;
	u64 start;
	u64 last;
	size_t pgsize;
	unsigned int tables;
};

/**
 * struct kt_writeback - A part of a table that was written back from the cache
 * @items: First item
 * @bytes: How much
 */
struct kt_writeback {
	const u64 *items;
	size_t bytes;
};

/**
 * struct kt_growth - One call of change_top
 * @oa: Physical address of the new top
 * @level: Its level
 * @leaves: Number of leaves below it
 */
struct kt_growth {
	u64 oa;
	unsigned int level;
	unsigned int leaves;
};

/**
 * struct kt_page - A table that was allocated
 * @node: Among all of them
 * @mem: The table. The test holds a reference, so that memory that was freed
 *	is not used again before the test knows.
 * @ram: With walkers that do not snoop, what they see of it: what was written
 *	back from the CPU's cache
 * @iova: First IOVA that it covers, once it was seen in the tree
 * @level: Its level, likewise
 * @seen: It was seen in the tree
 * @empty: Nothing was in it when last seen
 * @leaves_flushed: Its range was flushed since something was in it
 * @flushed: Walk caches were flushed after it left the tree
 * @walk: Number of the last recount that met it
 */
struct kt_page {
	struct list_head node;
	void *mem;
	u64 *ram;
	u64 iova;
	unsigned int level;
	bool seen;
	bool empty;
	bool leaves_flushed;
	bool flushed;
	unsigned int walk;
};

/**
 * struct kt_hook - What is done once, when the library calls out
 * @call: Function, or NULL
 * @skip: How many calls out to let pass before
 */
struct kt_hook {
	void (*call)(struct kt *kt);
	unsigned int skip;
};

/**
 * struct kt - A page table under test
 * @test: The test
 * @cfg: Its configuration
 * @domain: The domain, as a driver lays it over the library's
 * @table: The page table
 * @top_lock: The driver's lock
 * @hw_root: Where "hardware" begins
 * @hw_level: Level of that table
 * @sizes: Page sizes after narrowing
 * @min_lg2: lg2 of the smallest one
 * @space_last: Last byte of the aperture as init says
 * @last: Last byte of the aperture that most tests use: of the lower half, where
 *	there are two
 * @oa_last: Last byte of the OA space
 * @model: What is mapped: struct kt_leaf at units of the granule
 * @nr_leaves: Number of leaves in it
 * @pages: Tables that were allocated, by page frame
 * @page_list: The same, in order
 * @nr_calls: Calls of the allocator
 * @fail_at: Number of the call that fails first, or 0
 * @fail_nr: Number of calls that fail
 * @walks: Number of recounts
 * @dead: deinit was called
 * @flush: What the driver was asked to flush
 * @nr_flushes: Number of these, which may be more than are remembered
 * @writeback: Parts of tables that were written back from the CPU's cache
 * @nr_writebacks: Number of these, which may be more than are remembered
 * @before_writeback: Called before each of them
 * @growth: Calls of change_top
 * @nr_growths: Number of these
 * @on_alloc: Called in the middle of an allocation
 * @on_flush: Called in the middle of a flush
 * @inner: IOVA that these work at
 * @trim: Empty tables shall be taken away later
 * @called_out: The library is in the middle of something, maybe in a read side
 * @racing: A range may be mapped again while it is flushed
 * @complaint: First thing that a callback found wrong
 * @tainted: The kernel had warned of something before
 */
struct kt {
	struct kunit *test;
	const struct kt_config *cfg;
	union {
		struct iommu_domain domain;
		struct PTF_TABLE table;
	};
	/* What a driver protects its list of devices with */
	spinlock_t top_lock;
	u64 hw_root;
	unsigned int hw_level;
	u64 sizes;
	unsigned int min_lg2;
	u64 space_last;
	u64 last;
	u64 oa_last;
	struct maple_tree model;
	unsigned int nr_leaves;
	struct xarray pages;
	struct list_head page_list;
	unsigned int nr_calls;
	unsigned int fail_at;
	unsigned int fail_nr;
	unsigned int walks;
	bool dead;
	struct kt_flush flush[KT_FLUSHES];
	unsigned int nr_flushes;
	struct kt_writeback writeback[KT_WRITEBACKS];
	unsigned int nr_writebacks;
	void (*before_writeback)(struct kt *kt, const u64 *items, size_t bytes);
	struct kt_growth growth[PTF_MAX_LEVELS];
	unsigned int nr_growths;
	struct kt_hook on_alloc;
	struct kt_hook on_flush;
	u64 inner;
	bool trim;
	bool called_out;
	bool racing;
	char complaint[160];
	bool tainted;
};

PT_IOMMU_CHECK_DOMAIN(struct kt, table.iommu, domain);

/* A callback cannot end the test: remember what was wrong first */
static __printf(2, 3) void kt_complain(struct kt *kt, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!kt->complaint[0])
		vsnprintf(kt->complaint, sizeof(kt->complaint), fmt, args);
	va_end(args);
}

static void kt_complain_page(struct kt *kt, const struct kt_page *page,
			     const char *what)
{
	kt_complain(kt, "table of level %u, IOVA %#llx: %s", page->level,
		    page->iova, what);
}

static void kt_expect_no_complaint(struct kt *kt)
{
	KUNIT_EXPECT_STREQ(kt->test, kt->complaint, "");
	kt->complaint[0] = 0;
}

static inline bool kt_feature(const struct kt *kt, unsigned int bit)
{
	return kt->cfg->features & BIT(bit);
}

static inline struct pt_iommu *kt_iommu(struct kt *kt)
{
	return &kt->table.iommu;
}

static void kt_interrupt(struct kt *kt, struct kt_hook *hook)
{
	struct kt_hook now = *hook;

	if (!now.call)
		return;
	if (now.skip) {
		hook->skip--;
		return;
	}
	hook->call = NULL;
	kt->called_out = true;
	now.call(kt);
	kt->called_out = false;
}

/* How a caller allocates, who may have interrupted another one */
static gfp_t kt_gfp(const struct kt *kt)
{
	return kt->called_out ? GFP_ATOMIC : GFP_KERNEL;
}

/*
 * Where addresses have 32 bits nobody can say an IOVA above them. What needs one
 * is skipped.
 */
static void kt_say(struct kt *kt, u64 address)
{
	if (sizeof(long) == sizeof(u64) || address <= ULONG_MAX)
		return;
	/* A skip would hide what has failed before */
	if (READ_ONCE(kt->test->status) == KUNIT_FAILURE)
		__kunit_abort(kt->test);
	kunit_skip(kt->test, "needs an address of 64 bits");
}

/* The operations, as they are called by the core */

static int kt_op_map(struct kt *kt, u64 iova, u64 oa, u64 len, int prot,
		     size_t *mapped)
{
	kt_say(kt, iova | oa | len);
	return kt_iommu(kt)->ops->map_range(kt_iommu(kt), iova, oa, len, prot,
					    kt_gfp(kt), mapped);
}

static size_t kt_op_unmap(struct kt *kt, u64 iova, u64 len,
			  struct iommu_iotlb_gather *gather)
{
	kt_say(kt, iova | len);
	return kt_iommu(kt)->ops->unmap_range(kt_iommu(kt), iova, len, gather);
}

static int kt_op_lookup(struct kt *kt, u64 iova, struct pt_iommu_entry *entry)
{
	kt_say(kt, iova);
	return kt_iommu(kt)->ops->lookup(kt_iommu(kt), iova, entry);
}

static phys_addr_t kt_op_iova_to_phys(struct kt *kt, u64 iova)
{
	kt_say(kt, iova);
	return PTF_FN(iova_to_phys)(&kt->domain, iova);
}

static int kt_op_set_dirty(struct kt *kt, u64 iova)
{
	kt_say(kt, iova);
	return kt_iommu(kt)->ops->set_dirty(kt_iommu(kt), iova);
}

static int kt_op_dirty(struct kt *kt, u64 iova, u64 len, unsigned long flags,
		       struct iommu_dirty_bitmap *dirty)
{
	kt_say(kt, iova | len);
	return PTF_FN(read_and_clear_dirty)(&kt->domain, iova, len, flags,
					    dirty);
}

/* ------------------------------- allocator ------------------------------- */

static void *kt_alloc(struct pt_iommu *iommu, gfp_t gfp)
{
	struct kt *kt = kunit_get_current_test()->priv;
	struct kt_page *page;
	void *mem;

	kt->nr_calls++;
	kt_interrupt(kt, &kt->on_alloc);
	if (kt->fail_at && kt->nr_calls >= kt->fail_at &&
	    kt->nr_calls - kt->fail_at < kt->fail_nr)
		return NULL;
	page = kzalloc(sizeof(*page), GFP_ATOMIC);
	mem = iommu_alloc_page_node_unzeroed(iommu->nid, gfp);
	if (WARN_ON(!page || !mem))
		return NULL;
	memset(mem, KT_POISON, PAGE_SIZE);
	get_page(virt_to_page(mem));
	page->mem = mem;
	if (kt_feature(kt, PT_FEAT_DMA_INCOHERENT)) {
		page->ram = kmemdup(mem, PAGE_SIZE, GFP_ATOMIC);
		if (WARN_ON(!page->ram))
			return NULL;
	}
	if (WARN_ON(xa_err(xa_store(&kt->pages, PHYS_PFN(__pa(mem)), page,
				    GFP_ATOMIC))))
		return NULL;
	list_add_tail(&page->node, &kt->page_list);
	return mem;
}

static struct kt_page *kt_page(struct kt *kt, const void *mem)
{
	return xa_load(&kt->pages, PHYS_PFN(__pa(mem)));
}

static bool kt_page_freed(const struct kt_page *page)
{
	return page_count(virt_to_page(page->mem)) == 1;
}

/*
 * Forget tables that were freed. Returns how many are not, without those that
 * only wait for a grace period.
 */
static unsigned int kt_reap(struct kt *kt)
{
	struct kt_page *page;
	unsigned int live = 0;
	unsigned long pfn;

	xa_for_each(&kt->pages, pfn, page) {
		if (!kt_page_freed(page)) {
			live += !page->flushed;
			continue;
		}
		if (!kt->dead && page->seen && !page->flushed)
			kt_complain_page(kt, page, "freed, not flushed");
		xa_erase(&kt->pages, pfn);
		list_del(&page->node);
		put_page(virt_to_page(page->mem));
		kfree(page->ram);
		kfree(page);
	}
	return live;
}

/* Let deferred frees happen, each of which takes two grace periods */
static void kt_settle(void)
{
	rcu_barrier();
	rcu_barrier();
}

/* Whether all tables were freed */
static bool kt_all_freed(struct kt *kt)
{
	/* Takes long */
	if (!xa_empty(&kt->pages))
		kt_settle();
	kt_reap(kt);
	return xa_empty(&kt->pages);
}

/* Only asked for: what a test looks at does not change behind its back */
static void kt_trim_later(struct pt_iommu *iommu)
{
	container_of(iommu, struct kt, table.iommu)->trim = true;
}

/* --------------------------------- driver -------------------------------- */

static void kt_writeback(struct pt_iommu *iommu, const void *mem, size_t bytes);
static bool kt_tree_reaches(struct kt *kt, const void *mem);
static bool kt_tree_maps(struct kt *kt, u64 start, u64 last);
static unsigned int kt_tree_leaves(struct kt *kt, u64 root, unsigned int level);

/* The last IOVA of a table, as far as a flush can say it */
static u64 kt_page_last(const struct kt_page *page)
{
	return (unsigned long)(page->iova |
			       pt_low_mask(pt_item_lg2(page->level + 1)));
}

/* Tables that are handed over for freeing must be out of reach already */
static unsigned int kt_see_freelist(struct kt *kt, struct list_head *freelist,
				    u64 start, u64 last)
{
	struct kt_page *page;
	unsigned int nr = 0;
	struct page *p;

	list_for_each_entry(p, freelist, lru) {
		nr++;
		page = kt_page(kt, page_address(p));
		if (!page || kt_page_freed(page)) {
			kt_complain(kt, "freelist holds what is no table");
			break;
		}
		if (kt_tree_reaches(kt, page->mem))
			kt_complain_page(kt, page, "still in the tree");
		if (page->seen &&
		    (start > page->iova || last < kt_page_last(page)))
			kt_complain_page(kt, page, "flushed in part");
		if (page->seen && kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS) &&
		    !page->leaves_flushed)
			kt_complain_page(kt, page, "leaves not flushed");
		page->flushed = true;
	}
	return nr;
}

/*
 * Note which tables a flush covers. Each flush is compared with all tables, which
 * nobody else knows: nothing for KCSAN.
 */
static noinline __no_kcsan void kt_flush_leaves(struct kt *kt, u64 start,
						u64 last)
{
	struct kt_page *page;

	list_for_each_entry(page, &kt->page_list, node)
		if (page->seen && page->iova >= start && page->iova <= last &&
		    kt_page_last(page) <= last)
			page->leaves_flushed = true;
}

static void kt_record(struct kt *kt, struct kt_flush flush)
{
	/* Only asked for without gaps */
	if (kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS))
		kt_flush_leaves(kt, flush.start, flush.last);
	if (kt->nr_flushes < KT_FLUSHES)
		kt->flush[kt->nr_flushes] = flush;
	kt->nr_flushes++;
}

static void kt_iotlb_sync(struct iommu_domain *domain,
			  struct iommu_iotlb_gather *gather)
{
	struct kt *kt = container_of(domain, struct kt, domain);
	unsigned int tables;

	/* As each driver must: nothing was unmapped */
	if (gather->start > gather->end) {
		if (!list_empty(&gather->freelist))
			kt_complain(kt, "a table without a range");
		return;
	}
	if (kt_feature(kt, PT_FEAT_FLUSH_RANGE_NO_GAPS) && !kt->racing &&
	    kt_tree_maps(kt, gather->start, gather->end))
		kt_complain(kt, "flush %#lx-%#lx names what is mapped",
			    gather->start, gather->end);
	tables = kt_see_freelist(kt, &gather->freelist, gather->start,
				 gather->end);
	kt_record(kt, (struct kt_flush){
			      .start = gather->start,
			      .last = gather->end,
			      .pgsize = gather->pgsize,
			      .tables = tables,
		      });
	kt_interrupt(kt, &kt->on_flush);
	iommu_put_pages_list(&gather->freelist);
}

static void kt_flush_iotlb_all(struct iommu_domain *domain)
{
	struct kt *kt = container_of(domain, struct kt, domain);

	kt_record(kt, (struct kt_flush){ .all = true, .last = ~0ULL });
}

/* As a driver writes it, but for the name of the format */
#define KT_DOMAIN_OPS(fmt) IOMMU_PT_DOMAIN_OPS(fmt)

static const struct iommu_domain_ops kt_domain_ops = {
	KT_DOMAIN_OPS(PTF_NAME),
	.iotlb_sync = kt_iotlb_sync,
	.flush_iotlb_all = kt_flush_iotlb_all,
};

static void kt_change_top(struct pt_iommu *iommu, phys_addr_t top_paddr,
			  unsigned int top_level)
{
	struct kt *kt = container_of(iommu, struct kt, table.iommu);
	unsigned long top = pt_read_top(ptf_common(iommu));

	lockdep_assert_held(&kt->top_lock);
	if (!irqs_disabled())
		kt_complain(kt, "change_top without the lock");
	if (pt_top_level(top) != kt->hw_level || top_level != kt->hw_level + 1)
		kt_complain(kt, "top of level %u becomes one of level %u",
			    kt->hw_level, top_level);
	if (pt_item_lg2(top_level) >= kt->cfg->vasz_lg2)
		kt_complain(kt, "level %u is too high for %u bits", top_level,
			    kt->cfg->vasz_lg2);
	if (kt->nr_growths >= ARRAY_SIZE(kt->growth)) {
		kt_complain(kt, "too many growths");
		return;
	}
	kt->growth[kt->nr_growths++] = (struct kt_growth){
		.oa = top_paddr,
		.level = top_level,
		.leaves = kt_tree_leaves(kt, top_paddr, top_level),
	};
	kt->hw_root = top_paddr;
	kt->hw_level = top_level;
}

static spinlock_t *kt_get_top_lock(struct pt_iommu *iommu)
{
	return &container_of(iommu, struct kt, table.iommu)->top_lock;
}

static const struct pt_iommu_driver_ops kt_driver_ops = {
	.change_top = kt_change_top,
	.get_top_lock = kt_get_top_lock,
};

#endif /* __GENERIC_PT_KUNIT_IOMMU_H */
