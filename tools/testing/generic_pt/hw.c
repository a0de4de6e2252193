// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks down a page table as hardware does, see hw.h
 */
#include <string.h>

#include "hw.h"

static u64 low_bits(unsigned int nr)
{
	return nr >= 64 ? ~0ULL : (1ULL << nr) - 1;
}

unsigned int hw_reach(const struct hw_root *root, unsigned int level)
{
	return root->format->granule_lg2 +
	       root->format->index_lg2 * (level - 1);
}

static unsigned int entries_of_table(const struct hw_root *root)
{
	return 1U << root->format->index_lg2;
}

static u64 entry_pa_of(const struct hw_root *root, struct hw_step step,
		       u64 iova)
{
	return step.table_pa + 8 * ((iova >> hw_reach(root, step.level)) &
				    (entries_of_table(root) - 1));
}

u64 hw_canonical(const struct hw_root *root, u64 iova)
{
	unsigned int lg2 = hw_reach(root, root->mode + 1);

	if (!root->sign_extend || !(iova >> (lg2 - 1) & 1))
		return iova & low_bits(lg2);
	return iova | ~low_bits(lg2);
}

/* What the levels above have granted meets what this entry grants */
static enum hw_result decode(const struct hw_root *root, unsigned int level,
			     u64 entry, const struct hw_entry *above,
			     struct hw_entry *out)
{
	enum hw_result result;

	memset(out, 0, sizeof(*out));
	result = root->format->decode(root, level, entry, out);
	if (result != HW_OK)
		return result;
	/* No format has tables below the lowest level */
	if (out->table && level == 1)
		return HW_MALFORMED;
	/* All that the library maps is to be reached through its tables */
	if (out->table && root->c_bit && !out->encrypted)
		return HW_MALFORMED;
	out->read &= above->read;
	out->write &= above->write;
	return HW_OK;
}

static enum hw_result decode_page(const struct hw_root *root,
				  struct hw_step step, u64 iova,
				  const struct hw_entry *entry,
				  struct hw_page *page)
{
	unsigned int lg2 = entry->size_lg2;

	*page = (struct hw_page){
		.iova = iova & ~low_bits(lg2),
		.pa = entry->pa,
		.size_lg2 = lg2,
		.read = entry->read,
		.write = entry->write,
		.encrypted = entry->encrypted,
		.force_coherent = entry->force_coherent,
		.memory_type = entry->memory_type,
		.dirty = entry->dirty,
		.entries = 1U << (lg2 - hw_reach(root, step.level)),
		.level = step.level,
	};
	page->entry_pa = entry_pa_of(root, step, page->iova);
	return entry->pa & low_bits(lg2) ? HW_MALFORMED : HW_OK;
}

enum hw_result hw_walk_from(const struct hw_root *root, struct hw_step step,
			    u64 iova, struct hw_walk *walk)
{
	struct hw_entry entry, above = { .read = true, .write = true };

	walk->iova = iova;
	walk->steps = 0;
	for (;;) {
		walk->step[walk->steps++] = step;
		walk->entry_pa = entry_pa_of(root, step, iova);
		if (!hw_read64(walk->entry_pa, &walk->entry))
			return walk->result = HW_FREED_TABLE;
		walk->result =
			decode(root, step.level, walk->entry, &above, &entry);
		if (walk->result != HW_OK)
			return walk->result;
		if (!entry.table)
			break;
		above = entry;
		step.table_pa = entry.pa;
		step.level--;
	}
	walk->result = decode_page(root, step, iova, &entry, &walk->page);
	return walk->result;
}

enum hw_result hw_walk(const struct hw_root *root, u64 iova,
		       struct hw_walk *walk)
{
	struct hw_step step = { root->table_pa, root->mode };

	memset(walk, 0, sizeof(*walk));
	if (hw_canonical(root, iova) != iova)
		return walk->result = HW_TOO_HIGH;
	return hw_walk_from(root, step, iova, walk);
}

enum hw_result hw_check_page(const struct hw_root *root, struct hw_page *page)
{
	u64 may_differ = root->format->dirty | root->format->accessed;
	u64 first, entry;
	unsigned int i;

	if (!hw_read64(page->entry_pa, &first))
		return HW_FREED_TABLE;
	page->dirty = false;
	for (i = 0; i < page->entries; i++) {
		if (!hw_read64(page->entry_pa + 8 * i, &entry))
			return HW_FREED_TABLE;
		/* Hardware sets its bits in any of them */
		if ((entry ^ first) & ~may_differ)
			return HW_MALFORMED;
		page->dirty |= !!(entry & root->format->dirty);
	}
	return HW_OK;
}

/* A table and all below it; counts present entries of the table itself */
static void visit(const struct hw_root *root, const struct hw_visitor *visitor,
		  void *arg, struct hw_step step, u64 iova,
		  const struct hw_entry *above)
{
	unsigned int i, present = 0;

	for (i = 0; i < entries_of_table(root);) {
		u64 at = iova | (u64)i << hw_reach(root, step.level);
		struct hw_entry entry;
		enum hw_result result;
		struct hw_page page;
		u64 item;

		if (step.level == root->mode)
			at = hw_canonical(root, at);
		if (!hw_read64(step.table_pa + 8 * i, &item)) {
			visitor->fault(arg, at, 0, HW_FREED_TABLE);
			return;
		}
		result = decode(root, step.level, item, above, &entry);
		/* Nothing is left behind either: what is not present is zero */
		if (result == HW_NOT_PRESENT && !item) {
			i++;
			continue;
		}
		present++;
		if (result == HW_OK && entry.table) {
			visit(root, visitor, arg,
			      (struct hw_step){ entry.pa, step.level - 1 }, at,
			      &entry);
			i++;
			continue;
		}
		if (result == HW_OK)
			result = decode_page(root, step, at, &entry, &page);
		if (result == HW_OK && page.iova != at)
			result = HW_MALFORMED;
		if (result == HW_OK)
			result = hw_check_page(root, &page);
		if (result != HW_OK) {
			visitor->fault(arg, at, item, result);
			i++;
			continue;
		}
		visitor->page(arg, &page);
		present += page.entries - 1;
		i += page.entries;
	}
	visitor->table(arg, step, present, iova);
}

void hw_for_each(const struct hw_root *root, const struct hw_visitor *visitor,
		 void *arg)
{
	struct hw_step step = { root->table_pa, root->mode };
	struct hw_entry above = { .read = true, .write = true };

	visit(root, visitor, arg, step, 0, &above);
}

const char *hw_result_name(enum hw_result result)
{
	switch (result) {
	case HW_OK:
		return "translated";
	case HW_NOT_PRESENT:
		return "not present";
	case HW_MALFORMED:
		return "malformed entry";
	case HW_TOO_HIGH:
		return "above the mode's reach";
	case HW_FREED_TABLE:
		return "freed table";
	}
	return "?";
}
