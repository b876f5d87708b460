// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include "engine/stream_frame.h"
#include "sock/budget.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/far_window.h"
#include "sock/stream.h"

/*
 * Grant the peer what the window, the budget and what is unread leave. Of the pages that the window
 * may take, one is beyond the budget.
 */
void vqp_far_grant(struct vqp_far *far)
{
	const u32 taken = far->received - far->s.unread;
	u32 most = DIV_ROUND_UP(far->s.window, VQP_STREAM_PAGE_BYTES) - 1;
	u32 least = far->granted - taken, limit;

	lockdep_assert_held(&far->s.lock);
	if (far->s.finished) {
		/* Nothing more comes. */
		most = 0;
		least = far->s.unread;
	}
	while (far->pages < most && vqp_budget_charge(far->s.ns))
		far->pages++;
	/* What was granted cannot be taken back; what is beyond it can. */
	least = DIV_ROUND_UP(least, VQP_STREAM_PAGE_BYTES);
	least = max(least, 1U) - 1;
	if (vqp_budget_has(far->s.ns))
		least = max(least, most);
	while (far->pages > least) {
		vqp_budget_uncharge(far->s.ns);
		far->pages--;
	}
	limit = taken + min(far->s.window, (far->pages + 1) * (u32)VQP_STREAM_PAGE_BYTES);
	/* To tell of room is to tell how much was read: a sender that lingers waits for that. */
	if (far->s.finished)
		limit = taken + far->s.window;
	if ((s32)(limit - far->granted) > 0)
		far->granted = limit;
	/* No more may come than fills these pages: the reader is told of any byte. */
	WRITE_ONCE(far->s.starved, far->pages < most);
}

/*
 * Has the peer to be told of more room, or of what was read? Not for every byte. Where a window has
 * shrunk there is less room to tell of than was read; a sender that is told of neither would take
 * its peer for one that does not read.
 */
static void far_grant_and_tell(struct vqp_far *far)
{
	u32 taken, more, enough;

	if (far->recalling && !far->s.finished)
		return;
	vqp_far_grant(far);
	taken = far->received - far->s.unread;
	more = max(far->granted - far->told, taken - far->told_taken);
	enough = max((far->granted - taken) / 4, VQP_FAR_WINDOW_FIRST / 2);
	if (far->state == VQP_FAR_OPEN && more >= enough)
		vqp_far_set_due(far, VQP_FAR_DUE_CREDIT);
}

/*
 * Bytes have come. A window is too small if its sender waits for it; one that is half full gives a
 * slow reader's peer what TCP would have room for.
 */
void vqp_far_grow(struct vqp_far *far, bool waited)
{
	struct vqp_stream *s = &far->s;

	spin_lock_bh(&s->lock);
	if ((waited || s->unread > s->window / 2) && s->window < far->window_max &&
	    vqp_budget_has(s->ns))
		WRITE_ONCE(s->window, min(s->window * 2, far->window_max));
	if (!s->closed)
		far_grant_and_tell(far);
	spin_unlock_bh(&s->lock);
}

static bool far_may_recall(const struct vqp_far *far)
{
	lockdep_assert_held(&far->s.lock);
	return far->state == VQP_FAR_OPEN && !far->s.closed && !far->s.finished &&
	       !far->recalling && !far->fetching && far->received == far->seen &&
	       far->told - far->received > VQP_FAR_WINDOW_FIRST;
}

void vqp_far_recall(struct vqp_far *far)
{
	struct vqp_stream *s = &far->s;

	spin_lock_bh(&s->lock);
	if (far_may_recall(far)) {
		far->recalling = true;
		far->recalls++;
		WRITE_ONCE(s->window, min_t(u32, far->window_max, VQP_FAR_WINDOW_FIRST));
		vqp_far_set_due(far, VQP_FAR_DUE_RECALL);
	}
	far->seen = far->received;
	spin_unlock_bh(&s->lock);
}

int vqp_far_returned(struct vqp_far *far, u8 recalls, u32 limit)
{
	struct vqp_stream *s = &far->s;
	int ret = -EPROTO;

	spin_lock_bh(&s->lock);
	if (!far->recalling || recalls != far->recalls) {
		/* It comes again. */
		ret = 0;
	} else if (limit - far->received <= far->granted - far->received) {
		far->recalling = false;
		far->granted = limit;
		far->told = limit;
		if (!s->closed)
			far_grant_and_tell(far);
		ret = 0;
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

void vqp_far_consumed(struct vqp_stream *s, bool freed)
{
	spin_lock_bh(&s->lock);
	if (!s->closed)
		far_grant_and_tell(vqp_far_of(s));
	spin_unlock_bh(&s->lock);
}

void vqp_far_set_window(struct vqp_stream *s, u32 bytes)
{
	struct vqp_far *far = vqp_far_of(s);

	spin_lock_bh(&s->lock);
	far->window_max = clamp_t(u32, bytes, PAGE_SIZE, VQP_FRAME_ROOM_MAX / 2);
	WRITE_ONCE(s->window, min(s->window, far->window_max));
	if (!s->closed)
		far_grant_and_tell(far);
	spin_unlock_bh(&s->lock);
}
