// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/ktime.h>
#include <linux/slab.h>
#include "counters.h"
#include "cq.h"
#include "cursor.h"
#include "dc.h"
#include "loop.h"
#include "ns.h"
#include "pull.h"
#include "qp.h"
#include "rc.h"
#include "send.h"

/*
 * To change carriers costs a round trip, while the one is finished with what it has. So a VQP that
 * sends messages between its reads and writes stays with dc for so many of them.
 */
#define SEND_RC_REST	32

/* ---- Requests ---- */

void vqp_send_cursor(struct vqp_cursor *c, struct vqp *vqp, struct vqp_send *send, u32 access)
{
	if (send->kbuf)
		vqp_cursor_init_kernel(c, send->kbuf);
	else
		vqp_cursor_init(c, vqp->ns, vqp->owner, access, send->sge, send->num_sge);
}

static const u8 send_wc_opcodes[] = {
	[VQP_WR_RDMA_WRITE]		= VQP_WC_RDMA_WRITE,
	[VQP_WR_RDMA_WRITE_WITH_IMM]	= VQP_WC_RDMA_WRITE,
	[VQP_WR_SEND]			= VQP_WC_SEND,
	[VQP_WR_SEND_WITH_IMM]		= VQP_WC_SEND,
	[VQP_WR_RDMA_READ]		= VQP_WC_RDMA_READ,
	[VQP_WR_ATOMIC_CMP_AND_SWP]	= VQP_WC_COMP_SWAP,
	[VQP_WR_ATOMIC_FETCH_AND_ADD]	= VQP_WC_FETCH_ADD,
};

static int send_report(struct vqp *vqp, struct vqp_send *send, u32 status)
{
	struct vqp_cqe cqe = {
		.wr_id = send->wr_id,
		.status = status,
		.opcode = send_wc_opcodes[send->opcode],
		.byte_len = send->msg.bytes,
		.qp_num = vqp->qp_num,
	};

	if (vqp->silent || (!status && !(send->send_flags & VQP_SEND_SIGNALED)))
		return 0;
	return vqp_cq_push(vqp->send_cq, &cqe);
}

void vqp_send_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	struct vqp_send *send = vqp_send_of(msg);
	struct vqp *vqp = vqp_of_tx(tx);

	lockdep_assert_held(&vqp->lock);
	vqp->sends--;
	if (status) {
		if (vqp->state != VQP_QP_ERROR) {
			vqp->state = VQP_QP_ERROR;
			vqp_fail_later(vqp);
		}
	} else {
		vqp->rerouted = false;
		vqp->suspicions = 0;
		vqp->tx_msgs++;
	}
	vqp_count_freed(VQP_OBJ_SEND);
	if (send->done) {
		send->done(send, status);
		return;
	}
	if (send_report(vqp, send, status) && vqp->state != VQP_QP_ERROR) {
		vqp->state = VQP_QP_ERROR;
		vqp_fail_later(vqp);
	}
	kfree(send);
}

/* ---- Which carrier ---- */

static struct vqp_send *send_first(struct vqp *vqp)
{
	struct vqp_msg *msg = list_first_entry_or_null(&vqp->unsent, struct vqp_msg, link);

	return msg ? vqp_send_of(msg) : NULL;
}

/* May rc have it? */
static bool send_wants_rc(struct vqp *vqp, struct vqp_send *send)
{
	const bool one_sided = !(send->msg.flags & VQP_PKT_IMM) &&
			       (send->msg.op == VQP_OP_READ || send->msg.op == VQP_OP_WRITE);

	if (vqp->carrier != VQP_CARRIER_DC || send->fate != VQP_SEND_FRESH)
		return false;
	if (!one_sided)
		vqp->rc_rest = SEND_RC_REST;
	if (vqp->rc_rest) {
		vqp->rc_rest -= one_sided;
		return false;
	}
	return vqp_rc_ready(vqp, send);
}

/* The other carrier has to finish first. */
static void send_pause(struct vqp *vqp)
{
	if (!vqp->pause_us)
		vqp->pause_us = ktime_to_us(ktime_get());
}

static void send_note_carrier(struct vqp *vqp, bool rc)
{
	if (vqp->on_rc != rc) {
		vqp->on_rc = rc;
		vqp_count_event(VQP_EV_RC_SWITCHES);
		if (vqp->pause_us)
			vqp_count_events(VQP_EV_RC_PAUSE_US,
					 ktime_to_us(ktime_get()) - vqp->pause_us);
	}
	vqp->pause_us = 0;
}

/* Hand `send` to rc. False: not now. */
static bool send_by_rc(struct vqp *vqp, struct vqp_send *send)
{
	int ret;

	if (!vqp_tx_idle(&vqp->tx)) {
		send_pause(vqp);
		return false;
	}
	send_note_carrier(vqp, true);
	ret = vqp_rc_post(vqp, send);
	if (!ret) {
		list_move_tail(&send->msg.link, &vqp->rc_msgs);
	} else if (ret != -EAGAIN) {
		/* The window was taken back, or there is no memory: it is for dc. */
		send->fate = VQP_SEND_AGAIN;
		vqp->rc_offset = 0;
	}
	return ret != -EAGAIN;
}

