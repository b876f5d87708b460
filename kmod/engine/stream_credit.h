/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the sender of a stream may send yet, as virtio-vsock counts it: each frame of the receiver
 * says how much that has read, and how much more there is room for. Both are absolute, so that a
 * frame which is later than another in saying it does no harm, nor one that comes twice. A receiver
 * that recalls room says nothing of any until it knows what the sender has kept. It counts its
 * recalls: what it has said of room before one does not hold after it. All counts of bytes are
 * modulo 2^32.
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
	u8 recalls;			/* the number of the latest recall, modulo 256 */
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
 * The receiver has said that, after so many recalls. 0; or -EPROTO: it has read more than was sent.
 * What is older than what it has said before changes nothing.
 */
static inline int __must_check vqp_credit_hear(struct vqp_credit *c, u8 recalls, u32 taken,
					       u32 room)
{
	if ((s32)(taken - c->sent) > 0)
		return -EPROTO;
	if ((s32)(taken - c->taken) > 0)
		c->taken = taken;
	if (recalls == c->recalls && (s32)(taken + room - c->limit) > 0)
		c->limit = taken + room;
	return 0;
}

/*
 * The receiver recalls room, so often by now: no more than `keep` bytes are kept of it. False: that
 * has been done.
 */
static inline bool vqp_credit_return(struct vqp_credit *c, u8 recalls, u32 keep)
{
	if ((s8)(recalls - c->recalls) <= 0)
		return false;
	c->recalls = recalls;
	if (vqp_credit_left(c) > keep)
		c->limit = c->sent + keep;
	return true;
}

/* So many of the `bytes` bytes from number `seq` on are before number `received`. */
static inline u32 vqp_credit_repeated(u32 received, u32 seq, u32 bytes)
{
	const s32 before = (s32)(received - seq);

	if (before <= 0)
		return 0;
	return (u32)before < bytes ? (u32)before : bytes;
}

#endif
