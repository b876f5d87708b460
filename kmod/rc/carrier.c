// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include "base/counters.h"
#include "dc/dc.h"
#include "device/peer.h"
#include "ns/namespace.h"
#include "ns/prio.h"
#include "queue/carrier.h"
#include "queue/send.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "rc/segment.h"

/*
 * A change of carriers costs a round trip, in which the old carrier finishes what it holds. After a
 * message a VQP therefore stays with dc for this number of READs and WRITEs.
 */
#define RC_REST		32

/*
 * Reserve room for one segment in the link's QP. Returns 0; -EAGAIN if there is no room, and then
 * vqp is among the link's waiters; or -ENOTCONN if the link is down. Under vqp.lock.
 */
static int rc_reserve(struct vqp_link *link, struct vqp *vqp)
{
	int ret = 0;

	spin_lock(&link->lock);
	if (!link->up) {
		ret = -ENOTCONN;
	} else if (link->nposted < VQP_LINK_DEPTH) {
		link->nposted++;
	} else {
		ret = -EAGAIN;
		vqp_wait_queue(&vqp->rc.wait, &link->waiters);
	}
	spin_unlock(&link->lock);
	return ret;
}

static void rc_unreserve(struct vqp_link *link)
{
	spin_lock(&link->lock);
	link->nposted--;
	spin_unlock(&link->lock);
}

/*
 * Post one part of `send`. Returns its length in bytes; -EAGAIN if the namespace's rate or the
 * link's depth makes vqp wait; or another -errno.
 */
static int rc_post_part(struct vqp_link *link, struct vqp *vqp, struct vqp_send *send)
{
	const u32 charge = min_t(u32, send->msg.bytes - vqp->rc.offset, link->sges * PAGE_SIZE);
	int ret;

	if (vqp_send_pass(vqp, charge) < 0)
		return -EAGAIN;
	ret = rc_reserve(link, vqp);
	if (!ret) {
		ret = vqp_segment_post(link, vqp, send);
		if (ret < 0)
			rc_unreserve(link);
	}
	vqp_send_refund(vqp, charge - max(ret, 0));
	return ret;
}

/* Post `send` from vqp->rc.offset on. Returns 0 when all of it is posted, or -errno as above. */
static int rc_post(struct vqp *vqp, struct vqp_send *send)
{
	struct vqp_link *link;
	int ret = -ENOTCONN;

	rcu_read_lock();
	link = rcu_dereference(vqp->dc.peer->link);
	/* Posted segments belong to one link. If the peer has another by now, dc takes over. */
	if (vqp->held && link != vqp->rc.link)
		link = NULL;
	while (link && vqp->rc.offset < send->msg.bytes) {
		/* At its own depth the VQP needs no wait: the end of its segments resumes it. */
		ret = vqp->held < VQP_LINK_VQP_DEPTH ? rc_post_part(link, vqp, send) : -EAGAIN;
		if (ret < 0)
			break;
		vqp_prio_note(vqp->ns);
		vqp->rc.link = link;
		vqp_carrier_hold(vqp, &vqp_rc_carrier);
		vqp->rc.offset += ret;
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

/*
 * vqp_carrier_ops.take. It fails with another error than -EAGAIN if a window has been revoked since
 * rc_wants() said yes, or if the link has gone.
 */
static int rc_take(struct vqp *vqp, struct vqp_send *send)
{
	int ret;

	lockdep_assert_held(&vqp->lock);
	ret = rc_post(vqp, send);
	if (ret == -EAGAIN)
		return ret;
	vqp->rc.offset = 0;
	if (!ret) {
		list_move_tail(&send->msg.link, &vqp->lent);
		vqp_count_event(VQP_EV_RC_REQUESTS);
	}
	return ret;
}

static bool rc_wants(struct vqp *vqp, struct vqp_send *send)
{
	const bool one_sided = !(send->msg.flags & VQP_PKT_IMM) &&
			       (send->msg.op == VQP_OP_READ || send->msg.op == VQP_OP_WRITE);

	/* rc has posted a part of the request, and waits to post the rest. */
	if (vqp->rc.offset)
		return true;
	if (vqp->carrier != &vqp_dc_carrier || send->fate != VQP_SEND_FRESH)
		return false;
	if (!one_sided ||
	    (send->msg.op == VQP_OP_WRITE && READ_ONCE(vqp->dc.peer->link_reads_only)))
		vqp->rc.rest = RC_REST;
	if (vqp->rc.rest) {
		vqp->rc.rest -= one_sided;
		return false;
	}
	return vqp_link_ready(vqp, send);
}

/* vqp_carrier_ops.leave: dc carries out the whole of a request that rc has posted in part. */
static void rc_leave(struct vqp *vqp)
{
	struct vqp_msg *msg;

	if (!vqp->rc.offset)
		return;
	msg = list_first_entry(&vqp->unsent, struct vqp_msg, link);
	vqp_send_of(msg)->fate = VQP_SEND_AGAIN;
	vqp->rc.offset = 0;
}

static void rc_hold(struct vqp_wait *wait)
{
	kref_get(&container_of(wait, struct vqp, rc.wait)->ref);
}

/* vqp_wait_ops.go: the link has room, or has failed. Drops the reference of rc_hold(). */
static void rc_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, rc.wait);

	spin_lock_bh(&vqp->lock);
	vqp_send_resume(vqp);
	spin_unlock_bh(&vqp->lock);
	vqp_put(vqp);
}

static const struct vqp_wait_ops rc_wait_ops = {
	.hold = rc_hold,
	.go = rc_go,
};

static void rc_init(struct vqp *vqp)
{
	vqp_wait_init(&vqp->rc.wait, &rc_wait_ops);
}

const struct vqp_carrier_ops vqp_rc_carrier = {
	.id = VQP_CARRIER_RC,
	.init = rc_init,
	.wants = rc_wants,
	.take = rc_take,
	.flush = vqp_segments_flush,
	.leave = rc_leave,
};
