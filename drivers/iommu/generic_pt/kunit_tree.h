/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit: a walk as hardware does it, and a recount of the whole tree
 *
 * Both begin where the driver was told that the top is, read what hardware sees
 * of memory, and decode items by kt_fmt_decode(), which shares nothing with the
 * library.
 */
#ifndef __GENERIC_PT_KUNIT_TREE_H
#define __GENERIC_PT_KUNIT_TREE_H

#include "kunit_model.h"

/* The items of a table as hardware sees them */
static const u64 *kt_hw_items(struct kt *kt, const u64 *table)
{
	struct kt_page *page;

	if (!kt_feature(kt, PT_FEAT_DMA_INCOHERENT))
		return table;
	page = kt_page(kt, table);
	return page ? page->ram : table;
}

/*
 * The next item that is used, from one on. Most are not, and each recount reads
 * all while nobody stores: nothing for KCSAN, which would be busy here.
 */
static noinline __no_kcsan unsigned int kt_next_item(const u64 *items,
						     unsigned int nr)
{
	while (nr < PTF_ITEMS && !items[nr])
		nr++;
	return nr;
}

static bool kt_same_in_ram(struct kt *kt, const struct kt_page *page)
{
	const u64 *table = page->mem;
	unsigned int i;

	for (i = 0; i < PTF_ITEMS; i++)
		if ((table[i] ^ page->ram[i]) & ~PT_SW_FLUSHED)
			return false;
	return true;
}

/* The next table after @page whose pointer stands in [items, end), or NULL */
static noinline __no_kcsan struct kt_page *kt_next_child(struct kt *kt,
							 struct kt_page *page,
							 const u64 *items,
							 const u64 *end)
{
	for (page = list_next_entry(page, node); &page->node != &kt->page_list;
	     page = list_next_entry(page, node)) {
		const u64 *slot = pt_env_desc(page->mem)->slot;

		if (slot >= items && slot < end)
			return page;
	}
	return NULL;
}

/*
 * Part of a table is written back. Tables that it points to must have been
 * before, and as a whole: hardware may follow the pointers from now on.
 */
static void kt_writeback(struct pt_iommu *iommu, const void *mem, size_t bytes)
{
	struct kt *kt = kunit_get_current_test()->priv;
	const u64 *table = PTR_ALIGN_DOWN(mem, PTF_TABLE_BYTES), *items = mem;
	const u64 *end = items + bytes / 8;
	struct kt_page *page, *child;

	if (!kt_feature(kt, PT_FEAT_DMA_INCOHERENT)) {
		kt_complain(kt, "a cache is flushed that hardware snoops");
		return;
	}
	page = kt_page(kt, mem);
	if (!page || kt_page_freed(page) || !bytes || end > table + PTF_ITEMS) {
		kt_complain(kt, "%zu bytes are flushed that are no table",
			    bytes);
		return;
	}
	if (kt->before_writeback) {
		kt->called_out = true;
		kt->before_writeback(kt, items, bytes);
		kt->called_out = false;
	}
	if (kt->nr_writebacks < KT_WRITEBACKS)
		kt->writeback[kt->nr_writebacks] =
			(struct kt_writeback){ items, bytes };
	kt->nr_writebacks++;

	child = list_entry(&kt->page_list, struct kt_page, node);
	while ((child = kt_next_child(kt, child, items, end))) {
		const u64 *slot = pt_env_desc(child->mem)->slot;

		if (kt_page_freed(child) || kt_same_in_ram(kt, child))
			continue;
		if (ptf_table_oa(ptf_common(iommu), *slot) ==
		    pt_env_table_oa(child->mem))
			kt_complain(kt, "reachable, and not in memory");
	}
	memcpy(page->ram + (items - table), items, bytes);
}

static u64 *kt_hw_table(u64 oa)
{
	return phys_to_virt(oa);
}

