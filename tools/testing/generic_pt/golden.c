// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walkers against words that were written down by hand, from the figures of
 * the manuals: who tests the library must be right himself
 */
#include <stdio.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/mm.h>

#include "domain.h"

#define C_BIT 0x0000800000000000ULL

enum kind {
	NONE,
	BAD,
	TABLE,
	PAGE
};

struct golden {
	unsigned int level;
	u64 word;
	enum kind kind;
	u64 pa;
	unsigned int lg2;
	/* Of r, w, e (encrypted), c (coherence forced), d (dirty), 1, 2 (PBMT) */
	const char *flags;
};

static const struct golden amdv1[] = {
	{ 1, 0, NONE },
	{ 1, 0x6000000012345000, NONE },
	/* Figure 9: PR is bit 0, IR 61, IW 62, FC 60 */
	{ 1, 0x6000000012345001, PAGE, 0x12345000, 12, "rw" },
	{ 1, 0x2000000012345001, PAGE, 0x12345000, 12, "r" },
	{ 1, 0x4000000012345001, PAGE, 0x12345000, 12, "w" },
	{ 1, 0x7000000012345001, PAGE, 0x12345000, 12, "rwc" },
	{ 1, 0x6000000012345041, PAGE, 0x12345000, 12, "rwd" },
	{ 1, 0x600ffffffffff001, PAGE, 0xffffffffff000, 12, "rw" },
	{ 1, 0x6000800012345001, PAGE, 0x12345000, 12, "rwe" },
	/* Table 15: 8 KiB, 16 KiB, 1 MiB */
	{ 1, 0x6000000012344e01, PAGE, 0x12344000, 13, "rw" },
	{ 1, 0x6000000012341e01, PAGE, 0x12340000, 14, "rw" },
	{ 1, 0x600000001237fe01, PAGE, 0x12300000, 20, "rw" },
	/* A size that the next level has */
	{ 1, 0x60000000125ffe01, BAD },
	{ 2, 0x6000000012344e01, BAD },
	{ 2, 0x6000000012200001, PAGE, 0x12200000, 21, "rw" },
	{ 2, 0x60000000125ffe01, PAGE, 0x12400000, 22, "rw" },
	{ 2, 0x6000000012345201, TABLE, 0x12345000, 0, "rw" },
	{ 2, 0x600ffffffffff201, TABLE, 0xffffffffff000, 0, "rw" },
	{ 3, 0x6000000012345401, TABLE, 0x12345000, 0, "rw" },
	/* A level is left out */
	{ 3, 0x6000000012345201, BAD },
	{ 4, 0x6000017ffffffe01, PAGE, 0x10000000000, 40, "rw" },
	/* 512 GiB is no page */
	{ 4, 0x6000008000000001, BAD },
	{ 5, 0x6007fffffffffe01, PAGE, 0, 52, "rw" },
	/* Bit 52 is reserved */
	{ 1, 0x6010000012345001, BAD },
	{ 2, 0x6010000012345201, BAD },
};

static const struct golden amdv1_mock[] = {
	{ 1, 0x6000000012345001, PAGE, 0x91a2800, 11, "rw" },
	{ 1, 0x6000000012344e01, PAGE, 0x91a2000, 12, "rw" },
	{ 1, 0x600ffffffffff001, PAGE, 0x7fffffffff800, 11, "rw" },
	{ 2, 0x6000000012345201, TABLE, 0x91a2800, 0, "rw" },
	{ 4, 0x6000008000000001, PAGE, 0x4000000000, 38, "rw" },
};

