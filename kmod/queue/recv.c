// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "base/counters.h"
#include "base/trace.h"
#include "base/wait.h"
#include "mem/cursor.h"
#include "queue/carrier.h"
#include "queue/cq.h"
#include "queue/recv.h"
#include "queue/vqp.h"

/*
 * Guards vqp.recv_waiters of all VQPs. With one lock for all, vqp_recv_unwait() need not know which
 * VQP the wait is for. The lock is held for a few instructions, inside rq_lock.
 */
static DEFINE_SPINLOCK(recv_wait_lock);

/*
 * Return a receive to its poster by vqp.on_recv, with `info` about the message, or NULL if it was
 * flushed; or free it.
 */
static void recv_give(struct vqp *vqp, struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	vqp_count_freed(VQP_OBJ_RECV);
	if (vqp->on_recv)
		vqp->on_recv(recv, info);
	else
		kfree(recv);
}

/* A message has put back or completed a receive of vqp, or its receives have been flushed. */
static void recv_is_off(struct vqp *vqp)
{
	if (atomic_dec_and_test(&vqp->receiving) && READ_ONCE(vqp->silent))
		wake_up_var(&vqp->receiving);
}

int vqp_recv_post(struct vqp *vqp, struct vqp_recv *recv)
{
	int ret = 0;

	spin_lock_bh(&vqp->rq_lock);
	if (READ_ONCE(vqp->state) == VQP_QP_ERROR)
		ret = -EIO;
	else if (vqp->recvs >= vqp->max_recv_wr)
		ret = -ENOMEM;
	if (!ret) {
		list_add_tail(&recv->link, &vqp->rq);
		vqp->recvs++;
		vqp_count_made(VQP_OBJ_RECV);
	}
	spin_unlock_bh(&vqp->rq_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(vqp_recv_post);

int vqp_recv_take(struct vqp *vqp, u32 bytes, struct vqp_recv **recv)
{
	struct vqp_recv *first;
	int ret = 0;

	spin_lock_bh(&vqp->rq_lock);
	first = list_first_entry_or_null(&vqp->rq, struct vqp_recv, link);
	if (READ_ONCE(vqp->state) == VQP_QP_ERROR)
		ret = -ENOENT;
	else if (!first)
		ret = -EAGAIN;
	else if (bytes > first->bytes)
		ret = -EMSGSIZE;
	if (!ret) {
		list_del(&first->link);
		vqp->recvs--;
		atomic_inc(&vqp->receiving);
		kref_get(&vqp->ref);
		first->vqp = vqp;
		*recv = first;
	}
	spin_unlock_bh(&vqp->rq_lock);
	return ret;
}

static void recv_push(struct vqp *vqp, const struct vqp_cqe *cqe)
{
	if (vqp_cq_push(vqp->recv_cq, cqe))
		vqp_fail_later(vqp);
}

static void recv_push_flushed(struct vqp *vqp, const struct vqp_recv *recv)
{
	struct vqp_cqe cqe = {
		.wr_id = recv->wr_id,
		.status = VQP_WC_WR_FLUSH_ERR,
		.opcode = VQP_WC_RECV,
		.qp_num = vqp->qp_num,
	};

	if (!vqp->silent && vqp->recv_cq)
		recv_push(vqp, &cqe);
}

void vqp_recv_put_back(struct vqp_recv *recv)
{
	struct vqp *vqp = recv->vqp;
	bool gone;

	spin_lock_bh(&vqp->rq_lock);
	gone = READ_ONCE(vqp->state) == VQP_QP_ERROR;
	if (gone) {
		recv_push_flushed(vqp, recv);
	} else {
		list_add(&recv->link, &vqp->rq);
		vqp->recvs++;
	}
	spin_unlock_bh(&vqp->rq_lock);
	if (gone)
		recv_give(vqp, recv, NULL);
	else
		vqp_recv_wake(vqp);
	recv_is_off(vqp);
	vqp_put(vqp);
}

void vqp_recv_complete(struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	struct vqp *vqp = recv->vqp;
	struct vqp_cqe cqe = {
		.wr_id = recv->wr_id,
		.status = VQP_WC_SUCCESS,
		.opcode = info->opcode,
		.byte_len = info->bytes,
		.flags = info->with_imm ? VQP_WC_WITH_IMM : 0,
		.imm_data = (__force __be32)info->imm,
		.qp_num = vqp->qp_num,
		.src_qp = info->src_qp,
	};

	trace_vqp_recv(vqp->ns->tenant, vqp->qp_num, recv->wr_id, info->src_qp, info->bytes);
	memcpy(cqe.src_gid, info->src_gid, VQP_GID_BYTES);
	spin_lock_bh(&vqp->rq_lock);
	vqp->rx_msgs++;
	if (!vqp->silent && vqp->recv_cq)
		recv_push(vqp, &cqe);
	spin_unlock_bh(&vqp->rq_lock);
	recv_give(vqp, recv, info);
	recv_is_off(vqp);
	vqp_put(vqp);
}

void vqp_recv_cursor(struct vqp_cursor *c, struct vqp *vqp, const struct vqp_recv *recv)
{
	if (recv->kbuf)
		vqp_cursor_init_kernel(c, recv->kbuf);
	else
		vqp_cursor_init(c, vqp->ns, vqp->memory, VQP_ACCESS_LOCAL_WRITE, recv->sge,
				recv->num_sge);
}

/* Complete the oldest receives, VQP_CARRIER_DEPTH at most, and move them to `flushed`. */
static void recv_flush_some(struct vqp *vqp, struct list_head *flushed)
{
	struct vqp_recv *recv, *next;
	u32 budget = VQP_CARRIER_DEPTH;

	spin_lock_bh(&vqp->rq_lock);
	list_for_each_entry_safe(recv, next, &vqp->rq, link) {
		if (!budget--)
			break;
		list_move_tail(&recv->link, flushed);
		vqp->recvs--;
		recv_push_flushed(vqp, recv);
	}
	spin_unlock_bh(&vqp->rq_lock);
}

void vqp_recv_flush(struct vqp *vqp)
{
	struct vqp_recv *recv, *next;

	/* vqp_destroy() waits until the receives have been given back. */
	atomic_inc(&vqp->receiving);
	for (;;) {
		LIST_HEAD(flushed);

		recv_flush_some(vqp, &flushed);
		if (list_empty(&flushed))
			break;
		list_for_each_entry_safe(recv, next, &flushed, link)
			recv_give(vqp, recv, NULL);
		cond_resched();
	}
	recv_is_off(vqp);
	/* Senders on this node that wait for a receive learn that there will be none. */
	vqp_recv_wake_all(vqp);
}

/* ---- Waiting for a receive ---- */

static bool recv_is_over(const struct vqp *vqp)
{
	return READ_ONCE(vqp->state) == VQP_QP_ERROR;
}

void vqp_recv_wait(struct vqp *vqp, struct vqp_wait *wait)
{
	spin_lock_bh(&recv_wait_lock);
	vqp_wait_queue(wait, &vqp->recv_waiters);
	spin_unlock_bh(&recv_wait_lock);
	/* Pairs with vqp_recv_wake(): it sees the wait, or this function sees the receive. */
	smp_mb();
	if (READ_ONCE(vqp->recvs) || recv_is_over(vqp))
		vqp_recv_wake_all(vqp);
}

bool vqp_recv_unwait(struct vqp_wait *wait)
{
	bool waited;

	spin_lock_bh(&recv_wait_lock);
	waited = vqp_wait_unqueue(wait);
	spin_unlock_bh(&recv_wait_lock);
	return waited;
}

static struct vqp_wait *recv_take_waiter(struct vqp *vqp)
{
	struct vqp_wait *wait = NULL;

	spin_lock_bh(&recv_wait_lock);
	if (!list_empty(&vqp->recv_waiters))
		wait = vqp_wait_take(&vqp->recv_waiters);
	spin_unlock_bh(&recv_wait_lock);
	return wait;
}

/* How many waits are to be set going. */
static u32 recv_due(const struct vqp *vqp)
{
	smp_mb();	/* pairs with vqp_recv_wait() */
	if (list_empty_careful(&vqp->recv_waiters))
		return 0;
	return recv_is_over(vqp) ? U32_MAX : READ_ONCE(vqp->recvs);
}

/* Set VQP_WAIT_BUDGET of `due` waits going. Returns how many are still due. */
static u32 recv_wake_some(struct vqp *vqp, u32 due)
{
	u32 budget = min(due, VQP_WAIT_BUDGET);
	struct vqp_wait *wait;

	for (due -= budget; budget; budget--) {
		wait = recv_take_waiter(vqp);
		if (!wait)
			return 0;
		vqp_wait_go(wait);
	}
	return due;
}

void vqp_recv_wake_all(struct vqp *vqp)
{
	u32 due = recv_due(vqp);

	while (due) {
		due = recv_wake_some(vqp, due);
		cond_resched();
	}
}

void vqp_recv_wake(struct vqp *vqp)
{
	/* If the VQP has failed, vqp_recv_flush() sets the others going. */
	if (recv_wake_some(vqp, recv_due(vqp)) && !recv_is_over(vqp))
		vqp_do_later(vqp, VQP_TODO_WAKE);
}
EXPORT_SYMBOL_GPL(vqp_recv_wake);
