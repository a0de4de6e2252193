/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: how a domain under test begins and ends, and the configurations that a
 * case runs for
 */
#ifndef __GENERIC_PT_KUNIT_FIXTURE_H
#define __GENERIC_PT_KUNIT_FIXTURE_H

#include "kunit_tree.h"

/* Set up the page table. May fail when the allocator is told to. */
static int kt_start(struct kt *kt)
{
	struct PTF_CFG fmt_cfg = kt_fmt_cfg(kt->cfg);
	int ret;

	memset(&kt->table, 0, sizeof(kt->table));
	kt->table.iommu.driver_ops = &kt_driver_ops;
	kt->table.iommu.nid = NUMA_NO_NODE;
	ret = PTF_FN(init)(&kt->table, &fmt_cfg, GFP_KERNEL);
	if (ret)
		return ret;

	kt->dead = false;
	kt->domain.type = IOMMU_DOMAIN_UNMANAGED;
	kt->domain.ops = &kt_domain_ops;
	ptf_common(kt_iommu(kt))->enc_mask = kt->cfg->enc_mask;
	ptf_common(kt_iommu(kt))->oa_mask &= ~kt->cfg->enc_mask;
	if (kt->cfg->pgsizes)
		kt->domain.pgsize_bitmap &= kt->cfg->pgsizes;
	kt->sizes = kt->domain.pgsize_bitmap;
	kt->min_lg2 = __ffs64(kt->sizes);
	kt->space_last = kt->domain.geometry.aperture_end;
	kt->last = kt->space_last;
	if (kt_feature(kt, PT_FEAT_SIGN_EXTEND)) {
		kt->last = pt_low_mask(kt->cfg->vasz_lg2 - 1);
		kt->domain.geometry.aperture_end = kt->last;
	}
	kt->oa_last = pt_low_mask(kt->cfg->oasz_lg2);
	if (sizeof(long) < sizeof(u64)) {
		kt->space_last = min_t(u64, kt->space_last, ULONG_MAX);
		kt->last = min_t(u64, kt->last, ULONG_MAX);
		kt->oa_last = min_t(u64, kt->oa_last, ULONG_MAX);
	}
	kt->hw_root = kt_fmt_root(kt->cfg, &kt->table, &kt->hw_level);
	return 0;
}

static void kt_stop(struct kt *kt)
{
	kt->dead = true;
	pt_iommu_deinit(kt_iommu(kt));
	kt_model_clear(kt);
	kt_reap(kt);
	KUNIT_EXPECT_TRUE_MSG(kt->test, kt_all_freed(kt), "tables leaked");
}

static int kt_init(struct kunit *test)
{
	struct kt *kt = kunit_kzalloc(test, sizeof(*kt), GFP_KERNEL);

	if (!kt)
		return -ENOMEM;
	kt->test = test;
	kt->cfg = test->param_value ?: kt_config(0);
	kt->tainted = test_taint(TAINT_WARN);
	spin_lock_init(&kt->top_lock);
	mt_init(&kt->model);
	xa_init(&kt->pages);
	INIT_LIST_HEAD(&kt->page_list);
	test->priv = kt;
	kunit_activate_static_stub(test, pt_env_alloc, kt_alloc);
	kunit_activate_static_stub(test, pt_env_flush, kt_writeback);
	kunit_activate_static_stub(test, pt_env_trim_later, kt_trim_later);
	return kt_start(kt);
}

static void kt_exit(struct kunit *test)
{
	struct kt *kt = test->priv;

	if (!kt)
		return;
	kt_stop(kt);
	kt_expect_no_complaint(kt);
	/* The library's own checks warn */
	KUNIT_EXPECT_EQ(test, kt->tainted, test_taint(TAINT_WARN));
	mtree_destroy(&kt->model);
	xa_destroy(&kt->pages);
}

/* Go on with the next configuration that has all of some features */
static const void *kt_next(const void *prev, char *desc, u32 features)
{
	const struct kt_config *cfg;
	bool seen = !prev;
	unsigned int i;

	for (i = 0; (cfg = kt_config(i)); i++) {
		if (seen && (cfg->features & features) == features) {
			strscpy(desc, cfg->name, KUNIT_PARAM_DESC_SIZE);
			return cfg;
		}
		seen |= cfg == prev;
	}
	return NULL;
}

static const void *kt_any(const void *prev, char *desc)
{
	return kt_next(prev, desc, 0);
}

static const void *kt_growing(const void *prev, char *desc)
{
	return kt_next(prev, desc, BIT(PT_FEAT_DYNAMIC_TOP));
}

static const void *kt_no_gaps(const void *prev, char *desc)
{
	return kt_next(prev, desc, BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS));
}

static const void *kt_halves(const void *prev, char *desc)
{
	return kt_next(prev, desc, BIT(PT_FEAT_SIGN_EXTEND));
}

static const void *kt_incoherent(const void *prev, char *desc)
{
	return kt_next(prev, desc, BIT(PT_FEAT_DMA_INCOHERENT));
}

static const void *kt_dirty(const void *prev, char *desc)
{
	return PTF_DIRTY ? kt_next(prev, desc, 0) : NULL;
}

/* A case that runs for each configuration, or for each that has a feature */
#define KT_CASE(name) KUNIT_CASE_PARAM(name, kt_any)
#define KT_CASE_GROWING(name) KUNIT_CASE_PARAM(name, kt_growing)
#define KT_CASE_NO_GAPS(name) KUNIT_CASE_PARAM(name, kt_no_gaps)
#define KT_CASE_HALVES(name) KUNIT_CASE_PARAM(name, kt_halves)
#define KT_CASE_INCOHERENT(name) KUNIT_CASE_PARAM(name, kt_incoherent)

#define KT_CASE_DIRTY(name) KUNIT_CASE_PARAM(name, kt_dirty)

#define KT_SUITE(what)                                   \
	static struct kunit_suite kt_##what##_suite = {  \
		.name = __stringify(PTF_NAME) "_" #what, \
		.init = kt_init,                         \
		.exit = kt_exit,                         \
		.test_cases = kt_##what##_cases,         \
	}

#endif /* __GENERIC_PT_KUNIT_FIXTURE_H */
