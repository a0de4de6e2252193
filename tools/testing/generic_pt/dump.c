// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random mappings of one format, as memory that a walker of others can look at
 *
 * usage: dump -f KIND [-s SEED] [-n OPERATIONS]
 *
 * KIND is one of those below. On stdout come lines for qemu.py:
 *
 *	root PA LEVELS		where the top stands
 *	table PA WORDS		4096 bytes, as hexadecimal digits
 *	dma IOVA PA		a write to IOVA must arrive at PA
 *	fault IOVA		a write to IOVA must not arrive anywhere
 *
 * What must be is what the specification says. Tables are in the first GiB of the
 * memory of a machine, pages in the second one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/iommu.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include <shim_alloc.h>

#include "generate.h"
#include "ops.h"
#include "random.h"

#define PAGES_BYTES 0x40000000ULL
/* Bytes of one DMA */
#define DMA 64

#define RANGE BIT(PT_FEAT_FLUSH_RANGE)
#define GROWS (BIT(PT_FEAT_DYNAMIC_TOP) | BIT(PT_FEAT_FULL_VA))
#define NAPOT BIT(PT_FEAT_RISCV_SVNAPOT_64K)
#define SIGNED BIT(PT_FEAT_SIGN_EXTEND)

/* Where memory begins in the machines, and tables in it */
#define X86 .arena_pa = 0x01000000
#define VIRT .arena_pa = 0x81000000

static const struct test_config kinds[] = {
	{ "amdv1", &lib_amdv1, GROWS | RANGE, 2, 64, 52, X86 },
	{ "amdv1-3", &lib_amdv1, RANGE, 2, 39, 52, X86 },
	{ "vtdss-3", &lib_vtdss, RANGE, 2, 39, 52, X86 },
	{ "vtdss-4", &lib_vtdss, RANGE, 3, 48, 52, X86 },
	{ "x86_64-4", &lib_x86_64, RANGE | SIGNED, 3, 48, 52, X86 },
	{ "riscv_64-sv39", &lib_riscv_64, RANGE | NAPOT | SIGNED, 0, 39, 56,
	  VIRT },
	{ "riscv_64-sv48", &lib_riscv_64, RANGE | NAPOT, 0, 48, 56, VIRT },
	{ "riscv_64-sv57", &lib_riscv_64, RANGE | NAPOT | SIGNED, 0, 57, 56,
	  VIRT },
};

static void print_table(void *arg, struct hw_step step, unsigned int entries,
			u64 iova)
{
	const unsigned char *byte = phys_to_virt(step.table_pa);
	unsigned int i;

	printf("table %#llx ", step.table_pa);
	for (i = 0; i < PAGE_SIZE; i++)
		printf("%02x", byte[i]);
	putchar('\n');
}

static void ignore_page(void *arg, const struct hw_page *page)
{
}

static void print_dma(const struct run *run, u64 iova)
{
	const struct test_config *config = run->domain.config;
	struct model_leaf leaf;

	/* A DMA that goes over the end would be two */
	iova &= ~(u64)(DMA - 1);
	/* On x86 a write there is an interrupt */
	if (iova >> 20 == 0xfee)
		return;
	if (!model_in_aperture(&run->model, iova, iova))
		return;
	if (model_find(&run->model, iova, &leaf) &&
	    (config->format->prot(config, leaf.prot) & IOMMU_WRITE))
		printf("dma %#llx %#llx\n", iova, leaf.oa + iova - leaf.iova);
	else
		printf("fault %#llx\n", iova);
}

static void print_all(struct run *run)
{
	static const struct hw_visitor visitor = { .page = ignore_page,
						   .table = print_table };
	const struct hw_root *root = &run->domain.root;
	unsigned int i, j;

	printf("root %#llx %u\n", root->table_pa, root->mode);
	hw_for_each(root, &visitor, NULL);
	for (i = 0; i < run->model.nr; i++) {
		const struct model_stretch *stretch = &run->model.stretch[i];
		struct model_leaf leaf =
			model_leaf_of(&run->model, stretch, stretch->first);

		print_dma(run, stretch->first - 1);
		print_dma(run, stretch->first);
		print_dma(run, leaf.iova + (1ULL << leaf.lg2) - 1);
		leaf = model_leaf_of(&run->model, stretch, stretch->last);
		print_dma(run, leaf.iova);
		print_dma(run, stretch->last);
		print_dma(run, stretch->last + 1);
		for (j = 0; j < 4; j++)
			print_dma(run, stretch->first +
					       rng_u64(run->rng) %
						       (stretch->last -
							stretch->first + 1));
	}
	for (j = 0; j < 50; j++)
		print_dma(run, model_fold(&run->model, rng_u64(run->rng)));
}

/* What is mapped must be memory of the machine */
static bool fits(const struct test_config *config, struct op *op)
{
	u64 from = (config->arena_pa & -PAGES_BYTES) + PAGES_BYTES;

	if (op->type != OP_MAP)
		return op->type == OP_UNMAP;
	op->oa = from | (op->oa & (PAGES_BYTES - 1));
	return op->len <= from + PAGES_BYTES - op->oa;
}

int main(int argc, char **argv)
{
	static struct run run;
	const struct test_config *config = NULL;
	unsigned int ops = 400, i;
	struct op op[GENERATE_MAX];
	struct rng rng, look;
	u64 seed = 1;
	int opt;

	while ((opt = getopt(argc, argv, "f:s:n:")) != -1) {
		if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			ops = strtoul(optarg, NULL, 0);
		for (i = 0; opt == 'f' && i < ARRAY_SIZE(kinds); i++)
			if (!strcmp(kinds[i].name, optarg))
				config = &kinds[i];
	}
	if (!config)
		return 2;
	rng_seed(&rng, seed);
	rng_seed(&look, seed);
	run_init(&run, config, false);
	run.rng = &look;
	for (i = 0; i < ops; i++) {
		generate(&rng, &run.model, false, op);
		if (fits(config, op))
			run_op(&run, op);
	}
	print_all(&run);
	run_free(&run);
	return 0;
}