/* lg2 of what one item of a table of a level covers */
static unsigned int kt_item_lg2(unsigned int level)
{
	return PTF_GRANULE_LG2 + level * PTF_INDEX_LG2;
}

/* Whether hardware takes two halves of an IOVA space only */
static bool kt_hw_canonical(const struct kt *kt)
{
	return PTF_CANONICAL || kt_feature(kt, PT_FEAT_SIGN_EXTEND);
}

/* The IOVA that has the same low bits as another, as hardware takes it */
static u64 kt_sign_extend(struct kt *kt, u64 iova)
{
	unsigned int bits = kt_item_lg2(kt->hw_level + 1);

	if (!kt_hw_canonical(kt))
		return iova;
	if (iova & (1ULL << (bits - 1)))
		return iova | ~0ULL << bits;
	return iova & ~(~0ULL << bits);
}

/**
 * kt_hw_walk() - Translate an IOVA as hardware does
 * @kt: The page table
 * @iova: What a device accesses
 * @leaf: The leaf that it hits, if it does
 *
 * Return: Whether there is a translation.
 */
static bool kt_hw_walk(struct kt *kt, u64 iova, struct kt_hw *leaf)
{
	unsigned int level = kt->hw_level;
	u64 *table = kt_hw_table(kt->hw_root);

	if (kt_hw_canonical(kt)) {
		if (kt_sign_extend(kt, iova) != iova)
			return false;
	} else if (kt_item_lg2(level + 1) < 64 &&
		   iova >> kt_item_lg2(level + 1)) {
		return false;
	}
	for (;; level--) {
		u64 index = iova >> kt_item_lg2(level);

		*leaf = kt_fmt_decode(kt->cfg,
				      kt_hw_items(kt, table)[index % PTF_ITEMS],
				      level);
		if (leaf->kind != KT_TABLE)
			return leaf->kind == KT_LEAF;
		table = kt_hw_table(leaf->oa);
	}
}

static bool kt_below_reaches(struct kt *kt, u64 *table, unsigned int level,
			     const void *mem)
{
	const u64 *items = kt_hw_items(kt, table);
	unsigned int i;

	if (table == mem)
		return true;
	if (!level)
		return false;
	for (i = kt_next_item(items, 0); i < PTF_ITEMS;
	     i = kt_next_item(items, i + 1)) {
		struct kt_hw hw = kt_fmt_decode(kt->cfg, items[i], level);

		if (hw.kind == KT_TABLE &&
		    kt_below_reaches(kt, kt_hw_table(hw.oa), level - 1, mem))
			return true;
	}
	return false;
}

/* Whether hardware can still reach a table */
static bool kt_tree_reaches(struct kt *kt, const void *mem)
{
	return kt_below_reaches(kt, kt_hw_table(kt->hw_root), kt->hw_level,
				mem);
}

/* The first IOVA of an item of a table that begins at another */
static u64 kt_item_iova(struct kt *kt, unsigned int level, u64 iova,
			unsigned int nr)
{
	return kt_sign_extend(kt, iova + ((u64)nr << kt_item_lg2(level)));
}

static bool kt_below_maps(struct kt *kt, u64 *table, unsigned int level,
			  u64 iova, u64 start, u64 last)
{
	const u64 *items = kt_hw_items(kt, table);
	unsigned int i;

	for (i = kt_next_item(items, 0); i < PTF_ITEMS;
	     i = kt_next_item(items, i + 1)) {
		u64 first = kt_item_iova(kt, level, iova, i);
		u64 end = first + ((u64)1 << kt_item_lg2(level)) - 1;
		struct kt_hw hw;

		if (first > last || end < start)
			continue;
		hw = kt_fmt_decode(kt->cfg, items[i], level);
		if (hw.kind == KT_LEAF ||
		    (hw.kind == KT_TABLE &&
		     kt_below_maps(kt, kt_hw_table(hw.oa), level - 1, first,
				   start, last)))
			return true;
	}
	return false;
}

