// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations against the specification, see ops.h
 */
#include <errno.h>
#include <string.h>

#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <shim_alloc.h>

#include "device.h"
#include "ops.h"
#include "random.h"

#define NR_PROBES 3

/* The sequence whose operations can be interrupted */
static struct run *running;

bool run_is_busy(const struct run *run, u64 first, u64 last)
{
	unsigned int i;

	for (i = 0; i < run->nr_active; i++)
		if (run->active[i].first <= last &&
		    run->active[i].last >= first)
			return true;
	return false;
}

void run_closure(const struct model *model, const struct op *op, u64 *first,
		 u64 *last)
{
	struct model_leaf leaf;

	if (op->type == OP_RECLAIM) {
		*first = ~0ULL;
		*last = 0;
		return;
	}
	*first = op->iova;
	*last = op->iova + (op->len ? op->len - 1 : 0);
	if (*last < *first)
		*last = ~0ULL;
	if (model_find(model, *first, &leaf))
		*first = leaf.iova;
	if (model_find(model, *last, &leaf))
		*last = leaf.iova + ((1ULL << leaf.lg2) - 1);
}

/* All that was unmapped is flushed now */
static void flush(struct run *run)
{
	struct iommu_domain *domain = &run->domain.pt.iommu.domain;

	if (run->gather.queued) {
		domain->ops->flush_iotlb_all(domain);
		domain_free_tables(&run->domain, &run->gather.freelist);
		iommu_iotlb_gather_init(&run->gather);
	} else if (run->gather.start <= run->gather.end) {
		iommu_iotlb_sync(domain, &run->gather);
	} else {
		test_assert(list_empty(&run->gather.freelist),
			    "tables left with an empty gather");
	}
	run->gather.queued = run->domain.config->queued;
	run->stale.nr = 0;
	run->stale.nr_dirty = 0;
}

/* Nobody may use IOVA again before it is flushed */
static bool is_stale(const struct run *run, u64 first, u64 last)
{
	unsigned int i = model_index(&run->stale, first);

	return i < run->stale.nr && run->stale.stretch[i].first <= last;
}

/* Not too much at once */
static void flush_much(struct run *run)
{
	if (run->stale.nr > MODEL_STRETCHES / 2)
		flush(run);
}

/* What is mapped in a range goes to the stale ones */
static void make_stale(struct run *run, u64 first, u64 last)
{
	const struct model *model = &run->model;
	struct model *stale = &run->stale;
	unsigned int i, at;

	for (i = model_index(model, first);
	     i < model->nr && model->stretch[i].first <= last; i++) {
		struct model_stretch stretch = model->stretch[i];

		stretch.first = max(stretch.first, first);
		stretch.last = min(stretch.last, last);
		at = model_index(stale, stretch.first);
		test_assert(stale->nr < MODEL_STRETCHES, "too many stretches");
		memmove(&stale->stretch[at + 1], &stale->stretch[at],
			(stale->nr - at) * sizeof(stretch));
		stale->nr++;
		stale->stretch[at] = stretch;
	}
}

static void run_map(struct run *run, const struct op *op, struct active *active)
{
	const struct test_config *config = run->domain.config;
	struct pt_iommu *iommu = &run->domain.pt.iommu;
	u64 expected;
	size_t mapped = 0;
	int ret, want;
	bool either, prefix;
	int prot;

	if (run->nr_active == 1 && op->len &&
	    is_stale(run, op->iova, op->iova + op->len - 1))
		flush(run);
	prot = config->format->prot(config, op->prot);
	want = model_map_result(&run->model, op->iova, op->oa, op->len,
				op->prot, min(prot, 0), &expected, &either);
	/* Part of a leaf that cannot be shall not be seen */
	active->extent = expected;
	/* One within another has its memory, or the lack of it */
	if (run->nr_active == 1)
		shim_fail_after(op->fail_after);
	ret = iommu->ops->map_range(iommu, op->iova, op->oa, op->len, op->prot,
				    GFP_KERNEL, &mapped);
	if (ret == -ENOMEM && shim_failed() && (!want || want == -EADDRINUSE)) {
		prefix = mapped <= expected &&
			 model_map_prefix(&run->model, op->iova, op->oa,
					  op->len, mapped);
		test_assert(prefix, "map of %#llx, %#llx bytes: %d, did %#zx",
			    op->iova, op->len, ret, mapped);
		run->result[OP_MAP][2]++;
	} else {
		test_assert(ret == want || (either && ret == -ERANGE),
			    "map of %#llx -> %#llx, %#llx bytes: %d, not %d",
			    op->iova, op->oa, op->len, ret, want);
		test_assert(mapped == expected,
			    "map of %#llx, %#llx: %d, did %#zx, not %#llx",
			    op->iova, op->len, ret, mapped, expected);
		run->result[OP_MAP][!!ret]++;
	}
	if (run->nr_active == 1) {
		run->failed = shim_failed();
		shim_fail_after(~0ULL);
	}
	if (config->np_cache && run->domain.device && mapped)
		device_flush(run->domain.device, op->iova,
			     op->iova + mapped - 1, 0, true);
	model_map(&run->model, op->iova, op->oa, op->len, op->prot, mapped);
	active->extent = 0;
}

