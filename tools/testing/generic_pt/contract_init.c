// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which configurations can be, and what comes of them
 */
#include <errno.h>
#include <string.h>

#include <linux/generic_pt/iommu.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include <shim_alloc.h>

#include "contract.h"

static const struct pt_iommu_amdv1_cfg good_cfg = {
	.common.features = GROWS | FULL | RANGE,
	.common.hw_max_vasz_lg2 = 64,
	.common.hw_max_oasz_lg2 = 52,
	.starting_level = 2,
};

static spinlock_t *some_lock(struct pt_iommu *iommu)
{
	return &domain.top_lock;
}

static void no_change(struct pt_iommu *iommu, phys_addr_t top,
		      unsigned int level)
{
}

static int try_init(const struct pt_iommu_amdv1_cfg *cfg,
		    const struct pt_iommu_driver_ops *ops)
{
	int ret;

	memset(&domain, 0, sizeof(domain));
	domain.pt.iommu.nid = NUMA_NO_NODE;
	domain.pt.iommu.driver_ops = ops;
	shim_arena_pa = lib_amdv1.arena_pa;
	ret = pt_iommu_amdv1_init(&domain.pt.amdv1, cfg, GFP_KERNEL);
	if (!ret)
		pt_iommu_deinit(&domain.pt.iommu);
	check(!shim_pages_used());
	return ret;
}

static const struct pt_iommu_driver_ops good_ops = {
	.change_top = no_change,
	.get_top_lock = some_lock,
};

static void init_refuses_what_it_does_not_understand(void)
{
	struct pt_iommu_amdv1_cfg cfg = good_cfg;
	unsigned int bit;

	check(!try_init(&cfg, &good_ops));
	for (bit = 0; bit < 32; bit++) {
		cfg.common.features = BIT(bit);
		cfg.common.hw_max_vasz_lg2 = 48;
		if (bit == PT_FEAT_SIGN_EXTEND ||
		    bit == PT_FEAT_DMA_INCOHERENT || bit > 16)
			check(try_init(&cfg, &good_ops) == -EOPNOTSUPP);
	}
	cfg = good_cfg;
	cfg.common.hw_max_oasz_lg2 = 53;
	check(try_init(&cfg, &good_ops) == -EOPNOTSUPP);
	cfg = good_cfg;
	cfg.common.hw_max_vasz_lg2 = 65;
	check(try_init(&cfg, &good_ops) == -EOPNOTSUPP);
	cfg = good_cfg;
	cfg.starting_level = 6;
	check(try_init(&cfg, &good_ops) == -EOPNOTSUPP);
	cfg.starting_level = 5;
	check(!try_init(&cfg, &good_ops));
}

static void init_refuses_spaces_without_a_page(void)
{
	struct pt_iommu_amdv1_cfg cfg = good_cfg;

	cfg.common.hw_max_oasz_lg2 = 11;
	check(try_init(&cfg, &good_ops) == -EINVAL);
	cfg.common.hw_max_oasz_lg2 = 12;
	check(!try_init(&cfg, &good_ops));
	cfg = good_cfg;
	cfg.common.hw_max_vasz_lg2 = 11;
	check(try_init(&cfg, &good_ops) == -EINVAL);
	cfg.common.hw_max_vasz_lg2 = 12;
	check(!try_init(&cfg, &good_ops));
}

static void init_of_all_64_bits_must_be_asked_for(void)
{
	struct pt_iommu_amdv1_cfg cfg = good_cfg;

	cfg.common.features = GROWS | RANGE;
	check(try_init(&cfg, &good_ops) == -EINVAL);
	cfg.common.hw_max_vasz_lg2 = 63;
	check(!try_init(&cfg, &good_ops));
	check(domain.pt.iommu.domain.geometry.aperture_end == ~0ULL >> 1);
	check(domain.pt.iommu.domain.geometry.aperture_start == 0);
	check(domain.pt.iommu.domain.geometry.force_aperture);
}

static void init_to_grow_needs_the_driver(void)
{
	struct pt_iommu_driver_ops ops = good_ops;

	check(try_init(&good_cfg, NULL) == -EINVAL);
	ops.change_top = NULL;
	check(try_init(&good_cfg, &ops) == -EINVAL);
	ops = good_ops;
	ops.get_top_lock = NULL;
	check(try_init(&good_cfg, &ops) == -EINVAL);
}

static void init_without_memory_says_so(void)
{
	memset(&domain, 0, sizeof(domain));
	domain.pt.iommu.driver_ops = &good_ops;
	domain.pt.iommu.nid = NUMA_NO_NODE;
	shim_fail_after(0);
	check(pt_iommu_amdv1_init(&domain.pt.amdv1, &good_cfg, GFP_KERNEL) ==
	      -ENOMEM);
	shim_fail_after(~0ULL);
	check(!shim_pages_used());
}

