// SPDX-License-Identifier: GPL-2.0-only
/*
 * All of a small world: every sequence of some operations on the tiny format,
 * with every outcome of their allocations
 *
 * usage: small [-a] [-n LENGTH] [-j JOBS]
 *
 * -a: with more operations to choose from
 *
 * What a sequence leaves is compared with the specification after each of its
 * operations, and at its end no table may be left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "ops.h"
#include "random.h"

#define MAX_LENGTH 6
#define PAGE 4096ULL

#define RANGE BIT(PT_FEAT_FLUSH_RANGE)
#define NO_GAPS BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS)
#define GROWS BIT(PT_FEAT_DYNAMIC_TOP)
#define INCOHERENT BIT(PT_FEAT_DMA_INCOHERENT)

/* Sequences are shorter by some where a device watches: that takes longer */
static const struct small_config {
	struct test_config config;
	unsigned int shorter;
	bool watched;
} configs_small[] = {
	{ { "fixed", &lib_tiny, RANGE, 2, 18, 20, .reuse_last = true } },
	{ { "grows-no-gaps", &lib_tiny, GROWS | NO_GAPS, 0, 18, 20,
	    .reuse_last = true } },
	{ { "device-range", &lib_tiny, GROWS | RANGE, 1, 18, 20,
	    .reuse_last = true },
	  1,
	  true },
	{ { "device-incoherent", &lib_tiny,
	    NO_GAPS | INCOHERENT | BIT(PT_FEAT_DETAILED_GATHER), 2, 18, 20,
	    .np_cache = true },
	  1,
	  true },
};

/* Pages that are mapped, and whether larger leaves fit there */
static const struct {
	unsigned int page;
	unsigned int nr;
	bool alike;
} maps[] = {
	/* One page at the edges of a table, and of all */
	{ 0, 1, true },
	{ 3, 1, true },
	{ 63, 1, true },
	/* A contiguous leaf, and one over the edge of a table */
	{ 0, 2, true },
	{ 3, 2, true },
	/* What a table covers as one leaf, as a full table, over an edge */
	{ 0, 4, true },
	{ 0, 4, false },
	{ 2, 4, true },
	/* The same one level higher */
	{ 0, 16, true },
	{ 0, 16, false },
	{ 12, 8, true },
	/* Those that are left out unless all are asked for */
	{ 1, 1, true },
	{ 4, 1, true },
	{ 16, 1, true },
	{ 1, 2, true },
	{ 0, 64, true },
};

#define NR_MAPS_FEW 11

static const struct {
	enum op_type type;
	unsigned int page;
	unsigned int nr;
} others[] = {
	{ OP_UNMAP, 0, 1 },
	{ OP_UNMAP, 3, 2 },
	{ OP_UNMAP, 63, 1 },
	{ OP_UNMAP, 0, 4 },
	{ OP_UNMAP, 0, 16 },
	{ OP_UNMAP_KEEP, 0, 4 },
	{ OP_RECLAIM, 0, 0 },
	/* As above */
	{ OP_UNMAP, 1, 1 },
	{ OP_UNMAP, 4, 1 },
	{ OP_UNMAP, 0, 64 },
	{ OP_UNMAP_KEEP, 0, 1 },
	{ OP_DIRTY, 1, 0 },
	{ OP_SCAN_CLEAR, 0, 2 },
};

#define NR_OTHERS_FEW 7

#define NR_OPS (ARRAY_SIZE(maps) + ARRAY_SIZE(others))

static bool all_ops;

/* Whether an operation is one of those that were asked for */
static bool is_used(unsigned int nr)
{
	if (nr < ARRAY_SIZE(maps))
		return all_ops || nr < NR_MAPS_FEW;
	return all_ops || nr - ARRAY_SIZE(maps) < NR_OTHERS_FEW;
}

/* What a child is at, for its parent to tell */
struct progress {
	unsigned int nr;
	struct op op[MAX_LENGTH];
	unsigned long sequences;
	unsigned long failures;
};

static struct progress *progress;

static struct op make_op(unsigned int nr)
{
	struct op op = { .at = OP_ALONE, .fail_after = ~0ULL };

