/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The specification: a flat map of what is mapped
 *
 * What a map call mapped is one stretch. Its leaves follow from the whole range
 * that was asked for: each is the largest block, aligned to its size in both
 * spaces, that fits into that range. Unmaps cut stretches, at edges of leaves.
 */
#ifndef MODEL_H
#define MODEL_H

#include <linux/types.h>

#define MODEL_STRETCHES 256
#define MODEL_DIRTY 256

/**
 * struct model_stretch - IOVA that one call mapped and that is still mapped
 * @first: First byte
 * @last: Last byte
 * @asked_first: First byte of the range that was asked for
 * @asked_last: Last byte of it
 * @delta: OA - IOVA
 * @prot: IOMMU_READ and so on
 */
struct model_stretch {
	u64 first;
	u64 last;
	u64 asked_first;
	u64 asked_last;
	u64 delta;
	int prot;
};

/**
 * struct model - All of it
 * @granule_lg2: lg2 of the smallest leaf of the format
 * @level_lg2: lg2 of the items of its tables
 * @sizes: Leaf sizes that may be used, a mask
 * @aperture_last: Last byte of IOVA
 * @half: Bytes of each half of a signed IOVA space, 0 where it is not
 * @oa_last: Last byte of OA
 * @nr: Number of stretches
 * @stretch: They, in ascending order
 * @nr_dirty: Number of dirty leaves
 * @dirty: First bytes of dirty leaves, in no order
 */
struct model {
	unsigned int granule_lg2;
	unsigned int level_lg2;
	u64 sizes;
	u64 aperture_last;
	u64 half;
	u64 oa_last;
	unsigned int nr;
	struct model_stretch stretch[MODEL_STRETCHES];
	unsigned int nr_dirty;
	u64 dirty[MODEL_DIRTY];
};

struct model_leaf {
	u64 iova;
	u64 oa;
	unsigned int lg2;
	int prot;
	bool dirty;
};

/* Whether a range is all within the aperture, and does not go around */
bool model_in_aperture(const struct model *model, u64 first, u64 last);

/* An address of the aperture, made from any number */
u64 model_fold(const struct model *model, u64 iova);

/* The leaf that translates an address, false when there is none */
bool model_find(const struct model *model, u64 iova, struct model_leaf *leaf);

/* Index of the stretch that holds @iova, or of the next one */
unsigned int model_index(const struct model *model, u64 iova);

/* The block that a leaf at @iova has or would have in a stretch */
struct model_leaf model_leaf_of(const struct model *model,
				const struct model_stretch *stretch, u64 iova);

/*
 * What a map call must return, and how many bytes it maps, if it gets all the
 * memory that it wants. EINVAL and ERANGE are one when both are right. @allowed
 * is 0, or why the format cannot express @prot.
 */
int model_map_result(const struct model *model, u64 iova, u64 oa, u64 len,
		     int prot, int allowed, u64 *mapped, bool *either);

/* Whether a map call that ran out of memory may have mapped so much */
bool model_map_prefix(const struct model *model, u64 iova, u64 oa, u64 len,
		      u64 mapped);

/* A map call of @len mapped @mapped bytes */
void model_map(struct model *model, u64 iova, u64 oa, u64 len, int prot,
	       u64 mapped);

/* Bytes that an unmap call returns; @change the model accordingly */
u64 model_unmap(struct model *model, u64 iova, u64 len, bool change);

/* Nothing is mapped in a range any more */
void model_remove(struct model *model, u64 first, u64 last);

/* Hardware wrote through the leaf at @iova */
void model_set_dirty(struct model *model, u64 iova);
bool model_is_dirty(const struct model *model, u64 leaf_iova);
void model_clear_dirty(struct model *model, u64 leaf_iova);

#endif /* MODEL_H */
