// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/sched.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include "loop/loop.h"
#include "mem/atomic.h"
#include "mem/copy.h"
#include "mem/cursor.h"
#include "ns/namespace.h"
#include "queue/carrier.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/vqp.h"

/*
 * A copy releases its regions and looks them up again after each piece, so that deregistration
 * waits for one piece at most.
 */
#define LOOP_PIECE_BYTES	(64U << 10)

/* The most requests of one loop_run(); the work goes on with the rest. */
#define LOOP_BUDGET		VQP_CARRIER_DEPTH

static struct workqueue_struct *loop_wq;

static void loop_later(struct vqp *vqp)
{
	kref_get(&vqp->ref);
	if (!queue_work(loop_wq, &vqp->loop.work))
		vqp_put(vqp);
}

static u32 loop_copy_status(int ret, bool sending)
{
	if (!ret)
		return VQP_WC_SUCCESS;
	return sending ? VQP_WC_LOC_PROT_ERR : VQP_WC_REM_ACCESS_ERR;
}

/*
 * Copy `bytes` bytes from cursor to cursor. Returns the completion status for the requester: an
 * error of the cursor `own`, which is over its own memory, is a local error.
 */
static u32 loop_copy_piece(struct vqp_cursor *dst, struct vqp_cursor *src, u32 bytes,
			   const struct vqp_cursor *own)
{
	void *from, *to;
	int n, m;

	for (; bytes; bytes -= n) {
		n = vqp_cursor_map(src, bytes, &from);
		if (n < 0)
			return loop_copy_status(n, own == src);
		/* A mapping of dst may be shorter than that of src. */
		for (m = 0; m < n; ) {
			int k = vqp_cursor_map(dst, n - m, &to);

			if (k < 0) {
				vqp_cursor_unmap(src);
				return loop_copy_status(k, own == dst);
			}
			vqp_copy_to(to, from + m, k);
			vqp_cursor_unmap(dst);
			m += k;
		}
		vqp_cursor_unmap(src);
	}
	return VQP_WC_SUCCESS;
}

static u32 loop_copy(struct vqp_cursor *dst, struct vqp_cursor *src, u32 bytes,
		     const struct vqp_cursor *own)
{
	u32 n, status = VQP_WC_SUCCESS;

	for (; bytes && !status; bytes -= n) {
		n = min(bytes, LOOP_PIECE_BYTES);
		status = loop_copy_piece(dst, src, n, own);
		vqp_cursor_end(src);
		vqp_cursor_end(dst);
		cond_resched();
	}
	return status;
}

static u32 loop_one_sided(struct vqp *vqp, struct vqp_send *send)
{
	bool read = send->msg.op == VQP_OP_READ;
	struct vqp_sge remote = {
		.addr = send->msg.remote_addr,
		.length = send->msg.bytes,
		.lkey = send->msg.rkey,
	};
	struct vqp_cursor local_c, remote_c;

	vqp_send_cursor(&local_c, vqp, send, read ? VQP_ACCESS_LOCAL_WRITE : 0);
	vqp_cursor_init(&remote_c, vqp->loop.ns, NULL,
			read ? VQP_ACCESS_REMOTE_READ : VQP_ACCESS_REMOTE_WRITE, &remote, 1);
	return read ? loop_copy(&local_c, &remote_c, send->msg.bytes, &local_c) :
		      loop_copy(&remote_c, &local_c, send->msg.bytes, &local_c);
}

static u32 loop_atomic(struct vqp *vqp, struct vqp_send *send)
{
	const struct vqp_atomic atomic = {
		.op = send->msg.op,
		.rkey = send->msg.rkey,
		.addr = send->msg.remote_addr,
		.compare_add = send->msg.compare_add,
		.swap = send->msg.swap,
	};
	struct vqp_cursor c;
	u64 before;
	int ret;

	ret = vqp_atomic_do(vqp->loop.ns, &atomic, &before);
	if (ret)
		return ret == -EINVAL ? VQP_WC_REM_INV_REQ_ERR : VQP_WC_REM_ACCESS_ERR;
	vqp_send_cursor(&c, vqp, send, VQP_ACCESS_LOCAL_WRITE);
	ret = vqp_cursor_scatter(&c, &before, sizeof(before));
	vqp_cursor_end(&c);
	return ret ? VQP_WC_LOC_PROT_ERR : VQP_WC_SUCCESS;
}

/*
 * Carry out a SEND, or a WRITE with immediate data, with a receive of dst. Returns 0 and *status;
 * or -EAGAIN if no receive is posted.
 */
