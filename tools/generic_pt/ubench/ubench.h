/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that only userspace has
 */
#ifndef UBENCH_H
#define UBENCH_H

#include "bench/bench.h"

/* P11 */
void ubench_growth(struct kunit *test);
/* P12 */
void ubench_threads(struct kunit *test);
/* P14 */
void ubench_flushes(struct kunit *test);
/* One operation of each kind, for callgrind */
void ubench_calls(struct kunit *test);

#endif /* UBENCH_H */
