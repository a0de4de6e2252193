// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations and configurations as lines of text
 *
 *	config FORMAT FEATURES START IOVA_LG2 OA_LG2 SIZES SME_MASK FLAGS
 *	map IOVA OA LEN PROT [FAIL_AFTER]
 *	unmap IOVA LEN
 *	unmap_keep IOVA LEN
 *	dirty IOVA [1: through the library]
 *	scan IOVA LEN
 *	scan_clear IOVA LEN
 *	lookup IOVA
 *	reclaim
 *	recount
 *
 * With @N before it an operation runs at step N of the next one without, with
 * @sN at the Nth of those steps that order others. A replay with @*N is run for
 * each such step, plus N: so it needs no change when the library does.
 *
 * FLAGS are of q (queued flushes), n (NpCache), r (a freed page is reused at
 * once), a (hardware sets accessed bits) and w (a device watches each store), or
 * - for none. A replay with several configurations is run in each.
 */
#include <stdlib.h>
#include <string.h>

#include "ops.h"

static const char *const names[OP_NR] = {
	[OP_MAP] = "map",
	[OP_UNMAP] = "unmap",
	[OP_UNMAP_KEEP] = "unmap_keep",
	[OP_DIRTY] = "dirty",
	[OP_SCAN] = "scan",
	[OP_SCAN_CLEAR] = "scan_clear",
	[OP_LOOKUP] = "lookup",
	[OP_RECLAIM] = "reclaim",
	[OP_RECOUNT] = "recount",
};

void op_print(FILE *file, const struct op *op)
{
	if (op->at != OP_ALONE)
		fprintf(file, "@%s%u ",
			op->at & OP_AT_EACH ? "*" :
			op->at & OP_AT_SYNC ? "s" :
					      "",
			op->at & ~(OP_AT_SYNC | OP_AT_EACH));
	fputs(names[op->type], file);
	if (op->type != OP_RECOUNT && op->type != OP_RECLAIM)
		fprintf(file, " %#llx", op->iova);
	if (op->type == OP_MAP)
		fprintf(file, " %#llx", op->oa);
	if (op->type < OP_LOOKUP)
		fprintf(file, " %#llx", op->len);
	if (op->type == OP_MAP)
		fprintf(file, " %d", op->prot);
	if (op->type == OP_MAP && op->fail_after != ~0ULL)
		fprintf(file, " %llu", op->fail_after);
	fputc('\n', file);
}

/* Read up to @max numbers, all of 64 bits */
static unsigned int numbers(const char *line, u64 *number, unsigned int max)
{
	unsigned int nr;
	char *end;

	for (nr = 0; nr < max; nr++) {
		number[nr] = strtoull(line, &end, 0);
		if (end == line)
			break;
		line = end;
	}
	return nr;
}

bool op_parse(const char *line, struct op *op)
{
	static const unsigned int needs[OP_NR] = {
		[OP_MAP] = 4,	 [OP_UNMAP] = 2, [OP_UNMAP_KEEP] = 2,
		[OP_DIRTY] = 1,	 [OP_SCAN] = 2,	 [OP_SCAN_CLEAR] = 2,
		[OP_LOOKUP] = 1,
	};
	u64 number[5] = {};
	unsigned int nr;
	unsigned int at = OP_ALONE;
	char name[16];
	int type, skip;

	if (line[0] == '@') {
		at = line[1] == 's' ? OP_AT_SYNC :
		     line[1] == '*' ? OP_AT_EACH :
				      0;
		at |= strtoul(line + (at ? 2 : 1), (char **)&line, 0);
	}
	if (sscanf(line, "%15s%n", name, &skip) != 1)
		return false;
	for (type = 0; type < OP_NR && strcmp(names[type], name); type++)
		;
	if (type == OP_NR)
		return false;
	nr = numbers(line + skip, number, 5);
	if (nr < needs[type])
		return false;
	*op = (struct op){
		.type = type,
		.at = at,
		.iova = number[0],
		.fail_after = ~0ULL,
	};
	if (type == OP_MAP) {
		op->oa = number[1];
		op->len = number[2];
		op->prot = number[3];
		if (nr == 5)
			op->fail_after = number[4];
	} else {
		op->len = number[1];
	}
	return true;
}

void config_print(FILE *file, const struct test_config *config, bool watched)
{
	fprintf(file, "config %s %#x %u %u %u %#llx %#llx %s%s%s%s%s-\n",
		config->format->name, config->features, config->start,
		config->iova_lg2, config->oa_lg2, config->sizes,
		config->sme_mask, config->queued ? "q" : "",
		config->np_cache ? "n" : "", config->reuse_last ? "r" : "",
		config->accessed ? "a" : "", watched ? "w" : "");
}

bool config_parse(const char *line, struct test_config *config, bool *watched)
{
	const char *flags;
	u64 number[6];
	char name[16];
	unsigned int i;
	int skip;

	if (sscanf(line, "config %15s%n", name, &skip) != 1 ||
	    numbers(line + skip, number, 6) != 6)
		return false;
	for (i = 0; i < nr_formats && strcmp(formats[i]->name, name); i++)
		;
	if (i == nr_formats)
		return false;
	flags = strrchr(line, ' ');
	*config = (struct test_config){
		.name = "replay",
		.format = formats[i],
		.features = number[0],
		.start = number[1],
		.iova_lg2 = number[2],
		.oa_lg2 = number[3],
		.sizes = number[4],
		.sme_mask = number[5],
		.queued = strchr(flags, 'q'),
		.np_cache = strchr(flags, 'n'),
		.reuse_last = strchr(flags, 'r'),
		.accessed = strchr(flags, 'a'),
	};
	*watched = strchr(flags, 'w');
	return true;
}