	if (nr < ARRAY_SIZE(maps)) {
		op.type = OP_MAP;
		op.iova = maps[nr].page * PAGE;
		op.oa = 0x40000 + op.iova + (maps[nr].alike ? 0 : PAGE);
		op.len = maps[nr].nr * PAGE;
		op.prot = IOMMU_READ | IOMMU_WRITE;
	} else {
		nr -= ARRAY_SIZE(maps);
		op.type = others[nr].type;
		op.iova = others[nr].page * PAGE;
		op.len = others[nr].nr * PAGE;
	}
	return op;
}

/* Returns whether an allocation of the last operation failed */
static bool run_sequence(const struct small_config *small)
{
	static struct run run;
	struct rng rng;
	unsigned int i;
	bool failed;

	rng_seed(&rng, 1);
	run_init(&run, &small->config, small->watched);
	run.rng = &rng;
	for (i = 0; i < progress->nr; i++)
		run_op(&run, &progress->op[i]);
	failed = run.failed;
	run_free(&run);
	progress->sequences++;
	progress->failures += failed;
	return failed;
}

/*
 * What has been chosen, and all that can follow. Each operation also with its
 * first allocation failing, then its second, until none does.
 */
static void extend(const struct small_config *small, unsigned int length)
{
	unsigned int nr = progress->nr;
	struct op *op = &progress->op[nr - 1];
	unsigned int i;
	bool failed;

	op->fail_after = op->type == OP_MAP ? 0 : ~0ULL;
	for (; true; op->fail_after++) {
		failed = run_sequence(small);
		for (i = 0; nr < length && i < NR_OPS; i++) {
			if (!is_used(i))
				continue;
			progress->nr = nr + 1;
			progress->op[nr] = make_op(i);
			extend(small, length);
		}
		progress->nr = nr;
		if (!failed)
			break;
	}
}

static bool tell(const struct small_config *small, unsigned int length,
		 const struct progress *all)
{
	unsigned long sequences = 0, failures = 0;
	unsigned int i;

	for (i = 0; i < NR_OPS; i++) {
		sequences += all[i].sequences;
		failures += all[i].failures;
	}
	printf("ok - small model: %s\n", small->config.name);
	printf("#   %lu sequences of up to %u operations, in %lu memory ran out\n",
	       sequences, length, failures);
	fflush(stdout);
	return failures;
}

/* Each first operation in a child of its own */
static bool run_config(const struct small_config *small, unsigned int length,
		       unsigned int jobs)
{
	unsigned int first = 0, running = 0, i, j;
	struct progress *all;
	pid_t child[NR_OPS], pid;
	bool good = true;
	int status;

	all = mmap(NULL, NR_OPS * sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return false;
	while (running || (good && first < NR_OPS)) {
		if (good && first < NR_OPS && !is_used(first)) {
			first++;
			continue;
		}
		if (good && first < NR_OPS && running < jobs) {
			child[first] = fork();
			if (!child[first]) {
				progress = &all[first];
				progress->nr = 1;
				progress->op[0] = make_op(first);
				extend(small, length);
				_exit(0);
			}
			first++;
			running++;
			continue;
		}
		pid = wait(&status);
		running--;
		if (!status)
			continue;
		for (i = 0; child[i] != pid; i++)
			;
		if (good)
			printf("not ok - small model: %s\n",
			       small->config.name);
		good = false;
		printf("# ");
		config_print(stdout, &small->config, small->watched);
		for (j = 0; j < all[i].nr; j++) {
			printf("# ");
			op_print(stdout, &all[i].op[j]);
		}
	}
	if (good)
		good = tell(small, length, all);
	munmap(all, NR_OPS * sizeof(*all));
	return good;
}

int main(int argc, char **argv)
{
	unsigned int length = 4, jobs = 1, i;
	bool good = true;
	int opt;

	while ((opt = getopt(argc, argv, "an:j:")) != -1) {
		if (opt == 'a')
			all_ops = true;
		else if (opt == 'n')
			length = min_t(unsigned int, strtoul(optarg, NULL, 0),
				       MAX_LENGTH);
		else if (opt == 'j')
			jobs = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	for (i = 0; i < ARRAY_SIZE(configs_small); i++)
		good &= run_config(&configs_small[i],
				   max(length - configs_small[i].shorter, 1U),
				   jobs);
	return !good;
}