static int loop_deliver(struct vqp *vqp, struct vqp_send *send, struct vqp *dst, u32 *status)
{
	bool write = send->msg.op == VQP_OP_WRITE;
	struct vqp_recv_info info = {
		.opcode = write ? VQP_WC_RECV_RDMA_WITH_IMM : VQP_WC_RECV,
		.bytes = send->msg.bytes,
		.with_imm = send->msg.flags & VQP_PKT_IMM,
		.imm = send->msg.imm,
		.src_qp = vqp->qp_num,
		.src_gid = vqp->ns->gid,
	};
	struct vqp_cursor src_c, dst_c;
	struct vqp_recv *recv;
	int ret;

	ret = vqp_recv_take(dst, write ? 0 : send->msg.bytes, &recv);
	if (ret == -EAGAIN)
		return ret;
	*status = VQP_WC_REM_INV_REQ_ERR;
	if (ret)
		return 0;
	if (write) {
		*status = loop_one_sided(vqp, send);
	} else {
		vqp_send_cursor(&src_c, vqp, send, 0);
		vqp_recv_cursor(&dst_c, dst, recv);
		*status = loop_copy(&dst_c, &src_c, send->msg.bytes, &src_c);
		/* The receive names memory that is not registered any more: dst fails. */
		if (*status == VQP_WC_REM_ACCESS_ERR) {
			*status = VQP_WC_REM_OP_ERR;
			vqp_fail_later(dst);
		}
	}
	if (*status)
		vqp_recv_put_back(recv);
	else
		vqp_recv_complete(recv, &info);
	return 0;
}

/*
 * The requests of vqp->loop.msgs are taken away. The VQP waits for a receive no longer; if it has
 * been set going for one, the next sender may have that. Called under vqp.lock.
 */
static void loop_end_wait(struct vqp *vqp)
{
	struct vqp *dst;

	if (vqp_recv_unwait(&vqp->loop.wait)) {
		vqp_put(vqp);
		return;
	}
	if (list_empty(&vqp->loop.msgs))
		return;
	dst = vqp_find_target(vqp->loop.ns, vqp->remote_qp, vqp->remote_port, vqp->ns->gid);
	if (!dst)
		return;
	vqp_recv_wake(dst);
	vqp_put(dst);
}

/*
 * Carry out one request. Returns 0 and *status; or -EAGAIN if there is no receive, and then
 * vqp->loop.wait is queued until there is one. Process context.
 */
static int loop_one(struct vqp *vqp, struct vqp_send *send, u32 *status)
{
	struct vqp *dst;
	int ret;

	if (vqp_op_is_atomic(send->msg.op)) {
		*status = loop_atomic(vqp, send);
		return 0;
	}
	if (send->msg.op != VQP_OP_SEND && !(send->msg.flags & VQP_PKT_IMM)) {
		*status = loop_one_sided(vqp, send);
		return 0;
	}
	dst = vqp_find_target(vqp->loop.ns, vqp->remote_qp, vqp->remote_port, vqp->ns->gid);
	if (!dst) {
		*status = VQP_WC_REM_INV_REQ_ERR;
		return 0;
	}
	ret = loop_deliver(vqp, send, dst, status);
	if (ret)
		vqp_recv_wait(dst, &vqp->loop.wait);
	else if (*status)
		vqp_recv_wake(dst);
	vqp_put(dst);
	return ret;
}

/*
 * Carry out the oldest request. Returns false if there is none, or if it cannot be carried out now.
 * Called under vqp.lock, which the function drops meanwhile.
 */
static bool loop_next(struct vqp *vqp)
{
	struct vqp_msg *msg = list_first_entry_or_null(&vqp->loop.msgs, struct vqp_msg, link);
	u32 status;
	int ret;

	if (!msg || vqp->state != VQP_QP_CONNECTED)
		return false;
	if (!vqp_ns_alive(vqp->loop.ns)) {
		vqp_do_later(vqp, VQP_TODO_REROUTE);
		return false;
	}
	if (vqp_send_pass(vqp, msg->bytes) < 0)
		return false;
	spin_unlock_bh(&vqp->lock);
	ret = loop_one(vqp, vqp_send_of(msg), &status);
	cond_resched();
	spin_lock_bh(&vqp->lock);
	if (ret) {
		vqp_send_refund(vqp, msg->bytes);
		return false;
	}
	list_del(&msg->link);
	vqp->loop.nmsgs--;
	vqp_send_complete(vqp, vqp_send_of(msg), status);
	return true;
}

/*
 * Does vqp wait for a receive, or for the namespace's rate? The end of the wait calls loop_later(),
 * or has called it while a thread was running.
 */
static bool loop_waits(const struct vqp *vqp)
{
	return vqp_wait_is_queued(&vqp->loop.wait) || vqp_wait_is_queued(&vqp->turn.wait);
}

/* Carry out the requests of vqp->loop.msgs, unless another thread does. Process context. */
static void loop_run(struct vqp *vqp)
{
	u32 budget = LOOP_BUDGET;

	spin_lock_bh(&vqp->lock);
	/* While vqp is held, another thread runs. It looks at the list again before it stops. */
	if (vqp->held || vqp->carrier != &vqp_loop_carrier || loop_waits(vqp))
		goto unlock;
	vqp_carrier_hold(vqp, &vqp_loop_carrier);
	vqp->loop.running = true;
	while (budget && loop_next(vqp))
		budget--;
	vqp->loop.running = false;
	vqp_carrier_unhold(vqp);
	vqp_send_resume(vqp);
	/* The budget is used up, or a wait has ended while the thread was running. */
	if (!list_empty(&vqp->loop.msgs) && !loop_waits(vqp)) {
		if (vqp_ns_alive(vqp->loop.ns))
			loop_later(vqp);
		else
			vqp_do_later(vqp, VQP_TODO_REROUTE);
	}
	smp_mb();	/* Order the store to `running` before wake_up_var()'s look for waiters. */
	wake_up_var(&vqp->loop.running);
unlock:
	spin_unlock_bh(&vqp->lock);
}

