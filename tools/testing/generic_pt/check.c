// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a device and the library may say about an address, see ops.h
 */
#include <errno.h>

#include "device.h"
#include "ops.h"
#include "random.h"

/* Translation of one address: that of hardware, or what it should be */
struct truth {
	bool present;
	u64 pa;
	int prot;
};

static struct truth model_truth(const struct model *model, u64 iova)
{
	struct model_leaf leaf;

	if (!model_find(model, iova, &leaf))
		return (struct truth){};
	return (struct truth){ true, leaf.oa + (iova - leaf.iova),
			       leaf.prot & (IOMMU_READ | IOMMU_WRITE) };
}

static bool same(struct truth a, struct truth b)
{
	return a.present == b.present &&
	       (!a.present || (a.pa == b.pa && a.prot == b.prot));
}

/* The operation in progress that may change an address, or NULL */
static const struct active *active_at(const struct run *run, u64 iova)
{
	unsigned int i;

	for (i = 0; i < run->nr_active; i++)
		if (iova - run->active[i].op->iova < run->active[i].extent)
			return &run->active[i];
	return NULL;
}

/* Old or new, nothing else. Without an operation in progress both are one. */
static void check_view_at(struct run *run, const struct device_view *view,
			  u64 iova)
{
	struct truth seen = { view->present, view->pa + (iova - view->first),
			      view->prot };
	struct truth old = model_truth(&run->model, iova);
	struct truth stale = model_truth(&run->stale, iova);
	const struct active *active = active_at(run, iova);
	struct truth new = old;

	if (active && active->op->type != OP_MAP)
		new = (struct truth){};
	else if (active && !old.present)
		new = (struct truth){
			true, active->op->oa + (iova - active->op->iova),
			active->op->prot & (IOMMU_READ | IOMMU_WRITE)
		};
	/* A map may fail and take nothing, an unmap stop early: old is fine */
	if (same(seen, old) || same(seen, new))
		return;
	/* Not yet flushed */
	if (view->cached && stale.present && same(seen, stale))
		return;
	test_fail("a device sees %#llx %s %#llx prot %d%s, should be %s %#llx prot %d",
		  iova, seen.present ? "->" : "not present", seen.pa, seen.prot,
		  view->cached ? " in its cache" : "",
		  old.present ? "->" : "not present", old.pa, old.prot);
}

/* Check a view at its edges and wherever the truth may change within it */
static void check_view(void *arg, const struct device_view *view)
{
	struct run *run = arg;
	const struct model *model = &run->model;
	unsigned int i;
	u64 first, last;

	check_view_at(run, view, view->first);
	check_view_at(run, view, view->last);
	for (i = model_index(model, view->first);
	     i < model->nr && model->stretch[i].first <= view->last; i++) {
		const struct model_stretch *stretch = &model->stretch[i];

		if (stretch->first > view->first) {
			check_view_at(run, view, stretch->first);
			check_view_at(run, view, stretch->first - 1);
		}
		if (stretch->last < view->last) {
			check_view_at(run, view, stretch->last);
			check_view_at(run, view, stretch->last + 1);
		}
	}
	for (i = 0; i < run->nr_active; i++) {
		const struct active *active = &run->active[i];

		first = active->op->iova;
		last = first + active->extent - 1;
		if (!active->extent || first > view->last || last < view->first)
			continue;
		if (first > view->first) {
			check_view_at(run, view, first);
			check_view_at(run, view, first - 1);
		}
		if (last < view->last) {
			check_view_at(run, view, last);
			check_view_at(run, view, last + 1);
		}
	}
}

u64 run_random_iova(struct run *run)
{
	const struct model_stretch *stretch;

	if (!run->model.nr)
		return rng_u64(run->rng) & run->model.aperture_last;
	stretch = &run->model.stretch[rng_below(run->rng, run->model.nr)];
	switch (rng_below(run->rng, 4)) {
	case 0:
		return stretch->first;
	case 1:
		return stretch->last;
	case 2:
		return stretch->first + rng_u64(run->rng) %
			       (stretch->last - stretch->first + 1);
	default:
		return (stretch->last + 1) & run->model.aperture_last;
	}
}

