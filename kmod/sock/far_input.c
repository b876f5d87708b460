// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/jiffies.h>
#include "base/counters.h"
#include "engine/stream_frame.h"
#include "ns/namespace.h"
#include "rc/link.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/far_input.h"
#include "sock/far_life.h"
#include "sock/far_sender.h"
#include "sock/far_table.h"
#include "sock/far_tell.h"
#include "sock/far_window.h"
#include "sock/fetch.h"
#include "sock/hub.h"
#include "sock/listener.h"
#include "sock/parcel.h"
#include "sock/stream.h"
#include "sock/trunk.h"

static void far_answer_refuse(struct vqp_trunk *trunk, const struct vqp_frame *open, u8 reason)
{
	const struct vqp_frame frame = {
		.type = VQP_FRAME_REFUSE,
		.reason = reason,
		.to = open->from,
	};

	vqp_trunk_reply(trunk, &frame);
}

/* 0, or why an OPEN is refused. */
static u8 far_may_serve(struct vqp_ns *ns, const u8 *gid, const struct vqp_frame *open)
{
	const int ret = vqp_far_may(ns, gid, open->dst_port);
	u32 halves;

	if (ret == -EACCES)
		vqp_tally_add(ns->tally, VQP_TALLY_RULED_OUT, 1);
	if (ret)
		return VQP_REFUSE_OFF;
	return vqp_far_may_add_half(ns, open->dst_port, &halves) &&
	       vqp_listener_has_room(ns, ns->gid, open->dst_port, halves) ?
	       0 : VQP_REFUSE_LISTENER;
}

/* Make the server's end, which waits for the client to go on. 0, or why it is refused. */
static u8 far_serve(struct vqp_ns *ns, struct vqp_trunk *trunk, const struct vqp_frame *open)
{
	struct vqp_far *far = vqp_far_make(ns, trunk);
	bool broken;

	if (IS_ERR(far))
		return VQP_REFUSE_MEMORY;
	vqp_names_set(&far->s.names, ns->gid, open->dst_port, trunk->gid, open->src_port);
	kref_get(&far->ref);
	vqp_far_add_half(far);
	spin_lock_bh(&far->s.lock);
	WRITE_ONCE(far->user.peer, open->from);
	far->credit.limit = open->room;
	broken = far->state != VQP_FAR_CONNECTING;
	if (!broken)
		far->state = VQP_FAR_HALF;
	spin_unlock_bh(&far->s.lock);
	/* The trunk has failed before the end was a half. */
	if (broken)
		vqp_far_drop_half(far);
	else
		vqp_far_tell_now(far, VQP_FAR_DUE_ACK);
	vqp_far_put(far);
	return 0;
}

/* The client goes on: its listener gets the connection. */
static void far_go_on(struct vqp_ns *ns, struct vqp_far *far)
{
	if (!vqp_far_take_half(far))
		return;
	spin_lock_bh(&far->s.lock);
	if (far->state == VQP_FAR_HALF)
		far->state = VQP_FAR_OPEN;
	spin_unlock_bh(&far->s.lock);
	/* Once it is offered, it may be accepted and closed. */
	if (vqp_listener_offer(ns, &far->s, true)) {
		vqp_stream_close(&far->s, true);
		vqp_far_put(far);
	}
}

/* What is refused is not worth as much as what is served: another's OPENs do not wait for it. */
static void far_on_open(struct vqp_ns *ns, const u8 *gid, const struct vqp_frame *open)
{
	u8 reason = far_may_serve(ns, gid, open);
	struct vqp_trunk *trunk;

	trunk = vqp_trunk_get(ns, gid, reason ? VQP_TRUNK_TO_ANSWER : VQP_TRUNK_TO_SERVE);
	/* Without an answer the client connects by TCP. */
	if (IS_ERR(trunk))
		return;
	if (!reason)
		reason = far_serve(ns, trunk, open);
	if (reason)
		far_answer_refuse(trunk, open, reason);
	vqp_trunk_put(trunk);
}

/* Is a frame to be answered by RST if there is no such connection? */
static bool far_wants_answer(const struct vqp_frame *frame)
{
	return frame->type == VQP_FRAME_DATA || frame->type == VQP_FRAME_PARCEL ||
	       frame->type == VQP_FRAME_OPEN_ACK || frame->flags & VQP_FRAME_PROBE;
}

/* The peer has a stream that is not known here. */
static void far_answer_rst(struct vqp_ns *ns, const u8 *gid, const struct vqp_frame *frame)
{
	const struct vqp_frame rst = {
		.type = VQP_FRAME_RST,
		.to = frame->from,
		.from = frame->to,
	};
	struct vqp_trunk *trunk;

	if (!far_wants_answer(frame))
		return;
	trunk = vqp_trunk_get(ns, gid, VQP_TRUNK_TO_ANSWER);
	if (IS_ERR(trunk))
		return;
	vqp_trunk_reply(trunk, &rst);
	vqp_trunk_put(trunk);
}

