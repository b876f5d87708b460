/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What cannot go on for want of room (of a lane, of a link, of a namespace's rate, of a receive
 * queue) waits in a list of the object that has none. The object that gets room takes waiters off
 * its list, oldest first, and calls each one's go() without the list's lock.
 */
#ifndef VQP_BASE_WAIT_H
#define VQP_BASE_WAIT_H

#include <linux/list.h>

struct vqp_wait;

/*
 * One call sets no more than this number going in softirq or with a lock held, because functions
 * choose how many of their VQPs wait. A work item goes on with the others.
 */
#define VQP_WAIT_BUDGET	64U

/* What is done with what waits; any context. */
struct vqp_wait_ops {
	/* Take a reference for the list. */
	void (*hold)(struct vqp_wait *wait);
	/* There may be room, and the reference of the list is the callee's. */
	void (*go)(struct vqp_wait *wait);
};

struct vqp_wait {
	/* It is in the list that this waits in, or empty. The list's lock guards it. */
	struct list_head link;
	const struct vqp_wait_ops *ops;
};

static inline void vqp_wait_init(struct vqp_wait *wait, const struct vqp_wait_ops *ops)
{
	INIT_LIST_HEAD(&wait->link);
	wait->ops = ops;
}

/* Without the list's lock the result is a guess, but what preceded a false one is seen. */
static inline bool vqp_wait_is_queued(const struct vqp_wait *wait)
{
	return !list_empty_careful(&wait->link);
}

/* The three below are called with the list's lock. */

/* False: it was queued before. */
static inline bool vqp_wait_queue(struct vqp_wait *wait, struct list_head *list)
{
	if (!list_empty(&wait->link))
		return false;
	wait->ops->hold(wait);
	list_add_tail(&wait->link, list);
	return true;
}

/* True: it was queued, and the reference of the list is the caller's. */
static inline bool vqp_wait_unqueue(struct vqp_wait *wait)
{
	const bool queued = !list_empty(&wait->link);

	list_del_init_careful(&wait->link);
	return queued;
}

/* The oldest, off the list, which must not be empty. The caller calls vqp_wait_go(). */
static inline struct vqp_wait *vqp_wait_take(struct list_head *list)
{
	struct vqp_wait *wait = list_first_entry(list, struct vqp_wait, link);

	list_del_init_careful(&wait->link);
	return wait;
}

/* Without the list's lock. */
static inline void vqp_wait_go(struct vqp_wait *wait)
{
	wait->ops->go(wait);
}

#endif
