/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A bounded set in which what was used least lately makes room for what comes. Users are many and
 * take no lock, so that they do no more than set a flag. Whoever makes room goes round the set as
 * the hand of a clock does: what was used since the hand came by last has another round. One call
 * looks at a bounded number, however large the set is.
 *
 * The caller serializes all calls but vqp_aged_use().
 */
#ifndef VQP_ENGINE_AGEING_H
#define VQP_ENGINE_AGEING_H

#include <linux/compiler.h>
#include <linux/types.h>

/* So many looks are taken to make room for one, several at each member of a small set. */
#define VQP_AGEING_LOOKS	16

struct vqp_aged {
	struct list_head link;		/* in vqp_ageing.list */
	bool used;			/* since the hand came by last */
};

struct vqp_ageing {
	struct list_head list;		/* The hand stands before the first. */
	u32 count;			/* the length of the list */
};

void vqp_ageing_init(struct vqp_ageing *set);
void vqp_ageing_add(struct vqp_ageing *set, struct vqp_aged *aged);
void vqp_ageing_del(struct vqp_ageing *set, struct vqp_aged *aged);

/* Any context. Most calls only read what few write. */
static inline void vqp_aged_use(struct vqp_aged *aged)
{
	if (!READ_ONCE(aged->used))
		WRITE_ONCE(aged->used, true);
}

/*
 * The member that is to make room: the first that was not used since the last look, or the last one
 * that is looked at, provided that may_go() says so (NULL: each may go). It is still in the set.
 * NULL if none of those that were looked at may go.
 */
struct vqp_aged *vqp_ageing_oldest(struct vqp_ageing *set, bool (*may_go)(struct vqp_aged *aged));

#endif
