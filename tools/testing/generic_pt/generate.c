// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations that hit edges: of levels, of the aperture, of what is
 * mapped. OA is independent of IOVA but for the low bits that decide which leaf
 * sizes are possible.
 */
#include <linux/iommu.h>
#include <linux/kernel.h>

#include "generate.h"

/* Items that one operation may store, more or less */
#define MAX_ITEMS 1024

static u64 low(unsigned int lg2)
{
	return lg2 >= 64 ? ~0ULL : (1ULL << lg2) - 1;
}

/* lg2 of what an item of a level translates, counted from 0 */
static unsigned int item_lg2(const struct model *model, unsigned int level)
{
	return model->granule_lg2 + model->level_lg2 * level;
}

/* lg2 of the items that hold leaves of a size */
static unsigned int item_of_leaf(const struct model *model, unsigned int lg2)
{
	if (lg2 < model->granule_lg2)
		return model->granule_lg2;
	return item_lg2(model, (lg2 - model->granule_lg2) / model->level_lg2);
}

static u64 pick_iova(struct rng *rng, const struct model *model)
{
	u64 granule = model->sizes & -model->sizes;
	unsigned int edge = item_lg2(model, rng_below(rng, 6));
	unsigned int m2 = item_lg2(model, 1);
	const struct model_stretch *stretch;
	u64 iova;

	switch (rng_below(rng, 8)) {
	case 0:
		/* Around the edge of an item of some level */
		iova = (rng_below(rng, 4) << min(edge, 62U)) +
		       (rng_below(rng, 5) - 2) * granule;
		break;
	case 1:
		/* At the end of the aperture */
		iova = model->aperture_last + 1 -
		       granule * (1 + rng_below(rng, 600));
		/* Or at the end of its lower half */
		if (model->half && rng_percent(rng, 50))
			iova += model->half;
		/* Or at the start of the upper one */
		else if (model->half && rng_percent(rng, 30))
			iova = -model->half + granule * rng_below(rng, 600);
		break;
	case 2:
		iova = granule * rng_below(rng, 600);
		break;
	case 3:
	case 4:
		/* Next to something */
		if (model->nr) {
			stretch = &model->stretch[rng_below(rng, model->nr)];
			iova = rng_percent(rng, 60) ? stretch->last + 1 :
						      stretch->first;
			break;
		}
		fallthrough;
	case 5:
		/* Few tables, used again and again */
		iova = (rng_below(rng, 4) << m2) +
		       granule * rng_below(rng, 1 + (1 << m2) / granule);
		break;
	case 6:
		iova = (rng_below(rng, 3) << item_lg2(model, 3)) +
		       (rng_below(rng, 4) << item_lg2(model, 2)) +
		       (rng_below(rng, 512) << m2);
		break;
	default:
		iova = rng_u64(rng) & low(12 + rng_below(rng, 53));
		break;
	}
	return model_fold(model, iova) & ~(granule - 1);
}

/* Bytes from an address of the aperture to where it ends */
static u64 room(const struct model *model, u64 iova)
{
	if (iova < model->half)
		return model->half - iova;
	return model->aperture_last - iova + 1;
}