static void loop_work(struct work_struct *work)
{
	struct vqp *vqp = container_of(work, struct vqp, loop.work);

	loop_run(vqp);
	vqp_put(vqp);
}

static void loop_hold(struct vqp_wait *wait)
{
	kref_get(&container_of(wait, struct vqp, loop.wait)->ref);
}

/* vqp_wait_ops.go: the target has a receive, or has failed. Drops the reference of loop_hold(). */
static void loop_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, loop.wait);

	loop_later(vqp);
	vqp_put(vqp);
}

static const struct vqp_wait_ops loop_wait_ops = {
	.hold = loop_hold,
	.go = loop_go,
};

int vqp_loop_attach(struct vqp *vqp, struct vqp_ns *local)
{
	struct vqp_ns *old = local;
	int ret = -EIO;

	spin_lock_bh(&vqp->lock);
	if (vqp->state == VQP_QP_INIT || vqp->state == VQP_QP_CONNECTED) {
		old = vqp->loop.ns;
		vqp->loop.ns = local;
		vqp_carrier_attach(vqp, &vqp_loop_carrier);
		vqp_send_resume(vqp);
		ret = 0;
	}
	spin_unlock_bh(&vqp->lock);
	if (old)
		vqp_ns_put(old);
	if (!ret)
		loop_run(vqp);
	return ret;
}

/* ---- struct vqp_carrier_ops ---- */

static void loop_init(struct vqp *vqp)
{
	INIT_LIST_HEAD(&vqp->loop.msgs);
	vqp_wait_init(&vqp->loop.wait, &loop_wait_ops);
	INIT_WORK(&vqp->loop.work, loop_work);
}

static void loop_release(struct vqp *vqp)
{
	if (vqp->loop.ns)
		vqp_ns_put(vqp->loop.ns);
}

static int loop_take(struct vqp *vqp, struct vqp_send *send)
{
	list_move_tail(&send->msg.link, &vqp->loop.msgs);
	vqp->loop.nmsgs++;
	return 0;
}

static bool loop_idle(const struct vqp *vqp)
{
	return list_empty(&vqp->loop.msgs);
}

static bool loop_full(const struct vqp *vqp)
{
	return vqp->loop.nmsgs >= VQP_CARRIER_DEPTH;
}

static bool loop_lost(const struct vqp *vqp)
{
	return !vqp->loop.running && !vqp_ns_alive(vqp->loop.ns);
}

static void loop_abort(struct vqp *vqp, u32 status)
{
	struct vqp_msg *msg;

	loop_end_wait(vqp);
	while ((msg = list_first_entry_or_null(&vqp->loop.msgs, struct vqp_msg, link))) {
		list_del(&msg->link);
		vqp->loop.nmsgs--;
		vqp_send_complete(vqp, vqp_send_of(msg), status);
		status = VQP_WC_WR_FLUSH_ERR;
	}
}

static void loop_leave(struct vqp *vqp)
{
	loop_end_wait(vqp);
	list_splice_init(&vqp->loop.msgs, &vqp->unsent);
	vqp->loop.nmsgs = 0;
}

static void loop_detach(struct vqp *vqp)
{
	/* Once the thread that runs has stopped, the VQP, which has failed, begins no new wait. */
	wait_var_event(&vqp->loop.running, !smp_load_acquire(&vqp->loop.running));
	if (vqp_recv_unwait(&vqp->loop.wait))
		vqp_put(vqp);
	if (cancel_work_sync(&vqp->loop.work))
		vqp_put(vqp);
}

/* vqp_carrier_ops.forget: vqp's work may have attached it to the loop carrier once more. */
static void loop_forget(struct vqp *vqp)
{
	if (cancel_work_sync(&vqp->loop.work))
		vqp_put(vqp);
}

const struct vqp_carrier_ops vqp_loop_carrier = {
	.id = VQP_CARRIER_LOOP,
	.init = loop_init,
	.release = loop_release,
	.take = loop_take,
	.idle = loop_idle,
	.full = loop_full,
	.lost = loop_lost,
	.abort = loop_abort,
	.leave = loop_leave,
	.perform = loop_run,
	.kick = loop_later,
	.detach = loop_detach,
	.forget = loop_forget,
};

int __init vqp_loop_init(void)
{
	loop_wq = alloc_workqueue("vqp_loop", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return loop_wq ? 0 : -ENOMEM;
}

void vqp_loop_exit(void)
{
	destroy_workqueue(loop_wq);
}
