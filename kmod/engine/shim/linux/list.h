/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Circular doubly linked lists with the names and meaning of the kernel's. */
#ifndef VQP_SHIM_LIST_H
#define VQP_SHIM_LIST_H

#include <linux/types.h>

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

/* clang's analyzer does not follow that neighbours point at one another, hence the NOLINTs. */
static inline void list_add(struct list_head *entry, struct list_head *after)
{
	entry->prev = after;
	entry->next = after->next;
	after->next->prev = entry;	/* NOLINT(clang-analyzer-core.NullDereference) */
	after->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

/* A deleted entry is poisoned: using it again faults. */
static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;	/* NOLINT(clang-analyzer-core.NullDereference) */
	entry->prev->next = entry->next;
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_move(struct list_head *entry, struct list_head *after)
{
	list_del(entry);
	list_add(entry, after);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

#define list_entry(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)

#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))

#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, __typeof__(*(pos)), member)

#define list_for_each_entry(pos, head, member)					\
	for (pos = list_entry((head)->next, __typeof__(*pos), member);		\
	     &pos->member != (head);						\
	     pos = list_next_entry(pos, member))

#endif
