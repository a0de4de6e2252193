// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run inputs that libFuzzer found before, without it
 *
 * usage: fuzz-replay [-t SECONDS] [-c PREFIX] FILE...
 *        fuzz-replay -l
 *
 * Each line of a FILE is the name of a configuration and an input in hexadecimal
 * digits, or begins with #. After SECONDS no more of them are begun. Only
 * configurations whose name begins with PREFIX are run. -l lists all of them, in
 * the order in which the first byte of an input of libFuzzer means them. With
 * FUZZ_SHOW=1 in the environment operations are printed as they are done.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "configs.h"
#include "fuzz.h"

/* Inputs are as long as libFuzzer makes them */
#define MAX_INPUT 4096

struct progress {
	unsigned long line;
	unsigned long inputs;
	bool late;
};

static const char *prefix = "";

static const struct named_config *find(const char *name, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < nr_configs; i++)
		if (!strncmp(configs[i].config.name, name, len) &&
		    !configs[i].config.name[len])
			return &configs[i];
	return NULL;
}

/* Digits to bytes; -1 when they are none */
static long decode(const char *line, unsigned char *data)
{
	unsigned int value;
	long size = 0;

	for (; *line && *line != '\n'; line += 2) {
		if (size == MAX_INPUT || sscanf(line, "%2x", &value) != 1 ||
		    !line[1])
			return -1;
		data[size++] = value;
	}
	return size;
}

static void run_file(FILE *file, time_t end, struct progress *progress)
{
	static char line[2 * MAX_INPUT + 256];
	static unsigned char data[MAX_INPUT];
	const struct named_config *named;
	unsigned int name;
	long size;

	while (fgets(line, sizeof(line), file)) {
		progress->line++;
		if (line[0] == '#' || strncmp(line, prefix, strlen(prefix)))
			continue;
		if (time(NULL) >= end) {
			progress->late = true;
			return;
		}
		name = strcspn(line, " ");
		named = find(line, name);
		size = line[name] ? decode(line + name + 1, data) : -1;
		if (!named || size < 0) {
			fprintf(stderr, "this is no configuration and input\n");
			_exit(2);
		}
		fuzz_one(named, data, size);
		progress->inputs++;
	}
}

static bool replay(const char *path, long seconds, struct progress *progress)
{
	const char *name = strrchr(path, '/');
	FILE *file = fopen(path, "r");
	time_t start = time(NULL);
	int status;
	bool good;
	pid_t pid;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	memset(progress, 0, sizeof(*progress));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		run_file(file, start + seconds, progress);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	fclose(file);
	good = !status && progress->inputs;
	printf("%sok - fuzz: inputs of %s\n#   %lu inputs in %ld s%s\n",
	       good ? "" : "not ", name ? name + 1 : path, progress->inputs,
	       (long)(time(NULL) - start),
	       progress->late ? ", then the time was over" : "");
	if (status)
		printf("# line %lu fails\n", progress->line);
	return good;
}

int main(int argc, char **argv)
{
	struct progress *progress;
	long seconds = 24 * 3600;
	bool good = true;
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "t:c:l")) != -1) {
		switch (opt) {
		case 't':
			seconds = strtol(optarg, NULL, 0);
			break;
		case 'c':
			prefix = optarg;
			break;
		case 'l':
			for (i = 0; i < nr_configs; i++)
				puts(configs[i].config.name);
			return 0;
		default:
			return 2;
		}
	}
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED || optind == argc)
		return 2;
	for (; optind < argc; optind++)
		good &= replay(argv[optind], seconds, progress);
	return !good;
}
