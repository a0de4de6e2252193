/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that only userspace has
 */
#ifndef UBENCH_H
#define UBENCH_H

#include "bench/bench.h"

/* bench_formats.c, linked with formats that keep tables */
extern const struct pt_peer keep_bench_amdv1;
extern const struct pt_peer keep_bench_x86_64;
extern const struct pt_peer keep_bench_vtdss;
extern const struct pt_peer keep_bench_riscv_64;

/* P9 */
void ubench_sparse(struct kunit *test);
/* P11 */
void ubench_growth(struct kunit *test);
/* P12 */
void ubench_threads(struct kunit *test);
/* P14 */
void ubench_flushes(struct kunit *test);
/* One operation of each kind, for callgrind */
void ubench_calls(struct kunit *test);

#endif /* UBENCH_H */
