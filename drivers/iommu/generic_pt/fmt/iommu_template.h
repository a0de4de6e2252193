/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compile the library for one format
 *
 * A compilation unit that includes its format's header and then this one
 * becomes the implementation of that format.
 */
#include <linux/module.h>

#include "../pt_fmt_defaults.h"

#include "../pt_common.h"

#include "../iommu_pt.h"

/* Last, so that the tests can call anything above */
#if IS_ENABLED(CONFIG_IOMMU_PT_KUNIT_TEST)
#include PTF_KUNIT_H
#include "../kunit_suites.h"
#endif

MODULE_DESCRIPTION("IOMMU page table: " __stringify(PTF_NAME));
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(GENERIC_PT_IOMMU);
