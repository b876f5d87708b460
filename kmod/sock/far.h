/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections to other nodes. The two ends exchange frames (engine/stream_frame.h) by trunks; a
 * struct vqp_far is the end on this node, with the stream of what has arrived. Each end gives the
 * connection a number of its own, which is random enough that those of an earlier life of a node
 * mean nothing to the next.
 *
 * A server's end, a half until then, is given to the listener when the client goes on: it says so
 * by its first frame after OPEN_ACK. One that has given up by then, and connects by TCP, rejects
 * the OPEN_ACK. So no connection is accepted twice.
 *
 * A sender sends no more than its peer has said that there is room for. What a receiver tells of is
 * charged to its namespace and the budget, but for a page, before it tells; so what arrives has
 * memory. The window begins with that page, doubles while what is unread fills a half of it or the
 * sender waits for room, and shrinks where the budget has no more. Where nothing has come for a
 * second, the sender is asked to give its room back, so that an idle connection has a page again.
 * Frames under way are charged to the sender. Large pieces go as parcels (parcel.h), which the
 * receiver fetches (fetch.h): bytes go once as a parcel or in DATA, and no DATA are sent while
 * parcels are under way, so that all arrive in order.
 *
 * The network may be away for minutes: frames arrive when it is back (trunk.h), and a connection is
 * broken for that reason when TCP would break it (far_alive.c). A frame that is sent again may have
 * arrived before: what it says is absolute or numbered, and so does not happen twice.
 */
#ifndef VQP_SOCK_FAR_H
#define VQP_SOCK_FAR_H

#include <linux/completion.h>
#include <linux/container_of.h>
#include <linux/kref.h>
#include <linux/types.h>
#include "engine/stream_credit.h"
#include "sock/stream.h"
#include "sock/trunk.h"

struct vqp_ns;

enum vqp_far_state {
	VQP_FAR_CONNECTING,		/* The peer has not answered yet. */
	VQP_FAR_HALF,			/* a server's: the client has not said that it goes on */
	VQP_FAR_OPEN,
	VQP_FAR_GONE,			/* The peer has no such connection any more. */
};

struct vqp_far {
	struct vqp_stream s;		/* what has arrived; its lock guards all from `state` on */
	struct kref ref;
	struct vqp_trunk *trunk;	/* towards the peer, referenced; constant */
	struct vqp_trunk_user user;	/* of trunk; `peer` is constant once it is OPEN */
	struct hlist_node node;		/* in the table by id, under its lock; or unhashed */
	u32 id;				/* constant */
	/* A half is in far_halves by s.pending, and in ns->halves; under fars_lock. */
	bool half;
	struct list_head half_link;
	unsigned long half_since;	/* in jiffies */
	struct completion answered;	/* The peer has answered the OPEN, or never will. */
	u8 state;			/* enum vqp_far_state */
	u16 due;			/* bits of enum vqp_far_due (far_due.h) */
	bool telling;			/* A thread posts what is due: no other does. */
	bool ready;			/* The peer knows the connection: bytes may be sent. */
	bool fin;			/* It was told, or will be, that nothing more comes. */
	bool starved;			/* The sender waits for a page of the budget. */
	bool waited;			/* It has waited for room since it sent the latest bytes. */
	int answer;			/* a connect's result, before `answered` */
	struct vqp_credit credit;	/* what this end may send */
	u32 under_way;			/* of that, bytes that the peer's kernel may not have yet */
	u32 frames;			/* frames under way, with bytes or without */
	/* In jiffies: when a frame arrived last, or the peer was to be sent something again. */
	unsigned long moved_at;
	unsigned long heard_at;		/* when a frame came last, in jiffies as well */
	bool probing;			/* The peer is asked whether it lives. */
	u32 received;			/* bytes that have come; s.unread of them are unread */
	u32 granted;			/* so many may come in all */
	u32 told;			/* so many of them the peer was told of */
	u32 told_taken;			/* It was told that so many have been read. */
	/* The peer is to give room back, and is told of none until it has. */
	bool recalling;
	u8 recalls;			/* how often it was to, modulo 256 */
	u32 seen;			/* `received` when vqp_far_recall() last looked */
	u32 pages;			/* charged for what may come or is unread; one is not */
	u32 window_max;			/* of vqp_stream.window */
	/* What this end sends as parcels. */
	bool fetches;			/* The peer fetches such. */
	bool declined;			/* It does not fetch these: their bytes go in DATA. */
	bool behind;			/* The sender waits for these to have been fetched. */
	bool posting;			/* The frame of the latest is being posted. */
	struct list_head parcels;	/* struct vqp_parcel.link: OPEN: under way, in order */
	/* What it fetches. */
	bool invited;			/* The peer knows that parcels are fetched. */
	bool declining;			/* Nothing is, until DATA come. */
	u32 fetching;			/* bytes beyond `received` that are being fetched */
};

static inline struct vqp_far *vqp_far_of(const struct vqp_stream *s)
{
	return container_of(s, struct vqp_far, s);
}

static inline struct vqp_far *vqp_far_of_user(struct vqp_trunk_user *user)
{
	return container_of(user, struct vqp_far, user);
}

/* Is the peer to be sent anything, or has that not arrived yet? Under the stream's lock. */
static inline bool vqp_far_is_busy(const struct vqp_far *far)
{
	return far->frames || far->due || !list_empty(&far->parcels) ||
	       vqp_trunk_user_waits(&far->user);
}

/*
 * May a namespace have a connection with that peer, where one end listens at that port? 0;
 * -EACCES: sockets are off, or the namespace's rules put it out; -EHOSTUNREACH.
 */
int vqp_far_may(const struct vqp_ns *ns, const u8 *peer, u16 port);

void vqp_far_put(struct vqp_far *far);
void vqp_far_release(struct kref *ref);	/* vqp_stream_ops.release */

#endif
