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

static struct truth model_truth(const struct run *run,
				const struct model *model, u64 iova)
{
	struct model_leaf leaf;

	if (!model_find(model, iova, &leaf))
		return (struct truth){};
	return (struct truth){ true, leaf.oa + (iova - leaf.iova),
			       run->domain.config->format->prot(
				       run->domain.config, leaf.prot) };
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
	const struct test_config *config = run->domain.config;
	struct truth old = model_truth(run, &run->model, iova);
	struct truth stale = model_truth(run, &run->stale, iova);
	const struct active *active = active_at(run, iova);
	struct truth new = old;

	if (active && active->op->type != OP_MAP)
		new = (struct truth){};
	else if (active && !old.present)
		new = (struct truth){
			true, active->op->oa + (iova - active->op->iova),
			config->format->prot(config, active->op->prot)
		};
	/* A map may fail and take nothing, an unmap stop early: old is fine */
	if (same(seen, old) || same(seen, new))
		return;
	/* Not yet flushed */
	if (view->cached && stale.present && same(seen, stale))
		return;
	test_fail("a device sees%s %#llx: %d, %#llx, %d, not %d, %#llx, %d",
		  view->cached ? " in its cache" : "", iova, seen.present,
		  seen.pa, seen.prot, old.present, old.pa, old.prot);
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
		return model_fold(&run->model, rng_u64(run->rng));
	stretch = &run->model.stretch[rng_below(run->rng, run->model.nr)];
	switch (rng_below(run->rng, 4)) {
	case 0:
		return stretch->first;
	case 1:
		return stretch->last;
	case 2:
		return stretch->first +
		       rng_u64(run->rng) % (stretch->last - stretch->first + 1);
	default:
		return model_fold(&run->model, stretch->last + 1);
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
		*iova = model_fold(&run->model, active->op->iova);
		return true;
	case 1:
		*iova = model_fold(&run->model,
				   active->op->iova + active->extent - 1);
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

/* What hardware and lookup must say about a leaf */
static void probe_leaf(struct run *run, u64 iova, const struct model_leaf *leaf,
		       struct hw_page *page, const struct pt_iommu_entry *entry)
{
	const struct test_config *config = run->domain.config;
	const struct test_format *format = config->format;
	int prot = format->prot(config, leaf->prot);
	bool fc = config->features & format->force_coherent;
	unsigned int type = 0;
	bool good;

	if (format->memory_type)
		type = format->memory_type(config, leaf->prot);

	good = page->iova == leaf->iova && page->pa == leaf->oa &&
	       page->size_lg2 == leaf->lg2;
	test_assert(good, "%#llx: %#llx -> %#llx, %u, not %#llx -> %#llx, %u",
		    iova, page->iova, page->pa, page->size_lg2, leaf->iova,
		    leaf->oa, leaf->lg2);
	good = page->read == !!(prot & IOMMU_READ) &&
	       page->write == !!(prot & IOMMU_WRITE);
	test_assert(good, "%#llx: hardware may read %d, write %d, prot is %d",
		    iova, page->read, page->write, prot);
	if (run->domain.root.c_bit)
		test_assert(page->encrypted == !(leaf->prot & IOMMU_MMIO),
			    "%#llx: encrypted is %d", iova, page->encrypted);
	test_assert(page->force_coherent == fc, "%#llx: FC is %d", iova,
		    page->force_coherent);
	test_assert(page->memory_type == type,
		    "%#llx: the memory type is %u, not %u", iova,
		    page->memory_type, type);
	test_assert(hw_check_page(&run->domain.root, page) == HW_OK,
		    "%#llx: the entries of the page are not alike", iova);
	test_assert(page->dirty == leaf->dirty, "%#llx: dirty is %d", iova,
		    page->dirty);

	good = entry->oa == leaf->oa + (iova - leaf->iova) &&
	       entry->size == 1ULL << leaf->lg2 && entry->prot == prot;
	test_assert(good, "lookup of %#llx: oa %#llx, size %#llx, prot %d",
		    iova, entry->oa, entry->size, entry->prot);
}

void run_probe(struct run *run, u64 iova)
{
	struct pt_iommu *iommu = &run->domain.pt.iommu;
	struct pt_iommu_entry entry = {};
	struct model_leaf leaf;
	struct hw_walk walk;
	phys_addr_t phys;
	bool found;
	int ret;

	if (run_is_busy(run, iova, iova))
		return;
	found = model_find(&run->model, iova, &leaf);
	hw_walk(&run->domain.root, iova, &walk);
	ret = iommu->ops->lookup(iommu, iova, &entry);
	if (!model_in_aperture(&run->model, iova, iova)) {
		test_assert(ret == -ERANGE, "lookup of %#llx: %d", iova, ret);
		return;
	}
	phys = iommu->domain.ops->iova_to_phys(&iommu->domain, iova);
	if (found) {
		test_assert(walk.result == HW_OK, "%#llx: hardware: %s", iova,
			    hw_result_name(walk.result));
		test_assert(!ret, "lookup of %#llx: %d", iova, ret);
		probe_leaf(run, iova, &leaf, &walk.page, &entry);
		test_assert(phys == entry.oa, "iova_to_phys of %#llx: %#llx",
			    iova, phys);
		return;
	}
	if (walk.result != HW_NOT_PRESENT && walk.result != HW_TOO_HIGH)
		test_fail("%#llx is not mapped, hardware: %s -> %#llx", iova,
			  hw_result_name(walk.result), walk.page.pa);
	test_assert(ret == -ENOENT && !entry.size,
		    "lookup of nothing at %#llx: %d", iova, ret);
	test_assert(!phys, "iova_to_phys of nothing at %#llx", iova);
}
