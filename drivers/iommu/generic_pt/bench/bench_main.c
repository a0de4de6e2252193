// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite that runs all rows of the benchmark
 */
#include "bench.h"

/* Peers first, then each format of the library */
const struct pt_peer *const bench_kinds[] = {
#if IS_ENABLED(CONFIG_IOMMU_PT_PEERS)
	&pt_peer_amdv1, &pt_peer_amdv2, &pt_peer_vtd,
#ifdef CONFIG_IOMMU_IO_PGTABLE_LPAE
	&pt_peer_lpae,
#endif
#endif
	&bench_amdv1,	&bench_x86_64,	&bench_vtdss, &bench_riscv_64, NULL,
};

static int bench_suite_init(struct kunit_suite *suite)
{
	bench_clock_init();
	return 0;
}

static struct kunit_case bench_cases[] = { KUNIT_CASE_SLOW(bench_map_unmap),
					   KUNIT_CASE_SLOW(bench_one_page),
					   KUNIT_CASE_SLOW(bench_lookup),
					   KUNIT_CASE_SLOW(bench_lookup_random),
					   KUNIT_CASE_SLOW(bench_contiguous),
					   KUNIT_CASE_SLOW(bench_fresh),
					   KUNIT_CASE_SLOW(bench_dirty),
					   KUNIT_CASE_SLOW(bench_sparse),
					   {} };

static struct kunit_suite bench_suite = {
	.name = "iommu_pt_bench",
	.suite_init = bench_suite_init,
	.test_cases = bench_cases,
};

kunit_test_suite(bench_suite);

MODULE_DESCRIPTION("Benchmark of the IOMMU page tables");
MODULE_LICENSE("GPL");