static void make_map(struct rng *rng, const struct model *model, struct op *op)
{
	u64 granule = model->sizes & -model->sizes;
	unsigned int g = model->granule_lg2;
	unsigned int alike = g + rng_below(rng, 41);
	unsigned int most;
	u64 max_len;

	if (rng_percent(rng, 40))
		alike = g + rng_below(rng, 12);
	op->type = OP_MAP;
	op->iova = pick_iova(rng, model);
	/* Sometimes aligned, for large leaves */
	if (rng_percent(rng, 40))
		op->iova &= ~low(alike) | low(g);
	op->oa = (rng_u64(rng) & ~low(alike)) | (op->iova & low(alike));
	op->oa &= model->oa_last & ~(granule - 1);
	if (rng_percent(rng, 3))
		op->oa = (model->oa_last - (rng_below(rng, 4) << alike)) &
			 ~(granule - 1);

	/* Not more items than can be looked at */
	alike = op->iova == op->oa ? 64 : __builtin_ctzll(op->iova ^ op->oa);
	most = min(63 - __builtin_clzll(model->sizes & low(alike) & low(52) ?
						model->sizes & low(alike) &
							low(52) :
						granule),
		   48);
	max_len = (u64)MAX_ITEMS << item_of_leaf(model, most);
	switch (rng_below(rng, 6)) {
	case 0:
		op->len = granule;
		break;
	case 1:
		op->len = granule * (1 + rng_below(rng, 16));
		break;
	case 2:
		op->len = granule * (1 + rng_below(rng, 1024));
		break;
	case 3:
		op->len = (1 + rng_below(rng, 4)) << (g + rng_below(rng, 40));
		break;
	case 4:
		/* Up to the end of an item */
		op->len = -op->iova &
			  low(item_lg2(model, 1 + rng_below(rng, 5)));
		break;
	default:
		op->len = rng_u64(rng) & low(g + rng_below(rng, 42));
		break;
	}
	if (op->len > max_len)
		op->len = max_len >> rng_below(rng, 12);
	op->len &= ~(granule - 1);
	if (!op->len)
		op->len = granule;
	if (!model_in_aperture(model, op->iova, op->iova + op->len - 1))
		op->len = room(model, op->iova);
	if (op->len > max_len)
		op->len = granule;
	/* Nor many small leaves at the ends of a few that are far larger */
	if (op->len > granule << 12 && most > 20 && rng_percent(rng, 98) &&
	    !(model->sizes >> (most - 10) & low(10))) {
		op->iova &= ~low(most);
		op->oa &= ~low(most);
		op->len &= ~low(most);
		if (!op->len)
			op->len = granule;
	}

	op->prot = 1 + rng_below(rng, 3);
	if (rng_percent(rng, 10))
		op->prot |= IOMMU_MMIO;
	if (rng_percent(rng, 10))
		op->prot |= IOMMU_CACHE;
	if (rng_percent(rng, 8))
		op->fail_after = rng_below(rng, 8);
}

static void make_unmap(struct rng *rng, const struct model *model,
		       struct op *op)
{
	u64 granule = model->sizes & -model->sizes;
	const struct model_stretch *stretch, *to;
	struct model_leaf leaf;
	unsigned int i;

	op->type = rng_percent(rng, 20) ? OP_UNMAP_KEEP : OP_UNMAP;
	if (!model->nr || rng_percent(rng, 5)) {
		op->iova = pick_iova(rng, model);
		op->len = granule * (1 + rng_below(rng, 1024));
		return;
	}
	i = rng_below(rng, model->nr);
	stretch = &model->stretch[i];
	op->iova = stretch->first;
	op->len = stretch->last - stretch->first + 1;
	switch (rng_below(rng, 8)) {
	case 0:
		/* The first leaf, or half of it */
		leaf = model_leaf_of(model, stretch, op->iova);
		op->len = 1ULL << leaf.lg2;
		if (rng_percent(rng, 50) &&
		    op->len > 1ULL << model->granule_lg2)
			op->len >>= 1;
		break;
	case 1:
		/* From some leaf on */
		leaf = model_leaf_of(model, stretch,
				     stretch->first + rng_u64(rng) % op->len);
		op->iova = leaf.iova;
		op->len = stretch->last - op->iova + 1;
		break;
	case 2:
		/* From the middle of one, perhaps */
		op->iova += (rng_u64(rng) % op->len) & ~low(model->granule_lg2);
		op->len = granule * (1 + rng_below(rng, 1024));
		break;
	case 3:
		/* Over several */
		to = &model->stretch[min(i + (unsigned int)rng_below(rng, 4),
					 model->nr - 1)];
		op->len = to->last - op->iova + 1;
		break;
	case 4:
		op->len = granule * (1 + rng_below(rng, 512));
		break;
	}
	if (rng_percent(rng, 3))
		op->len = -op->iova & low(63);
}