static void sizes_are_those_of_all_levels(void)
{
	struct pt_iommu_info info = {};
	/* All from 4 KiB on but 512 GiB, none larger than the OA space */
	u64 sizes = GENMASK_ULL(52, 12) & ~BIT_ULL(39);

	begin(GROWS | FULL, 0, 64);
	domain.pt.iommu.ops->get_info(&domain.pt.iommu, &info);
	check(info.pgsize_bitmap == sizes);
	check(domain.pt.iommu.domain.pgsize_bitmap == sizes);
	end();
	begin(0, 1, 64);
	domain.pt.iommu.ops->get_info(&domain.pt.iommu, &info);
	check(info.pgsize_bitmap == GENMASK_ULL(29, 12));
	end();
	begin(0, 0, 64);
	check(domain.pt.iommu.domain.pgsize_bitmap == GENMASK_ULL(20, 12));
	end();
}

/* A driver's hardware has the root's level and address */
static void hardware_gets_the_root(void)
{
	struct pt_iommu_amdv1_hw_info info;
	unsigned int level;

	for (level = 0; level < 6; level++) {
		begin(FULL, level, 64);
		memset(&info, 0xff, sizeof(info));
		pt_iommu_amdv1_hw_info(&domain.pt.amdv1, &info);
		check(info.mode == level + 1);
		check(info.host_pt_root == domain.root.table_pa);
		check(shim_pages_used() == 1);
		end();
	}
}

#define PAGES_X86 0x40201000ULL

/* Configurations of all formats: whether they can be, and what comes of it */
static const struct {
	struct test_config config;
	int ret;
	u64 aperture_end;
	u64 sizes;
	unsigned int levels;
} inits[] = {
	{ { "level 5", &lib_amdv1_mock, 0, 5, 56, 51 }, -EOPNOTSUPP },
	{ { "57 bits", &lib_amdv1_mock, 0, 4, 57, 51 }, -EOPNOTSUPP },
	{ { "OA of 52 bits", &lib_amdv1_mock, 0, 4, 56, 52 }, -EOPNOTSUPP },
	{ { "OA of 10 bits", &lib_amdv1_mock, 0, 4, 56, 10 }, -EINVAL },
	{ { "5 levels", &lib_amdv1_mock, 0, 4, 56, 51 },
	  0,
	  (1ULL << 56) - 1,
	  GENMASK_ULL(51, 11),
	  5 },
	{ { "1 level", &lib_amdv1_mock, 0, 0, 56, 51 },
	  0,
	  (1ULL << 20) - 1,
	  GENMASK_ULL(19, 11),
	  1 },
	/* No level more than the IOVA space needs */
	{ { "grows to 2 levels", &lib_amdv1, GROWS, 0, 30, 52 },
	  0,
	  (1ULL << 30) - 1,
	  GENMASK_ULL(29, 12),
	  1 },
	{ { "grows to 3 levels", &lib_amdv1, GROWS, 0, 31, 52 },
	  0,
	  (1ULL << 31) - 1,
	  GENMASK_ULL(38, 12),
	  1 },
	{ { "level 2", &lib_x86_64, 0, 2, 39, 52 }, -EOPNOTSUPP },
	{ { "level 5", &lib_x86_64, 0, 5, 57, 52 }, -EOPNOTSUPP },
	{ { "58 bits", &lib_x86_64, 0, 4, 58, 52 }, -EOPNOTSUPP },
	{ { "OA of 53 bits", &lib_x86_64, 0, 3, 48, 53 }, -EOPNOTSUPP },
	{ { "OA of 11 bits", &lib_x86_64, 0, 3, 48, 11 }, -EINVAL },
	{ { "IOVA of 11 bits", &lib_x86_64, 0, 3, 11, 52 }, -EINVAL },
	{ { "growth", &lib_x86_64, GROWS, 3, 48, 52 }, -EOPNOTSUPP },
	{ { "bit 31", &lib_x86_64, BIT(31), 3, 48, 52 }, -EOPNOTSUPP },
	{ { "4 levels", &lib_x86_64, 0, 3, 48, 52 },
	  0,
	  (1ULL << 48) - 1,
	  PAGES_X86,
	  4 },
	{ { "more than 4 levels", &lib_x86_64, 0, 3, 57, 52 },
	  0,
	  (1ULL << 48) - 1,
	  PAGES_X86,
	  4 },
	{ { "less than 4 levels", &lib_x86_64, 0, 3, 40, 52 },
	  0,
	  (1ULL << 40) - 1,
	  PAGES_X86,
	  4 },
	{ { "5 levels", &lib_x86_64, INCOHERENT, 4, 57, 52 },
	  0,
	  (1ULL << 57) - 1,
	  PAGES_X86,
	  5 },
	{ { "5 levels, OA of 30 bits", &lib_x86_64, 0, 4, 57, 30 },
	  0,
	  (1ULL << 57) - 1,
	  PAGES_X86,
	  5 },
	{ { "5 levels, OA of 29 bits", &lib_x86_64, 0, 4, 57, 29 },
	  0,
	  (1ULL << 57) - 1,
	  0x201000,
	  5 },
	{ { "signed", &lib_x86_64, SIGNED, 3, 48, 52 }, 0, ~0ULL, PAGES_X86, 4 },
	{ { "level 1", &lib_vtdss, 0, 1, 30, 52 }, -EOPNOTSUPP },
	{ { "level 5", &lib_vtdss, 0, 5, 57, 52 }, -EOPNOTSUPP },
	{ { "58 bits", &lib_vtdss, 0, 4, 58, 52 }, -EOPNOTSUPP },
	{ { "signed", &lib_vtdss, SIGNED, 3, 48, 52 }, -EOPNOTSUPP },
	{ { "OA of 53 bits", &lib_vtdss, 0, 3, 48, 53 }, -EOPNOTSUPP },
	{ { "3 levels", &lib_vtdss, INCOHERENT, 2, 39, 52 },
	  0,
	  (1ULL << 39) - 1,
	  PAGES_X86,
	  3 },
	{ { "5 levels", &lib_vtdss, 0, 4, 57, 52 },
	  0,
	  (1ULL << 57) - 1,
	  PAGES_X86,
	  5 },
	{ { "58 bits", &lib_riscv_64, 0, 0, 58, 56 }, -EOPNOTSUPP },
	{ { "OA of 57 bits", &lib_riscv_64, 0, 0, 39, 57 }, -EOPNOTSUPP },
	{ { "growth", &lib_riscv_64, GROWS, 0, 39, 56 }, -EOPNOTSUPP },
	{ { "Sv39", &lib_riscv_64, 0, 0, 39, 56 },
	  0,
	  (1ULL << 38) - 1,
	  PAGES_X86,
	  3 },
	{ { "signed Sv39", &lib_riscv_64, SIGNED, 0, 39, 56 },
	  0,
	  ~0ULL,
	  PAGES_X86,
	  3 },
	{ { "Sv48 for 40 bits", &lib_riscv_64, NAPOT, 0, 40, 56 },
	  0,
	  (1ULL << 40) - 1,
	  PAGES_X86 | 0x10000 | BIT_ULL(39),
	  4 },
	{ { "Sv48", &lib_riscv_64, NAPOT, 0, 48, 56 },
	  0,
	  (1ULL << 47) - 1,
	  PAGES_X86 | 0x10000 | BIT_ULL(39),
	  4 },
	{ { "Sv57 for 49 bits", &lib_riscv_64, 0, 0, 49, 56 },
	  0,
	  (1ULL << 49) - 1,
	  PAGES_X86 | BIT_ULL(39) | BIT_ULL(48),
	  5 },
	{ { "Sv57", &lib_riscv_64, 0, 0, 57, 56 },
	  0,
	  (1ULL << 56) - 1,
	  PAGES_X86 | BIT_ULL(39) | BIT_ULL(48),
	  5 },
};