/* The peer's frames contradict each other. */
static void far_protest(struct vqp_far *far)
{
	spin_lock_bh(&far->s.lock);
	vqp_parcels_drop(far, false);
	vqp_far_set_due(far, VQP_FAR_DUE_RST);
	far->state = VQP_FAR_GONE;
	spin_unlock_bh(&far->s.lock);
	vqp_stream_break(&far->s, ECONNRESET);
}

/* The answer to an OPEN. */
static void far_on_answer(struct vqp_ns *ns, struct vqp_far *far, const struct vqp_frame *frame)
{
	const bool yes = frame->type == VQP_FRAME_OPEN_ACK;
	bool in_time;

	if (!yes) {
		vqp_far_set_gone(far, ECONNREFUSED);
		return;
	}
	spin_lock_bh(&far->s.lock);
	in_time = far->state == VQP_FAR_CONNECTING;
	if (in_time) {
		WRITE_ONCE(far->user.peer, frame->from);
		far->credit.limit = frame->room;
		far->state = VQP_FAR_OPEN;
		far->ready = true;
		/* The peer waits for this. */
		vqp_far_set_due(far, VQP_FAR_DUE_CREDIT);
	}
	spin_unlock_bh(&far->s.lock);
	if (in_time)
		complete(&far->answered);
	else
		far_answer_rst(ns, far->trunk->gid, frame);
}

/*
 * So many bytes have come in DATA. What was declined has, if anything was. A peer that sends more
 * than a little may send parcels.
 */
static void far_received(struct vqp_far *far, u32 bytes)
{
	struct vqp_stream *s = &far->s;

	spin_lock_bh(&s->lock);
	far->received += bytes;
	far->declining = false;
	if (!far->invited && far->received >= VQP_PARCEL_MAX && vqp_link_max()) {
		far->invited = true;
		vqp_far_set_due(far, VQP_FAR_DUE_FETCHED);
	}
	spin_unlock_bh(&s->lock);
}

static void far_on_data(struct vqp_far *far, const struct vqp_frame *frame)
{
	struct vqp_stream *s = &far->s;
	u32 repeated;
	bool fits;
	int ret;

	spin_lock_bh(&s->lock);
	repeated = vqp_credit_repeated(far->received, frame->seq, frame->bytes);
	fits = frame->seq == far->received && far->granted - far->received >= frame->bytes &&
	       !s->finished && !far->fetching;
	spin_unlock_bh(&s->lock);
	/* It has come before: no frame is cut anew to be sent again. */
	if (repeated == frame->bytes)
		return;
	ret = fits ? vqp_stream_append(s, frame->data, frame->bytes) : -EPROTO;
	if (ret) {
		far_protest(far);
		return;
	}
	far_received(far, frame->bytes);
	vqp_stream_tell(s);
	vqp_far_grow(far, frame->flags & VQP_FRAME_WAITED);
}

/* One that has come before is there, being fetched, or declined like all that come now. */
static void far_on_parcel(struct vqp_far *far, const struct vqp_frame *frame)
{
	const u32 bytes = frame->parcel.bytes;
	struct vqp_stream *s = &far->s;
	bool known, fits;
	u32 next;

	spin_lock_bh(&s->lock);
	next = far->received + far->fetching;
	known = far->declining || vqp_credit_repeated(next, frame->seq, bytes) == bytes;
	fits = frame->seq == next && far->granted - next >= bytes && !s->finished;
	if (vqp_credit_repeated(far->received, frame->seq, bytes) == bytes)
		vqp_far_set_due(far, VQP_FAR_DUE_FETCHED);
	spin_unlock_bh(&s->lock);
	if (known)
		return;
	if (fits)
		vqp_fetch(far, frame);
	else
		far_protest(far);
}

/* What the peer says of parcels. */
static void far_on_settled(struct vqp_far *far, const struct vqp_frame *frame)
{
	int ret;

	spin_lock_bh(&far->s.lock);
	far->moved_at = jiffies;
	far->probing = false;
	ret = vqp_parcels_settle(far, frame->seq, frame->type == VQP_FRAME_DECLINED);
	spin_unlock_bh(&far->s.lock);
	if (ret)
		far_protest(far);
	else
		vqp_far_room(far);
}

/* What the window has pages for and will not come is left to others. */
static void far_on_fin(struct vqp_far *far, const struct vqp_frame *frame)
{
	if (frame->seq != far->received) {
		far_protest(far);
		return;
	}
	vqp_stream_end(&far->s);
	spin_lock_bh(&far->s.lock);
	far->recalling = false;
	if (!far->s.closed)
		vqp_far_grant(far);
	spin_unlock_bh(&far->s.lock);
}

