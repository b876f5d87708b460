// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "carrier.h"
#include "counters.h"
#include "cursor.h"
#include "dc.h"
#include "grant.h"
#include "mr.h"
#include "ns.h"
#include "peer.h"
#include "prio.h"
#include "qp.h"
#include "rc.h"
#include "rc_qp.h"
#include "send.h"

/*
 * What one work request of the device carries: a part of a request that lies in one window and
 * in few enough pages. It holds all that the device may touch.
 *
 * What VQPs hand out is chained, and posted RC_PIECE_CHAIN at a time, with a large one, or when
 * the run of one of them ends. The last of a chain asks for a completion, which is one of all
 * before it; so does a READ before a WRITE: it must not be done again once the WRITE has been.
 */
struct rc_piece {
	struct ib_cqe cqe;
	struct ib_rdma_wr wr;
	struct list_head link;		/* in rc.posted */
	struct vqp_rc *rc;		/* referenced */
	struct vqp *vqp;		/* referenced */
	struct vqp_send *send;
	bool last;			/* of send */
	u32 psn_end;			/* the first that is not its own */
	struct vqp_grant *grant;	/* referenced, as the regions of mrs, until released */
	struct vqp_mr **mrs;
	u32 nmrs;
	u32 nsge;
	struct ib_sge sge[];
};

#define RC_PIECE_CHAIN	8

/*
 * To change carriers costs a round trip, while the one is finished with what it has. So a VQP that
 * sends messages between its reads and writes stays with dc for so many of them.
 */
#define RC_REST		32

/* ---- Making ---- */

static enum dma_data_direction piece_direction(const struct vqp_send *send)
{
	return send->msg.op == VQP_OP_READ ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static void piece_release(struct rc_piece *piece)
{
	struct ib_device *dev = piece->rc->qp->device;
	u32 i;

	for (i = 0; i < piece->nsge; i++)
		ib_dma_unmap_page(dev, piece->sge[i].addr, piece->sge[i].length,
				  piece_direction(piece->send));
	for (i = 0; i < piece->nmrs; i++)
		vqp_mr_put(piece->mrs[i]);
	if (piece->grant)
		vqp_grant_put(piece->grant);
	piece->nsge = 0;
	piece->nmrs = 0;
	piece->grant = NULL;
}

static int piece_add_page(struct rc_piece *piece, struct page *page, u32 offset, u32 bytes)
{
	struct ib_device *dev = piece->rc->qp->device;
	struct ib_sge *sge = &piece->sge[piece->nsge];

	sge->addr = ib_dma_map_page(dev, page, offset, bytes, piece_direction(piece->send));
	if (ib_dma_mapping_error(dev, sge->addr))
		return -ENOMEM;
	sge->length = bytes;
	sge->lkey = piece->rc->qp->pd->local_dma_lkey;
	piece->nsge++;
	return 0;
}

/* As many of `bytes` bytes from the walk as `sges` pages hold: how many, or -errno. */
static int piece_fill(struct rc_piece *piece, struct vqp_cursor *c, u32 bytes, u32 sges)
{
	struct vqp_mr *mr = NULL;
	u32 offset, done = 0;
	struct page *page;
	int n, ret;

	while (done < bytes && piece->nsge < sges) {
		n = vqp_cursor_page(c, bytes - done, &page, &offset);
		if (n < 0)
			return n;
		if (c->mr && c->mr != mr) {
			mr = c->mr;
			vqp_mr_hold(mr);
			piece->mrs[piece->nmrs++] = mr;
		}
		ret = piece_add_page(piece, page, offset, n);
		if (ret)
			return ret;
		done += n;
	}
	return done ?: -EIO;
}

static struct rc_piece *piece_alloc(struct vqp_rc *rc, struct vqp_send *send, u32 sges)
{
	/* one more where a walk begins in the midst of the list */
	const u32 mrs = send->num_sge + 1;
	struct rc_piece *piece;

