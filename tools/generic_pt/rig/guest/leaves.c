// SPDX-License-Identifier: GPL-2.0
/*
 * Fills whole leaf tables with leaves of 4 KiB and empties each by one unmap,
 * while the device behind vfio-user witnesses it (see vfiouser.py)
 *
 * usage: leaves BDF type1|iommufd PHASE
 *
 * PHASE is the number of the first of three phases: several tables by one unmap,
 * one table by one unmap again and again, one page in each table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio.h"

/* Aligned to tables, past what firmware reserves */
#define START (4 * GIB)
#define TABLE (2 * MIB)
#define TABLES 8
#define STAMP 0x6c656100U

enum {
	IOVA_LOW,
	IOVA_HIGH,
	LOOK,
	WORD,
	PHASE
};

static volatile uint32_t *registers;

/*
 * Memory that cannot be mapped by larger leaves: within the range of one table
 * it is always the same page, which has the table's number in it.
 */
static char *scattered_memory(void)
{
	int file = memfd_create("leaves", 0);
	unsigned int t;
	char *memory;
	u64 at;

	if (file < 0 || ftruncate(file, TABLES * PAGE))
		fail("memfd");
	memory = mmap(NULL, TABLES * TABLE, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	for (at = 0; at < TABLES * TABLE; at += PAGE)
		if (mmap(memory + at, PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, file,
			 at / TABLE * PAGE) == MAP_FAILED)
			fail("mmap of a page");
	for (t = 0; t < TABLES; t++)
		*(uint32_t *)(memory + t * TABLE) = STAMP + t;
	return memory;
}

/* What the device sees at an IOVA must be the page of a table, or nothing */
static void expect(u64 iova, bool mapped, unsigned int table)
{
	uint32_t seen, word = 0;

	registers[IOVA_LOW] = iova;
	registers[IOVA_HIGH] = iova >> 32;
	seen = registers[LOOK];
	if (seen)
		word = registers[WORD];
	errno = 0;
	if (seen != mapped || (mapped && word != STAMP + table))
		fail("the device sees %s, word %#x, at %#llx, expected %s",
		     seen ? "a page" : "nothing", word,
		     (unsigned long long)iova, mapped ? "a page" : "nothing");
}

static void expect_table(unsigned int table, bool mapped)
{
	u64 iova = START + table * TABLE;

	expect(iova, mapped, table);
	expect(iova + TABLE / 2, mapped, table);
	expect(iova + TABLE - PAGE, mapped, table);
}

static void all_at_once(char *memory)
{
	unsigned int t;

	vfio_map(memory, START, TABLES * TABLE);
	for (t = 0; t < TABLES; t++)
		expect_table(t, true);
	vfio_unmap(START, TABLES * TABLE);
	for (t = 0; t < TABLES; t++)
		expect_table(t, false);
}

static void one_by_one(char *memory)
{
	unsigned int t;

	for (t = 0; t < TABLES; t++) {
		vfio_map(memory + t * TABLE, START + t * TABLE, TABLE);
		expect_table(t, true);
		vfio_unmap(START + t * TABLE, TABLE);
		expect_table(t, false);
	}
}

static void sparse(char *memory)
{
	unsigned int t;

	for (t = 0; t < TABLES; t++) {
		vfio_map(memory + t * TABLE, START + t * TABLE, PAGE);
		expect(START + t * TABLE, true, t);
	}
	for (t = 0; t < TABLES; t++) {
		vfio_unmap(START + t * TABLE, PAGE);
		expect(START + t * TABLE, false, t);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		u64 leaves;
		void (*run)(char *memory);
	} phases[] = {
		{ "all-at-once", TABLES * TABLE / PAGE, all_at_once },
		{ "one-by-one", TABLES * TABLE / PAGE, one_by_one },
		{ "sparse", TABLES, sparse },
	};
	unsigned long number;
	char *memory;
	u64 p;

	setlinebuf(stdout);
	if (argc != 4)
		fail("usage: leaves BDF type1|iommufd PHASE");
	number = strtoul(argv[3], NULL, 0);
	memory = scattered_memory();

	vfio_open(vfio_way(argv[2]), argv[1]);
	registers = vfio_registers();
	for (p = 0; p < sizeof(phases) / sizeof(phases[0]); p++) {
		printf("RIG: phase number=%lu way=%s name=%s leaves=%llu\n",
		       number, argv[2], phases[p].name,
		       (unsigned long long)phases[p].leaves);
		registers[PHASE] = number++;
		phases[p].run(memory);
	}
	registers[PHASE] = 0;
	vfio_close();
	return 0;
}