/* What must be refused */
static void make_bad(struct rng *rng, const struct model *model, struct op *op)
{
	u64 granule = 1ULL << model->granule_lg2;

	switch (rng_below(rng, 9)) {
	case 0:
		op->len = 0;
		break;
	case 1:
		op->len += 1ULL << rng_below(rng, model->granule_lg2);
		break;
	case 2:
		op->iova += 1ULL << rng_below(rng, model->granule_lg2);
		break;
	case 3:
		op->oa += 1ULL << rng_below(rng, model->granule_lg2);
		break;
	case 4:
		op->len = room(model, op->iova) + granule;
		break;
	case 5:
		op->iova = rng_u64(rng) & ~(granule - 1);
		break;
	case 6:
		op->oa = (model->oa_last & ~(granule - 1)) + granule -
			 (op->len > 2 * granule ? op->len - 2 * granule : 0);
		break;
	case 7:
		op->prot &= ~(IOMMU_READ | IOMMU_WRITE);
		break;
	case 8:
		op->len = -granule;
		break;
	}
	/* Valid after all, and too large? */
	if (op->type == OP_MAP && op->len > 1ULL << 22)
		op->fail_after = 0;
}

static void make_op(struct rng *rng, const struct model *model, struct op *op)
{
	unsigned int kind = rng_below(rng, 100);

	*op = (struct op){ .at = OP_ALONE, .fail_after = ~0ULL };
	if (model->nr > 100 + rng_below(rng, 50))
		kind = 60;
	if (kind < 50) {
		make_map(rng, model, op);
	} else if (kind < 85) {
		make_unmap(rng, model, op);
	} else if (kind < 90) {
		make_unmap(rng, model, op);
		op->type = OP_DIRTY;
		op->iova += model->nr ?
				    rng_below(rng, 64) << model->granule_lg2 :
				    0;
		op->iova = model_fold(model, op->iova);
		op->len = rng_below(rng, 2);
		return;
	} else if (kind < 96) {
		make_unmap(rng, model, op);
		op->type = rng_below(rng, 2) ? OP_SCAN : OP_SCAN_CLEAR;
		op->len &= low(34);
	} else {
		op->type = kind == 99 ? OP_RECLAIM : OP_LOOKUP;
		op->iova = pick_iova(rng, model);
		op->len = 1ULL << model->granule_lg2;
		return;
	}
	if (rng_percent(rng, 4))
		make_bad(rng, model, op);
}

/* Where pages were unmapped lately: tables that are empty, parked or leaving */
#define NR_RECENT 4
static u64 recent[NR_RECENT];
static unsigned int next_recent;

/*
 * Few pages in few tables, so that tables become empty and full all the time:
 * one page, or all that a table or the table above it covers.
 */
static void make_dense(struct rng *rng, const struct model *model, bool near,
		       struct op *op)
{
	static const unsigned int pages[] = { 0, 0, 0, 511 };
	u64 granule = model->sizes & -model->sizes;
	unsigned int m2 = item_lg2(model, 1);
	unsigned int lg2 = rng_percent(rng, 50) ? m2 : item_lg2(model, 2);
	unsigned int whole = rng_below(rng, near ? 6 : 16);
	struct model_leaf leaf;

