// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes as operations, see fuzz.h
 *
 * Addresses and lengths are said by what they are next to: edges of levels, of
 * the aperture, of what is mapped. So a few bytes come to the interesting
 * places, and a changed byte changes one thing.
 */
#include <stdlib.h>

#include <linux/iommu.h>
#include <linux/kernel.h>

#include "configs.h"
#include "fuzz.h"
#include "ops.h"
#include "random.h"

/* More would not fit into the specification, or be slow */
#define MAX_OPS 100
#define MAX_LEAVES 520

struct input {
	const unsigned char *next;
	const unsigned char *end;
	/* Range of the last operation */
	u64 iova;
	u64 len;
};

static u64 low(unsigned int lg2)
{
	return lg2 >= 64 ? ~0ULL : (1ULL << lg2) - 1;
}

static unsigned int byte(struct input *in)
{
	return in->next < in->end ? *in->next++ : 0;
}

static u64 word(struct input *in)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | byte(in);
	return value;
}

static const struct model_stretch *stretch(struct input *in,
					   const struct model *model)
{
	static const struct model_stretch none;

	return model->nr ? &model->stretch[byte(in) % model->nr] : &none;
}

/* Next to what, and how far from it */
static u64 take_iova(struct input *in, const struct model *model,
		     unsigned int granule_lg2)
{
	unsigned int how = byte(in);
	unsigned int away = how >> 3;
	u64 iova = 0;

	switch (how & 7) {
	case 1:
		/* A signed space has another end in its middle */
		iova = model->aperture_last + 1;
		if (model->half)
			iova += byte(in) & 1 ? model->half : -model->half;
		break;
	case 2:
		iova = stretch(in, model)->first;
		break;
	case 3:
		iova = stretch(in, model)->last + 1;
		break;
	case 4:
		iova = 1ULL << byte(in) % 64;
		break;
	case 5:
		iova = in->iova;
		break;
	case 6:
		iova = in->iova + in->len;
		break;
	case 7:
		iova = word(in);
		break;
	}
	if (away)
		iova += (u64)(s64)(signed char)byte(in)
			<< (granule_lg2 + 3 * (away - 1) % 48) % 64;
	return iova;
}

static u64 take_len(struct input *in, const struct model *model,
		    unsigned int granule_lg2, u64 iova)
{
	unsigned int how = byte(in);
	unsigned int value = how >> 2;

	switch (how & 3) {
	case 0:
		return (1ULL + value) << granule_lg2;
	case 1:
		return 1ULL << value;
	case 2:
		return (u64)byte(in) << (granule_lg2 + value) % 64;
	}
	/* Up to some edge */
	if (!value && iova < model->half)
		return model->half - iova;
	if (!value)
		return model->aperture_last - iova + 1;
	if (value == 1)
		return stretch(in, model)->last - iova + 1;
	return -iova & low(granule_lg2 + value);
}

static u64 take_oa(struct input *in, const struct model *model, u64 iova)
{
	unsigned int how = byte(in);
	u64 same = low(how & 63);
	u64 oa = byte(in) * 0x0000123456789000ULL;

	if (how & 64)
		oa = model->oa_last;
	return ((oa & ~same) | (iova & same)) & model->oa_last;
}

/* Make a map shorter that would have very many leaves */
static void cut(const struct model *model, struct op *op)
{
	struct model_stretch all = {
		.first = op->iova,
		.last = op->iova + op->len - 1,
		.asked_first = op->iova,
		.asked_last = op->iova + op->len - 1,
		.delta = op->oa - op->iova,
	};
	u64 mapped, done = 0;
	unsigned int i;
	bool either;

	model_map_result(model, op->iova, op->oa, op->len, op->prot, 0, &mapped,
			 &either);
	for (i = 0; i < MAX_LEAVES && done < mapped; i++)
		done += 1ULL << model_leaf_of(model, &all, op->iova + done).lg2;
	if (done < mapped)
		op->len = done;
}

static struct op take_op(struct input *in, const struct run *run,
			 bool interrupts)
{
	static const enum op_type types[16] = {
		OP_MAP,	  OP_MAP,     OP_MAP,	     OP_MAP,
		OP_MAP,	  OP_MAP,     OP_UNMAP,	     OP_UNMAP,
		OP_UNMAP, OP_UNMAP,   OP_UNMAP_KEEP, OP_DIRTY,
		OP_SCAN,  OP_RECLAIM, OP_SCAN_CLEAR, OP_RECOUNT,
	};
	const struct model *model = &run->model;
	unsigned int granule_lg2 = __builtin_ctzll(model->sizes);
	unsigned int how = byte(in);
	struct op op = {
		.type = types[how & 15],
		.at = OP_ALONE,
		.fail_after = ~0ULL,
	};

	op.iova = take_iova(in, model, granule_lg2);
	op.len = take_len(in, model, granule_lg2, op.iova);
	if (op.type == OP_MAP) {
		op.oa = take_oa(in, model, op.iova);
		op.prot = byte(in) &
			  (IOMMU_READ | IOMMU_WRITE | IOMMU_MMIO | IOMMU_CACHE);
	}
	/* Something that must be refused, perhaps */
	if (how & 16) {
		op.iova += byte(in);
		op.oa += byte(in);
		op.len += byte(in);
	} else {
		op.iova &= ~low(granule_lg2);
		op.oa &= ~low(granule_lg2);
	}
	if (how & 32)
		op.fail_after = byte(in) % 16;
	if (op.type == OP_MAP)
		cut(model, &op);
	/* Nothing may run within a recount */
	if (op.type == OP_RECOUNT && run->nr_nested)
		op.type = OP_LOOKUP;
	if (op.type == OP_DIRTY)
		op.len &= 1;
	if ((how & 64) && interrupts && op.type != OP_RECOUNT) {
		op.at = byte(in) | (how & 128 ? OP_AT_SYNC : 0);
		op.fail_after = ~0ULL;
		if (op.type == OP_UNMAP_KEEP)
			op.type = OP_UNMAP;
	}
	in->iova = op.iova;
	in->len = op.len;
	return op;
}

void fuzz_one(const struct named_config *named, const unsigned char *data,
	      unsigned long size)
{
	static struct run run;
	struct input in = { .next = data, .end = data + size };
	unsigned int i;
	struct rng rng;

	rng_seed(&rng, 1);
	run_init(&run, &named->config, named->watched);
	run.rng = &rng;
	for (i = 0; i < MAX_OPS && in.next < in.end; i++) {
		struct op op = take_op(&in, &run, named->interrupts);

		if (getenv("FUZZ_SHOW"))
			op_print(stderr, &op);
		run_op(&run, &op);
	}
	run_free(&run);
}

int fuzz_begin(int *argc, char ***argv)
{
	/* So that what fails is kept */
	setenv("SHIM_ABORT", "1", 1);
	return 0;
}

int fuzz_input(const unsigned char *data, unsigned long size)
{
	if (size)
		fuzz_one(&configs[data[0] % nr_configs], data + 1, size - 1);
	return 0;
}
