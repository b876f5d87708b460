// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include "engine/stream_frame.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/far_table.h"
#include "sock/far_tell.h"
#include "sock/parcel.h"
#include "sock/stream.h"
#include "sock/trunk.h"

static const u8 far_due_types[] = {
	[VQP_FAR_DUE_OPEN]	= VQP_FRAME_OPEN,
	[VQP_FAR_DUE_ACK]	= VQP_FRAME_OPEN_ACK,
	[VQP_FAR_DUE_FETCHED]	= VQP_FRAME_FETCHED,
	[VQP_FAR_DUE_DECLINED]	= VQP_FRAME_DECLINED,
	[VQP_FAR_DUE_CREDIT]	= VQP_FRAME_CREDIT,
	[VQP_FAR_DUE_PROBE]	= VQP_FRAME_CREDIT,
	[VQP_FAR_DUE_RECALL]	= VQP_FRAME_RECALL,
	[VQP_FAR_DUE_RETURN]	= VQP_FRAME_RETURN,
	[VQP_FAR_DUE_FIN]	= VQP_FRAME_FIN,
	[VQP_FAR_DUE_RST]	= VQP_FRAME_RST,
};

/* The next frame that is due; false: there is none, or the peer would not know it. */
static bool far_next(struct vqp_far *far, struct vqp_frame *frame)
{
	u32 what, due;

	lockdep_assert_held(&far->s.lock);
	if (far->state == VQP_FAR_GONE)
		far->due &= BIT(VQP_FAR_DUE_RST);
	due = far->due;
	/* The end comes behind all bytes. */
	if (!list_empty(&far->parcels))
		due &= ~(BIT(VQP_FAR_DUE_FIN) | BIT(VQP_FAR_DUE_RST));
	if (!due || (far->state == VQP_FAR_CONNECTING && due != BIT(VQP_FAR_DUE_OPEN)))
		return false;
	what = __ffs(due);
	vqp_far_frame_begin(far, 0);
	far->due &= ~BIT(what);
	vqp_far_fill(far, frame, far_due_types[what]);
	if (what == VQP_FAR_DUE_PROBE)
		frame->flags = VQP_FRAME_PROBE;
	return true;
}

/* 0; -EAGAIN, -ENOMEM: not now; -EIO: never. */
static int far_tell_one(struct vqp_far *far, const struct vqp_frame *frame)
{
	struct vqp_frame_send *f = vqp_trunk_frame(far->trunk, &far->user, 0);
	int ret;

	ret = f ? vqp_trunk_post(f, frame) : -ENOMEM;
	if (ret) {
		spin_lock_bh(&far->s.lock);
		vqp_far_frame_done(far, 0);
		spin_unlock_bh(&far->s.lock);
		if (f)
			vqp_trunk_frame_free(f);
		return ret;
	}
	if (frame->type == VQP_FRAME_OPEN_ACK) {
		spin_lock_bh(&far->s.lock);
		WRITE_ONCE(far->ready, true);
		spin_unlock_bh(&far->s.lock);
		vqp_stream_wake_writer(&far->s);
	}
	return 0;
}

/* An end that was closed stays until its parcels are over. */
static void far_tell_end(struct vqp_far *far)
{
	bool over;

	spin_lock_bh(&far->s.lock);
	over = far->s.closed && list_empty(&far->parcels);
	spin_unlock_bh(&far->s.lock);
	if (over)
		vqp_far_leave(far);
}

/* May it be told later? Who connects does not wait for memory, and does so by TCP. */
static bool far_tells_later(const struct vqp_frame *frame, int err)
{
	return err == -EAGAIN || (err == -ENOMEM && frame->type != VQP_FRAME_OPEN);
}

/* Frames of a connection arrive in the order in which they were due: one thread posts them. */
static bool far_tell_begin(struct vqp_far *far)
{
	bool begun;

	spin_lock_bh(&far->s.lock);
	begun = !far->telling;
	far->telling = true;
	spin_unlock_bh(&far->s.lock);
	return begun;
}

/*
 * What is to be posted next: a frame, or if it has no type, what was declined. False: nothing, and
 * others may post what will be.
 */
static bool far_tell_next(struct vqp_far *far, struct vqp_frame *frame, u16 *due)
{
	bool any;

	frame->type = 0;
	spin_lock_bh(&far->s.lock);
	*due = far->due;
	any = vqp_parcels_are_due(far) || far_next(far, frame);
	far->telling = any;
	spin_unlock_bh(&far->s.lock);
	return any;
}

/* One frame was not posted, and so others are not. */
static void far_tell_stop(struct vqp_far *far, u16 due)
{
	spin_lock_bh(&far->s.lock);
	far->due |= due;
	far->telling = false;
	spin_unlock_bh(&far->s.lock);
}

int vqp_far_tell(struct vqp_trunk_user *user)
{
	struct vqp_far *far = vqp_far_of_user(user);
	struct vqp_frame frame = { };
	u16 due = 0;
	int ret = 0;

	if (!far_tell_begin(far))
		return 0;
	while (!ret && far_tell_next(far, &frame, &due))
		ret = frame.type ? far_tell_one(far, &frame) : vqp_parcels_resend(far);
	if (far_tells_later(&frame, ret)) {
		far_tell_stop(far, due);
		return ret;
	}
	if (ret) {
		far_tell_stop(far, 0);
		vqp_far_break(far);
	}
	far_tell_end(far);
	return 0;
}

void vqp_far_tell_now(struct vqp_far *far, enum vqp_far_due what)
{
	spin_lock_bh(&far->s.lock);
	vqp_far_note(far, what);
	spin_unlock_bh(&far->s.lock);
	if (vqp_far_tell(&far->user))
		vqp_trunk_due(far->trunk, &far->user);
}
