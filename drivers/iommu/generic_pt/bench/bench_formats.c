// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats of the library, as tables to compare
 *
 * Each is set up as its driver would: with a flush by range, and for hardware
 * that snoops.
 */
#include <linux/generic_pt/iommu.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "../../iommu-pages.h"
#include "bench.h"

/**
 * struct bench_ours - A page table of any format
 * @iommu: What all formats begin with
 * @amdv1: AMDv1
 * @x86_64: x86_64
 * @vtdss: VT-d second stage
 * @riscv_64: RISC-V
 */
union bench_ours {
	struct pt_iommu iommu;
	struct pt_iommu_amdv1 amdv1;
	struct pt_iommu_x86_64 x86_64;
	struct pt_iommu_vtdss vtdss;
	struct pt_iommu_riscv_64 riscv_64;
};

static union bench_ours *bench_ours(struct iommu_domain *domain)
{
	return container_of(domain, union bench_ours, iommu.domain);
}

/*
 * What a driver's flush does for the tables. No hardware uses them, and nobody
 * reads them meanwhile: what is to be freed is freed here, so that it is timed.
 */
static void bench_iotlb_sync(struct iommu_domain *domain,
			     struct iommu_iotlb_gather *gather)
{
	if (!list_empty(&gather->freelist))
		iommu_put_pages_list_now(&gather->freelist);
}

static struct iommu_domain *
ours_alloc(const struct iommu_domain_ops *ops,
	   const struct iommu_dirty_ops *dirty_ops, unsigned int levels,
	   int (*init)(union bench_ours *table, unsigned int levels))
{
	union bench_ours *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return NULL;
	table->iommu.nid = NUMA_NO_NODE;
	table->iommu.domain.ops = ops;
	table->iommu.domain.dirty_ops = dirty_ops;
	if (init(table, levels)) {
		kfree(table);
		return NULL;
	}
	return &table->iommu.domain;
}

static void ours_free(struct iommu_domain *domain)
{
	union bench_ours *table = bench_ours(domain);

	pt_iommu_deinit(&table->iommu);
	kfree(table);
}

static const struct iommu_domain_ops amdv1_ops = {
	IOMMU_PT_DOMAIN_OPS(amdv1),
	.iotlb_sync = bench_iotlb_sync,
};

static const struct iommu_dirty_ops amdv1_dirty_ops = {
	IOMMU_PT_DIRTY_OPS(amdv1),
};

static int amdv1_init(union bench_ours *table, unsigned int levels)
{
	const struct pt_iommu_amdv1_cfg cfg = {
		.common.features = BIT(PT_FEAT_FLUSH_RANGE) |
				   BIT(PT_FEAT_FULL_VA) |
				   BIT(PT_FEAT_AMDV1_FORCE_COHERENCE),
		.common.hw_max_vasz_lg2 = 64,
		.common.hw_max_oasz_lg2 = 52,
		.starting_level = levels - 1,
	};

	return pt_iommu_amdv1_init(&table->amdv1, &cfg, GFP_KERNEL);
}

static struct iommu_domain *amdv1_alloc(unsigned int levels)
{
	return ours_alloc(&amdv1_ops, &amdv1_dirty_ops, levels, amdv1_init);
}

static u64 *amdv1_root(struct iommu_domain *domain, unsigned int *levels)
{
	struct pt_iommu_amdv1_hw_info info;

	pt_iommu_amdv1_hw_info(&bench_ours(domain)->amdv1, &info);
	*levels = info.mode;
	return phys_to_virt(info.host_pt_root);
}

static const struct iommu_domain_ops x86_64_ops = {
	IOMMU_PT_DOMAIN_OPS(x86_64),
	.iotlb_sync = bench_iotlb_sync,
};

static int x86_64_init(union bench_ours *table, unsigned int levels)
{
	const struct pt_iommu_x86_64_cfg cfg = {
		.common.features = BIT(PT_FEAT_FLUSH_RANGE),
		.common.hw_max_vasz_lg2 = 12 + 9 * levels,
		.common.hw_max_oasz_lg2 = 52,
		.top_level = levels - 1,
	};

	return pt_iommu_x86_64_init(&table->x86_64, &cfg, GFP_KERNEL);
}

