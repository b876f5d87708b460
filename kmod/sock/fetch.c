// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/counters.h"
#include "engine/stream_frame.h"
#include "meta/client.h"
#include "queue/carrier.h"
#include "queue/vqp.h"
#include "sock/far.h"
#include "sock/far_due.h"
#include "sock/far_window.h"
#include "sock/fetch.h"
#include "sock/stream.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

#define FETCHES_MAX	128		/* of a trunk, under way */
/* A parcel begins within a page of the stream, and ends within another. */
#define FETCH_PIECES	(VQP_PARCEL_MAX / VQP_STREAM_PAGE_BYTES + 2)

static_assert(FETCHES_MAX <= VQP_CARRIER_DEPTH);

struct fetch {
	struct vqp_far *far;		/* referenced */
	u32 bytes;
	bool waited;			/* The sender has waited for room. */
	struct vqp_send send;		/* It ends in a flexible array, and so comes last. */
};

static struct fetch *fetch_of(struct vqp_msg *msg)
{
	return container_of(msg, struct fetch, send.msg);
}

/* Nothing more is fetched for the connection, and when nothing is under way the sender is told. */
static void fetch_give_up(struct vqp_far *far)
{
	lockdep_assert_held(&far->s.lock);
	far->declining = true;
	if (far->fetching)
		return;
	vqp_stream_cancel(&far->s, U32_MAX);
	if (far->state != VQP_FAR_OPEN)
		return;
	vqp_count_event(VQP_EV_SOCK_DECLINED);
	vqp_far_set_due(far, VQP_FAR_DUE_DECLINED);
}

/* ---- Their ends, in order ---- */

/* The bytes were READ, or not. Returns whether the stream has them: what precedes them is there. */
static bool fetch_settle(const struct fetch *f, bool ok)
{
	struct vqp_far *far = f->far;

	lockdep_assert_held(&far->s.lock);
	far->fetching -= f->bytes;
	if (!ok || far->declining || far->state != VQP_FAR_OPEN) {
		fetch_give_up(far);
		return false;
	}
	vqp_stream_arrived(&far->s, f->bytes);
	far->received += f->bytes;
	vqp_count_event(VQP_EV_SOCK_FETCHED);
	vqp_far_set_due(far, VQP_FAR_DUE_FETCHED);
	return true;
}

/* Any context. */
static void fetch_end(struct fetch *f, bool ok)
{
	struct vqp_far *far = f->far;
	struct vqp_trunk *trunk = far->trunk;

	spin_lock_bh(&far->s.lock);
	ok = fetch_settle(f, ok);
	spin_unlock_bh(&far->s.lock);
	spin_lock_bh(&trunk->lock);
	trunk->nfetches--;
	spin_unlock_bh(&trunk->lock);
	if (ok) {
		vqp_stream_tell(&far->s);
		vqp_far_grow(far, f->waited);
	}
	vqp_far_put(far);
	kfree(f);
}

/* vqp_send.done, under the lock of the VQP that READs. */
static void fetch_done(struct vqp_send *send, u32 status)
{
	fetch_end(container_of(send, struct fetch, send), !status);
}

/* ---- READing ---- */

static struct fetch *fetch_make(struct vqp_far *far, const struct vqp_frame *frame)
{
	struct fetch *f = kmalloc(struct_size(f, send.sge, FETCH_PIECES), GFP_KERNEL_ACCOUNT);
	int pieces;

	if (!f)
		return NULL;
	memset(f, 0, sizeof(*f));
	pieces = vqp_stream_await(&far->s, frame->parcel.bytes, f->send.sge, FETCH_PIECES);
	if (pieces < 0) {
		kfree(f);
		return NULL;
	}
	f->far = far;
	kref_get(&far->ref);
	f->bytes = frame->parcel.bytes;
	f->waited = frame->flags & VQP_FRAME_WAITED;
	f->send.opcode = VQP_WR_RDMA_READ;
	f->send.done = fetch_done;
	f->send.kernel_sges = true;
	f->send.num_sge = pieces;
	f->send.msg.op = VQP_OP_READ;
	f->send.msg.bytes = f->bytes;
	f->send.msg.remote_addr = frame->parcel.addr;
	f->send.msg.rkey = frame->parcel.rkey;
	return f;
}