	*op = (struct op){ .at = OP_ALONE, .fail_after = ~0ULL };
	op->iova = rng_below(rng, 5) << lg2;
	if (near)
		op->iova = recent[rng_below(rng, NR_RECENT)] & ~low(m2);
	if (!whole) {
		op->len = 1 << m2;
	} else if (whole == 1) {
		op->iova &= ~low(lg2);
		op->len = 1ULL << lg2;
	} else {
		op->iova |= (u64)pages[rng_below(rng, 4)] << model->granule_lg2;
		op->len = granule;
	}
	op->iova = model_fold(model, op->iova) & ~(granule - 1);
	op->type = OP_UNMAP;
	if (rng_percent(rng, model_find(model, op->iova, &leaf) ? 5 : 95)) {
		op->type = OP_MAP;
		op->prot = 3;
		op->oa = rng_u64(rng) & model->oa_last & ~low(31);
		/* Leaves as large as can be, or a table full of small ones */
		if (op->len <= 1 << m2 && rng_percent(rng, 50))
			op->oa += granule;
		else if (op->len > 1 << m2 && rng_percent(rng, 50))
			op->oa += 1 << m2;
	} else if (!near) {
		recent[next_recent++ % NR_RECENT] = op->iova;
	}
}

/* Something small near @op, but not in its range */
static void make_nested(struct rng *rng, const struct model *model,
			const struct op *op, struct op *nested)
{
	u64 granule = model->sizes & -model->sizes;
	unsigned int m2 = item_lg2(model, 1), g1 = item_lg2(model, 2);
	u64 first, last, other_first, other_last;
	unsigned int tries;

	run_closure(model, op, &first, &last);
	for (tries = 0; tries < 20; tries++) {
		make_op(rng, model, nested);
		switch (rng_below(rng, 8)) {
		case 0:
			/* In the same table, or the next one */
			nested->iova = (first & ~low(m2)) +
				       granule * rng_below(rng, 1024);
			nested->len = granule * (1 + rng_below(rng, 4));
			break;
		case 1:
			nested->iova = (first & ~low(g1)) +
				       (rng_below(rng, 512) << m2);
			nested->len = rng_below(rng, 2) ? granule : 1 << m2;
			break;
		case 2:
			/* A whole table */
			nested->iova &= ~low(m2);
			nested->len = 1 << m2;
			break;
		case 3:
			break;
		default:
			make_dense(rng, model, rng_percent(rng, 70), nested);
			break;
		}
		if (nested->type == OP_UNMAP_KEEP)
			nested->type = OP_UNMAP;
		if (nested->type == OP_MAP && nested->len > 1 << m2 &&
		    ((nested->iova ^ nested->oa) & low(m2)))
			nested->len = 1 << m2;
		if (nested->type == OP_MAP && nested->len > 1 << g1)
			nested->len = 1 << g1;
		nested->fail_after = ~0ULL;
		nested->iova = model_fold(model, nested->iova) & ~(granule - 1);
		if (!model_in_aperture(model, nested->iova,
				       nested->iova + nested->len - 1))
			continue;
		run_closure(model, nested, &other_first, &other_last);
		if (other_last < first || other_first > last)
			return;
	}
}

unsigned int generate(struct rng *rng, const struct model *model,
		      bool interrupts, struct op *op)
{
	unsigned int i, nr = 0, at = 0, sync = 0;
	struct op outer;

	if (interrupts && rng_percent(rng, 80))
		make_dense(rng, model, false, &outer);
	else
		make_op(rng, model, &outer);
	if (interrupts && rng_percent(rng, 60)) {
		nr = 1 + rng_below(rng, 4);
		if (rng_percent(rng, 75))
			sync = OP_AT_SYNC;
		for (i = 0; i < nr; i++) {
			make_nested(rng, model, &outer, &op[i]);
			/* What was just mapped goes again */
			if (i && op[i - 1].type == OP_MAP &&
			    rng_percent(rng, 50)) {
				op[i] = op[i - 1];
				op[i].type = OP_UNMAP;
			}
			/* Memory is short in the middle of it */
			if (rng_percent(rng, 5))
				op[i].type = OP_RECLAIM;
			at += rng_below(rng, sync ? 12 : i ? 20 : 200);
			op[i].at = at | sync;
		}
	}
	op[nr] = outer;
	return nr + 1;
}
