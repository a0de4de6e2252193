// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device with an IOTLB and a page walk cache, see device.h
 */
#include <pthread.h>
#include <stdlib.h>

#include <linux/iommu.h>
#include <linux/mm.h>

#include <shim_alloc.h>

#include "device.h"
#include "domain.h"
#include "random.h"

#define NR_TLB 64
#define NR_WALK 32
#define NR_CLEARED 64

struct tlb {
	bool used;
	struct device_view view;
	/* The page that it is a part of */
	u64 page_first;
	u64 page_last;
};

/* The table that translates [first, last] */
struct walk {
	bool used;
	u64 first;
	u64 last;
	struct hw_step step;
};

/* Leaves that were emptied and are not flushed yet */
struct cleared {
	bool used;
	u64 first;
	u64 last;
	unsigned int table_lg2;
};

/* Where a table stands, as far as a walk has seen it */
struct known {
	u64 iova;
	unsigned int level;
	bool used;
};

struct device {
	struct hw_root root;
	bool np_cache;
	bool no_gaps;
	bool accessed;
	const struct device_ops *ops;
	void *arg;
	pthread_mutex_t lock;
	struct rng rng;
	struct tlb tlb[NR_TLB];
	struct walk walk[NR_WALK];
	struct cleared cleared[NR_CLEARED];
	struct known *known;
	u64 old_item;
	bool have_old;
	struct device_stats stats;
};

static struct device *watching;

static u64 last_of(u64 first, unsigned int lg2)
{
	return lg2 >= 64 ? ~0ULL : first | ((1ULL << lg2) - 1);
}

static u64 align_down(u64 iova, unsigned int lg2)
{
	return lg2 >= 64 ? 0 : iova & ~((1ULL << lg2) - 1);
}

static void remember_walk(struct device *device, const struct hw_walk *walk,
			  u64 iova)
{
	unsigned int i;

	for (i = 0; i < walk->steps; i++) {
		struct hw_step step = walk->step[i];
		unsigned int lg2 = hw_reach(&device->root, step.level + 1);
		u64 base = align_down(iova, lg2);
		u64 nr = (step.table_pa - shim_arena_pa) >> PAGE_SHIFT;

		device->known[nr] = (struct known){ base, step.level, true };
		/* The root comes from the device table */
		if (step.level == device->root.mode)
			continue;
		device->walk[rng_below(&device->rng, NR_WALK)] = (struct walk){
			.used = true,
			.first = base,
			.last = last_of(base, lg2),
			.step = step,
		};
	}
}

static void remember_view(struct device *device, struct device_view view,
			  unsigned int lg2, u64 iova)
{
	unsigned int granule = device->root.format->granule_lg2;
	struct tlb *tlb = &device->tlb[rng_below(&device->rng, NR_TLB)];

	tlb->used = true;
	tlb->page_first = view.first;
	tlb->page_last = view.last;
	/* Hardware may keep any aligned part of a page */
	if (rng_below(&device->rng, 2)) {
		unsigned int part =
			granule + rng_below(&device->rng, lg2 - granule + 1);
		u64 first = align_down(iova, part);

		view.pa += first - view.first;
		view.first = first;
		view.last = last_of(first, part);
	}
	tlb->view = view;
}

static bool lookup_tlb(struct device *device, u64 iova,
		       struct device_view *view)
{
	unsigned int i;

	for (i = 0; i < NR_TLB; i++) {
		const struct tlb *tlb = &device->tlb[i];

		if (tlb->used && tlb->view.first <= iova &&
		    iova <= tlb->view.last) {
			*view = tlb->view;
			view->cached = true;
			device->stats.tlb_hits++;
			return true;
		}
	}
	return false;
}

static const struct walk *lookup_walk(struct device *device, u64 iova)
{
	const struct walk *best = NULL;
	unsigned int i;

	for (i = 0; i < NR_WALK; i++) {
		const struct walk *walk = &device->walk[i];

		if (walk->used && walk->first <= iova && iova <= walk->last &&
		    (!best || walk->step.level < best->step.level))
			best = walk;
	}
	return best;
}

/* In all that the walk followed, as far as it is still there */
static void set_accessed(struct device *device, const struct hw_walk *walk)
{
	const struct hw_format *format = device->root.format;
	u64 bit = format->accessed;
	struct hw_entry ignored;
	u64 pa, entry;
	unsigned int i;

	for (i = 0; i < walk->steps; i++) {
		unsigned int lg2 = hw_reach(&device->root, walk->step[i].level);

		pa = walk->step[i].table_pa +
		     8 * (walk->iova >> lg2 & ((1U << format->index_lg2) - 1));
		if (i + 1 == walk->steps && walk->result != HW_OK)
			break;
		/* Another thread may have emptied it since the walk */
		if (hw_read64(pa, &entry) && !(entry & bit) &&
		    format->decode(&device->root, walk->step[i].level, entry,
				   &ignored) == HW_OK)
			hw_set_bits(pa, entry, bit);
	}
}

/* Walk, from the root or from where the walk cache says */
static void do_walk(struct device *device, u64 iova, bool use_cache,
		    struct device_view *view)
{
	const struct walk *from = NULL;
	struct hw_walk walk;
	unsigned int lg2;

