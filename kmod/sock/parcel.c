// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include "base/counters.h"
#include "engine/stream_frame.h"
#include "ns/namespace.h"
#include "ns/prio.h"
#include "ns/throttle.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/parcel.h"
#include "sock/shelf.h"
#include "sock/stream.h"
#include "sock/trunk.h"

struct vqp_parcel {
	struct list_head link;		/* in vqp_far.parcels */
	struct vqp_shelf_room room;	/* where the bytes are */
	u32 seq;			/* of the first byte */
	u32 sent;			/* It was declined: so many went in DATA. */
};

/* One for n bytes; or NULL. */
static struct vqp_parcel *parcel_make(struct vqp_trunk *trunk, u32 n)
{
	struct vqp_parcel *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (p && !vqp_shelf_take(trunk, n, &p->room)) {
		kfree(p);
		p = NULL;
	}
	return p;
}

/* `safe`: nobody READs it any more, so that its room is for others. */
static void parcel_free(struct vqp_parcel *p, bool safe)
{
	vqp_shelf_give(&p->room, safe);
	kfree(p);
}

static struct vqp_parcel *parcel_first(struct vqp_far *far)
{
	lockdep_assert_held(&far->s.lock);
	return list_first_entry_or_null(&far->parcels, struct vqp_parcel, link);
}

/* It is over, and its connection's no more. */
static void parcel_end(struct vqp_far *far, struct vqp_parcel *p, bool safe)
{
	lockdep_assert_held(&far->s.lock);
	list_del(&p->link);
	far->under_way -= p->room.bytes - p->sent;
	parcel_free(p, safe);
}

/* If no parcel is left, what waits for that goes on: DATA, FIN, and the end of who has closed. */
static void parcels_check(struct vqp_far *far)
{
	lockdep_assert_held(&far->s.lock);
	if (!list_empty(&far->parcels))
		return;
	far->declined = false;
	WRITE_ONCE(far->behind, false);
	if (far->due || far->s.closed)
		vqp_trunk_due(far->trunk, &far->user);
}

int vqp_parcels_settle(struct vqp_far *far, u32 seq, bool declined)
{
	struct vqp_parcel *p;

	lockdep_assert_held(&far->s.lock);
	if ((s32)(seq - far->credit.sent) > 0)
		return -EPROTO;
	WRITE_ONCE(far->fetches, true);
	while ((p = parcel_first(far)) && (s32)(seq - (p->seq + p->room.bytes)) >= 0)
		parcel_end(far, p, true);
	/* It may have been said before, and all be sent: no other parcel begins with that byte. */
	if (declined && p && p->seq == seq && !far->declined) {
		WRITE_ONCE(far->declined, true);
		vqp_shelf_pause(far->trunk);
		vqp_trunk_due(far->trunk, &far->user);
	}
	parcels_check(far);
	return 0;
}

void vqp_parcels_drop(struct vqp_far *far, bool safe)
{
	struct vqp_parcel *p;

	lockdep_assert_held(&far->s.lock);
	if (list_empty(&far->parcels))
		return;
	/* The room that is not given back is when all of the shelf is. */
	if (!safe)
		vqp_shelf_drop(far->trunk, false);
	while ((p = parcel_first(far)))
		parcel_end(far, p, safe);
	parcels_check(far);
}

bool vqp_parcels_hold_up(struct vqp_far *far)
{
	struct vqp_stream *s = &far->s;
	bool held;

	spin_lock_bh(&s->lock);
	held = !list_empty(&far->parcels);
	WRITE_ONCE(far->behind, held);
	spin_unlock_bh(&s->lock);
	return held;
}

/* ---- Sending ---- */

/* A rate is charged by packets of the sender's, of which a READ has none. */
static bool parcel_may_be_sent(const struct vqp_far *far)
{
	const struct vqp_ns *ns = far->s.ns;

	return READ_ONCE(far->fetches) && !READ_ONCE(far->declined) &&
	       vqp_throttle_max(&ns->throttle) == VQP_UNLIMITED && !vqp_prio_yields(ns);
}

/* It was not posted. True: it is the caller's again; else the connection has broken meanwhile. */
static bool parcel_take_back(struct vqp_far *far, struct vqp_parcel *p,
			     const struct vqp_far_told *told)
{
	lockdep_assert_held(&far->s.lock);
	if (list_empty(&far->parcels) ||
	    list_last_entry(&far->parcels, struct vqp_parcel, link) != p) {
		vqp_far_frame_done(far, 0);
		return false;
	}
	list_del(&p->link);
	vqp_far_undo(far, p->room.bytes, told);
	parcels_check(far);
	return true;
}