static const struct golden x86_64[] = {
	{ 1, 0, NONE },
	{ 1, 0x12345066, NONE },
	{ 1, 0x12345067, PAGE, 0x12345000, 12, "rw" },
	{ 1, 0x12345065, PAGE, 0x12345000, 12, "r" },
	/* A supervisor's page is not for a DMA */
	{ 1, 0x12345063, PAGE, 0x12345000, 12, "" },
	{ 1, 0x000ffffffffff067, PAGE, 0xffffffffff000, 12, "rw" },
	{ 1, 0x0000800012345067, PAGE, 0x12345000, 12, "rwe" },
	{ 2, 0x122000e7, PAGE, 0x12200000, 21, "rw" },
	{ 3, 0x400000e7, PAGE, 0x40000000, 30, "rw" },
	{ 4, 0x12345027, TABLE, 0x12345000, 0, "rw" },
	{ 5, 0x000ffffffffff027, TABLE, 0xffffffffff000, 0, "rw" },
	/* PS above 1 GiB, PAT, accessed that is clear, no execute */
	{ 4, 0x80000000e7, BAD },
	{ 1, 0x123450e7, BAD },
	{ 1, 0x12345047, BAD },
	{ 1, 0x8000000012345067, BAD },
};

static const struct golden vtdss[] = {
	{ 1, 0, NONE },
	{ 1, 0x12345000, NONE },
	{ 1, 0x12345003, PAGE, 0x12345000, 12, "rw" },
	{ 1, 0x12345001, PAGE, 0x12345000, 12, "r" },
	{ 1, 0x12345002, PAGE, 0x12345000, 12, "w" },
	{ 1, 0x12345803, PAGE, 0x12345000, 12, "rwc" },
	{ 1, 0x12345303, PAGE, 0x12345000, 12, "rwd" },
	{ 1, 0x000ffffffffff003, PAGE, 0xffffffffff000, 12, "rw" },
	{ 2, 0x12200083, PAGE, 0x12200000, 21, "rw" },
	{ 3, 0x40000083, PAGE, 0x40000000, 30, "rw" },
	{ 2, 0x12345003, TABLE, 0x12345000, 0, "rw" },
	{ 5, 0x000ffffffffff003, TABLE, 0xffffffffff000, 0, "rw" },
	/* PS above 1 GiB, a memory type, SNP in a pointer */
	{ 4, 0x8000000083, BAD },
	{ 1, 0x12345033, BAD },
	{ 2, 0x12345803, BAD },
};

static const struct golden riscv_64[] = {
	{ 1, 0, NONE },
	{ 1, 0x48d14d6, NONE },
	{ 1, 0x48d14d7, PAGE, 0x12345000, 12, "rw" },
	{ 1, 0x48d1453, PAGE, 0x12345000, 12, "r" },
	/* Not dirty beforehand: a write faults */
	{ 1, 0x48d1457, PAGE, 0x12345000, 12, "r" },
	/* Not a user's */
	{ 1, 0x48d14c7, PAGE, 0x12345000, 12, "" },
	{ 1, 0x003ffffffffffcd7, PAGE, 0xfffffffffff000, 12, "rw" },
	{ 1, 0x20000000048d14d7, PAGE, 0x12345000, 12, "rw1" },
	{ 1, 0x40000000048d14d7, PAGE, 0x12345000, 12, "rw2" },
	{ 1, 0x80000000048d20d7, PAGE, 0x12340000, 16, "rw" },
	{ 2, 0x48800d7, PAGE, 0x12200000, 21, "rw" },
	{ 3, 0x100000d7, PAGE, 0x40000000, 30, "rw" },
	{ 4, 0x20000000d7, PAGE, 0x8000000000, 39, "rw" },
	{ 5, 0x4000000000d7, PAGE, 0x1000000000000, 48, "rw" },
	{ 2, 0x48d1401, TABLE, 0x12345000, 0, "rw" },
	{ 5, 0x003ffffffffffc01, TABLE, 0xfffffffffff000, 0, "rw" },
	/* W without R, PBMT 3, N elsewhere, bit 54, A in a pointer */
	{ 1, 0x48d14d5, BAD },
	{ 1, 0x60000000048d14d7, BAD },
	{ 1, 0x80000000048d14d7, BAD },
	{ 2, 0x80000000048d20d7, BAD },
	{ 1, 0x00400000048d14d7, BAD },
	{ 2, 0x48d1441, BAD },
};

static bool has(const struct golden *golden, char flag)
{
	return golden->flags && strchr(golden->flags, flag);
}