/* Whether hardware translates anything in [start, last] */
static bool kt_tree_maps(struct kt *kt, u64 start, u64 last)
{
	return kt_below_maps(kt, kt_hw_table(kt->hw_root), kt->hw_level, 0,
			     start, last);
}

/* Count items that are leaves, at and below a table */
static unsigned int kt_tree_leaves(struct kt *kt, u64 root, unsigned int level)
{
	const u64 *items = kt_hw_items(kt, kt_hw_table(root));
	unsigned int i, nr = 0;

	for (i = 0; i < PTF_ITEMS; i++) {
		struct kt_hw hw = kt_fmt_decode(kt->cfg, items[i], level);

		if (hw.kind == KT_LEAF)
			nr++;
		else if (hw.kind == KT_TABLE)
			nr += kt_tree_leaves(kt, hw.oa, level - 1);
	}
	return nr;
}

/**
 * struct kt_count - What a recount found
 * @tables: Number of tables, the top included
 * @empty: Number of those that are empty, without the top
 * @leaves: Number of leaves
 */
struct kt_count {
	unsigned int tables;
	unsigned int empty;
	unsigned int leaves;
};

/* Compare a leaf, all items of it, with the model. Returns its items. */
static unsigned int kt_count_leaf(struct kt *kt, const u64 *item,
				  unsigned int level, u64 iova,
				  const struct kt_hw *hw)
{
	const struct kt_leaf *leaf = kt_model_at(kt, iova);
	unsigned int nr, i;
	bool dirty = hw->dirty;

	KUNIT_ASSERT_NOT_NULL_MSG(kt->test, leaf, "nothing mapped at %#llx",
				  iova);
	KUNIT_ASSERT_EQ_MSG(kt->test, leaf->iova, iova, "start of a leaf");
	KUNIT_ASSERT_EQ_MSG(kt->test, leaf->lg2, hw->lg2, "leaf at %#llx",
			    iova);
	KUNIT_ASSERT_EQ_MSG(kt->test, leaf->oa, hw->oa, "leaf at %#llx", iova);
	KUNIT_ASSERT_EQ_MSG(kt->test, leaf->prot, hw->prot, "leaf at %#llx",
			    iova);
	nr = 1U << (leaf->lg2 - min(leaf->lg2, kt_item_lg2(level)));
	for (i = 1; i < nr; i++) {
		if (item[i] == item[i - 1])
			continue;
		/* All the same but for the dirty bit */
		KUNIT_ASSERT_EQ_MSG(kt->test, item[i] & ~PTF_DIRTY,
				    item[0] & ~PTF_DIRTY,
				    "leaf at %#llx: item %u differs", iova, i);
		dirty |= kt_fmt_decode(kt->cfg, item[i], level).dirty;
	}
	KUNIT_ASSERT_EQ_MSG(kt->test, leaf->dirty, dirty, "leaf at %#llx",
			    iova);
	return nr;
}

/* The words that the library keeps beside a table */
static void kt_count_desc(struct kt *kt, u64 *table, unsigned int level,
			  const u64 *slot, unsigned int present)
{
	struct pt_desc *desc = pt_env_desc(table);
	u32 users = atomic_read(&desc->users);
	bool parked = false;
	unsigned int i;

	for (i = 0; i < kt_iommu(kt)->nr_parked; i++)
		parked |= kt_iommu(kt)->parked[i] == desc;
	KUNIT_ASSERT_EQ_MSG(kt->test, (u32)(users & PT_USERS_LIVE), present,
			    "users of a table of level %u", level);
	KUNIT_ASSERT_EQ(kt->test, pt_desc_level(desc), level);
	KUNIT_ASSERT_PTR_EQ(kt->test, desc->slot, (void *)slot);
	KUNIT_ASSERT_EQ(kt->test, !!(users & PT_USERS_TOP), !slot);
	KUNIT_ASSERT_EQ(kt->test, !!(users & PT_USERS_PARKED), parked);
	if (!present && slot)
		KUNIT_ASSERT_TRUE_MSG(kt->test, parked,
				      "an empty table of level %u stays",
				      level);
}

