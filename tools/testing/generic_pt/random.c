// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations in one configuration after the other, or a replay
 *
 * usage: random [-fp] [-n OPS] [-s SEED] [-d DIR] [-j JOBS] [-t WHAT]
 *               [CONFIG...]
 *        random -r FILE...
 *
 *  -f: each map first with its first allocation failing, then its second, and so
 *      on until none does
 *  -p: tell how far it is, and the time left
 *
 * JOBS configurations run at the same time; WHAT is said in names of results.
 * Each sequence runs in a child, which writes down each operation before it
 * runs it. When the child dies, parts of the sequence are left out as long as
 * it still dies, and what remains is written to a replay file in DIR.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/kernel.h>

#include <shim_alloc.h>

#include "configs.h"
#include "device.h"
#include "generate.h"
#include "progress.h"

/* A sequence starts anew so often, so that all of it can be written down */
#define MAX_OPS 20000
#define RECOUNT_EVERY 1000
/* Steps that order others which a replay tries */
#define MAX_STEPS 48
/* Only one operation of so many while a device watches */
#define WATCHED_PART 50
/* Configurations that a replay may have */
#define MAX_CONFIGS 32
/* Allocations of a map that are tried */
#define MAX_FAILURES 48

struct log {
	unsigned int nr;
	unsigned long tables;
	unsigned long result[OP_NR][3];
	unsigned long flushed, flushed_all, grown, interrupts, failed;
	struct device_stats stats;
	struct op op[MAX_OPS * GENERATE_MAX];
};

static const struct op recount = { .type = OP_RECOUNT, .at = OP_ALONE };

static struct log *log_shared;
static const char *title = "random";
static bool failing;

