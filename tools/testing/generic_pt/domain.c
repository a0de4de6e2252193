// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver for tests: it does what the library's contract asks of a driver
 */
#include <string.h>
#include <sys/time.h>

#include <linux/mem_encrypt.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include <iommu-pages.h>
#include <shim_alloc.h>

#include "device.h"
#include "domain.h"
#include "lib.h"

void test_cpu_limit(unsigned int seconds)
{
	const struct itimerval once = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &once, NULL);
}

bool hw_read64(u64 pa, u64 *value)
{
	u64 offset = pa - shim_arena_pa;

	if (offset >= SHIM_PAGES << PAGE_SHIFT ||
	    shim_page_state(shim_arena + offset) != SHIM_PAGE_USED)
		return false;
	*value = shim_memory_read(offset);
	return true;
}

/* Atomic, and by way of the CPU's cache even where reads go past it */
void hw_set_bits(u64 pa, u64 entry, u64 bits)
{
	u64 *item = (u64 *)(shim_arena + (pa - shim_arena_pa));

	/* What is in the cache may be newer, but hardware has seen neither bit */
	if (!__atomic_compare_exchange_n(item, &entry, entry | bits, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	shim_memory_write_back(item, sizeof(*item));
}

static struct test_domain *to_domain(struct pt_iommu *iommu)
{
	return container_of(iommu, struct test_domain, pt.iommu);
}

static struct test_domain *of_domain(struct iommu_domain *domain)
{
	return to_domain(container_of(domain, struct pt_iommu, domain));
}

void domain_free_tables(struct test_domain *domain, struct list_head *tables)
{
	struct page *page;

	list_for_each_entry(page, tables, lru) {
		__atomic_store_n(&page->state, SHIM_PAGE_LEAVING,
				 __ATOMIC_RELEASE);
		if (domain->device)
			device_table_leaves(domain->device,
					    virt_to_phys(page_address(page)));
	}
	iommu_put_pages_list(tables);
}

void driver_iotlb_sync(struct iommu_domain *iommu_domain,
		       struct iommu_iotlb_gather *gather)
{
	struct test_domain *domain = of_domain(iommu_domain);
	bool tables = !list_empty(&gather->freelist);
	u64 step = 0;

	__atomic_add_fetch(&domain->flushed, 1, __ATOMIC_RELAXED);
	/* What the range is for, when there is none */
	test_assert(gather->start <= gather->end, "an empty gather is flushed");
	/* Where it says how large the pages are, one address of each will do */
	if (domain->config->features & BIT(PT_FEAT_DETAILED_GATHER)) {
		step = gather->pgsize;
		test_assert(
			step && !(step & (step - 1)),
			"a gather of %#llx..%#llx says a page size of %#llx",
			(u64)gather->start, (u64)gather->end, step);
	}
	if (domain->check_flush)
		domain->check_flush(domain, gather->start, gather->end);
	if (domain->device)
		device_flush(domain->device, gather->start, gather->end, step,
			     tables);
	domain_free_tables(domain, &gather->freelist);
}

void driver_flush_all(struct iommu_domain *iommu_domain)
{
	struct test_domain *domain = of_domain(iommu_domain);

	__atomic_add_fetch(&domain->flushed_all, 1, __ATOMIC_RELAXED);
	if (domain->device)
		device_flush(domain->device, 0, ~0ULL, 0, true);
}

static void driver_change_top(struct pt_iommu *iommu, phys_addr_t top_paddr,
			      unsigned int top_level)
{
	struct test_domain *domain = to_domain(iommu);
	struct hw_root root = domain->root;

	test_assert(__atomic_load_n(&domain->top_lock.raw.taken,
				    __ATOMIC_RELAXED),
		    "the top changes unlocked");
	root.table_pa = top_paddr;
	root.mode = top_level + 1;
	__atomic_add_fetch(&domain->grown, 1, __ATOMIC_RELAXED);
	if (domain->device)
		device_set_root(domain->device, &root);
	domain->root = root;
}

static spinlock_t *driver_top_lock(struct pt_iommu *iommu)
{
	return &to_domain(iommu)->top_lock;
}

static const struct pt_iommu_driver_ops pt_driver_ops = {
	.change_top = driver_change_top,
	.get_top_lock = driver_top_lock,
};

int domain_init(struct test_domain *domain, const struct test_config *config)
{
	const struct test_format *format = config->format;
	const struct pt_iommu_cfg cfg = {
		.features = config->features,
		.hw_max_vasz_lg2 = config->iova_lg2,
		.hw_max_oasz_lg2 = config->oa_lg2,
	};
	struct hw_root *root = &domain->root;
	int ret;

	memset(domain, 0, sizeof(*domain));
	spin_lock_init(&domain->top_lock);
	domain->config = config;
	domain->pt.iommu.nid = NUMA_NO_NODE;
	domain->pt.iommu.driver_ops = &pt_driver_ops;
	domain->pt.iommu.domain.ops = format->ops;
	shim_sme_mask = config->sme_mask;
	shim_pages_reuse_last(config->reuse_last);
	shim_memory_use(config->features & BIT(PT_FEAT_DMA_INCOHERENT));
	shim_arena_pa = config->arena_pa ? config->arena_pa : format->arena_pa;
	if (shim_arena_pa == ARENA_AT_0)
		shim_arena_pa = 0;

	ret = format->init(domain, config, &cfg);
	if (ret)
		return ret;
	if (config->sizes)
		domain->pt.iommu.domain.pgsize_bitmap &= config->sizes;
	root->format = format->hw;
	root->sign_extend = config->features & BIT(PT_FEAT_SIGN_EXTEND);
	format->root(domain, root);
	/* A configuration has one exactly where tables are to be encrypted */
	root->c_bit = config->sme_mask;
	test_assert((root->table_pa & root->c_bit) == root->c_bit,
		    "the root is not encrypted");
	root->table_pa &= ~root->c_bit;
	return 0;
}

void domain_free(struct test_domain *domain)
{
	unsigned int i;

	pt_iommu_deinit(&domain->pt.iommu);
	rcu_barrier();
	test_assert(!shim_pages_used(), "%lu tables leak", shim_pages_used());
	for (i = 0; i < 4; i++)
		test_assert(!atomic_read(&shim_node[i / 2].stat[i % 2]),
			    "the statistics do not come back to 0");
}

struct recount {
	struct test_domain *domain;
	const struct model *model;
	/* Stretch and address at which the next page must be */
	unsigned int stretch;
	u64 next;
	bool in_stretch;
	unsigned long tables;
	unsigned int without_place;
};

static void recount_page(void *arg, const struct hw_page *page)
{
	struct recount *recount = arg;
	const struct model *model = recount->model;
	const struct model_stretch *stretch;
	struct model_leaf leaf;

	if (!model)
		return;
	test_assert(recount->stretch < model->nr,
		    "a page at %#llx that nobody mapped", page->iova);
	stretch = &model->stretch[recount->stretch];
	if (!recount->in_stretch)
		recount->next = stretch->first;
	test_assert(page->iova == recount->next,
		    "a page at %#llx, the next one should be at %#llx",
		    page->iova, recount->next);
	leaf = model_leaf_of(model, stretch, page->iova);
	if (leaf.iova != page->iova || leaf.oa != page->pa ||
	    leaf.lg2 != page->size_lg2)
		test_fail("page %#llx -> %#llx, %u, not %#llx -> %#llx, %u",
			  page->iova, page->pa, page->size_lg2, leaf.iova,
			  leaf.oa, leaf.lg2);
	test_assert(page->dirty == leaf.dirty, "page %#llx: dirty is %d",
		    page->iova, page->dirty);
	recount->next = page->iova + (1ULL << page->size_lg2);
	recount->in_stretch = recount->next - 1 != stretch->last;
	if (!recount->in_stretch)
		recount->stretch++;
}

static void recount_table(void *arg, struct hw_step step, unsigned int entries,
			  u64 iova)
{
	static unsigned char seen[SHIM_PAGES];
	static unsigned char pass;
	struct recount *recount = arg;
	struct test_domain *domain = recount->domain;
	void *table = phys_to_virt(step.table_pa);
	unsigned long nr = virt_to_page(table) - shim_pages;
	bool top = step.table_pa == domain->root.table_pa;
	struct hw_entry entry = {};
	struct lib_table info;

	if (!recount->tables++ && !++pass) {
		memset(seen, 0, sizeof(seen));
		pass = 1;
	}
	test_assert(seen[nr] != pass, "table %#llx is there twice",
		    step.table_pa);
	seen[nr] = pass;

	domain->config->format->table(&domain->pt.iommu, table, &info);
	test_assert(info.level + 1 == step.level, "table at %#llx: level %u",
		    iova, info.level);
	test_assert(info.live == entries,
		    "table at %#llx level %u: %u users, but %u entries", iova,
		    info.level, info.live, entries);
	test_assert(info.top == top && !info.slot == top,
		    "table at %#llx: top is %d, slot is %p", iova, info.top,
		    info.slot);
	if (!top) {
		domain->root.format->decode(&domain->root, step.level + 1,
					    *(u64 *)info.slot, &entry);
		test_assert(entry.table && entry.pa == step.table_pa,
			    "table at %#llx: not at its slot", iova);
	}
	test_assert(info.parked == info.has_place,
		    "table at %#llx: parked %d, has a place %d", iova,
		    info.parked, info.has_place);
	test_assert(entries || info.parked || top,
		    "table at %#llx level %u is empty and stays", iova,
		    info.level);
}

static void recount_fault(void *arg, u64 iova, u64 entry, enum hw_result result)
{
	test_fail("entry %#llx at %#llx: %s", entry, iova,
		  hw_result_name(result));
}

void domain_recount(struct test_domain *domain, const struct model *model)
{
	static const struct hw_visitor visitor = {
		.page = recount_page,
		.table = recount_table,
		.fault = recount_fault,
	};
	struct recount recount = { .domain = domain, .model = model };
	struct pt_iommu_info info;

	rcu_barrier();
	hw_for_each(&domain->root, &visitor, &recount);
	test_assert(recount.tables == shim_pages_used(),
		    "%lu tables are reachable, %lu allocated", recount.tables,
		    shim_pages_used());
	domain->pt.iommu.ops->get_info(&domain->pt.iommu, &info);
	test_assert(info.tables == recount.tables,
		    "%lu tables are reachable, %u in use", recount.tables,
		    info.tables);
	test_assert(info.peak_tables >= info.tables, "%u tables, at most %u",
		    info.tables, info.peak_tables);
	if (model)
		test_assert(recount.stretch == model->nr,
			    "mapped at %#llx, but no page there",
			    model->stretch[recount.stretch].first);
}