static void kt_count_table(struct kt *kt, u64 *table, unsigned int level,
			   u64 iova, const u64 *slot, struct kt_count *count)
{
	struct kt_page *page = kt_page(kt, table);
	const u64 *items = kt_hw_items(kt, table);
	unsigned int i, nr, present = 0;

	KUNIT_ASSERT_NOT_NULL_MSG(kt->test, page, "a pointer to no table");
	KUNIT_ASSERT_FALSE_MSG(kt->test, kt_page_freed(page),
			       "a pointer to a table that is freed");
	KUNIT_ASSERT_FALSE_MSG(kt->test, page->flushed,
			       "a pointer to a table that will be freed");
	KUNIT_ASSERT_NE_MSG(kt->test, page->walk, kt->walks,
			    "a table that stands in two places");
	page->walk = kt->walks;
	page->iova = iova;
	page->level = level;
	page->seen = true;
	count->tables++;
	if (page->ram)
		KUNIT_ASSERT_TRUE_MSG(
			kt->test, kt_same_in_ram(kt, page),
			"a table of level %u is not all in memory", level);

	for (i = kt_next_item(items, 0); i < PTF_ITEMS;
	     i = kt_next_item(items, i + nr)) {
		u64 at = kt_item_iova(kt, level, iova, i);
		struct kt_hw hw;

		nr = 1;
		hw = kt_fmt_decode(kt->cfg, items[i], level);
		KUNIT_ASSERT_TRUE_MSG(kt->test,
				      hw.kind == KT_LEAF || hw.kind == KT_TABLE,
				      "item %#llx of level %u for %#llx",
				      items[i], level, at);
		if (hw.kind == KT_TABLE) {
			KUNIT_ASSERT_EQ_MSG(kt->test, table[i] & PT_SW_FLUSHED,
					    page->ram ? PT_SW_FLUSHED : 0,
					    "pointer of level %u", level);
			kt_count_table(kt, kt_hw_table(hw.oa), level - 1, at,
				       &table[i], count);
		} else {
			nr = kt_count_leaf(kt, &items[i], level, at, &hw);
			count->leaves++;
		}
		present += nr;
	}
	kt_count_desc(kt, table, level, slot, present);
	page->empty = !present;
	if (present)
		page->leaves_flushed = false;
	else if (slot)
		count->empty++;
}

/* Walk the whole tree and compare it with the model and the words beside it */
static struct kt_count kt_count(struct kt *kt)
{
	struct kt_count count = {};

	kt->walks++;
	kt_count_table(kt, kt_hw_table(kt->hw_root), kt->hw_level, 0, NULL,
		       &count);
	KUNIT_ASSERT_EQ(kt->test, count.leaves, kt->nr_leaves);
	KUNIT_ASSERT_LE(kt->test, count.empty, PT_IOMMU_PARKED);
	return count;
}

/**
 * kt_check() - Check all that must hold between operations
 * @kt: The page table
 *
 * The tree is what the model says, its words are true, no table stands in it
 * twice, and all that is allocated is in it.
 *
 * Return: What the recount found.
 */
static struct kt_count kt_check(struct kt *kt)
{
	struct kt_count count = kt_count(kt);

	KUNIT_ASSERT_EQ_MSG(kt->test, kt_reap(kt), count.tables,
			    "tables allocated and not in the tree");
	KUNIT_ASSERT_EQ(kt->test, count.tables,
			atomic_read(&kt_iommu(kt)->usage.tables));
	kt_expect_no_complaint(kt);
	return count;
}

#endif /* __GENERIC_PT_KUNIT_TREE_H */
