/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random operations that hit edges
 */
#ifndef GENERATE_H
#define GENERATE_H

#include "ops.h"
#include "random.h"

#define GENERATE_MAX 5

/**
 * generate() - Make up the next operations from what is mapped now
 * @rng: Source of chance
 * @model: What is mapped
 * @interrupts: Whether some shall run within another
 * @op: Filled in, up to GENERATE_MAX
 *
 * Return: Their number.
 */
unsigned int generate(struct rng *rng, const struct model *model,
		      bool interrupts, struct op *op);

#endif /* GENERATE_H */
