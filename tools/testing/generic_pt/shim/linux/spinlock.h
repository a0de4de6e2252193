/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spinlocks. There are no interrupts to disable.
 */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

#include <linux/atomic.h>

#define SHIM_LOCK_MAGIC 0x10c41017U

typedef struct {
	int taken;
	/* Of a lock that was set up */
	unsigned int magic;
} raw_spinlock_t;

typedef struct {
	raw_spinlock_t raw;
} spinlock_t;

/* How many this thread holds: as good as interrupts that are disabled */
extern __thread unsigned int shim_locks_held;

void shim_lock(raw_spinlock_t *lock);
void shim_unlock(raw_spinlock_t *lock);

#define raw_spin_lock_init(lock) \
	(*(lock) = (raw_spinlock_t){ .magic = SHIM_LOCK_MAGIC })
#define spin_lock_init(lock) raw_spin_lock_init(&(lock)->raw)
#define raw_spin_lock_irqsave(lock, flags) \
	do {                               \
		(flags) = 0;               \
		shim_lock(lock);           \
	} while (0)
#define raw_spin_unlock_irqrestore(lock, flags) \
	do {                                    \
		(void)(flags);                  \
		shim_unlock(lock);              \
	} while (0)
#define spin_lock_irqsave(lock, flags) \
	raw_spin_lock_irqsave(&(lock)->raw, flags)
#define spin_unlock_irqrestore(lock, flags) \
	raw_spin_unlock_irqrestore(&(lock)->raw, flags)

#endif /* SHIM_LINUX_SPINLOCK_H */