static void init_makes_what_can_be(void)
{
	struct pt_iommu_info info = {};
	struct iommu_domain *made;
	unsigned int i;
	bool good;
	int ret;

	for (i = 0; i < ARRAY_SIZE(inits); i++) {
		const struct test_config *config = &inits[i].config;

		ret = domain_init(&domain, config);
		test_assert(ret == inits[i].ret, "%s, %s: %d",
			    config->format->name, config->name, ret);
		if (ret) {
			check(!shim_pages_used());
			continue;
		}
		made = &domain.pt.iommu.domain;
		domain.pt.iommu.ops->get_info(&domain.pt.iommu, &info);
		good = !made->geometry.aperture_start &&
		       made->geometry.force_aperture &&
		       made->geometry.aperture_end == inits[i].aperture_end;
		test_assert(good, "%s, %s: the aperture ends at %#llx",
			    config->format->name, config->name,
			    (u64)made->geometry.aperture_end);
		good = made->pgsize_bitmap == inits[i].sizes &&
		       info.pgsize_bitmap == inits[i].sizes;
		test_assert(good, "%s, %s: sizes %#lx", config->format->name,
			    config->name, (unsigned long)made->pgsize_bitmap);
		test_assert(domain.root.mode == inits[i].levels,
			    "%s, %s: %u levels", config->format->name,
			    config->name, domain.root.mode);
		end();
	}
}

const struct contract_test contract_init[] = {
	TEST(init_refuses_what_it_does_not_understand),
	TEST(init_refuses_spaces_without_a_page),
	TEST(init_of_all_64_bits_must_be_asked_for),
	TEST(init_to_grow_needs_the_driver),
	TEST(init_without_memory_says_so),
	TEST(sizes_are_those_of_all_levels),
	TEST(hardware_gets_the_root),
	TEST(init_makes_what_can_be),
	{}
};
