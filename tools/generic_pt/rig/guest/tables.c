// SPDX-License-Identifier: GPL-2.0
/*
 * Maps one 4 KiB page in each 2 MiB of a span of IOVA and unmaps it again: what
 * tables that takes, what it leaves, how long it lasts
 *
 * usage: tables BDF type1|iommufd all|cycle SPAN-IN-GIB
 *
 * all: all are mapped, then all are unmapped. cycle: each is unmapped before the
 * next one is mapped. It is always the same page of memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio.h"

/*
 * Past the doorbell of interrupts and what firmware reserves. Below 1 TiB there are
 * addresses that AMD's IOMMUs do not translate: a large span begins behind them.
 */
#define START (4 * GIB)
#define LARGE_START (1024 * GIB)
#define STEP (2 * MIB)
/* Pages between looks at the memory, and between two signs of life */
#define CHUNK 512
#define ALIVE_NS 5000000000ULL

static u64 start, peak, last_alive;

/* Pages that IOMMU tables and queues take */
static u64 table_pages(void)
{
	static const char name[] = "\nnr_iommu_pages ";
	static char text[16 * KIB];
	FILE *file = fopen("/proc/sys/vm/stat_refresh", "w");
	char *at;
	size_t n;

	/* Each CPU keeps a part of the count for itself until then */
	if (!file || fputs("1", file) < 0 || fclose(file))
		fail("write /proc/sys/vm/stat_refresh");
	file = fopen("/proc/vmstat", "r");
	if (!file)
		fail("open /proc/vmstat");
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	at = strstr(text, name);
	errno = 0;
	if (!at)
		fail("no nr_iommu_pages in /proc/vmstat");
	return strtoull(at + sizeof(name) - 1, NULL, 10);
}

static void look(void)
{
	u64 pages = table_pages();

	if (pages > peak)
		peak = pages;
	if (now() - last_alive > ALIVE_NS) {
		printf("RIG: alive pages=%llu\n", (unsigned long long)pages);
		last_alive = now();
	}
}

/* Tables are freed after a grace period: wait until no more go */
static u64 settled_pages(void)
{
	u64 pages = table_pages(), before;
	unsigned int same = 0;

	while (same < 5) {
		usleep(100000);
		before = pages;
		pages = table_pages();
		same = pages == before ? same + 1 : 0;
	}
	return pages;
}

/* Do something with each page. Returns nanoseconds, without those to look. */
static u64 each(void *memory, u64 count, bool map, bool unmap)
{
	u64 first, i, started, spent = 0;

	for (first = 0; first < count; first += CHUNK) {
		started = now();
		for (i = first; i < first + CHUNK && i < count; i++) {
			if (map)
				vfio_map(memory, start + i * STEP, PAGE);
			if (unmap)
				vfio_unmap(start + i * STEP, PAGE);
		}
		spent += now() - started;
		look();
	}
	return spent;
}

int main(int argc, char **argv)
{
	u64 count, before, after, map, unmap = 0, end;
	void *memory;
	bool cycle;

	setlinebuf(stdout);
	if (argc != 5)
		fail("usage: tables BDF type1|iommufd all|cycle GIB");
	cycle = !strcmp(argv[3], "cycle");
	count = strtoull(argv[4], NULL, 0) * GIB / STEP;
	start = count * STEP > LARGE_START - 16 * GIB ? LARGE_START : START;
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");

	vfio_open(vfio_way(argv[2]), argv[1]);
	before = settled_pages();
	peak = before;
	map = each(memory, count, true, cycle);
	if (!cycle)
		unmap = each(memory, count, false, true);
	after = settled_pages();
	end = now();
	vfio_close();
	end = now() - end;

	printf("RIG: spent way=%s shape=%s gib=%s pages=%llu before=%llu peak=%llu after=%llu closed=%llu map=%llu unmap=%llu close=%llu\n",
	       argv[2], argv[3], argv[4], (unsigned long long)count,
	       (unsigned long long)before, (unsigned long long)peak,
	       (unsigned long long)after, (unsigned long long)settled_pages(),
	       (unsigned long long)map, (unsigned long long)unmap,
	       (unsigned long long)end);
	return 0;
}
