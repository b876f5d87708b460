// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "base/trace.h"
#include "mem/cursor.h"
#include "ns/namespace.h"
#include "queue/carrier.h"
#include "queue/cq.h"
#include "queue/send.h"
#include "queue/vqp.h"

/* ---- Requests ---- */

void vqp_send_cursor(struct vqp_cursor *c, struct vqp *vqp, struct vqp_send *send, u32 access)
{
	if (send->kbuf)
		vqp_cursor_init_kernel(c, send->kbuf);
	else if (send->kernel_sges)
		vqp_cursor_init_kernel_sges(c, send->sge, send->num_sge);
	else
		vqp_cursor_init(c, vqp->ns, vqp->memory, access, send->sge, send->num_sge);
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

	if (vqp->silent || !vqp->send_cq || (!status && !(send->send_flags & VQP_SEND_SIGNALED)))
		return 0;
	return vqp_cq_push(vqp->send_cq, &cqe);
}

void vqp_send_complete(struct vqp *vqp, struct vqp_send *send, u32 status)
{
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
	trace_vqp_complete(vqp->ns->tenant, vqp->qp_num, send->wr_id, send->opcode, status);
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

/* ---- The choice of the carrier ---- */

static struct vqp_send *send_first(struct vqp *vqp)
{
	struct vqp_msg *msg = list_first_entry_or_null(&vqp->unsent, struct vqp_msg, link);

	return msg ? vqp_send_of(msg) : NULL;
}

int vqp_send_pass(struct vqp *vqp, u32 bytes)
{
	lockdep_assert_held(&vqp->lock);
	return vqp_is_zcopy(vqp) ? 0 : vqp_throttle_pass(&vqp->ns->throttle, &vqp->turn, bytes);
}

int vqp_send_charge(struct vqp *vqp, u32 bytes)
{
	lockdep_assert_held(&vqp->lock);
	return vqp_is_zcopy(vqp) ? 0 : vqp_throttle_charge(&vqp->ns->throttle, bytes);
}

void vqp_send_refund(struct vqp *vqp, u32 bytes)
{
	if (!vqp_is_zcopy(vqp))
		vqp_throttle_refund(&vqp->ns->throttle, bytes);
}

/* The VQP pauses until another carrier has finished: note when the pause began. */
static void send_pause(struct vqp *vqp)
{
	if (!vqp->pause_us)
		vqp->pause_us = (u32)ktime_to_us(ktime_get()) ?: 1;
}

static void send_note_carrier(struct vqp *vqp, const struct vqp_carrier_ops *ops)
{
	u32 pause_us;

	if (ops->id && vqp->shown_carrier != ops->id) {
		pause_us = vqp->pause_us ? (u32)ktime_to_us(ktime_get()) - vqp->pause_us : 0;
		trace_vqp_carrier(vqp->ns->tenant, vqp->qp_num, vqp->shown_carrier, ops->id,
				  pause_us);
		vqp->shown_carrier = ops->id;
		vqp_count_event(VQP_EV_RC_SWITCHES);
		vqp_count_events(VQP_EV_RC_PAUSE_US, pause_us);
	}
	vqp->pause_us = 0;
}

/* Hand `send` to that carrier. Returns false if the carrier cannot take it now. */
static bool send_give(struct vqp *vqp, struct vqp_send *send, const struct vqp_carrier_ops *ops)
{
	int ret;

	if (!vqp_carrier_is_alone(vqp, ops)) {
		send_pause(vqp);
		return false;
	}
	send_note_carrier(vqp, ops);
	ret = ops->take(vqp, send);
	/* An accelerator cannot take what it wanted, or has no memory for it: not by this one. */
	if (ret && ret != -EAGAIN)
		send->fate = VQP_SEND_AGAIN;
	return ret != -EAGAIN;
}

/*
 * Complete a request that an accelerator gave back, and that need not be carried out again. Returns
 * false while earlier requests are under way.
 */
static bool send_by_none(struct vqp *vqp, struct vqp_send *send)
{
	if (!vqp->carrier->idle(vqp) || vqp->held)
		return false;
	list_del(&send->msg.link);
	vqp_send_complete(vqp, send, send->fate == VQP_SEND_DONE ?
			  VQP_WC_SUCCESS : VQP_WC_RETRY_EXC_ERR);
	return true;
}

/*
 * Hand out requests in order, as far as carriers take them. Returns true if the carrier that vqp is
 * attached to has been given one.
 */
static bool send_hand_out(struct vqp *vqp)
{
	const struct vqp_carrier_ops *ops;
	struct vqp_send *send;
	bool given = false, more = true;

	vqp->round++;
	while (more && vqp->state == VQP_QP_CONNECTED && !(vqp->held && vqp->holder->alone) &&
	       !vqp->carrier->full(vqp) && (send = send_first(vqp))) {
		if (send->fate == VQP_SEND_DONE || send->fate == VQP_SEND_LOST) {
			more = send_by_none(vqp, send);
			continue;
		}
		ops = vqp_carrier_wanting(vqp, send) ?: vqp->carrier;
		more = send_give(vqp, send, ops);
		given |= more && ops == vqp->carrier;
	}
	if (vqp->held && vqp->holder->flush)
		vqp->holder->flush(vqp);
	return given;
}

/*
 * Hand out requests, and again after run(), which may have completed some and so let others go.
 * Returns true if a carrier without run() has been given one.
 */
static bool send_run(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	while (send_hand_out(vqp)) {
		if (!vqp->carrier->run)
			return true;
		vqp->carrier->run(vqp);
	}
	return false;
}

void vqp_send_resume(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	if (vqp->state == VQP_QP_ERROR) {
		if (vqp_send_abort(vqp, VQP_WC_WR_FLUSH_ERR))
			vqp_fail_later(vqp);
		return;
	}
	if (list_empty(&vqp->unsent))
		return;
	if (send_run(vqp))
		vqp->carrier->kick(vqp);
}

void vqp_send_take_back(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	list_splice_init(&vqp->lent, &vqp->unsent);
	vqp_send_resume(vqp);
}

int vqp_send_queue(struct vqp *vqp, struct list_head *sends, u32 count)
{
	const struct vqp_carrier_ops *carrier;
	struct vqp_msg *msg, *next;
	u32 room, taken = 0;

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
		trace_vqp_post(vqp->ns->tenant, vqp->qp_num, vqp_send_of(msg)->wr_id,
			       vqp_send_of(msg)->opcode, msg->bytes);
	}
	carrier = vqp->carrier;
	if (carrier->prepare)
		carrier->prepare(vqp);
	send_run(vqp);
	spin_unlock_bh(&vqp->lock);
	if (carrier->perform)
		carrier->perform(vqp);
	return taken ?: -ENOMEM;
}
EXPORT_SYMBOL_GPL(vqp_send_queue);

/* ---- Ends ---- */

bool vqp_send_abort(struct vqp *vqp, u32 status)
{
	u32 budget = VQP_CARRIER_DEPTH;
	struct vqp_send *send;

	lockdep_assert_held(&vqp->lock);
	if (vqp->held) {
		vqp->fail_status = vqp->fail_status ?: status;
		return false;
	}
	status = vqp->fail_status ?: status;
	vqp->fail_status = 0;
	list_splice_init(&vqp->lent, &vqp->unsent);
	if (vqp->carrier) {
		const bool had = !vqp->carrier->idle(vqp);

		vqp->carrier->abort(vqp, status);
		if (had) {
			status = VQP_WC_WR_FLUSH_ERR;
			budget = 0;
		}
	}
	while (budget-- && (send = send_first(vqp))) {
		list_del(&send->msg.link);
		if (send->fate == VQP_SEND_DONE) {
			vqp_send_complete(vqp, send, VQP_WC_SUCCESS);
			continue;
		}
		vqp_send_complete(vqp, send, status);
		status = VQP_WC_WR_FLUSH_ERR;
	}
	if (!send_first(vqp))
		return false;
	/* The rest ends with this status, whatever the next call is made for. */
	vqp->fail_status = status;
	return true;
}
