// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include "engine/stream_frame.h"
#include "sock/budget.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/far_sender.h"
#include "sock/far_table.h"
#include "sock/parcel.h"
#include "sock/stream.h"
#include "sock/trunk.h"

/*
 * A piece of so many bytes goes as a parcel: it takes a READ and two frames in place of five or
 * more.
 */
#define FAR_PARCEL_LEAST	(16 << 10)

bool vqp_far_is_writable(struct vqp_stream *s)
{
	const struct vqp_far *far = vqp_far_of(s);
	/* The reader tells of quarters of its window, and a program is told of a half. */
	const u32 left = READ_ONCE(far->credit.limit) - READ_ONCE(far->credit.sent);
	const u32 unread = READ_ONCE(far->credit.sent) - READ_ONCE(far->credit.taken);

	if (READ_ONCE(s->err))
		return true;
	return READ_ONCE(far->ready) && left && left >= unread / 4 && !READ_ONCE(far->starved) &&
	       !READ_ONCE(far->behind) && !vqp_trunk_user_waits(&far->user);
}

u32 vqp_far_unread(const struct vqp_stream *s)
{
	const struct vqp_far *far = vqp_far_of(s);

	return READ_ONCE(far->credit.sent) - READ_ONCE(far->credit.taken);
}

/* What has not reached the peer, and what TCP would have yet, its receiver's half being full. */
u32 vqp_far_excess(struct vqp_stream *s)
{
	struct vqp_far *far = vqp_far_of(s);
	u32 unread, window, excess;

	spin_lock_bh(&s->lock);
	unread = vqp_credit_unread(&far->credit);
	window = far->credit.limit - far->credit.taken;
	excess = unread > window / 2 ? unread - window / 2 : 0;
	excess = s->err ? 0 : max(excess, far->under_way);
	spin_unlock_bh(&s->lock);
	return excess;
}

void vqp_far_room(struct vqp_far *far)
{
	if (vqp_far_is_writable(&far->s) || !READ_ONCE(far->under_way))
		vqp_stream_wake_writer(&far->s);
}

/* How many of n bytes may be sent now: 0: none. */
static u32 far_may_send(struct vqp_far *far, u32 n)
{
	spin_lock_bh(&far->s.lock);
	n = far->ready ? min(n, vqp_credit_left(&far->credit)) : 0;
	far->waited |= !n;
	spin_unlock_bh(&far->s.lock);
	return n;
}

/*
 * A frame for n bytes, whose page is charged. One frame of each stream may be beyond the budget; a
 * sender that gets no more waits until one has completed. ERR_PTR(): -EAGAIN, -ENOMEM.
 */
static struct vqp_frame_send *far_frame(struct vqp_far *far, u32 n)
{
	const bool charged = vqp_budget_charge(far->s.ns);
	struct vqp_frame_send *f;
	bool starved;

	spin_lock_bh(&far->s.lock);
	starved = !charged && far->under_way;
	WRITE_ONCE(far->starved, starved);
	spin_unlock_bh(&far->s.lock);
	if (starved)
		return ERR_PTR(-EAGAIN);
	f = vqp_trunk_frame(far->trunk, &far->user, n);
	if (f) {
		f->charged = charged;
		f->waits = true;
	} else if (charged) {
		vqp_budget_uncharge(far->s.ns);
	}
	return f ?: ERR_PTR(-ENOMEM);
}

/* 0; -EAGAIN: the room was recalled meanwhile, or the trunk is full; -EIO. */
static int far_post(struct vqp_far *far, struct vqp_frame_send *f)
{
	struct vqp_far_told told;
	struct vqp_frame frame;
	int ret;

	spin_lock_bh(&far->s.lock);
	ret = vqp_far_begin(far, VQP_FRAME_DATA, f->bytes, &frame, &told);
	spin_unlock_bh(&far->s.lock);
	if (ret)
		return ret;
	ret = vqp_trunk_post(f, &frame);
	if (!ret)
		return 0;
	spin_lock_bh(&far->s.lock);
	vqp_far_undo(far, f->bytes, &told);
	spin_unlock_bh(&far->s.lock);
	return ret;
}

/*
 * Send up to n bytes in one packet: one of several would take a receive of the peer's hub until the
 * last has come. The trunk is up, or was.
 */
static int far_send_data(struct vqp_far *far, struct msghdr *msg, u32 n)
{
	struct vqp_frame_send *f;
	int ret;

	if (vqp_parcels_hold_up(far))
		return -EAGAIN;
	n = min(n, READ_ONCE(far->trunk->frame_bytes));
	f = far_frame(far, n);
	if (IS_ERR(f))
		return PTR_ERR(f);
	f->bytes = copy_from_iter(vqp_frame_of(f) + VQP_FRAME_HEADER, n, &msg->msg_iter);
	n = f->bytes;
	ret = n ? far_post(far, f) : -EFAULT;
	if (!ret)
		return n;
	vqp_trunk_frame_free(f);
	iov_iter_revert(&msg->msg_iter, n);
	return ret;
}

int vqp_far_send(struct vqp_stream *s, struct msghdr *msg)
{
	struct vqp_far *far = vqp_far_of(s);
	int ret = -ENOBUFS;
	u32 n;

	n = far_may_send(far, min_t(size_t, msg_data_left(msg), INT_MAX));
	if (!n)
		return -EAGAIN;
	if (n >= FAR_PARCEL_LEAST)
		ret = vqp_parcel_send(far, msg, min_t(u32, n, VQP_PARCEL_MAX));
	if (ret == -ENOBUFS)
		ret = far_send_data(far, msg, n);
	if (ret == -EIO) {
		vqp_far_break(far);
		ret = -EPIPE;
	}
	return ret;
}

void vqp_far_finish(struct vqp_stream *s)
{
	struct vqp_far *far = vqp_far_of(s);

	spin_lock_bh(&s->lock);
	if (!far->fin && far->state == VQP_FAR_OPEN) {
		far->fin = true;
		vqp_far_set_due(far, VQP_FAR_DUE_FIN);
	}
	spin_unlock_bh(&s->lock);
}