/* Tell the peer of the parcel, which is the connection's from here on, or freed. 0 or -errno. */
static int parcel_post(struct vqp_far *far, struct vqp_parcel *p, struct vqp_frame_send *f)
{
	struct vqp_stream *s = &far->s;
	struct vqp_far_told told;
	struct vqp_frame frame;
	bool mine = true;
	int ret;

	spin_lock_bh(&s->lock);
	/* Who has lost its peer has no parcels: nobody would settle them. */
	if (far->state != VQP_FAR_OPEN)
		ret = -EPIPE;
	else if (far->declined)
		ret = -EAGAIN;
	else
		ret = vqp_far_begin(far, VQP_FRAME_PARCEL, p->room.bytes, &frame, &told);
	if (!ret) {
		p->seq = frame.seq;
		frame.parcel = (struct vqp_frame_parcel) {
			.addr = p->room.addr,
			.rkey = p->room.key,
			.bytes = p->room.bytes,
		};
		list_add_tail(&p->link, &far->parcels);
		far->posting = true;
	}
	spin_unlock_bh(&s->lock);
	if (!ret) {
		ret = vqp_trunk_post(f, &frame);
		spin_lock_bh(&s->lock);
		far->posting = false;
		/* Who sends what is declined has waited for this, lest DATA overtake the frame. */
		if (far->declined)
			vqp_trunk_due(far->trunk, &far->user);
		mine = ret && parcel_take_back(far, p, &told);
		spin_unlock_bh(&s->lock);
	}
	if (mine)
		parcel_free(p, true);
	return ret;
}

int vqp_parcel_send(struct vqp_far *far, struct msghdr *msg, u32 n)
{
	struct vqp_frame_send *f = NULL;
	struct vqp_parcel *p;
	u32 copied;
	int ret;

	if (!parcel_may_be_sent(far))
		return -ENOBUFS;
	p = parcel_make(far->trunk, n);
	if (p)
		f = vqp_trunk_frame(far->trunk, &far->user, VQP_FRAME_PARCEL_BYTES);
	if (!f) {
		if (p)
			parcel_free(p, true);
		return -ENOBUFS;
	}
	f->waits = true;
	copied = copy_from_iter(p->room.data, n, &msg->msg_iter);
	if (copied == n) {
		ret = parcel_post(far, p, f);
	} else {
		/* DATA have what there is before the fault. */
		parcel_free(p, true);
		ret = -ENOBUFS;
	}
	if (!ret) {
		vqp_count_event(VQP_EV_SOCK_PARCELS);
		return n;
	}
	vqp_trunk_frame_free(f);
	iov_iter_revert(&msg->msg_iter, copied);
	return ret;
}

/* ---- What was declined ---- */

bool vqp_parcels_are_due(struct vqp_far *far)
{
	return parcel_first(far) && far->declined && !far->posting;
}

/* The next bytes of the first parcel, in f. Returns how many these are; 0: none, or not now. */
static u32 parcel_cut(struct vqp_far *far, struct vqp_frame_send *f, struct vqp_frame *frame)
{
	struct vqp_stream *s = &far->s;
	struct vqp_parcel *p;
	u32 n = 0;

	spin_lock_bh(&s->lock);
	if (vqp_parcels_are_due(far)) {
		p = parcel_first(far);
		n = min_t(u32, p->room.bytes - p->sent, VQP_FRAME_DATA_MAX);
		n = min(n, READ_ONCE(far->trunk->frame_bytes));
		memcpy(vqp_frame_of(f) + VQP_FRAME_HEADER, p->room.data + p->sent, n);
		vqp_far_fill(far, frame, VQP_FRAME_DATA);
		frame->seq = p->seq + p->sent;
		vqp_far_frame_begin(far, 0);
		p->sent += n;
		f->bytes = n;
	}
	spin_unlock_bh(&s->lock);
	return n;
}

/*
 * The bytes from `seq` on were posted, or not. The parcel that they are of may be over meanwhile,
 * if the peer had them already.
 */
static void parcel_posted(struct vqp_far *far, u32 seq, u32 n, bool posted)
{
	struct vqp_stream *s = &far->s;
	struct vqp_parcel *p;

	spin_lock_bh(&s->lock);
	p = parcel_first(far);
	if (p && (!p->sent || p->seq + p->sent != seq + n))
		p = NULL;
	if (!posted) {
		if (p)
			p->sent -= n;
		else
			far->under_way -= n;
		vqp_far_frame_done(far, 0);
		vqp_far_set_due(far, VQP_FAR_DUE_CREDIT);
	} else if (p && p->sent == p->room.bytes) {
		parcel_end(far, p, true);
		parcels_check(far);
	}
	spin_unlock_bh(&s->lock);
}

int vqp_parcels_resend(struct vqp_far *far)
{
	struct vqp_frame_send *f;
	struct vqp_frame frame;
	int ret = 0;
	u32 n;

	while (!ret && READ_ONCE(far->declined)) {
		f = vqp_trunk_frame(far->trunk, &far->user, VQP_FRAME_DATA_MAX);
		if (!f)
			return -ENOMEM;
		n = parcel_cut(far, f, &frame);
		ret = n ? vqp_trunk_post(f, &frame) : -ENODATA;
		if (n)
			parcel_posted(far, frame.seq, n, !ret);
		if (ret)
			vqp_trunk_frame_free(f);
	}
	return ret == -ENODATA ? 0 : ret;
}