	piece = kmalloc(struct_size(piece, sge, sges) + mrs * sizeof(*piece->mrs),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!piece)
		return NULL;
	piece->rc = rc;
	piece->send = send;
	piece->mrs = (struct vqp_mr **)&piece->sge[sges];
	piece->nmrs = 0;
	piece->nsge = 0;
	return piece;
}

/* ---- Posting ---- */

/* Room for one piece; or vqp waits for it. */
static int rc_reserve(struct vqp_rc *rc, struct vqp *vqp)
{
	int ret = 0;

	spin_lock(&rc->lock);
	if (!rc->up) {
		ret = -ENOTCONN;
	} else if (rc->nposted < VQP_RC_DEPTH) {
		rc->nposted++;
	} else {
		ret = -EAGAIN;
		vqp_wait_queue(&vqp->rc.wait, &rc->waiters);
	}
	spin_unlock(&rc->lock);
	return ret;
}

static void rc_unreserve(struct vqp_rc *rc)
{
	spin_lock(&rc->lock);
	rc->nposted--;
	spin_unlock(&rc->lock);
}

static void rc_piece_done(struct ib_cq *cq, struct ib_wc *wc);

/* Give the device what is chained. What it does not take is in the list with the rest. */
static int __must_check rc_chain_post(struct vqp_rc *rc)
{
	struct ib_send_wr *chain = rc->chain;

	lockdep_assert_held(&rc->lock);
	rc->chain_last->send_flags |= IB_SEND_SIGNALED;
	rc->chain = NULL;
	rc->nchained = 0;
	rc->psn_given = rc->psn;
	return ib_post_send(rc->qp, chain, NULL);
}

static int rc_chain_add(struct vqp_rc *rc, struct ib_send_wr *wr, u32 bytes)
{
	lockdep_assert_held(&rc->lock);
	if (!rc->chain) {
		rc->chain = wr;
	} else {
		rc->chain_last->next = wr;
		if (wr->opcode != IB_WR_RDMA_READ && rc->chain_last->opcode == IB_WR_RDMA_READ)
			rc->chain_last->send_flags |= IB_SEND_SIGNALED;
	}
	rc->chain_last = wr;
	rc->nchained++;
	return rc->nchained == RC_PIECE_CHAIN || bytes >= PAGE_SIZE ? rc_chain_post(rc) : 0;
}

static int rc_piece_post(struct rc_piece *piece, struct vqp *vqp, u32 bytes, u64 iova)
{
	const struct vqp_send *send = piece->send;
	struct vqp_rc *rc = piece->rc;
	const u32 psns = vqp_rc_psns(bytes, rc->mtu);
	int ret = -ENOTCONN, broken = 0;

	piece->wr = (struct ib_rdma_wr) {
		.wr.wr_cqe = &piece->cqe,
		.wr.sg_list = piece->sge,
		.wr.num_sge = piece->nsge,
		.wr.opcode = send->msg.op == VQP_OP_READ ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
		.wr.send_flags = send->msg.fence ? IB_SEND_FENCE : 0,
		.remote_addr = iova,
		.rkey = piece->grant->rkey,
	};
	piece->cqe.done = rc_piece_done;
	piece->vqp = vqp;
	spin_lock(&rc->lock);
	/* Once it is down, nothing is added: rc_end() goes through the list without the lock. */
	if (rc->up) {
		ret = 0;
		kref_get(&rc->ref);
		kref_get(&vqp->ref);
		rc->psn = (rc->psn + psns) & VQP_PSN_MASK;
		piece->psn_end = rc->psn;
		list_add_tail(&piece->link, &rc->posted);
		broken = rc_chain_add(rc, &piece->wr.wr, bytes);
		WRITE_ONCE(rc->used_at, jiffies);
	}
	spin_unlock(&rc->lock);
	if (broken)
		vqp_rc_fail(rc);
	return ret;
}

/* Before vqp.lock is released: give the device what is chained. */
static void rc_flush(struct vqp *vqp)
{
	struct vqp_rc *rc = vqp->rc.link;
	int broken = 0;

	lockdep_assert_held(&vqp->lock);
	/* As long as there are pieces, they hold the link. Of its own it sees what is chained. */
	if (!READ_ONCE(rc->chain))
		return;
	spin_lock(&rc->lock);
	if (rc->chain && rc->up)
		broken = rc_chain_post(rc);
	spin_unlock(&rc->lock);
	if (broken)
		vqp_rc_fail(rc);
}

/* The part of `send` at vqp->rc.offset: its length, or -errno. There is room for it. */
static int rc_post_part(struct vqp_rc *rc, struct vqp *vqp, struct vqp_send *send)
{
	const struct vqp_msg *msg = &send->msg;
	const bool read = msg->op == VQP_OP_READ;
	const u64 remote = msg->remote_addr + vqp->rc.offset;
	const u32 most = vqp_rc_window_part(remote, msg->bytes - vqp->rc.offset);
	const u32 sges = min_t(u32, rc->sges, most / PAGE_SIZE + 2 + send->num_sge);
	struct rc_piece *piece;
	struct vqp_cursor c;
	int bytes, ret;

	piece = piece_alloc(rc, send, sges);
	if (!piece)
		return -ENOMEM;
	piece->grant = vqp_grant_get(rc, vqp, msg->rkey, remote, most, vqp_rc_access(vqp, msg));
	bytes = -EACCES;
	if (piece->grant) {
		vqp_send_cursor(&c, vqp, send, read ? VQP_ACCESS_LOCAL_WRITE : 0);
		vqp_cursor_skip(&c, vqp->rc.offset);
		bytes = piece_fill(piece, &c, most, sges);
		vqp_cursor_end(&c);
	}
	ret = bytes;
	if (bytes > 0) {
		piece->last = vqp->rc.offset + bytes == msg->bytes;
		ret = rc_piece_post(piece, vqp, bytes,
				    piece->grant->iova + (remote - piece->grant->addr));
	}
	if (ret) {
		piece_release(piece);
		kfree(piece);
		return ret;
	}
	return bytes;
}

/* One part, if there is room and the namespace's rate lets it pass: its length, or -errno. */
static int rc_post_one(struct vqp_rc *rc, struct vqp *vqp, struct vqp_send *send)
{
	const u32 charge = min_t(u32, send->msg.bytes - vqp->rc.offset, rc->sges * PAGE_SIZE);
	int ret;

	if (vqp_send_pass(vqp, charge) < 0)
		return -EAGAIN;
	ret = rc_reserve(rc, vqp);
	if (!ret) {
		ret = rc_post_part(rc, vqp, send);
		if (ret < 0)
			rc_unreserve(rc);
	}
	vqp_send_refund(vqp, charge - max(ret, 0));
	return ret;
}

/* Chain the rest of `send`. */
static int rc_post(struct vqp *vqp, struct vqp_send *send)
{
	struct vqp_rc *rc;
	int ret = -ENOTCONN;

	rcu_read_lock();
	rc = rcu_dereference(vqp->dc.peer->rc);
	/* The peer has changed while a request is half posted. */
	if (vqp->held && rc != vqp->rc.link)
		rc = NULL;
	while (rc && vqp->rc.offset < send->msg.bytes) {
		/* Its own pieces' ends make it go on. */
		ret = vqp->held < VQP_RC_VQP_DEPTH ? rc_post_one(rc, vqp, send) : -EAGAIN;
		if (ret < 0)
			break;
		vqp_prio_note(vqp->ns);
		vqp->rc.link = rc;
		vqp_carrier_hold(vqp, &vqp_rc_carrier);
		vqp->rc.offset += ret;
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

/* struct vqp_carrier_ops.take; the window may have been taken back meanwhile. */
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

	/* Half of it has been posted. */
	if (vqp->rc.offset)
		return true;
	if (vqp->carrier != &vqp_dc_carrier || send->fate != VQP_SEND_FRESH)
		return false;
	if (!one_sided)
		vqp->rc.rest = RC_REST;
	if (vqp->rc.rest) {
		vqp->rc.rest -= one_sided;
		return false;
	}
	return vqp_rc_ready(vqp, send);
}

/* What is half posted is for the other carrier, as a whole. */
static void rc_leave(struct vqp *vqp)
{
	struct vqp_msg *msg;

	if (!vqp->rc.offset)
		return;
	msg = list_first_entry(&vqp->unsent, struct vqp_msg, link);
	vqp_send_of(msg)->fate = VQP_SEND_AGAIN;
	vqp->rc.offset = 0;
}

/* There is room on the link, or the link is gone. */
static void rc_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, rc.wait);