	if (use_cache)
		from = lookup_walk(device, iova);
	if (from) {
		device->stats.walk_hits++;
		hw_walk_from(&device->root, from->step, iova, &walk);
	} else {
		hw_walk(&device->root, iova, &walk);
	}
	device->stats.walks++;
	if (walk.result == HW_MALFORMED || walk.result == HW_FREED_TABLE)
		test_fail("a device walks to %#llx%s: %s, entry %#llx", iova,
			  from ? " from its walk cache" : "",
			  hw_result_name(walk.result), walk.entry);
	if (walk.result == HW_TOO_HIGH) {
		lg2 = device->root.format->granule_lg2;
		*view = (struct device_view){
			.first = align_down(iova, lg2),
			.last = last_of(align_down(iova, lg2), lg2),
		};
		return;
	}
	if (device->accessed)
		set_accessed(device, &walk);
	remember_walk(device, &walk, iova);
	if (walk.result == HW_OK) {
		lg2 = walk.page.size_lg2;
		*view = (struct device_view){
			.first = walk.page.iova,
			.last = last_of(walk.page.iova, lg2),
			.present = true,
			.pa = walk.page.pa,
			.prot = (walk.page.read ? IOMMU_READ : 0) |
				(walk.page.write ? IOMMU_WRITE : 0),
		};
		view->cached = from;
		remember_view(device, *view, lg2, iova);
	} else {
		lg2 = hw_reach(&device->root, walk.step[walk.steps - 1].level);
		*view = (struct device_view){
			.first = align_down(iova, lg2),
			.last = last_of(align_down(iova, lg2), lg2),
		};
		if (device->np_cache)
			remember_view(device, *view, lg2, iova);
	}
}

static void translate_locked(struct device *device, u64 iova,
			     struct device_view *view)
{
	bool cached = lookup_tlb(device, iova, view);

	if (cached)
		device->ops->check(device->arg, view);
	if (!cached || rng_below(&device->rng, 4) == 0) {
		do_walk(device, iova, rng_below(&device->rng, 4), view);
		device->ops->check(device->arg, view);
	}
}

bool device_translate(struct device *device, u64 iova, struct device_view *view)
{
	pthread_mutex_lock(&device->lock);
	translate_locked(device, iova, view);
	pthread_mutex_unlock(&device->lock);
	return view->present;
}

/* Whether one of the addresses @first, @first + @step, ... is in a page */
static bool is_named(const struct tlb *tlb, u64 first, u64 last, u64 step)
{
	u64 after;

	if (tlb->page_first > last || tlb->page_last < first)
		return false;
	if (!step || tlb->page_first <= first)
		return true;
	after = -(tlb->page_first - first) & (step - 1);
	return after <= tlb->page_last - tlb->page_first &&
	       after <= last - tlb->page_first;
}

/*
 * Leaves of two callers that stand next to each other are noted as one, and each
 * flushes its own: what is left begins or ends with the other's.
 */
static void flush_cleared(struct cleared *cleared, u64 first, u64 last,
			  unsigned int index_lg2)
{
	u64 mask;

	if (!cleared->used)
		return;
	mask = (1ULL << (cleared->table_lg2 - index_lg2)) - 1;
	if (cleared->first >= first && cleared->last <= last)
		cleared->used = false;
	else if (cleared->first >= first && cleared->first <= last &&
		 !((last + 1) & mask))
		cleared->first = last + 1;
	else if (cleared->last >= first && cleared->last <= last &&
		 !(first & mask))
		cleared->last = first - 1;
}

void device_flush(struct device *device, u64 first, u64 last, u64 step,
		  bool tables)
{
	unsigned int i;

	/* One that cannot be told about tables is told to drop everything */
	if (tables && device->root.format->flush_by_page) {
		first = 0;
		last = ~0ULL;
		step = 0;
	}
	pthread_mutex_lock(&device->lock);
	for (i = 0; i < NR_TLB; i++) {
		struct tlb *tlb = &device->tlb[i];

		if (is_named(tlb, first, last, step))
			tlb->used = false;
	}
	for (i = 0; tables && i < NR_WALK; i++) {
		struct walk *walk = &device->walk[i];

		if (walk->first <= last && walk->last >= first)
			walk->used = false;
	}
	for (i = 0; i < NR_CLEARED; i++)
		flush_cleared(&device->cleared[i], first, last,
			      device->root.format->index_lg2);
	pthread_mutex_unlock(&device->lock);
}

void device_set_root(struct device *device, const struct hw_root *root)
{
	device_flush(device, 0, ~0ULL, 0, true);
	pthread_mutex_lock(&device->lock);
	device->root = *root;
	pthread_mutex_unlock(&device->lock);
}

/* Whether walks still come to a table */
static bool is_current(struct device *device, const struct walk *cached)
{
	struct hw_walk walk;
	unsigned int i;

	hw_walk(&device->root, cached->first, &walk);
	for (i = 0; i < walk.steps; i++)
		if (walk.step[i].table_pa == cached->step.table_pa &&
		    walk.step[i].level == cached->step.level)
			return true;
	return false;
}