/* Hand `send` to dc, or to whoever carries out loop. False: not now. */
static bool send_by_tx(struct vqp *vqp, struct vqp_send *send)
{
	if (vqp->rc_pieces) {
		send_pause(vqp);
		return false;
	}
	if (vqp->carrier == VQP_CARRIER_DC)
		send_note_carrier(vqp, false);
	list_del(&send->msg.link);
	vqp_tx_queue(&vqp->tx, &send->msg);
	return true;
}

/* What rc gave back, and dc need not do again. False: those before it are not over. */
static bool send_by_none(struct vqp *vqp, struct vqp_send *send)
{
	if (!vqp_tx_idle(&vqp->tx) || vqp->rc_pieces)
		return false;
	list_del(&send->msg.link);
	vqp_send_complete(&vqp->tx, &send->msg, send->fate == VQP_SEND_DONE ?
			  VQP_WC_SUCCESS : VQP_WC_RETRY_EXC_ERR);
	return true;
}

/* Have the target's node fetch `send`, and those behind it. False: not now. */
static bool send_by_pull(struct vqp *vqp, struct vqp_send *send)
{
	if (!vqp_tx_idle(&vqp->tx) || vqp->rc_pieces)
		return false;
	if (vqp_pull_start(vqp))
		return false;
	send->fate = VQP_SEND_AGAIN;
	return true;
}

/* Hand out what can be. True: dc has been given something. */
static bool send_hand_out(struct vqp *vqp)
{
	struct vqp_send *send;
	bool given = false, more = true;

	while (more && vqp->state == VQP_QP_CONNECTED && !vqp->pulling &&
	       (send = send_first(vqp))) {
		if (send->fate == VQP_SEND_DONE || send->fate == VQP_SEND_LOST) {
			more = send_by_none(vqp, send);
		} else if (vqp->rc_offset || send_wants_rc(vqp, send)) {
			more = send_by_rc(vqp, send);
		} else if (vqp_pull_wanted(vqp, send)) {
			more = send_by_pull(vqp, send);
		} else {
			more = send_by_tx(vqp, send);
			given |= more;
		}
	}
	vqp_rc_flush(vqp);
	return given;
}

/* dc may complete at once what it is given, and so make way. */
static void send_run(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	while (send_hand_out(vqp) && vqp->carrier == VQP_CARRIER_DC)
		vqp_dc_run(vqp);
}

void vqp_send_resume(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	if (vqp->state == VQP_QP_ERROR) {
		/* A thread that runs the loop carrier does so itself. */
		if (!vqp->rc_pieces && !vqp->pulling && !vqp->loop_running)
			vqp_send_abort(vqp, VQP_WC_WR_FLUSH_ERR);
		return;
	}
	if (list_empty(&vqp->unsent))
		return;
	send_run(vqp);
	if (vqp->carrier == VQP_CARRIER_LOOP)
		vqp_loop_later(vqp);
}

void vqp_send_take_back(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	list_splice_init(&vqp->rc_msgs, &vqp->unsent);
	vqp->rc_offset = 0;
	vqp_send_resume(vqp);
}

int vqp_send_queue(struct vqp *vqp, struct list_head *sends, u32 count)
{
	struct vqp_msg *msg, *next;
	u32 room, taken = 0;
	bool loop;

	spin_lock_bh(&vqp->lock);
	if (vqp->state != VQP_QP_CONNECTED) {
		spin_unlock_bh(&vqp->lock);
		return vqp->state == VQP_QP_ERROR ? -EIO : -ENOTCONN;
	}
	room = vqp->max_send_wr - vqp->sends;
	list_for_each_entry_safe(msg, next, sends, link) {
		if (taken == room)
			break;
		list_move_tail(&msg->link, &vqp->unsent);
		vqp->sends++;
		taken++;
		vqp_count_made(VQP_OBJ_SEND);
	}
	if (vqp->carrier == VQP_CARRIER_DC)
		vqp_dc_follow(vqp);
	send_run(vqp);
	loop = vqp->carrier == VQP_CARRIER_LOOP;
	spin_unlock_bh(&vqp->lock);
	if (loop)
		vqp_loop_run(vqp);
	return taken ?: -ENOMEM;
}

/* ---- Ends ---- */

void vqp_send_abort(struct vqp *vqp, u32 status)
{
	struct vqp_send *send;

	lockdep_assert_held(&vqp->lock);
	if (vqp->rc_pieces || vqp->pulling) {
		vqp->fail_status = vqp->fail_status ?: status;
		return;
	}
	status = vqp->fail_status ?: status;
	vqp->fail_status = 0;
	list_splice_init(&vqp->rc_msgs, &vqp->unsent);
	if (!vqp_tx_idle(&vqp->tx)) {
		vqp_tx_abort(&vqp->tx, status);
		status = VQP_WC_WR_FLUSH_ERR;
	}
	vqp_tx_abort(&vqp->tx, status);
	while ((send = send_first(vqp))) {
		list_del(&send->msg.link);
		if (send->fate == VQP_SEND_DONE) {
			vqp_send_complete(&vqp->tx, &send->msg, VQP_WC_SUCCESS);
			continue;
		}
		vqp_send_complete(&vqp->tx, &send->msg, status);
		status = VQP_WC_WR_FLUSH_ERR;
	}
}
