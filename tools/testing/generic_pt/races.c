// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that map and unmap disjoint ranges in shared tables, beside readers
 * and a device
 *
 * IOVA is divided into cells, each owned by one thread:
 *
 *  - pages that share a table with pages of all other threads
 *  - items of 2 MiB whose parent is shared: a leaf, a table full of leaves, or
 *    a table with one page
 *  - items of 1 GiB: all of that one level higher
 *
 * So tables become empty under one thread while another is about to use them,
 * and are removed by threads that own nothing in them. Where a cell is mapped,
 * it is always mapped to the same address: whoever looks can tell what is right.
 *
 * At each access to what is shared a thread may give way to others. All the
 * protocol's branches must have been taken in the end.
 *
 * usage: races [-n ROUNDS] [-s SEED] [-t WHAT] [CONFIG]
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <shim_alloc.h>

#include "device.h"
#include "domain.h"
#include "lib.h"
#include "random.h"

#define WORKERS 4
#define OPS 400
#define NR_SMALL 6
#define NR_MEDIUM 8
#define NR_LARGE 8
#define SMALL_PAGES 8
#define OA_OFFSET 0x4000000000ULL

#define M2 0x200000ULL
#define G1 0x40000000ULL

#define RANGE BIT(PT_FEAT_FLUSH_RANGE)
#define NO_GAPS BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS)
#define GROWS BIT(PT_FEAT_DYNAMIC_TOP)
#define INCOHERENT BIT(PT_FEAT_DMA_INCOHERENT)

static const struct test_config race_configs[] = {
	{ "range", &lib_amdv1, GROWS | RANGE, 0, 48, 48, .reuse_last = true },
	{ "no-gaps", &lib_amdv1, GROWS | NO_GAPS, 0, 48, 48, .reuse_last = true,
	  .accessed = true },
	{ "fixed-np-cache", &lib_amdv1, RANGE, 3, 48, 48, .np_cache = true,
	  .reuse_last = true },
	{ "x86_64", &lib_x86_64, RANGE, 3, 48, 52, .reuse_last = true },
	{ "vtdss-incoherent", &lib_vtdss, NO_GAPS | INCOHERENT, 3, 48, 52,
	  .reuse_last = true, .accessed = true },
	{ "vtdss-incoherent-np-cache", &lib_vtdss, RANGE | INCOHERENT, 2, 39,
	  52, .np_cache = true, .reuse_last = true },
	{ "riscv_64-incoherent", &lib_riscv_64, RANGE | INCOHERENT, 0, 48, 56,
	  .reuse_last = true },
};

/**
 * struct cell - IOVA that one thread owns
 * @iova: First byte
 * @len: Bytes
 * @oa: Where it is mapped to
 * @mapped: Bytes that are mapped from its start
 */
struct cell {
	u64 iova;
	u64 len;
	u64 oa;
	u64 mapped;
};

struct worker {
	pthread_t thread;
	struct rng rng;
	struct cell cell[NR_SMALL * SMALL_PAGES + NR_MEDIUM + NR_LARGE];
	unsigned int nr_cells;
	unsigned long ops;
};

static struct test_domain domain;
static struct worker workers[WORKERS];
static bool stop;
static unsigned long lookups, scans, translations;
static __thread struct rng *delay_rng;

/* Below 1 GiB small cells, above it medium ones, then large ones */
static u64 oa_of(u64 iova)
{
	u64 oa = iova + OA_OFFSET;

	/* Half of the cells cannot have leaves as large as themselves */
	if (iova >= G1 && iova < 2 * G1 && iova & M2)
		oa += 4096;
	if (iova >= 2 * G1 && iova & G1)
		oa += M2;
	return oa;
}

static void give_way(bool sync)
{
	struct rng *rng = delay_rng;
	unsigned int i;

	if (!rng || rng_below(rng, sync ? 8 : 128))
		return;
	switch (rng_below(rng, 8)) {
	case 0:
		/* Long enough for others to do a lot */
		for (i = rng_below(rng, 20); i && !shim_locks_held; i--)
			sched_yield();
		break;
	case 1:
	case 2:
	case 3:
		sched_yield();
		break;
	default:
		for (i = rng_below(rng, 400); i; i--)
			__asm__ volatile("" ::: "memory");
		break;
	}
}