void device_table_leaves(struct device *device, u64 table_pa)
{
	unsigned int i;

	pthread_mutex_lock(&device->lock);
	device->known[(table_pa - shim_arena_pa) >> PAGE_SHIFT].used = false;
	for (i = 0; i < NR_WALK; i++)
		if (device->walk[i].used &&
		    device->walk[i].step.table_pa == table_pa)
			test_fail("a device still knows a freed table at %#llx",
				  device->walk[i].first);
	pthread_mutex_unlock(&device->lock);
}

void device_check_all(struct device *device, bool tables)
{
	unsigned int i;

	pthread_mutex_lock(&device->lock);
	for (i = 0; i < NR_TLB; i++) {
		if (device->tlb[i].used) {
			struct device_view view = device->tlb[i].view;

			view.cached = true;
			device->ops->check(device->arg, &view);
		}
	}
	for (i = 0; tables && i < NR_WALK; i++) {
		const struct walk *walk = &device->walk[i];

		test_assert(!walk->used || is_current(device, walk),
			    "a device knows table %#llx, %u that left",
			    walk->first, walk->step.level);
	}
	pthread_mutex_unlock(&device->lock);
}

static void note_cleared(struct device *device, u64 first, u64 last,
			 unsigned int table_lg2)
{
	unsigned int i, free = NR_CLEARED;

	for (i = 0; i < NR_CLEARED; i++) {
		struct cleared *cleared = &device->cleared[i];

		if (!cleared->used) {
			free = i;
		} else if (cleared->last + 1 == first &&
			   cleared->table_lg2 == table_lg2 &&
			   align_down(first, table_lg2) != first) {
			cleared->last = last;
			return;
		}
	}
	if (free < NR_CLEARED)
		device->cleared[free] =
			(struct cleared){ true, first, last, table_lg2 };
}

/*
 * Something behind a shadow of the tables asks that leaves are flushed before
 * the table goes that they stood in.
 */
static void check_two_steps(struct device *device, const struct known *known,
			    u64 iova, u64 item)
{
	const struct hw_format *format = device->root.format;
	unsigned int lg2 = hw_reach(&device->root, known->level);
	u64 last = last_of(iova, lg2);
	struct hw_entry old = {}, new = {};
	unsigned int i;

	if (!device->have_old)
		return;
	device->have_old = false;
	if (format->decode(&device->root, known->level, device->old_item,
			   &old) != HW_OK ||
	    format->decode(&device->root, known->level, item, &new) == HW_OK)
		return;
	if (!old.table) {
		note_cleared(device, iova, last, lg2 + format->index_lg2);
		return;
	}
	for (i = 0; i < NR_CLEARED; i++) {
		const struct cleared *cleared = &device->cleared[i];

		if (cleared->used && cleared->first <= last &&
		    cleared->last >= iova)
			test_fail("table %#llx goes before a flush of leaves",
				  iova);
	}
}

static void device_storing(const void *item)
{
	watching->have_old = shim_page_state(item) == SHIM_PAGE_USED;
	if (watching->have_old)
		watching->old_item =
			__atomic_load_n((const u64 *)item, __ATOMIC_RELAXED);
}

/* The device's turn after each store */
static void device_stored(const void *item)
{
	struct device *device = watching;
	unsigned long offset = (const char *)item - shim_arena;
	const struct known *known;
	struct device_view view;
	unsigned int i;
	u64 iova;

	if (shim_page_state(item) < 0)
		return;
	device->stats.stores++;
	known = &device->known[offset >> PAGE_SHIFT];
	if (known->used) {
		iova = known->iova + ((u64)(offset & 0xfff) / 8
				      << hw_reach(&device->root, known->level));
		/* The root has both halves of a signed space */
		if (known->level == device->root.mode)
			iova = hw_canonical(&device->root, iova);
		if (device->no_gaps)
			check_two_steps(device, known, iova,
					*(const u64 *)item);
		translate_locked(device, iova, &view);
	}
	for (i = 0; device->ops->next(device->arg, i, &iova); i++)
		translate_locked(device, iova, &view);
}

void device_watch(struct device *device)
{
	watching = device;
	shim_storing_hook = device ? device_storing : NULL;
	shim_store_hook = device ? device_stored : NULL;
}

struct device *device_create(const struct hw_root *root,
			     const struct test_config *config,
			     const struct device_ops *ops, void *arg)
{
	struct device *device = calloc(1, sizeof(*device));

	test_assert(device, "no memory");
	device->known = calloc(SHIM_PAGES, sizeof(*device->known));
	test_assert(device->known, "no memory");
	device->root = *root;
	device->np_cache = config->np_cache;
	device->no_gaps = config->features & BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS);
	device->accessed = config->accessed && root->format->accessed;
	device->ops = ops;
	device->arg = arg;
	pthread_mutex_init(&device->lock, NULL);
	rng_seed(&device->rng, 1);
	return device;
}

void device_destroy(struct device *device)
{
	free(device->known);
	free(device);
}

const struct device_stats *device_stats(const struct device *device)
{
	return &device->stats;
}
