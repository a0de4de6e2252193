/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work that is done later. Here nobody does it: tests ask for what it would do.
 */
#ifndef SHIM_LINUX_WORKQUEUE_H
#define SHIM_LINUX_WORKQUEUE_H

struct delayed_work {
	char nothing;
};

#endif /* SHIM_LINUX_WORKQUEUE_H */
