/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the sender of a stream may send yet, as virtio-vsock counts it: each frame of the receiver
 * says how much that has read, and how much more there is room for. Both are absolute, so that a
 * frame which is later than another in saying it does no harm. A receiver that recalls room says
 * nothing of any until it knows what the sender has kept. All counts are modulo 2^32.
 */
#ifndef VQP_ENGINE_STREAM_CREDIT_H
#define VQP_ENGINE_STREAM_CREDIT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

struct vqp_credit {
	u32 sent;			/* bytes that were sent */
	u32 taken;			/* of them, what the receiver has read */
	u32 limit;			/* so many may be sent in all; only a recall lowers it */
};

/* How much may be sent. */
static inline u32 vqp_credit_left(const struct vqp_credit *c)
{
	return c->limit - c->sent;
}

/* How much of what was sent the receiver has not read, as far as it has said. */
static inline u32 vqp_credit_unread(const struct vqp_credit *c)
{
	return c->sent - c->taken;
}

/*
 * The receiver has said that. 0; or -EPROTO: it has read more than was sent. What is older than
 * what it has said before changes nothing.
 */
static inline int __must_check vqp_credit_hear(struct vqp_credit *c, u32 taken, u32 room)
{
	if ((s32)(taken - c->sent) > 0)
		return -EPROTO;
	if ((s32)(taken - c->taken) > 0)
		c->taken = taken;
	if ((s32)(taken + room - c->limit) > 0)
		c->limit = taken + room;
	return 0;
}

/* The receiver recalls room: no more than `keep` bytes are kept of it. */
static inline void vqp_credit_return(struct vqp_credit *c, u32 keep)
{
	if (vqp_credit_left(c) > keep)
		c->limit = c->sent + keep;
}

#endif