static void far_on_rst(struct vqp_far *far)
{
	const bool finished = READ_ONCE(far->s.finished);

	spin_lock_bh(&far->s.lock);
	vqp_parcels_drop(far, true);
	spin_unlock_bh(&far->s.lock);
	/* So does TCP tell one who has read the end, and sends. */
	if (!vqp_far_set_gone(far, ECONNREFUSED))
		vqp_stream_break(&far->s, finished ? EPIPE : ECONNRESET);
	vqp_far_drop_half(far);
}

/* The peer gets back the room that this end does not use now. */
static void far_on_recall(struct vqp_far *far, const struct vqp_frame *recall)
{
	spin_lock_bh(&far->s.lock);
	if (vqp_credit_return(&far->credit, recall->recalls, VQP_FAR_WINDOW_FIRST))
		vqp_far_set_due(far, VQP_FAR_DUE_RETURN);
	spin_unlock_bh(&far->s.lock);
}

/* What almost each frame says: how much the peer has read. False: it contradicts what was sent. */
static bool far_hear(struct vqp_far *far, const struct vqp_frame *frame)
{
	int ret = 0;

	spin_lock_bh(&far->s.lock);
	far->heard_at = jiffies;
	if (frame->type != VQP_FRAME_RST && frame->type != VQP_FRAME_RECALL &&
	    frame->type != VQP_FRAME_RETURN)
		ret = vqp_credit_hear(&far->credit, frame->recalls, frame->taken, frame->room);
	spin_unlock_bh(&far->s.lock);
	if (!ret)
		vqp_far_room(far);
	return !ret;
}

/*
 * True: it is nothing for an end that was closed, whose peer is told so when its parcels are over.
 */
static bool far_is_late(struct vqp_far *far, const struct vqp_frame *frame)
{
	if (!READ_ONCE(far->s.closed))
		return false;
	if (!far_wants_answer(frame))
		return frame->type == VQP_FRAME_FIN;
	spin_lock_bh(&far->s.lock);
	vqp_far_set_due(far, VQP_FAR_DUE_RST);
	spin_unlock_bh(&far->s.lock);
	return true;
}

static void far_on_frame(struct vqp_ns *ns, struct vqp_far *far, const struct vqp_frame *frame)
{
	const u8 state = READ_ONCE(far->state);

	if (state == VQP_FAR_CONNECTING) {
		if (frame->type == VQP_FRAME_OPEN_ACK || frame->type == VQP_FRAME_REFUSE)
			far_on_answer(ns, far, frame);
		return;
	}
	if (frame->from != far->user.peer)
		return;
	if (state == VQP_FAR_HALF && frame->type != VQP_FRAME_RST)
		far_go_on(ns, far);
	if (!far_hear(far, frame)) {
		far_protest(far);
		return;
	}
	if (far_is_late(far, frame))
		return;
	switch (frame->type) {
	case VQP_FRAME_DATA:
		far_on_data(far, frame);
		break;
	case VQP_FRAME_PARCEL:
		far_on_parcel(far, frame);
		break;
	case VQP_FRAME_FETCHED:
	case VQP_FRAME_DECLINED:
		far_on_settled(far, frame);
		break;
	case VQP_FRAME_FIN:
		far_on_fin(far, frame);
		break;
	case VQP_FRAME_RST:
		far_on_rst(far);
		break;
	case VQP_FRAME_RECALL:
		far_on_recall(far, frame);
		break;
	case VQP_FRAME_RETURN:
		if (vqp_far_returned(far, frame->recalls, frame->seq))
			far_protest(far);
		break;
	default:
		break;
	}
}

/* Streams of that address are over. It may have been told late, and there are others then. */
static void far_on_bye(struct vqp_ns *ns, const u8 *gid, const struct vqp_frame *bye)
{
	struct vqp_trunk *trunk = vqp_trunk_find(ns, gid);

	if (!trunk)
		return;
	vqp_trunk_break(trunk, bye->from);
	vqp_trunk_put(trunk);
}

void vqp_far_input(struct vqp_ns *ns, const u8 *gid, const void *msg, u32 bytes)
{
	struct vqp_frame frame;
	struct vqp_far *far;

	if (vqp_frame_parse(msg, bytes, &frame)) {
		vqp_count_event(VQP_EV_RX_MALFORMED);
		return;
	}
	if (frame.type == VQP_FRAME_OPEN) {
		far_on_open(ns, gid, &frame);
		return;
	}
	if (frame.type == VQP_FRAME_BYE) {
		far_on_bye(ns, gid, &frame);
		return;
	}
	far = vqp_far_find(ns, gid, frame.to);
	if (far && READ_ONCE(far->state) != VQP_FAR_GONE)
		far_on_frame(ns, far, &frame);
	else
		far_answer_rst(ns, gid, &frame);
	if (far)
		vqp_far_put(far);
}