static void run_unmap(struct run *run, const struct op *op,
		      struct active *active)
{
	struct pt_iommu *iommu = &run->domain.pt.iommu;
	u64 want = model_unmap(&run->model, op->iova, op->len, false);
	struct iommu_iotlb_gather own, *gather = &run->gather;
	bool alone = run->nr_active == 1;
	size_t unmapped;

	/* What others gather is theirs */
	if (alone) {
		flush_much(run);
	} else {
		gather = &own;
		iommu_iotlb_gather_init(gather);
	}
	active->extent = want;
	unmapped = iommu->ops->unmap_range(iommu, op->iova, op->len, gather);
	test_assert(unmapped == want,
		    "unmap of %#llx, %#llx bytes: %#zx, should be %#llx",
		    op->iova, op->len, unmapped, want);
	run->result[op->type][!unmapped]++;
	/* Caches may know it until the flush */
	if (want)
		make_stale(run, op->iova, op->iova + want - 1);
	model_unmap(&run->model, op->iova, op->len, true);
	active->extent = 0;
	if (!alone) {
		test_assert(want || list_empty(&gather->freelist),
			    "tables left with an empty gather");
		if (want) {
			iommu_iotlb_sync(&iommu->domain, gather);
			model_remove(&run->stale, op->iova,
				     op->iova + want - 1);
		}
	} else if (op->type == OP_UNMAP) {
		flush(run);
	}
}

/* Hardware, or set_dirty, marks what it meets at an address */
static void run_dirty(struct run *run, const struct op *op)
{
	struct pt_iommu *iommu = &run->domain.pt.iommu;
	u64 bit = run->domain.root.format->dirty;
	struct model_leaf leaf;
	struct hw_walk walk;
	u64 *item;
	int ret;

	if (!bit) {
		ret = iommu->ops->set_dirty(iommu, op->iova);
		test_assert(ret == -EOPNOTSUPP, "set_dirty: %d", ret);
		run->result[OP_DIRTY][1]++;
		return;
	}
	if (run->model.nr_dirty == MODEL_DIRTY)
		return;
	if (op->len) {
		ret = iommu->ops->set_dirty(iommu, op->iova);
		test_assert(!ret || ret == -ENOENT, "set_dirty at %#llx: %d",
			    op->iova, ret);
		test_assert(!ret == model_find(&run->model, op->iova, &leaf),
			    "set_dirty at %#llx: %d", op->iova, ret);
	} else if (hw_walk(&run->domain.root, op->iova, &walk) == HW_OK) {
		item = phys_to_virt(walk.entry_pa);
		hw_set_bits(walk.entry_pa, *item, bit);
	}
	model_set_dirty(&run->model, op->iova);
	run->result[OP_DIRTY][0]++;
}

struct iommu_dirty_bitmap {
	struct {
		u64 first;
		u64 last;
	} range[MODEL_DIRTY + 1];
	unsigned int nr;
	/* Not what interrupts another operation */
	bool may_sleep;
};

void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length)
{
	test_assert(!dirty->may_sleep || !rcu_read_lock_held(),
		    "a report may sleep");
	test_assert(dirty->nr <= MODEL_DIRTY, "more dirty ranges than leaves");
	dirty->range[dirty->nr].first = iova;
	dirty->range[dirty->nr++].last = iova + length - 1;
}