	spin_lock_bh(&vqp->lock);
	vqp_send_resume(vqp);
	spin_unlock_bh(&vqp->lock);
	vqp_put(vqp);
}

static void rc_init(struct vqp *vqp)
{
	vqp_wait_init(&vqp->rc.wait, &vqp->ref, rc_go);
}

const struct vqp_carrier_ops vqp_rc_carrier = {
	.id = VQP_CARRIER_RC,
	.init = rc_init,
	.wants = rc_wants,
	.take = rc_take,
	.flush = rc_flush,
	.leave = rc_leave,
};

/* ---- Completing ---- */

void vqp_rc_kick(struct vqp_rc *rc)
{
	struct vqp_wait *wait;

	spin_lock_bh(&rc->lock);
	while (!list_empty(&rc->waiters) && (!rc->up || rc->nposted < VQP_RC_DEPTH)) {
		wait = vqp_wait_take(&rc->waiters);
		spin_unlock_bh(&rc->lock);
		wait->go(wait);
		spin_lock_bh(&rc->lock);
	}
	spin_unlock_bh(&rc->lock);
}

static void piece_free(struct rc_piece *piece)
{
	vqp_put(piece->vqp);
	vqp_rc_put(piece->rc);
	kfree(piece);
}

/* The first pieces of `done`, all of one VQP. */
static void pieces_complete(struct list_head *done)
{
	struct vqp *vqp = list_first_entry(done, struct rc_piece, link)->vqp;
	struct rc_piece *piece, *next;
	struct vqp_msg *msg;
	LIST_HEAD(over);

	spin_lock_bh(&vqp->lock);
	list_for_each_entry_safe(piece, next, done, link) {
		if (piece->vqp != vqp)
			break;
		list_move_tail(&piece->link, &over);
		vqp_carrier_unhold(vqp);
		if (piece->last) {
			msg = list_first_entry(&vqp->lent, struct vqp_msg, link);
			list_del(&msg->link);
			vqp_send_complete(vqp, vqp_send_of(msg), VQP_WC_SUCCESS);
		}
	}
	vqp_send_resume(vqp);
	spin_unlock_bh(&vqp->lock);
	list_for_each_entry_safe(piece, next, &over, link)
		piece_free(piece);
}

