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
	const struct device_ops *ops;
	void *arg;
	pthread_mutex_t lock;
	struct rng rng;
	struct tlb tlb[NR_TLB];
	struct walk walk[NR_WALK];
	struct cleared cleared[NR_CLEARED];
	struct known *known;
	u64 old_item;
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

static unsigned int reach(unsigned int level)
{
	return 3 + 9 * level;
}

static void remember_walk(struct device *device, const struct hw_walk *walk,
			  u64 iova)
{
	unsigned int i;

	for (i = 0; i < walk->steps; i++) {
		struct hw_step step = walk->step[i];
		u64 base = align_down(iova, reach(step.level + 1));
		u64 nr = (step.table_pa - shim_arena_pa) >> PAGE_SHIFT;

		device->known[nr] = (struct known){ base, step.level, true };
		/* The root comes from the device table */
		if (step.level == device->root.mode)
			continue;
		device->walk[rng_below(&device->rng, NR_WALK)] = (struct walk){
			.used = true,
			.first = base,
			.last = last_of(base, reach(step.level + 1)),
			.step = step,
		};
	}
}

static void remember_view(struct device *device, struct device_view view,
			  unsigned int lg2, u64 iova)
{
	/* Hardware may keep any aligned part of a page */
	if (rng_below(&device->rng, 2)) {
		unsigned int part = 12 + rng_below(&device->rng, lg2 - 11);
		u64 first = align_down(iova, part);

		view.pa += first - view.first;
		view.first = first;
		view.last = last_of(first, part);
	}
	device->tlb[rng_below(&device->rng, NR_TLB)] =
		(struct tlb){ true, view };
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
	test_assert(walk.result == HW_OK || walk.result == HW_NOT_PRESENT ||
			    walk.result == HW_TOO_HIGH,
		    "a device that walks to %#llx%s sees: %s, entry %#llx",
		    iova, from ? " from its walk cache" : "",
		    hw_result_name(walk.result), (u64)walk.entry);
	if (walk.result == HW_TOO_HIGH) {
		*view = (struct device_view){
			.first = align_down(iova, 12),
			.last = last_of(align_down(iova, 12), 12),
		};
		return;
	}
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
		lg2 = reach(walk.step[walk.steps - 1].level);
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

bool device_translate(struct device *device, u64 iova,
		      struct device_view *view)
{
	pthread_mutex_lock(&device->lock);
	translate_locked(device, iova, view);
	pthread_mutex_unlock(&device->lock);
	return view->present;
}

void device_flush(struct device *device, u64 first, u64 last, bool tables)
{
	unsigned int i;

	pthread_mutex_lock(&device->lock);
	for (i = 0; i < NR_TLB; i++) {
		struct tlb *tlb = &device->tlb[i];

		if (tlb->view.first <= last && tlb->view.last >= first)
			tlb->used = false;
	}
	for (i = 0; tables && i < NR_WALK; i++) {
		struct walk *walk = &device->walk[i];

		if (walk->first <= last && walk->last >= first)
			walk->used = false;
	}
	for (i = 0; i < NR_CLEARED; i++) {
		struct cleared *cleared = &device->cleared[i];

		if (cleared->first >= first && cleared->last <= last)
			cleared->used = false;
	}
	pthread_mutex_unlock(&device->lock);
}

void device_set_root(struct device *device, const struct hw_root *root)
{
	device_flush(device, 0, ~0ULL, true);
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

void device_check_freed(struct device *device)
{
	unsigned int i;

	pthread_mutex_lock(&device->lock);
	for (i = 0; i < NR_WALK; i++) {
		struct walk *walk = &device->walk[i];
		u64 nr = (walk->step.table_pa - shim_arena_pa) >> PAGE_SHIFT;

		if (walk->used)
			test_assert(shim_pages[nr].state == SHIM_PAGE_USED,
				    "a device still knows a freed table at %#llx",
				    walk->first);
	}
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
	for (i = 0; tables && i < NR_WALK; i++)
		if (device->walk[i].used)
			test_assert(is_current(device, &device->walk[i]),
				    "a device knows a table at %#llx level %u that left",
				    device->walk[i].first,
				    device->walk[i].step.level);
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
	u64 old = device->old_item;
	unsigned int i, next = (old >> 9) & 7;
	u64 last = last_of(iova, reach(known->level));

	if (!(old & 1) || (item & 1))
		return;
	if (!next || next == 7) {
		note_cleared(device, iova, last, reach(known->level + 1));
		return;
	}
	for (i = 0; i < NR_CLEARED; i++) {
		const struct cleared *cleared = &device->cleared[i];

		test_assert(!cleared->used || cleared->first > last ||
				    cleared->last < iova,
			    "the table at %#llx goes before its leaves are flushed",
			    iova);
	}
}

static void device_storing(const void *item)
{
	if (shim_page_state(item) == SHIM_PAGE_USED)
		watching->old_item = __atomic_load_n((const u64 *)item,
						     __ATOMIC_RELAXED);
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
				      << reach(known->level));
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

struct device *device_create(const struct hw_root *root, bool np_cache,
			     bool no_gaps, const struct device_ops *ops,
			     void *arg)
{
	struct device *device = calloc(1, sizeof(*device));

	BUG_ON(!device);
	device->known = calloc(SHIM_PAGES, sizeof(*device->known));
	BUG_ON(!device->known);
	device->root = *root;
	device->np_cache = np_cache;
	device->no_gaps = no_gaps;
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