/* Where the protocol has its windows, hold them open */
static void give_way_long(void)
{
	struct rng *rng = delay_rng;
	unsigned int i;

	if (!rng || shim_locks_held || rng_below(rng, 4))
		return;
	for (i = rng_below(rng, 30); i; i--)
		sched_yield();
}

static void add_cell(struct worker *worker, u64 iova, u64 len)
{
	worker->cell[worker->nr_cells++] =
		(struct cell){ .iova = iova, .len = len, .oa = oa_of(iova) };
}

static void make_cells(void)
{
	unsigned int w, t, p;

	for (w = 0; w < WORKERS; w++)
		workers[w].nr_cells = 0;
	for (t = 0; t < NR_SMALL; t++)
		for (p = 0; p < SMALL_PAGES; p++)
			add_cell(&workers[p % WORKERS], t * M2 + p * 4096,
				 4096);
	for (t = 0; t < NR_MEDIUM; t++)
		add_cell(&workers[(t / 2) % WORKERS], G1 + t * M2, M2);
	for (t = 0; t < NR_LARGE; t++)
		add_cell(&workers[(t / 2) % WORKERS], (2 + t) * G1, G1);
}

/* A device's view is right wherever something is mapped */
static void check_view(void *arg, const struct device_view *view)
{
	u64 last = view->pa + (view->last - view->first);

	if (view->present &&
	    (view->pa != oa_of(view->first) || last != oa_of(view->last)))
		test_fail("a device sees %#llx..%#llx -> %#llx", view->first,
			  view->last, view->pa);
}

static const struct device_ops device_ops = { .check = check_view };

static void check_lookup(u64 iova, bool must, bool may)
{
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct pt_iommu_entry entry;
	int ret = iommu->ops->lookup(iommu, iova, &entry);

	test_assert(!ret || ret == -ENOENT, "lookup of %#llx: %d", iova, ret);
	if (ret) {
		test_assert(!must, "%#llx is mapped, lookup: %d", iova, ret);
		return;
	}
	test_assert(may, "%#llx is not mapped, lookup: %#llx", iova, entry.oa);
	test_assert(entry.oa == oa_of(iova), "lookup of %#llx: %#llx", iova,
		    entry.oa);
}

static void map_cell(struct worker *worker, struct cell *cell)
{
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct device_view view;
	size_t mapped = 0;
	u64 len = 4096;
	int ret;

	if (cell->len > len && rng_percent(&worker->rng, 60))
		len = cell->len;
	else if (cell->len > M2 && rng_percent(&worker->rng, 30))
		len = M2;
	ret = iommu->ops->map_range(iommu, cell->iova, cell->oa, len,
				    IOMMU_READ | IOMMU_WRITE, GFP_ATOMIC,
				    &mapped);
	test_assert(!ret && mapped == len,
		    "map of %#llx, %#llx bytes: %d, mapped %#zx", cell->iova,
		    len, ret, mapped);
	if (domain.config->np_cache)
		device_flush(domain.device, cell->iova, cell->iova + len - 1, 0,
			     true);
	cell->mapped = len;
	check_lookup(cell->iova, true, true);
	check_lookup(cell->iova + len - 4096, true, true);
	test_assert(device_translate(domain.device, cell->iova, &view),
		    "%#llx is mapped, a device sees nothing", cell->iova);
}