/*
 * The device brings pieces to an end in order. One that succeeds says that all before it did, too,
 * and so does the first that fails: it is in doubt, as all behind it, which stay in the list.
 */
static void rc_piece_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_piece *piece = container_of(wc->wr_cqe, struct rc_piece, cqe);
	const bool failed = wc->status != IB_WC_SUCCESS;
	struct vqp_rc *rc = cq->cq_context;
	bool waited_for;
	LIST_HEAD(done);

	spin_lock_bh(&rc->lock);
	if (!rc->broken) {
		rc->broken = failed;
		if (failed)
			list_cut_before(&done, &rc->posted, &piece->link);
		else
			list_cut_position(&done, &rc->posted, &piece->link);
	}
	list_for_each_entry(piece, &done, link)
		rc->nposted--;
	waited_for = !list_empty(&rc->waiters);
	spin_unlock_bh(&rc->lock);
	if (unlikely(failed))
		vqp_rc_fail(rc);
	list_for_each_entry(piece, &done, link)
		piece_release(piece);
	while (!list_empty(&done))
		pieces_complete(&done);
	if (waited_for)
		vqp_rc_kick(rc);
}

/* ---- When the link has failed: nothing is added to `posted`, or taken, but here ---- */

struct vqp *vqp_rc_first_vqp(struct vqp_rc *rc)
{
	struct rc_piece *piece = list_first_entry_or_null(&rc->posted, struct rc_piece, link);

	if (!piece)
		return NULL;
	kref_get(&piece->vqp->ref);
	return piece->vqp;
}

void vqp_rc_pieces_release(struct vqp_rc *rc)
{
	struct rc_piece *piece;

	list_for_each_entry(piece, &rc->posted, link)
		piece_release(piece);
}

static bool psn_reached(u32 psn, u32 psn_end)
{
	return ((psn - psn_end) & VQP_PSN_MASK) <= VQP_PSN_MASK / 2;
}

/* A READ is never done: if what it read is here, nobody knows. */
static enum vqp_send_fate piece_fate(const struct rc_piece *piece, bool known, u32 psn)
{
	if (piece->send->msg.op == VQP_OP_READ ||
	    !psn_reached(piece->rc->psn_given, piece->psn_end))
		return VQP_SEND_AGAIN;
	if (!known)
		return VQP_SEND_LOST;
	return psn_reached(psn, piece->psn_end) ? VQP_SEND_DONE : VQP_SEND_AGAIN;
}

void vqp_rc_pieces_settle(struct vqp_rc *rc, bool known, u32 psn)
{
	struct rc_piece *piece, *next;
	struct vqp *vqp;

	list_for_each_entry_safe(piece, next, &rc->posted, link) {
		list_del(&piece->link);
		vqp = piece->vqp;
		spin_lock_bh(&vqp->lock);
		/* Of a WRITE each part is seen, though it be the whole that completes. */
		if (piece->send->fate != VQP_SEND_LOST && (piece->last || !known))
			piece->send->fate = piece_fate(piece, known, psn);
		vqp_carrier_unhold(vqp);
		if (!vqp->held) {
			vqp->rc.offset = 0;
			vqp_send_take_back(vqp);
		}
		spin_unlock_bh(&vqp->lock);
		piece_free(piece);
	}
}
