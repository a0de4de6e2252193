// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU, locks and bugs in userspace
 *
 * Each thread publishes the epoch in which its read side began, 0 for none. A
 * grace period starts a new epoch and waits until no thread is in an older one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/bug.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#define MAX_THREADS 64

struct reader {
	unsigned long epoch;
	bool taken;
	char pad[64];
};

void (*shim_storing_hook)(const void *item);
void (*shim_store_hook)(const void *item);
void (*shim_cache_hook)(const void *item);
void (*shim_point_hook)(bool sync);

__thread unsigned int shim_locks_held;

static struct reader readers[MAX_THREADS];
static unsigned long epoch = 1;
static __thread struct reader *self;
static __thread unsigned int nesting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rcu_head *waiting;

void shim_rcu_register(void)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_THREADS && readers[i].taken; i++)
		;
	if (i == MAX_THREADS)
		SHIM_FAIL("too many threads");
	self = &readers[i];
	self->taken = true;
	pthread_mutex_unlock(&lock);
}

void shim_rcu_unregister(void)
{
	pthread_mutex_lock(&lock);
	self->taken = false;
	self = NULL;
	pthread_mutex_unlock(&lock);
}

void rcu_read_lock(void)
{
	if (nesting)
		goto out;
	shim_sync_point();
	if (!self)
		shim_rcu_register();
	/* Full order: what is read later must not be read before */
	__atomic_exchange_n(&self->epoch,
			    __atomic_load_n(&epoch, __ATOMIC_ACQUIRE),
			    __ATOMIC_SEQ_CST);
out:
	nesting++;
	shim_sync_point();
}

void rcu_read_unlock(void)
{
	BUG_ON(!nesting);
	shim_sync_point();
	if (--nesting)
		return;
	__atomic_store_n(&self->epoch, 0, __ATOMIC_RELEASE);
	shim_sync_point();
}

bool rcu_read_lock_held(void)
{
	return nesting;
}

void synchronize_rcu(void)
{
	unsigned long now, seen;
	unsigned int i;

	BUG_ON(nesting);
	now = __atomic_add_fetch(&epoch, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < MAX_THREADS; i++) {
		for (;;) {
			seen = __atomic_load_n(&readers[i].epoch,
					       __ATOMIC_SEQ_CST);
			if (!seen || seen >= now)
				break;
			sched_yield();
		}
	}
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	head->func = func;
	pthread_mutex_lock(&lock);
	head->next = waiting;
	waiting = head;
	pthread_mutex_unlock(&lock);
}

/* One grace period for all that waits. False when nothing did. */
static bool run_callbacks(void)
{
	struct rcu_head *head, *next;

	pthread_mutex_lock(&lock);
	head = waiting;
	waiting = NULL;
	pthread_mutex_unlock(&lock);
	if (!head)
		return false;
	synchronize_rcu();
	for (; head; head = next) {
		next = head->next;
		head->func(head);
	}
	return true;
}

void rcu_barrier(void)
{
	while (run_callbacks())
		;
}

void shim_lock(raw_spinlock_t *lock)
{
	BUG_ON(lock->magic != SHIM_LOCK_MAGIC);
	shim_sync_point();
	while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	shim_locks_held++;
}

void shim_unlock(raw_spinlock_t *lock)
{
	BUG_ON(!shim_locks_held);
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
	shim_locks_held--;
	shim_sync_point();
}

void shim_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	if (getenv("SHIM_ABORT"))
		abort();
	/* So that two different failures can be told apart */
	_exit(64 + line % 128);
}