static void unmap_cell(struct worker *worker, struct cell *cell)
{
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct iommu_iotlb_gather gather;
	struct device_view view;
	size_t unmapped;

	iommu_iotlb_gather_init(&gather);
	unmapped = iommu->ops->unmap_range(iommu, cell->iova, cell->mapped,
					   &gather);
	test_assert(unmapped == cell->mapped,
		    "unmap of %#llx, %#llx bytes: %#zx", cell->iova,
		    cell->mapped, unmapped);
	iommu_iotlb_sync(&iommu->domain, &gather);
	check_lookup(cell->iova, false, false);
	test_assert(!device_translate(domain.device, cell->iova, &view),
		    "%#llx is not mapped, a device sees %#llx", cell->iova,
		    view.pa);
	cell->mapped = 0;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned int i;

	shim_rcu_register();
	delay_rng = &worker->rng;
	for (i = 0; i < OPS; i++) {
		struct cell *cell =
			&worker->cell[rng_below(&worker->rng, worker->nr_cells)];

		if (cell->mapped)
			unmap_cell(worker, cell);
		else if (rng_percent(&worker->rng, 50))
			map_cell(worker, cell);
		worker->ops++;
	}
	delay_rng = NULL;
	shim_rcu_unregister();
	return NULL;
}

static u64 some_iova(struct rng *rng)
{
	switch (rng_below(rng, 3)) {
	case 0:
		return rng_below(rng, NR_SMALL) * M2 +
		       rng_below(rng, SMALL_PAGES) * 4096;
	case 1:
		return G1 + rng_below(rng, NR_MEDIUM) * M2 +
		       rng_below(rng, 2) * (M2 - 4096);
	default:
		return (2 + rng_below(rng, NR_LARGE)) * G1 +
		       rng_below(rng, 2) * (G1 - 4096);
	}
}

struct iommu_dirty_bitmap {
	u64 bytes;
};

void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length)
{
	test_assert(!rcu_read_lock_held(), "a report may sleep");
	dirty->bytes += length;
}

/* Looks up, and scans, its own pages in tables of others exactly */
static void *read_tables(void *arg)
{
	const struct test_format *format = domain.config->format;
	struct pt_iommu *iommu = &domain.pt.iommu;
	struct rng *rng = arg;
	size_t mapped = 0;
	u64 own = 511 * 4096, iova;
	unsigned int t;
	int ret;

	shim_rcu_register();
	delay_rng = rng;
	for (t = 0; t < 2; t++) {
		iova = own + t * M2;
		ret = iommu->ops->map_range(iommu, iova, oa_of(iova), 4096,
					    IOMMU_READ | IOMMU_WRITE,
					    GFP_ATOMIC, &mapped);
		test_assert(!ret, "map of the reader's page: %d", ret);
	}
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		struct iommu_dirty_bitmap dirty = {};

		check_lookup(some_iova(rng), false, true);
		iova = own + rng_below(rng, 2) * M2;
		check_lookup(iova, true, true);
		lookups += 2;
		if (rng_percent(rng, 10))
			iommu->ops->reclaim(iommu);
		if (!format->hw->dirty)
			continue;
		ret = iommu->ops->set_dirty(iommu, iova);
		test_assert(!ret, "set_dirty of the reader's page: %d", ret);
		ret = format->read_and_clear_dirty(&iommu->domain, iova, 4096,
						   0, &dirty);
		test_assert(!ret && dirty.bytes == 4096,
			    "scan of the reader's page: %d, %#llx bytes", ret,
			    dirty.bytes);
		/* All, past tables that come and go */
		ret = format->read_and_clear_dirty(&iommu->domain, 0, 4 * G1,
						   IOMMU_DIRTY_NO_CLEAR,
						   &dirty);
		test_assert(!ret, "scan of all: %d", ret);
		scans += 2;
	}
	delay_rng = NULL;
	shim_rcu_unregister();
	return NULL;
}

static void *translate(void *arg)
{
	struct device_view view;
	struct rng *rng = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		device_translate(domain.device, some_iova(rng), &view);
		translations++;
		if (!rng_below(rng, 16))
			sched_yield();
	}
	return NULL;
}

static void *grace_periods(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		rcu_barrier();
		sched_yield();
	}
	return NULL;
}

