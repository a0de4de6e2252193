/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Atomic operations. Those that return a value order all other accesses, as in
 * the kernel.
 */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

#include <linux/compiler.h>

#define ATOMIC_INIT(i) \
	{              \
		(i)    \
	}

static inline int atomic_read(const atomic_t *v)
{
	shim_point();
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic_set(atomic_t *v, int i)
{
	__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);
}

static inline int atomic_sub_return(int i, atomic_t *v)
{
	shim_sync_point();
	return __atomic_sub_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_add_return(int i, atomic_t *v)
{
	shim_sync_point();
	return __atomic_add_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_fetch_andnot(int i, atomic_t *v)
{
	shim_sync_point();
	return __atomic_fetch_and(&v->counter, ~i, __ATOMIC_SEQ_CST);
}

static inline void atomic_andnot(int i, atomic_t *v)
{
	shim_sync_point();
	__atomic_fetch_and(&v->counter, ~i, __ATOMIC_RELAXED);
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	shim_sync_point();
	return __atomic_compare_exchange_n(&v->counter, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Statistics: no order, and no point of interest to another thread */
static inline void atomic_sub(int i, atomic_t *v)
{
	__atomic_sub_fetch(&v->counter, i, __ATOMIC_RELAXED);
}

static inline long atomic_long_read(const atomic_long_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic_long_add(long i, atomic_long_t *v)
{
	__atomic_add_fetch(&v->counter, i, __ATOMIC_RELAXED);
}

static inline u64 shim_cmpxchg64(u64 *p, u64 old, u64 new)
{
	shim_sync_point();
	shim_storing(p);
	if (__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST,
					__ATOMIC_ACQUIRE))
		shim_stored(p);
	return old;
}

static inline bool shim_try_cmpxchg64(u64 *p, u64 *old, u64 new)
{
	u64 found = shim_cmpxchg64(p, *old, new);
	bool done = found == *old;

	*old = found;
	return done;
}

#define try_cmpxchg(p, old, new)                                          \
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, \
				    __ATOMIC_RELAXED)
#define cmpxchg64(p, old, new) shim_cmpxchg64(p, old, new)
#define try_cmpxchg64(p, old, new) shim_try_cmpxchg64(p, old, new)

#endif /* SHIM_LINUX_ATOMIC_H */