static void run_scan(struct run *run, const struct op *op)
{
	struct iommu_domain *domain = &run->domain.pt.iommu.domain;
	unsigned long flags = op->type == OP_SCAN ? IOMMU_DIRTY_NO_CLEAR : 0;
	struct iommu_dirty_bitmap bitmap;
	u64 last = op->iova + op->len - 1;
	u64 low = (1ULL << run->model.granule_lg2) - 1;
	bool good = run->domain.root.format->dirty && op->len &&
		    !((op->iova | op->len) & low) &&
		    model_in_aperture(&run->model, op->iova, last);
	u64 reported = 0, expected = 0;
	unsigned int i, j;
	int ret;

	bitmap.nr = 0;
	bitmap.may_sleep = !rcu_read_lock_held();
	ret = run->domain.config->format->read_and_clear_dirty(
		domain, op->iova, op->len, flags, &bitmap);
	test_assert(!ret == good, "scan of %#llx, %#llx bytes: %d", op->iova,
		    op->len, ret);
	run->result[op->type][!!ret]++;
	if (ret)
		return;
	/* Each dirty leaf from where the range enters it on, to its end */
	for (i = 0; i < run->model.nr_dirty;) {
		u64 first, end;
		struct model_leaf leaf;
		bool found = false;

		model_find(&run->model, run->model.dirty[i], &leaf);
		end = leaf.iova + ((1ULL << leaf.lg2) - 1);
		if (leaf.iova > last || end < op->iova) {
			i++;
			continue;
		}
		first = max(leaf.iova, op->iova);
		expected += end - first + 1;
		for (j = 0; j < bitmap.nr; j++)
			found |= bitmap.range[j].first <= first &&
				 bitmap.range[j].last >= end;
		test_assert(found,
			    "scan of %#llx, %#llx bytes: lost %#llx..%#llx",
			    op->iova, op->len, first, end);
		if (op->type == OP_SCAN_CLEAR)
			model_clear_dirty(&run->model, leaf.iova);
		else
			i++;
	}
	for (j = 0; j < bitmap.nr; j++)
		reported += bitmap.range[j].last - bitmap.range[j].first + 1;
	test_assert(reported == expected,
		    "scan of %#llx, %#llx bytes: %#llx dirty, not %#llx",
		    op->iova, op->len, reported, expected);
}

/* Nothing that is mapped changes; what is empty and nobody uses goes */
static void run_reclaim(struct run *run)
{
	struct pt_iommu *iommu = &run->domain.pt.iommu;
	unsigned long left = iommu->ops->reclaim(iommu);

	run->result[OP_RECLAIM][!left]++;
	if (run->nr_active > 1 || run->nr_nested)
		return;
	left = iommu->ops->reclaim(iommu);
	test_assert(!left, "%lu tables left at the second time", left);
}

/*
 * Without gaps, a flush names only what was unmapped, or is being unmapped. What
 * another caller maps meanwhile into a table that leaves, it may name.
 */
static void check_flush(struct test_domain *domain, u64 first, u64 last)
{
	struct run *run = container_of(domain, struct run, domain);
	unsigned int i = model_index(&run->model, first);

	if (run->nr_nested)
		return;
	for (; i < run->model.nr && run->model.stretch[i].first <= last; i++) {
		const struct model_stretch *stretch = &run->model.stretch[i];
		const struct active *active = &run->active[0];
		u64 from = max(first, stretch->first);
		u64 to = min(last, stretch->last);

		if (!run->nr_active || from < active->op->iova ||
		    to - active->op->iova >= active->extent)
			test_fail("a flush of %#llx..%#llx, %#llx is mapped",
				  first, last, from);
	}
}

/* One operation, perhaps within another */
static void run_one(struct run *run, const struct op *op)
{
	struct active *active = &run->active[run->nr_active];
	u64 first, last;
	unsigned int i;

	run_closure(&run->model, op, &first, &last);
	/* Ranges must be disjoint; a recount needs all */
	if (run->nr_active &&
	    (op->type == OP_RECOUNT || run_is_busy(run, first, last)))
		return;
	run->failed = false;
	*active = (struct active){ .op = op, .first = first, .last = last };
	run->nr_active++;
	switch (op->type) {
	case OP_MAP:
		run_map(run, op, active);
		break;
	case OP_UNMAP:
	case OP_UNMAP_KEEP:
		run_unmap(run, op, active);
		break;
	case OP_DIRTY:
		run_dirty(run, op);
		break;
	case OP_SCAN:
	case OP_SCAN_CLEAR:
		run_scan(run, op);
		break;
	case OP_LOOKUP:
		break;
	case OP_RECLAIM:
		run_reclaim(run);
		break;
	case OP_RECOUNT:
	case OP_NR:
		flush(run);
		domain_recount(&run->domain, &run->model);
		break;
	}
	run->nr_active--;

	run->checking = true;
	run_probe(run, op->iova);
	run_probe(run, op->iova - 1);
	run_probe(run, op->iova + op->len - 1);
	run_probe(run, op->iova + op->len);
	run_probe(run, model_fold(&run->model, rng_u64(run->rng)));
	for (i = 0; i < NR_PROBES; i++)
		run_probe(run, run_random_iova(run));
	if (run->domain.device)
		device_check_all(run->domain.device,
				 !run->stale.nr && !run->nr_active);
	run->checking = false;
	run->done++;
}

