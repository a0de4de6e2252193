/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: all suites of a format
 *
 * Included by fmt/iommu_template.h, after the format's own file, which may have
 * suites of its own.
 */
#ifndef __GENERIC_PT_KUNIT_SUITES_H
#define __GENERIC_PT_KUNIT_SUITES_H

#include "kunit_core.h"
#include "kunit_dirty.h"
#include "kunit_flush.h"
#include "kunit_fmt.h"
#include "kunit_grow.h"
#include "kunit_halves.h"
#include "kunit_incoherent.h"
#include "kunit_life.h"
#include "kunit_map.h"
#include "kunit_race.h"
#include "kunit_random.h"
#include "kunit_stress.h"
#include "kunit_unmap.h"
#include "kunit_usage.h"

kunit_test_suites(&kt_fmt_suite, &kt_map_suite, &kt_unmap_suite,
		  &kt_flush_suite, &kt_grow_suite, &kt_dirty_suite,
		  &kt_life_suite, &kt_halves_suite, &kt_incoherent_suite,
		  &kt_race_suite, &kt_core_suite, &kt_random_suite,
		  &kt_stress_suite, &kt_usage_suite);

#endif /* __GENERIC_PT_KUNIT_SUITES_H */
