/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that a seed repeats
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <linux/types.h>

struct rng {
	u64 state;
};

static inline void rng_seed(struct rng *rng, u64 seed)
{
	rng->state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

/* A linear generator, its better half mixed */
static inline u64 rng_u64(struct rng *rng)
{
	u64 x;

	rng->state = rng->state * 6364136223846793005ULL +
		     1442695040888963407ULL;
	x = rng->state;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 29;
	return x;
}

static inline u64 rng_below(struct rng *rng, u64 nr)
{
	return (rng_u64(rng) >> 11) % nr;
}

static inline bool rng_percent(struct rng *rng, unsigned int percent)
{
	return rng_below(rng, 100) < percent;
}

#endif /* RANDOM_H */