static void run_nested(struct run *run)
{
	const struct op *op = &run->nested[run->next_nested++];

	run->interrupts += !!run->nr_active;
	run_one(run, op);
	/* Where nothing holds it up, memory comes back soon */
	if (!rcu_read_lock_held())
		rcu_barrier();
}

/* Whether the time of the next operation that waits has come */
static bool is_due(const struct run *run)
{
	const struct op *op = &run->nested[run->next_nested];
	u64 first, last;

	if (run->next_nested == run->nr_nested || run->nr_active == MAX_ACTIVE)
		return false;
	if ((op->at & OP_AT_SYNC ? run->syncs : run->steps) <=
	    (op->at & ~OP_AT_SYNC))
		return false;
	/* What needs the same range waits until that is done, and flushed */
	run_closure(&run->model, op, &first, &last);
	return !run_is_busy(run, first, last) &&
	       !(op->type == OP_MAP && is_stale(run, first, last));
}

/* A step of an operation: who waits for it interrupts now */
static void step(bool sync)
{
	struct run *run = running;

	if (!run->nr_active || run->checking || shim_locks_held)
		return;
	run->steps++;
	run->syncs += sync;
	while (is_due(run))
		run_nested(run);
}

void run_op(struct run *run, const struct op *op)
{
	if (op->at != OP_ALONE) {
		if (run->nr_nested < MAX_NESTED)
			run->nested[run->nr_nested++] = *op;
		return;
	}
	run->steps = 0;
	run->syncs = 0;
	run->next_nested = 0;
	shim_point_hook = run->nr_nested ? step : NULL;
	run_one(run, op);
	shim_point_hook = NULL;
	/* It was done before their time came */
	while (run->next_nested < run->nr_nested)
		run_nested(run);
	run->nr_nested = 0;
	/* Free what waits, so that it comes back soon */
	if (run->done % 4 == 0)
		rcu_barrier();
}

void run_init(struct run *run, const struct test_config *config, bool watched)
{
	struct pt_iommu *iommu = &run->domain.pt.iommu;
	const struct hw_format *hw = config->format->hw;
	bool no_gaps;
	u64 oa_last;
	int ret;

	memset(run, 0, sizeof(*run));
	ret = domain_init(&run->domain, config);
	test_assert(!ret, "init: %d", ret);
	oa_last = config->oa_lg2 < 64 ? (1ULL << config->oa_lg2) - 1 : ~0ULL;
	if (run->domain.root.c_bit)
		oa_last = min(oa_last, run->domain.root.c_bit - 1);
	run->model.sizes = iommu->domain.pgsize_bitmap;
	run->model.aperture_last = iommu->domain.geometry.aperture_end;
	run->model.oa_last = oa_last;
	run->model.granule_lg2 = hw->granule_lg2;
	run->model.level_lg2 = hw->index_lg2;
	if (config->features & BIT(PT_FEAT_SIGN_EXTEND))
		run->model.half = 1ULL
				  << (min(config->iova_lg2,
					  hw_reach(&run->domain.root,
						   run->domain.root.mode + 1)) -
				      1);
	run->stale.sizes = run->model.sizes;
	iommu_iotlb_gather_init(&run->gather);
	run->gather.queued = config->queued;
	running = run;
	no_gaps = config->features & BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS);
	if (no_gaps)
		run->domain.check_flush = check_flush;
	if (watched) {
		run->domain.device = device_create(&run->domain.root, config,
						   &run_device_ops, run);
		device_watch(run->domain.device);
	}
}

void run_free(struct run *run)
{
	flush(run);
	domain_recount(&run->domain, &run->model);
	if (run->domain.device) {
		device_watch(NULL);
		device_destroy(run->domain.device);
		run->domain.device = NULL;
	}
	domain_free(&run->domain);
}
