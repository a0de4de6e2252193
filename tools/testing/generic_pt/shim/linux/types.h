/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of the kernel, in userspace
 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

typedef u64 phys_addr_t;
typedef u64 dma_addr_t;
typedef unsigned int gfp_t;

#define GFP_KERNEL 1U
#define GFP_ATOMIC 2U
#define NUMA_NO_NODE (-1)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long counter;
} atomic_long_t;

struct list_head {
	struct list_head *next, *prev;
};

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

#endif /* SHIM_LINUX_TYPES_H */
