// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far a long run is, see progress.h
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "progress.h"

#define TELL_EVERY 10

/* Shared with the children, each writes its own */
static unsigned long *done;
static unsigned int nr_children;
static unsigned long all_work;
static time_t begin;

static void wake(int nr)
{
}

void progress_begin(unsigned long work, unsigned int children)
{
	const struct itimerval every = {
		.it_interval.tv_sec = TELL_EVERY,
		.it_value.tv_sec = TELL_EVERY,
	};
	/* So that wait() returns */
	const struct sigaction action = { .sa_handler = wake };

	done = mmap(NULL, children * sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	all_work = work;
	nr_children = children;
	begin = time(NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

void progress_done(unsigned int nr, unsigned long work)
{
	if (done)
		__atomic_store_n(&done[nr], work, __ATOMIC_RELAXED);
}

static void tell(void)
{
	unsigned long seconds = time(NULL) - begin, sum = 0, left;
	unsigned int i;

	for (i = 0; i < nr_children; i++)
		sum += __atomic_load_n(&done[i], __ATOMIC_RELAXED);
	if (!sum || !seconds)
		return;
	left = (double)(all_work - sum) / sum * seconds;
	fprintf(stderr,
		"%.1f %% of %lu operations in %lu s, %lu:%02lu h left\n",
		100.0 * sum / all_work, all_work, seconds, left / 3600,
		left / 60 % 60);
}

int progress_wait(int *status)
{
	int pid;

	while ((pid = wait(status)) < 0 && errno == EINTR)
		tell();
	return pid;
}
