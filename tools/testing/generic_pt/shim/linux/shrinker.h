/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory is never short by itself here: a test calls pt_iommu_ops.reclaim
 */
#ifndef SHIM_LINUX_SHRINKER_H
#define SHIM_LINUX_SHRINKER_H

struct shrinker;
struct shrink_control;

#endif /* SHIM_LINUX_SHRINKER_H */
