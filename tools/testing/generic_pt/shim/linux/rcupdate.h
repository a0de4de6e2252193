/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RCU, see rcu.c
 */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/types.h>

void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));

/* Run all that waits for a grace period, and what that lets wait in turn */
void rcu_barrier(void);

/* Whether this thread is within a read side */
bool rcu_read_lock_held(void);

#define lockdep_assert_in_rcu_read_lock() WARN_ON(!rcu_read_lock_held())

/* A thread that reads must say so first, and take leave before it ends */
void shim_rcu_register(void);
void shim_rcu_unregister(void);

#endif /* SHIM_LINUX_RCUPDATE_H */