static void run_round(const struct test_config *config, u64 seed)
{
	pthread_t reader, device, grace;
	struct rng reader_rng, device_rng;
	unsigned int w, c;
	u64 iova;
	int ret;

	ret = domain_init(&domain, config);
	test_assert(!ret, "init: %d", ret);
	domain.device = device_create(&domain.root, config, &device_ops, NULL);
	make_cells();
	__atomic_store_n(&stop, false, __ATOMIC_RELEASE);
	rng_seed(&reader_rng, seed + 100);
	rng_seed(&device_rng, seed + 101);
	pthread_create(&grace, NULL, grace_periods, NULL);
	pthread_create(&reader, NULL, read_tables, &reader_rng);
	pthread_create(&device, NULL, translate, &device_rng);
	for (w = 0; w < WORKERS; w++) {
		rng_seed(&workers[w].rng, seed + w);
		pthread_create(&workers[w].thread, NULL, work, &workers[w]);
	}
	for (w = 0; w < WORKERS; w++)
		pthread_join(workers[w].thread, NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	pthread_join(device, NULL);
	pthread_join(grace, NULL);

	domain_recount(&domain, NULL);
	for (w = 0; w < WORKERS; w++) {
		for (c = 0; c < workers[w].nr_cells; c++) {
			struct cell *cell = &workers[w].cell[c];

			check_lookup(cell->iova, cell->mapped, cell->mapped);
			if (cell->mapped)
				unmap_cell(&workers[w], cell);
		}
	}
	for (iova = 511 * 4096; iova < 2 * M2; iova += M2)
		unmap_cell(&workers[0], &(struct cell){ iova, 4096, 0, 4096 });
	domain_recount(&domain, NULL);
	/* The top, two that are parked, and what is above them */
	test_assert(shim_pages_used() <= 1 + 2 * domain.root.mode,
		    "%lu tables are left, and nothing is mapped",
		    shim_pages_used());
	domain.pt.iommu.ops->reclaim(&domain.pt.iommu);
	domain_recount(&domain, NULL);
	test_assert(shim_pages_used() == 1,
		    "%lu tables are left, and reclaimed", shim_pages_used());
	device_destroy(domain.device);
	domain.device = NULL;
	domain_free(&domain);
}

int main(int argc, char **argv)
{
	unsigned long rounds = 100, flushed_all, grown;
	const char *title = "races";
	u64 seed = time(NULL);
	struct timespec a, b;
	bool good = true;
	unsigned int i, w;
	unsigned long r, most, ops;
	double seconds;
	int opt;

	while ((opt = getopt(argc, argv, "n:s:t:")) != -1) {
		if (opt == 'n')
			rounds = strtoul(optarg, NULL, 0);
		else if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 't')
			title = optarg;
		else
			return 2;
	}
	shim_point_hook = give_way;
	lib_event_hook = give_way_long;
	for (i = 0; i < ARRAY_SIZE(race_configs); i++) {
		const struct test_config *config = &race_configs[i];

		if (argv[optind] && strcmp(argv[optind], config->name))
			continue;
		lookups = 0;
		scans = 0;
		translations = 0;
		flushed_all = 0;
		grown = 0;
		lib_events_reset(config->format);
		for (w = 0; w < WORKERS; w++)
			workers[w].ops = 0;
		fprintf(stderr, "%s: %s, seed %llu\n", title, config->name,
			seed);
		clock_gettime(CLOCK_MONOTONIC, &a);
		/* Go on for what is rare */
		most = 20 * rounds;
		for (r = 0; r < most; r++) {
			if (r >= rounds && lib_events_complete(config))
				break;
			/* Nothing may take so long, unless it waits forever */
			test_cpu_limit(120);
			run_round(config, seed + r * 1000);
			flushed_all += domain.flushed_all;
			grown += domain.grown;
		}
		test_cpu_limit(0);
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("ok - %s: %s\n", title, config->name);
		seconds = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
		for (ops = 0, w = 0; w < WORKERS; w++)
			ops += workers[w].ops;
		printf("#   %lu rounds in %.1f s, seed %llu: %lu operations", r,
		       seconds, seed, ops);
		printf(", %lu lookups, %lu scans, %lu translations", lookups,
		       scans, translations);
		printf(", %lu flushes of all, top grown %lu times\n",
		       flushed_all, grown);
		good &= lib_events_report(title, config);
		fflush(stdout);
	}
	return !good;
}