static bool next_view(void *arg, unsigned int nr, u64 *iova)
{
	struct run *run = arg;
	const struct active *active = &run->active[run->nr_active - 1];

	if (!run->nr_active)
		return false;

	switch (nr) {
	case 0:
		*iova = active->op->iova & run->model.aperture_last;
		return true;
	case 1:
		*iova = (active->op->iova + active->extent - 1) &
			run->model.aperture_last;
		return active->extent;
	case 2:
		*iova = run_random_iova(run);
		return true;
	}
	return false;
}

const struct device_ops run_device_ops = {
	.check = check_view,
	.next = next_view,
};

void run_probe(struct run *run, u64 iova)
{
	struct iommu_domain *domain = &run->domain.pt.iommu.domain;
	struct pt_iommu_entry entry = {};
	struct model_leaf leaf;
	struct hw_walk walk;
	bool found;
	int ret;

	if (run_is_busy(run, iova, iova))
		return;
	found = model_find(&run->model, iova, &leaf);
	hw_walk(&run->domain.root, iova, &walk);
	ret = run->domain.pt.iommu.ops->lookup(&run->domain.pt.iommu, iova,
					       &entry);
	if (iova > run->model.aperture_last) {
		test_assert(ret == -ERANGE, "lookup of %#llx: %d", iova, ret);
		return;
	}
	if (!found) {
		test_assert(walk.result == HW_NOT_PRESENT ||
				    walk.result == HW_TOO_HIGH,
			    "nothing is mapped at %#llx, hardware: %s -> %#llx",
			    iova, hw_result_name(walk.result),
			    (u64)walk.page.pa);
		test_assert(ret == -ENOENT && !entry.size,
			    "lookup of nothing at %#llx: %d", iova, ret);
		test_assert(!pt_iommu_amdv1_iova_to_phys(domain, iova),
			    "iova_to_phys of nothing at %#llx", iova);
		return;
	}
	test_assert(walk.result == HW_OK, "%#llx is mapped, hardware: %s", iova,
		    hw_result_name(walk.result));
	test_assert(walk.page.iova == leaf.iova && walk.page.pa == leaf.oa &&
			    walk.page.size_lg2 == leaf.lg2,
		    "%#llx: hardware %#llx -> %#llx lg2 %u, should be %#llx -> %#llx lg2 %u",
		    iova, (u64)walk.page.iova, (u64)walk.page.pa,
		    walk.page.size_lg2, leaf.iova, leaf.oa, leaf.lg2);
	test_assert(walk.page.read == !!(leaf.prot & IOMMU_READ) &&
			    walk.page.write == !!(leaf.prot & IOMMU_WRITE),
		    "%#llx: hardware may read %d, write %d, should be prot %d",
		    iova, walk.page.read, walk.page.write, leaf.prot);
	if (run->domain.root.c_bit)
		test_assert(walk.page.encrypted == !(leaf.prot & IOMMU_MMIO),
			    "%#llx: encrypted is %d", iova,
			    walk.page.encrypted);
	test_assert(walk.page.force_coherent ==
			    !!(run->domain.config->features &
			       BIT(PT_FEAT_AMDV1_FORCE_COHERENCE)),
		    "%#llx: FC is %d", iova, walk.page.force_coherent);
	test_assert(hw_check_page(&run->domain.root, &walk.page) == HW_OK,
		    "%#llx: the entries of the page are not alike", iova);
	test_assert(walk.page.dirty == leaf.dirty, "%#llx: dirty is %d", iova,
		    walk.page.dirty);
	test_assert(!ret && entry.oa == leaf.oa + (iova - leaf.iova) &&
			    entry.size == 1ULL << leaf.lg2 &&
			    entry.prot == (leaf.prot &
					   (IOMMU_READ | IOMMU_WRITE)),
		    "lookup of %#llx: %d, oa %#llx, size %#llx, prot %d", iova,
		    ret, entry.oa, entry.size, entry.prot);
	test_assert(pt_iommu_amdv1_iova_to_phys(domain, iova) == entry.oa,
		    "iova_to_phys of %#llx", iova);
}

