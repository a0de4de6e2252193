/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of domains that are tested
 */
#ifndef CONFIGS_H
#define CONFIGS_H

#include "domain.h"

struct named_config {
	struct test_config config;
	/* A device looks at the tables after each store: twenty times slower */
	bool watched;
	/* Operations run within others */
	bool interrupts;
};

extern const struct named_config configs[];
extern const unsigned int nr_configs;

#endif /* CONFIGS_H */
