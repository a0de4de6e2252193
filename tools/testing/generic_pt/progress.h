/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far a long run is, and how long it still takes
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

/* Begin a run of so much work, done by so many children; tell on stderr */
void progress_begin(unsigned long work, unsigned int children);

/* Child @nr has done so much of its work */
void progress_done(unsigned int nr, unsigned long work);

/* As wait(), and tell how far all are now and then */
int progress_wait(int *status);

#endif /* PROGRESS_H */