/* Have the trunk's work post it. False: it does not. */
static bool fetch_queue(struct vqp_trunk *trunk, struct fetch *f)
{
	bool queued = false;

	spin_lock_bh(&trunk->lock);
	if (trunk->nfetches < FETCHES_MAX && trunk->state != VQP_TRUNK_OVER) {
		list_add_tail(&f->send.msg.link, &trunk->fetches);
		trunk->nfetches++;
		vqp_trunk_queue_fetch(trunk);
		queued = true;
	}
	spin_unlock_bh(&trunk->lock);
	return queued;
}

void vqp_fetch(struct vqp_far *far, const struct vqp_frame *frame)
{
	struct fetch *f = fetch_make(far, frame);
	struct vqp_stream *s = &far->s;
	bool queued = false;

	spin_lock_bh(&s->lock);
	if (f) {
		queued = fetch_queue(far->trunk, f);
		if (queued)
			far->fetching += frame->parcel.bytes;
		else
			vqp_stream_cancel(s, frame->parcel.bytes);
	}
	if (!queued)
		fetch_give_up(far);
	spin_unlock_bh(&s->lock);
	if (f && !queued) {
		vqp_far_put(far);
		kfree(f);
	}
}

/* Take what is to be READ. Returns how much that is. */
static u32 fetch_take(struct vqp_trunk *trunk, struct list_head *sends)
{
	struct vqp_msg *msg;
	u32 n = 0;

	spin_lock_bh(&trunk->lock);
	list_splice_tail_init(&trunk->fetches, sends);
	spin_unlock_bh(&trunk->lock);
	list_for_each_entry(msg, sends, link)
		n++;
	return n;
}

static void fetch_fail(struct list_head *sends)
{
	struct vqp_msg *msg, *next;

	list_for_each_entry_safe(msg, next, sends, link) {
		list_del(&msg->link);
		fetch_end(fetch_of(msg), false);
	}
}

static void fetch_end_vqp(struct vqp_trunk *trunk)
{
	if (trunk->fetcher)
		vqp_teardown(trunk->fetcher);
	trunk->fetcher = NULL;
}

/* The VQP that READs, from where frames were last taken; or ERR_PTR(). */
static struct vqp *fetch_vqp(struct vqp_trunk *trunk)
{
	struct vqp_dct dct;
	struct vqp *vqp;

	if (trunk->fetcher && READ_ONCE(trunk->fetcher->state) != VQP_QP_ERROR)
		return trunk->fetcher;
	fetch_end_vqp(trunk);
	spin_lock_bh(&trunk->lock);
	dct = trunk->home;
	spin_unlock_bh(&trunk->lock);
	if (!dct.lanes)
		return ERR_PTR(-EHOSTUNREACH);
	vqp = vqp_client_connect(trunk->ns, trunk->gid, &dct);
	if (!IS_ERR(vqp)) {
		vqp->memory = NULL;
		trunk->fetcher = vqp;
	}
	return vqp;
}

void vqp_fetch_work(struct work_struct *work)
{
	struct vqp_trunk *trunk = container_of(work, struct vqp_trunk, fetch);
	struct vqp *vqp = fetch_vqp(trunk);
	LIST_HEAD(sends);
	u32 n;

	n = fetch_take(trunk, &sends);
	/* What it does not take stays in the list. */
	if (n && !IS_ERR(vqp))
		vqp_send_queue(vqp, &sends, n);
	fetch_fail(&sends);
	vqp_trunk_put(trunk);
}

void vqp_fetch_end(struct vqp_trunk *trunk)
{
	LIST_HEAD(sends);

	fetch_take(trunk, &sends);
	fetch_fail(&sends);
	fetch_end_vqp(trunk);
}