static bool is_right(const struct hw_format *format,
		     const struct golden *golden)
{
	struct hw_root root = { .format = format, .mode = 5 };
	struct hw_entry out = {};
	unsigned int type = has(golden, '2') ? 2 : has(golden, '1');
	enum hw_result result;

	if (has(golden, 'e'))
		root.c_bit = C_BIT;
	result = format->decode(&root, golden->level, golden->word, &out);
	if (golden->kind == NONE)
		return result == HW_NOT_PRESENT;
	if (golden->kind == BAD)
		return result == HW_MALFORMED;
	return result == HW_OK && out.table == (golden->kind == TABLE) &&
	       out.pa == golden->pa && out.size_lg2 == golden->lg2 &&
	       out.read == has(golden, 'r') && out.write == has(golden, 'w') &&
	       out.encrypted == has(golden, 'e') &&
	       out.force_coherent == has(golden, 'c') &&
	       out.dirty == has(golden, 'd') && out.memory_type == type;
}

static bool check_words(const struct hw_format *format,
			const struct golden *golden, unsigned int nr)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (is_right(format, &golden[i]))
			continue;
		good = false;
		printf("# level %u, %#llx\n", golden[i].level, golden[i].word);
	}
	printf("%sok - walker: %s, %u words of the manual\n",
	       good ? "" : "not ", format->name, nr);
	return good;
}

/* A walk down four tables whose words are written down here */
static u64 *table_at(u64 pa)
{
	return phys_to_virt(pa);
}

static bool check_walk(void)
{
	u64 pa[4], iova = 0x0000018140803abcULL;
	struct hw_root root = { .format = &hw_vtdss, .mode = 4 };
	struct hw_walk walk;
	unsigned int i;
	bool good;

	shim_arena_pa = 0x100000000ULL;
	for (i = 0; i < 4; i++) {
		void *table = page_address(alloc_pages_node(0, 0, 0));

		pa[i] = virt_to_phys(table);
		memset(table, 0, 4096);
	}
	/* 0x18140803abc is 3, 5, 4, 3 and 0xabc */
	table_at(pa[0])[3] = pa[1] | 3;
	table_at(pa[1])[5] = pa[2] | 1;
	table_at(pa[2])[4] = pa[3] | 3;
	table_at(pa[3])[3] = 0x777000 | 3;
	root.table_pa = pa[0];
	good = hw_walk(&root, iova, &walk) == HW_OK &&
	       walk.page.pa == 0x777000 &&
	       walk.page.iova == (iova & ~0xfffULL) && walk.page.read &&
	       !walk.page.write && walk.steps == 4;
	good &= hw_walk(&root, iova + 4096, &walk) == HW_NOT_PRESENT;
	good &= hw_walk(&root, 1ULL << 48, &walk) == HW_TOO_HIGH;
	/* In a signed space the root's upper half is at the end */
	root.sign_extend = true;
	table_at(pa[0])[511] = pa[1] | 3;
	good &= hw_walk(&root, 0xffffff8140803000, &walk) == HW_OK;
	good &= hw_walk(&root, 0x0000ff8140803000, &walk) == HW_TOO_HIGH;
	__free_page(virt_to_page(table_at(pa[3])));
	good &= hw_walk(&root, iova, &walk) == HW_FREED_TABLE;
	printf("%sok - walker: a walk down tables written by hand\n",
	       good ? "" : "not ");
	return good;
}

int main(void)
{
	bool good = true;

	good &= check_words(&hw_amdv1, amdv1, ARRAY_SIZE(amdv1));
	good &= check_words(&hw_amdv1_mock, amdv1_mock, ARRAY_SIZE(amdv1_mock));
	good &= check_words(&hw_x86_64, x86_64, ARRAY_SIZE(x86_64));
	good &= check_words(&hw_vtdss, vtdss, ARRAY_SIZE(vtdss));
	good &= check_words(&hw_riscv_64, riscv_64, ARRAY_SIZE(riscv_64));
	good &= check_walk();
	return !good;
}

void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length)
{
}
