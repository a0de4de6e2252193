/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: the oracle
 *
 * What is mapped, as a list of leaves with their address, size, permissions and
 * dirty state, and the rules of architecture.md for map and unmap over it. It
 * knows nothing of tables, and shares no arithmetic with the library.
 */
#ifndef __GENERIC_PT_KUNIT_MODEL_H
#define __GENERIC_PT_KUNIT_MODEL_H

#include "kunit_iommu.h"

/**
 * struct kt_leaf - One leaf
 * @iova: First byte
 * @oa: Where that goes
 * @lg2: lg2 of the size
 * @prot: How it was mapped, as far as a leaf can say
 * @dirty: It was written since dirty was last cleared
 */
struct kt_leaf {
	u64 iova;
	u64 oa;
	unsigned int lg2;
	int prot;
	bool dirty;
};

/* The list is kept in units, so that no index is the maple tree's last one */
static unsigned long kt_unit(u64 iova)
{
	return iova >> PTF_GRANULE_LG2;
}

static u64 kt_leaf_last(const struct kt_leaf *leaf)
{
	return leaf->iova + ((u64)1 << leaf->lg2) - 1;
}

/* The leaf that translates an IOVA, or NULL */
static struct kt_leaf *kt_model_at(struct kt *kt, u64 iova)
{
	return mtree_load(&kt->model, kt_unit(iova));
}

/* The first leaf that is not all before an IOVA, up to another one */
static struct kt_leaf *kt_model_next(struct kt *kt, u64 iova, u64 last)
{
	unsigned long unit = kt_unit(iova);

	return mt_find(&kt->model, &unit, kt_unit(last));
}

static void kt_model_clear(struct kt *kt)
{
	unsigned long unit = 0;
	struct kt_leaf *leaf;

	mt_for_each(&kt->model, leaf, unit, ULONG_MAX)
	{
		mtree_erase(&kt->model, kt_unit(leaf->iova));
		kfree(leaf);
	}
	kt->nr_leaves = 0;
}

/* The size that a leaf must have: the largest that fits */
static unsigned int kt_model_lg2(u64 sizes, u64 iova, u64 oa, u64 left)
{
	int lg2;

	for (lg2 = 63; lg2 >= 0; lg2--) {
		u64 size = 1ULL << lg2;

		if ((sizes & size) && size <= left && !(iova & (size - 1)) &&
		    !(oa & (size - 1)))
			return lg2;
	}
	return 64;
}

/**
 * kt_model_map() - Map in the model
 * @kt: The page table
 * @iova: First byte
 * @oa: Where it goes
 * @len: Bytes, aligned to the smallest size like both addresses
 * @prot: Permissions
 * @limit: Stop after so many bytes, as after a failed allocation
 * @mapped: Set to what was mapped
 *
 * Return: What map_range must return, if it has memory.
 */
static int kt_model_map(struct kt *kt, u64 iova, u64 oa, u64 len, int prot,
			u64 limit, u64 *mapped)
{
	u64 done = 0;

	while (done < len && done < limit) {
		unsigned int lg2 = kt_model_lg2(kt->sizes, iova + done,
						oa + done, len - done);
		struct kt_leaf *leaf;

		KUNIT_ASSERT_LT(kt->test, lg2, 64);
		if (kt_model_next(kt, iova + done,
				  iova + done + (1ULL << lg2) - 1))
			break;
		leaf = kzalloc(sizeof(*leaf), kt_gfp(kt));
		KUNIT_ASSERT_NOT_NULL(kt->test, leaf);
		leaf->iova = iova + done;
		leaf->oa = oa + done;
		leaf->lg2 = lg2;
		leaf->prot = kt_fmt_prot(kt->cfg, prot);
		KUNIT_ASSERT_EQ(kt->test, 0,
				mtree_store_range(&kt->model,
						  kt_unit(leaf->iova),
						  kt_unit(kt_leaf_last(leaf)),
						  leaf, kt_gfp(kt)));
		kt->nr_leaves++;
		done += 1ULL << lg2;
	}
	*mapped = done;
	return done < len && done < limit ? -EADDRINUSE : 0;
}

/**
 * kt_model_unmap() - Unmap in the model
 * @kt: The page table
 * @iova: First byte
 * @len: Bytes
 * @smallest: Set to lg2 of the smallest leaf that went
 *
 * Return: What unmap_range must return.
 */
static u64 kt_model_unmap(struct kt *kt, u64 iova, u64 len,
			  unsigned int *smallest)
{
	u64 done = 0;

	*smallest = 64;
	while (done < len) {
		struct kt_leaf *leaf = kt_model_at(kt, iova + done);

		if (!leaf || leaf->iova != iova + done)
			break;
		mtree_erase(&kt->model, kt_unit(leaf->iova));
		*smallest = min(*smallest, leaf->lg2);
		done += 1ULL << leaf->lg2;
		kt->nr_leaves--;
		kfree(leaf);
	}
	return done;
}

#endif /* __GENERIC_PT_KUNIT_MODEL_H */
