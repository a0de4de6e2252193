/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists in a circle
 */
#ifndef SHIM_LINUX_LIST_H
#define SHIM_LINUX_LIST_H

#include <linux/container_of.h>
#include <linux/types.h>

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void shim_list_link(struct list_head *a, struct list_head *b)
{
	a->next = b;
	b->prev = a;
}

static inline void list_add(struct list_head *entry, struct list_head *list)
{
	shim_list_link(entry, list->next);
	shim_list_link(list, entry);
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *list)
{
	list_add(entry, list->prev);
}

/* Whoever follows an entry that was deleted gets a fault */
static inline void list_del(struct list_head *entry)
{
	shim_list_link(entry->prev, entry->next);
	entry->next = (void *)0x100UL;
	entry->prev = (void *)0x200UL;
}

static inline void list_del_init(struct list_head *entry)
{
	shim_list_link(entry->prev, entry->next);
	INIT_LIST_HEAD(entry);
}

static inline void list_splice_init(struct list_head *from,
				    struct list_head *list)
{
	if (list_empty(from))
		return;
	shim_list_link(from->prev, list->next);
	shim_list_link(list, from->next);
	INIT_LIST_HEAD(from);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(list, type, member) \
	list_entry((list)->next, type, member)
#define list_for_each_entry(pos, list, member)                      \
	for (pos = list_entry((list)->next, typeof(*pos), member);  \
	     &pos->member != (list);                                \
	     pos = list_entry(pos->member.next, typeof(*pos), member))

#endif /* SHIM_LINUX_LIST_H */
