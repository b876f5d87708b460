// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include "engine/stream_frame.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/stream.h"
#include "sock/trunk.h"

/* If the peer was to be sent nothing until now, it has had no time for it yet. */
static void far_begin(struct vqp_far *far)
{
	lockdep_assert_held(&far->s.lock);
	if (!vqp_far_is_busy(far))
		far->moved_at = jiffies;
}

void vqp_far_note(struct vqp_far *far, enum vqp_far_due what)
{
	far_begin(far);
	far->due |= BIT(what);
}

void vqp_far_set_due(struct vqp_far *far, enum vqp_far_due what)
{
	vqp_far_note(far, what);
	vqp_trunk_due(far->trunk, &far->user);
}

/* Almost any frame says how much has been read, and how much room there is. */
void vqp_far_fill(struct vqp_far *far, struct vqp_frame *frame, u8 type)
{
	const u32 taken = far->received - far->s.unread;

	lockdep_assert_held(&far->s.lock);
	*frame = (struct vqp_frame) {
		.type = type,
		.to = far->user.peer,
		.from = far->id,
	};
	if (type == VQP_FRAME_RST)
		return;
	frame->recalls = type == VQP_FRAME_RETURN ? far->credit.recalls : far->recalls;
	if (type == VQP_FRAME_RETURN)
		frame->seq = far->credit.limit;
	if (type == VQP_FRAME_RETURN || type == VQP_FRAME_RECALL)
		return;
	frame->taken = taken;
	far->told_taken = taken;
	/* That is all that a CREDIT would say. */
	far->due &= ~BIT(VQP_FAR_DUE_CREDIT);
	if (!far->recalling) {
		frame->room = far->granted - taken;
		far->told = far->granted;
	}
	if (type == VQP_FRAME_FIN)
		frame->seq = far->credit.sent;
	if (type == VQP_FRAME_FETCHED || type == VQP_FRAME_DECLINED)
		frame->seq = far->received;
	if (type == VQP_FRAME_OPEN) {
		frame->src_port = far->s.names.local_port;
		frame->dst_port = far->s.names.remote_port;
	}
}

void vqp_far_frame_begin(struct vqp_far *far, u32 bytes)
{
	far_begin(far);
	far->frames++;
	far->under_way += bytes;
}

void vqp_far_frame_done(struct vqp_far *far, u32 bytes)
{
	lockdep_assert_held(&far->s.lock);
	far->under_way -= bytes;
	far->frames--;
	WRITE_ONCE(far->starved, false);
}

int vqp_far_begin(struct vqp_far *far, u8 type, u32 bytes, struct vqp_frame *frame,
		  struct vqp_far_told *told)
{
	lockdep_assert_held(&far->s.lock);
	if (vqp_credit_left(&far->credit) < bytes)
		return -EAGAIN;
	told->told = far->told;
	told->taken = far->told_taken;
	told->due = far->due & BIT(VQP_FAR_DUE_CREDIT);
	vqp_far_fill(far, frame, type);
	frame->seq = far->credit.sent;
	frame->flags = far->waited ? VQP_FRAME_WAITED : 0;
	far->waited = false;
	WRITE_ONCE(far->credit.sent, far->credit.sent + bytes);
	vqp_far_frame_begin(far, bytes);
	return 0;
}

void vqp_far_undo(struct vqp_far *far, u32 bytes, const struct vqp_far_told *told)
{
	lockdep_assert_held(&far->s.lock);
	WRITE_ONCE(far->credit.sent, far->credit.sent - bytes);
	vqp_far_frame_done(far, bytes);
	/* What the frame was to tell of reading does not wait for the program to send again. */
	if (told->due || far->told != told->told || far->told_taken != told->taken)
		vqp_far_set_due(far, VQP_FAR_DUE_CREDIT);
}