static struct iommu_domain *x86_64_alloc(unsigned int levels)
{
	return ours_alloc(&x86_64_ops, NULL, levels, x86_64_init);
}

static u64 *x86_64_root(struct iommu_domain *domain, unsigned int *levels)
{
	struct pt_iommu_x86_64_hw_info info;

	pt_iommu_x86_64_hw_info(&bench_ours(domain)->x86_64, &info);
	*levels = info.levels;
	return phys_to_virt(info.gcr3_pt);
}

static const struct iommu_domain_ops vtdss_ops = {
	IOMMU_PT_DOMAIN_OPS(vtdss),
	.iotlb_sync = bench_iotlb_sync,
};

static const struct iommu_dirty_ops vtdss_dirty_ops = {
	IOMMU_PT_DIRTY_OPS(vtdss),
};

static int vtdss_init(union bench_ours *table, unsigned int levels)
{
	const struct pt_iommu_vtdss_cfg cfg = {
		.common.features = BIT(PT_FEAT_FLUSH_RANGE) |
				   BIT(PT_FEAT_VTDSS_FORCE_COHERENCE),
		.common.hw_max_vasz_lg2 = 12 + 9 * levels,
		.common.hw_max_oasz_lg2 = 52,
		.top_level = levels - 1,
	};

	return pt_iommu_vtdss_init(&table->vtdss, &cfg, GFP_KERNEL);
}

static struct iommu_domain *vtdss_alloc(unsigned int levels)
{
	return ours_alloc(&vtdss_ops, &vtdss_dirty_ops, levels, vtdss_init);
}

static u64 *vtdss_root(struct iommu_domain *domain, unsigned int *levels)
{
	struct pt_iommu_vtdss_hw_info info;

	pt_iommu_vtdss_hw_info(&bench_ours(domain)->vtdss, &info);
	*levels = info.aw + 2;
	return phys_to_virt(info.ssptptr);
}

static const struct iommu_domain_ops riscv_64_ops = {
	IOMMU_PT_DOMAIN_OPS(riscv_64),
	.iotlb_sync = bench_iotlb_sync,
};

/* The size of the IOVA space says how many levels there are */
static int riscv_64_init(union bench_ours *table, unsigned int levels)
{
	const struct pt_iommu_riscv_64_cfg cfg = {
		.common.features = BIT(PT_FEAT_FLUSH_RANGE) |
				   BIT(PT_FEAT_RISCV_SVNAPOT_64K),
		.common.hw_max_vasz_lg2 = 12 + 9 * levels,
		.common.hw_max_oasz_lg2 = 56,
	};

	return pt_iommu_riscv_64_init(&table->riscv_64, &cfg, GFP_KERNEL);
}

static struct iommu_domain *riscv_64_alloc(unsigned int levels)
{
	return ours_alloc(&riscv_64_ops, NULL, levels, riscv_64_init);
}

static u64 *riscv_64_root(struct iommu_domain *domain, unsigned int *levels)
{
	struct pt_iommu_riscv_64_hw_info info;

	pt_iommu_riscv_64_hw_info(&bench_ours(domain)->riscv_64, &info);
	*levels = info.fsc_iosatp_mode - 8 + 3;
	return phys_to_virt(info.ppn << 12);
}

const struct pt_peer bench_amdv1 = {
	.name = "ours amdv1",
	.min_levels = 1,
	.max_levels = 6,
	.alloc = amdv1_alloc,
	.free = ours_free,
	.root = amdv1_root,
	.dirty = BIT_ULL(6),
};

const struct pt_peer bench_x86_64 = {
	.name = "ours x86_64",
	.min_levels = 4,
	.max_levels = 5,
	.alloc = x86_64_alloc,
	.free = ours_free,
	.root = x86_64_root,
};

const struct pt_peer bench_vtdss = {
	.name = "ours vtdss",
	.min_levels = 3,
	.max_levels = 5,
	.alloc = vtdss_alloc,
	.free = ours_free,
	.root = vtdss_root,
	.dirty = BIT_ULL(9),
};

const struct pt_peer bench_riscv_64 = {
	.name = "ours riscv_64",
	.min_levels = 3,
	.max_levels = 5,
	.alloc = riscv_64_alloc,
	.free = ours_free,
	.root = riscv_64_root,
};