static void share_log(void)
{
	log_shared = mmap(NULL, sizeof(*log_shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (log_shared == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
}

static void finish(struct run *run)
{
	struct log *log = log_shared;
	unsigned int i, j;

	for (i = 0; i < OP_NR; i++)
		for (j = 0; j < 3; j++)
			log->result[i][j] += run->result[i][j];
	log->flushed += run->domain.flushed;
	log->flushed_all += run->domain.flushed_all;
	log->grown += run->domain.grown;
	log->interrupts += run->interrupts;
	if (run->domain.device) {
		const struct device_stats *stats =
			device_stats(run->domain.device);

		log->stats.stores += stats->stores;
		log->stats.tlb_hits += stats->tlb_hits;
		log->stats.walk_hits += stats->walk_hits;
		log->stats.walks += stats->walks;
	}
	run_free(run);
	log->tables += shim_pages_allocated();
}

/*
 * Run operations that are written down. @quiet: nobody is interested why it
 * ends. Returns the wait status, 0 when all is well.
 */
static int outcome(const struct test_config *config, bool watched,
		   const struct op *op, unsigned int nr, bool quiet)
{
	int status, fd;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		static struct run run;
		struct rng rng;
		unsigned int i;

		if (quiet) {
			fd = open("/dev/null", O_WRONLY);
			dup2(fd, 2);
		}
		test_cpu_limit(20);
		rng_seed(&rng, 1);
		run_init(&run, config, watched);
		run.rng = &rng;
		for (i = 0; i < nr; i++)
			run_op(&run, &op[i]);
		run_free(&run);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* Leave out what is not needed to fail: halves, quarters, ... single ones */
static unsigned int shrink(const struct test_config *config, bool watched,
			   struct op *op, unsigned int nr, int status)
{
	struct op *some = malloc(sizeof(*some) * nr);
	unsigned int part, from, tries = 0;
	bool better;

	for (part = (nr + 1) / 2; part; part = part > 1 ? (part + 1) / 2 : 0) {
		do {
			better = false;
			for (from = 0; from < nr && tries < 3000;) {
				unsigned int end = min(from + part, nr);

				memcpy(some, op, from * sizeof(*op));
				memcpy(some + from, op + end,
				       (nr - end) * sizeof(*op));
				tries++;
				/* It must fail as it did, not by itself */
				if (outcome(config, watched, some,
					    nr - (end - from),
					    true) != status) {
					from = end;
					continue;
				}
				nr -= end - from;
				memcpy(op, some, nr * sizeof(*op));
				better = true;
			}
		} while (better && part == 1);
	}
	free(some);
	return nr;
}

static void write_replay(const char *path, const struct test_config *config,
			 bool watched, const struct op *op, unsigned int nr,
			 u64 seed)
{
	FILE *file = fopen(path, "w");
	unsigned int i;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return;
	}
	fprintf(file, "# Found in configuration %s with seed %llu\n",
		config->name, seed);
	config_print(file, config, watched);
	for (i = 0; i < nr; i++)
		op_print(file, &op[i]);
	fclose(file);
	printf("# replay of %u operations: %s\n", nr, path);
}

/* The same as before, or another operation, in the log */
static void log_and_run(struct run *run, struct op op)
{
	struct log *log = log_shared;

	log->op[log->nr++] = op;
	run_op(run, &log->op[log->nr - 1]);
}

/*
 * Run a map for each allocation that it makes with that one failing. What it
 * mapped nevertheless goes again. Last comes the map that gets all it wants.
 */
static void run_failing(struct run *run, struct op op)
{
	const struct op whole = op;
	struct model_leaf leaf;
	unsigned int i;

	for (op.fail_after = 0; op.fail_after < MAX_FAILURES; op.fail_after++) {
		bool there = model_find(&run->model, op.iova, &leaf);

		log_and_run(run, op);
		if (!run->failed)
			return;
		log_shared->failed++;
		i = model_index(&run->model, op.iova);
		if (there || i == run->model.nr ||
		    run->model.stretch[i].first != op.iova)
			continue;
		log_and_run(run, (struct op){
					 .type = OP_UNMAP,
					 .at = OP_ALONE,
					 .iova = op.iova,
					 .len = run->model.stretch[i].last -
						op.iova + 1,
				 });
	}
	log_and_run(run, whole);
}

/* One sequence in a child. Returns its wait status. */
static int sequence(const struct named_config *named, unsigned int ops,
		    u64 seed)
{
	struct log *log = log_shared;
	int status;
	pid_t pid;

	log->nr = 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		static struct run run;
		struct rng rng, look;
		unsigned int i;

		rng_seed(&rng, seed);
		rng_seed(&look, 1);
		run_init(&run, &named->config, named->watched);
		run.rng = &look;
		for (i = 0; i < ops; i++) {
			struct op *op = &log->op[log->nr];
			unsigned int nr = 1, j;

			if (i % RECOUNT_EVERY == RECOUNT_EVERY - 1)
				*op = recount;
			else
				nr = generate(&rng, &run.model,
					      named->interrupts, op);
			if (failing && op->type == OP_MAP && nr == 1) {
				run_failing(&run, *op);
				continue;
			}
			log->nr += nr;
			for (j = 0; j < nr; j++)
				run_op(&run, &op[j]);
		}
		finish(&run);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* A device that watches makes it slower */
static unsigned long config_ops(const struct named_config *named,
				unsigned long ops)
{
	return named->watched ? (ops + WATCHED_PART - 1) / WATCHED_PART : ops;
}

static bool run_config(const struct named_config *named, unsigned long ops,
		       u64 seed, const char *dir)
{
	struct log *log = log_shared;
	unsigned long done = 0;
	struct timespec a, b;
	char path[256];
	double seconds;
	unsigned int nr;
	bool good = true;
	int status = 0;

	memset(log, 0, offsetof(struct log, op));
	clock_gettime(CLOCK_MONOTONIC, &a);
	ops = config_ops(named, ops);
	while (good && done < ops) {
		nr = min_t(unsigned long, ops - done, MAX_OPS);
		/* There is room for all that they become */
		if (failing)
			nr = min_t(unsigned int, nr, MAX_OPS / MAX_FAILURES);
		status = sequence(named, nr, seed + done);
		good = !status;
		done += nr;
		progress_done(named - configs, done);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%sok - %s: %s\n", good ? "" : "not ", title,
	       named->config.name);
	seconds = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	printf("#   %lu operations in %.1f s, seed %llu", done, seconds, seed);
	printf("; maps %lu, refused %lu, without memory %lu",
	       log->result[OP_MAP][0], log->result[OP_MAP][1],
	       log->result[OP_MAP][2]);
	printf("; unmaps %lu, of nothing %lu\n",
	       log->result[OP_UNMAP][0] + log->result[OP_UNMAP_KEEP][0],
	       log->result[OP_UNMAP][1] + log->result[OP_UNMAP_KEEP][1]);
	printf("#   %lu tables, %lu flushes, %lu of all, top grown %lu times",
	       log->tables, log->flushed, log->flushed_all, log->grown);
	if (failing)
		printf("; %lu maps failed at one allocation", log->failed);
	if (named->interrupts)
		printf("; %lu operations within others", log->interrupts);
	if (named->watched)
		printf("\n#   %lu stores seen, %lu walks, hit %lu pages, %lu tables",
		       log->stats.stores, log->stats.walks, log->stats.tlb_hits,
		       log->stats.walk_hits);
	putchar('\n');
	if (good)
		return true;

	nr = shrink(&named->config, named->watched, log->op, log->nr, status);
	snprintf(path, sizeof(path), "%s/%s.replay", dir, named->config.name);
	write_replay(path, &named->config, named->watched, log->op, nr, seed);
	outcome(&named->config, named->watched, log->op, nr, false);
	return false;
}

/* A kind of domain that a replay is run in */
struct replay_config {
	struct test_config config;
	bool watched;
};

/* Run what was read; once, or for each step at which an operation can run */
static bool replay_each(const struct test_config *config, bool watched,
			const struct op *op, unsigned int nr)
{
	static struct op some[MAX_OPS];
	unsigned int step, i;
	bool each = false;

	for (step = 0; step < (each ? MAX_STEPS : 1); step++) {
		memcpy(some, op, nr * sizeof(*op));
		for (i = 0; i < nr; i++) {
			if (op[i].at == OP_ALONE || !(op[i].at & OP_AT_EACH))
				continue;
			each = true;
			some[i].at = OP_AT_SYNC |
				     ((op[i].at & ~OP_AT_EACH) + step);
		}
		if (outcome(config, watched, some, nr, false)) {
			printf("# at step %u\n", step);
			return false;
		}
	}
	return true;
}

/* A replay is one line that says what went wrong, configurations, operations */
static bool run_replay(const char *path)
{
	static struct op op[MAX_OPS];
	static struct replay_config config[MAX_CONFIGS];
	unsigned int nr = 0, nr_config = 0, i;
	char line[256], name[256] = "";
	bool readable = true, good, all = true;
	FILE *file = fopen(path, "r");

	if (!file) {
		printf("not ok - %s: %s\n", path, strerror(errno));
		return false;
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#' || !line[0]) {
			/* The first comment that is no license is the title */
			if (!name[0] && line[0] && !strstr(line, "SPDX"))
				snprintf(name, sizeof(name), "%s", line + 2);
		} else if (!nr && nr_config < MAX_CONFIGS &&
			   config_parse(line, &config[nr_config].config,
					&config[nr_config].watched)) {
			nr_config++;
		} else if (nr_config && op_parse(line, &op[nr])) {
			nr++;
		} else {
			printf("# no operation: %s\n", line);
			readable = false;
			break;
		}
	}
	fclose(file);
	op[nr++] = recount;
	if (!readable || !nr_config) {
		printf("not ok - replay: %s cannot be read\n", path);
		return false;
	}
	for (i = 0; i < nr_config; i++) {
		good = replay_each(&config[i].config, config[i].watched, op,
				   nr);
		printf("%sok - replay: %s, %s\n", good ? "" : "not ",
		       config[i].config.format->name, name[0] ? name : path);
		all &= good;
	}
	return all;
}

/* Whether a configuration has one of some names, or one that begins so */
static bool is_asked_for(const struct test_config *config, char **names)
{
	char **name;

	for (name = names; *name; name++)
		if (!strncmp(config->name, *name, strlen(*name)))
			return true;
	return !*names;
}

static unsigned long total_ops(unsigned long ops, char **names)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < nr_configs; i++)
		if (is_asked_for(&configs[i].config, names))
			sum += config_ops(&configs[i], ops);
	return sum;
}

/* Run configurations that are asked for, some at the same time */
static bool run_configs(unsigned int jobs, unsigned long ops, u64 seed,
			const char *dir, char **names)
{
	unsigned int i, running = 0;
	bool good = true;
	int status;

	for (i = 0; i < nr_configs || running;) {
		if (i < nr_configs && running < jobs) {
			if (!is_asked_for(&configs[i].config, names)) {
				i++;
				continue;
			}
			fflush(stdout);
			if (!fork()) {
				share_log();
				good = run_config(&configs[i], ops, seed, dir);
				fflush(stdout);
				_exit(!good);
			}
			running++;
			i++;
			continue;
		}
		progress_wait(&status);
		running--;
		good &= WIFEXITED(status) && !WEXITSTATUS(status);
	}
	return good;
}

int main(int argc, char **argv)
{
	unsigned long ops = 1000000;
	u64 seed = time(NULL);
	const char *dir = ".";
	bool replays = false, tell = false, good = true;
	unsigned int jobs = 1;
	int opt;

	while ((opt = getopt(argc, argv, "fpn:s:d:j:t:r")) != -1) {
		switch (opt) {
		case 'f':
			failing = true;
			break;
		case 'p':
			tell = true;
			break;
		case 'n':
			ops = strtoul(optarg, NULL, 0);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			dir = optarg;
			break;
		case 'j':
			jobs = strtoul(optarg, NULL, 0);
			break;
		case 't':
			title = optarg;
			break;
		case 'r':
			replays = true;
			break;
		default:
			return 2;
		}
	}
	if (tell)
		progress_begin(total_ops(ops, argv + optind), nr_configs);
	if (!replays)
		return !run_configs(jobs, ops, seed, dir, argv + optind);
	for (; optind < argc; optind++)
		good &= run_replay(argv[optind]);
	return !good;
}
