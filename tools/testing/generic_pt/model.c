// SPDX-License-Identifier: GPL-2.0-only
/*
 * The specification, see model.h
 */
#include <errno.h>
#include <string.h>

#include <linux/iommu.h>

#include "domain.h"

unsigned int model_index(const struct model *model, u64 iova)
{
	unsigned int low = 0, high = model->nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (model->stretch[mid].last < iova)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool model_in_aperture(const struct model *model, u64 first, u64 last)
{
	if (last < first || last > model->aperture_last)
		return false;
	if (!model->half)
		return true;
	return last < model->half || first >= -model->half;
}

u64 model_fold(const struct model *model, u64 iova)
{
	if (!model->half)
		return iova & model->aperture_last;
	if (iova & model->half)
		return iova | -model->half;
	return iova & (model->half - 1);
}

static u64 smallest_size(const struct model *model)
{
	return model->sizes & -model->sizes;
}

/* Largest aligned block around @iova that fits into the range */
static u64 block_size(const struct model *model, u64 first, u64 last, u64 delta,
		      u64 iova)
{
	u64 best = smallest_size(model);
	unsigned int lg2;

	for (lg2 = 0; lg2 < 64; lg2++) {
		u64 size = 1ULL << lg2;
		u64 start = iova & -size;

		if (!(model->sizes & size))
			continue;
		if ((delta & (size - 1)) || start < first ||
		    start + (size - 1) > last || start + (size - 1) < start)
			break;
		best = size;
	}
	return best;
}

struct model_leaf model_leaf_of(const struct model *model,
				const struct model_stretch *stretch, u64 iova)
{
	u64 size = block_size(model, stretch->asked_first, stretch->asked_last,
			      stretch->delta, iova);
	struct model_leaf leaf = {
		.iova = iova & -size,
		.oa = (iova & -size) + stretch->delta,
		.lg2 = __builtin_ctzll(size),
		.prot = stretch->prot,
	};

	leaf.dirty = model_is_dirty(model, leaf.iova);
	return leaf;
}

bool model_find(const struct model *model, u64 iova, struct model_leaf *leaf)
{
	unsigned int i = model_index(model, iova);

	if (i == model->nr || model->stretch[i].first > iova)
		return false;
	*leaf = model_leaf_of(model, &model->stretch[i], iova);
	return true;
}

int model_map_result(const struct model *model, u64 iova, u64 oa, u64 len,
		     int prot, int allowed, u64 *mapped, bool *either)
{
	u64 last = iova + len - 1;
	bool inval, range;
	unsigned int i;

	*mapped = 0;
	inval = !len || ((iova | oa | len) & (smallest_size(model) - 1)) ||
		!(prot & (IOMMU_READ | IOMMU_WRITE));
	range = len && (!model_in_aperture(model, iova, last) ||
			oa > model->oa_last || len - 1 > model->oa_last - oa);
	*either = inval && range;
	if (inval)
		return -EINVAL;
	if (range)
		return -ERANGE;
	if (allowed)
		return allowed;

	i = model_index(model, iova);
	if (i < model->nr && model->stretch[i].first <= last) {
		u64 used = model->stretch[i].first;

		if (used > iova) {
			u64 size =
				block_size(model, iova, last, oa - iova, used);

			*mapped = (used & -size) - iova;
		}
		return -EADDRINUSE;
	}
	*mapped = len;
	return 0;
}

bool model_map_prefix(const struct model *model, u64 iova, u64 oa, u64 len,
		      u64 mapped)
{
	u64 size;

	if (!mapped || mapped == len)
		return true;
	if (mapped > len)
		return false;
	/* A leaf begins there */
	size = block_size(model, iova, iova + len - 1, oa - iova,
			  iova + mapped);
	return !((iova + mapped) & (size - 1));
}

void model_map(struct model *model, u64 iova, u64 oa, u64 len, int prot,
	       u64 mapped)
{
	unsigned int i = model_index(model, iova);

	if (!mapped)
		return;
	test_assert(model->nr < MODEL_STRETCHES, "too many stretches");
	memmove(&model->stretch[i + 1], &model->stretch[i],
		(model->nr - i) * sizeof(model->stretch[0]));
	model->nr++;
	model->stretch[i] = (struct model_stretch){
		.first = iova,
		.last = iova + mapped - 1,
		.asked_first = iova,
		.asked_last = iova + len - 1,
		.delta = oa - iova,
		.prot = prot,
	};
}

void model_remove(struct model *model, u64 first, u64 last)
{
	unsigned int i;

	for (i = 0; i < model->nr_dirty;) {
		if (model->dirty[i] >= first && model->dirty[i] <= last)
			model->dirty[i] = model->dirty[--model->nr_dirty];
		else
			i++;
	}
	for (i = model_index(model, first);
	     i < model->nr && model->stretch[i].first <= last;) {
		struct model_stretch *stretch = &model->stretch[i];

		if (stretch->first < first && stretch->last > last) {
			test_assert(model->nr < MODEL_STRETCHES,
				    "too many stretches");
			memmove(stretch + 1, stretch,
				(model->nr - i) * sizeof(*stretch));
			model->nr++;
			stretch->last = first - 1;
			stretch[1].first = last + 1;
			return;
		}
		if (stretch->first < first) {
			stretch->last = first - 1;
			i++;
		} else if (stretch->last > last) {
			stretch->first = last + 1;
			i = model->nr;
		} else {
			memmove(stretch, stretch + 1,
				(model->nr - i - 1) * sizeof(*stretch));
			model->nr--;
		}
	}
}

u64 model_unmap(struct model *model, u64 iova, u64 len, bool change)
{
	u64 last = iova + len - 1, next = iova;
	unsigned int i = model_index(model, iova);
	struct model_leaf leaf;

	if (!len || ((iova | len) & ((1ULL << model->granule_lg2) - 1)) ||
	    !model_in_aperture(model, iova, last))
		return 0;
	if (i == model->nr || model->stretch[i].first > iova)
		return 0;
	/* Not from the middle of a leaf */
	leaf = model_leaf_of(model, &model->stretch[i], iova);
	if (leaf.iova != iova)
		return 0;
	for (; i < model->nr && model->stretch[i].first <= next; i++) {
		if (model->stretch[i].last < last) {
			next = model->stretch[i].last + 1;
			continue;
		}
		/* The last leaf goes whole */
		leaf = model_leaf_of(model, &model->stretch[i], last);
		next = leaf.iova + (1ULL << leaf.lg2);
		break;
	}
	if (change)
		model_remove(model, iova, next - 1);
	return next - iova;
}

bool model_is_dirty(const struct model *model, u64 leaf_iova)
{
	unsigned int i;

	for (i = 0; i < model->nr_dirty; i++)
		if (model->dirty[i] == leaf_iova)
			return true;
	return false;
}

void model_set_dirty(struct model *model, u64 iova)
{
	struct model_leaf leaf;

	if (!model_find(model, iova, &leaf) || leaf.dirty)
		return;
	test_assert(model->nr_dirty < MODEL_DIRTY, "too many are dirty");
	model->dirty[model->nr_dirty++] = leaf.iova;
}

void model_clear_dirty(struct model *model, u64 leaf_iova)
{
	unsigned int i;

	for (i = 0; i < model->nr_dirty; i++) {
		if (model->dirty[i] == leaf_iova) {
			model->dirty[i] = model->dirty[--model->nr_dirty];
			return;
		}
	}
}
