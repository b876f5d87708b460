// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/sched.h>
#include <linux/wait_bit.h>
#include "atomic.h"
#include "cursor.h"
#include "dc.h"
#include "gate.h"
#include "loop.h"
#include "ns.h"
#include "recv.h"
#include "qp.h"
#include "send.h"

/* Memory of a copy is looked up again this often, so that deregistration waits for no more. */
#define LOOP_PIECE_BYTES	(64U << 10)

/* Requests that one call carries out before others get their turn. */
#define LOOP_BUDGET		256

/*
 * Guards every vqp.parked, park_link and parked_on. Held for a few
 * instructions, or for those who wait for one VQP; inside rq_lock.
 */
static DEFINE_SPINLOCK(loop_park_lock);

static void loop_unpark_locked(struct vqp *vqp)
{
	lockdep_assert_held(&loop_park_lock);
	list_del_init(&vqp->park_link);
	vqp->parked_on = NULL;
}

void vqp_loop_unpark(struct vqp *dst)
{
	struct vqp *vqp, *next;
	u32 most;

	/* Pairs with loop_park(): who posted a receive sees who waits, or the other way round. */
	smp_mb();
	if (list_empty_careful(&dst->parked))
		return;
	spin_lock_bh(&loop_park_lock);
	most = READ_ONCE(dst->state) == VQP_QP_ERROR ? U32_MAX : READ_ONCE(dst->recvs);
	list_for_each_entry_safe(vqp, next, &dst->parked, park_link) {
		if (!most--)
			break;
		loop_unpark_locked(vqp);
		vqp_loop_later(vqp);
	}
	spin_unlock_bh(&loop_park_lock);
}

/* Wait for a receive of dst, which is looked at again once vqp can be found. */
static void loop_park(struct vqp *vqp, struct vqp *dst)
{
	spin_lock_bh(&loop_park_lock);
	vqp->parked_on = dst;
	list_add_tail(&vqp->park_link, &dst->parked);
	spin_unlock_bh(&loop_park_lock);
	smp_mb();	/* pairs with vqp_loop_unpark() */
	if (READ_ONCE(dst->recvs) || READ_ONCE(dst->state) == VQP_QP_ERROR)
		vqp_loop_unpark(dst);
}

static u32 loop_copy_status(int ret, bool sending)
{
	if (!ret)
		return VQP_WC_SUCCESS;
	return sending ? VQP_WC_LOC_PROT_ERR : VQP_WC_REM_ACCESS_ERR;
}

/* Copy `bytes` from walk to walk; the status for the requester, whose own memory is `own`. */
static u32 loop_copy_piece(struct vqp_cursor *dst, struct vqp_cursor *src, u32 bytes,
			   const struct vqp_cursor *own)
{
	void *from, *to;
	int n, m;

	for (; bytes; bytes -= n) {
		n = vqp_cursor_map(src, bytes, &from);
		if (n < 0)
			return loop_copy_status(n, own == src);
		/* The other side may end sooner: go through what was mapped. */
		for (m = 0; m < n; ) {
			int k = vqp_cursor_map(dst, n - m, &to);

			if (k < 0) {
				vqp_cursor_unmap(src);
				return loop_copy_status(k, own == dst);
			}
			memcpy(to, from + m, k);
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
	vqp_cursor_init(&remote_c, vqp->loop_ns, NULL,
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

	ret = vqp_atomic_do(vqp->loop_ns, &atomic, &before);
	if (ret)
		return ret == -EINVAL ? VQP_WC_REM_INV_REQ_ERR : VQP_WC_REM_ACCESS_ERR;
	vqp_send_cursor(&c, vqp, send, VQP_ACCESS_LOCAL_WRITE);
	ret = vqp_cursor_scatter(&c, &before, sizeof(before));
	vqp_cursor_end(&c);
	return ret ? VQP_WC_LOC_PROT_ERR : VQP_WC_SUCCESS;
}

/* Fill a receive of dst; -EAGAIN: none posted. */
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
		/* The receive names memory that is no longer there: the receiver's fault. */
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

/* Carry out one request; -EAGAIN: parked. */
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
	dst = vqp_find_target(vqp->loop_ns, vqp->remote_qp, vqp->remote_port, vqp->ns->gid);
	if (!dst) {
		*status = VQP_WC_REM_INV_REQ_ERR;
		return 0;
	}
	ret = loop_deliver(vqp, send, dst, status);
	if (ret)
		loop_park(vqp, dst);
	vqp_put(dst);
	return ret;
}

/*
 * Carry out the oldest request. False: there is none, or it cannot be now. Under vqp.lock, which is
 * dropped meanwhile.
 */
static bool loop_next(struct vqp *vqp)
{
	struct vqp_msg *msg = list_first_entry_or_null(&vqp->tx.msgs, struct vqp_msg, link);
	u32 status;
	int ret;

	if (!msg || vqp->state != VQP_QP_CONNECTED)
		return false;
	if (!vqp_ns_alive(vqp->loop_ns)) {
		vqp_do_later(vqp, VQP_TODO_REROUTE);
		return false;
	}
	if (vqp_gate_pass(vqp, msg->bytes) < 0)
		return false;
	spin_unlock_bh(&vqp->lock);
	ret = loop_one(vqp, vqp_send_of(msg), &status);
	cond_resched();
	spin_lock_bh(&vqp->lock);
	if (ret) {
		vqp_gate_refund(vqp, msg->bytes);
		return false;
	}
	list_del(&msg->link);
	vqp_send_complete(&vqp->tx, msg, status);
	return true;
}

void vqp_loop_run(struct vqp *vqp)
{
	u32 budget = LOOP_BUDGET;

	spin_lock_bh(&vqp->lock);
	/*
	 * Whoever runs looks at the list again before it stops; one that is parked runs when it is
	 * unparked, one that waits at the gate when it has its turn.
	 */
	if (vqp->loop_running || vqp->carrier != VQP_CARRIER_LOOP ||
	    !list_empty_careful(&vqp->park_link))
		goto unlock;
	vqp->loop_running = true;
	while (budget && loop_next(vqp))
		budget--;
	vqp->loop_running = false;
	if (vqp->state == VQP_QP_ERROR)
		vqp_send_abort(vqp, VQP_WC_WR_FLUSH_ERR);
	else
		vqp_send_resume(vqp);
	/*
	 * Out of budget, or unparked, or let through the gate before loop_running fell: that call
	 * left this the work.
	 */
	if (!list_empty(&vqp->tx.msgs) && list_empty_careful(&vqp->park_link) &&
	    list_empty_careful(&vqp->gate_wait)) {
		if (vqp_ns_alive(vqp->loop_ns))
			vqp_loop_later(vqp);
		else
			vqp_do_later(vqp, VQP_TODO_REROUTE);
	}
	smp_mb();	/* wake_up_var() looks for waiters without a lock */
	wake_up_var(&vqp->loop_running);
unlock:
	spin_unlock_bh(&vqp->lock);
}

int vqp_loop_attach(struct vqp *vqp, struct vqp_ns *local)
{
	struct vqp_ns *old = local;
	int ret = -EIO;

	spin_lock_bh(&vqp->lock);
	if (vqp->state == VQP_QP_INIT || vqp->state == VQP_QP_CONNECTED) {
		if (vqp->carrier == VQP_CARRIER_DC)
			vqp_dc_leave(vqp);
		old = vqp->loop_ns;
		vqp->loop_ns = local;
		vqp->carrier = VQP_CARRIER_LOOP;
		vqp->state = VQP_QP_CONNECTED;
		vqp_send_resume(vqp);
		ret = 0;
	}
	spin_unlock_bh(&vqp->lock);
	if (old)
		vqp_ns_put(old);
	if (!ret)
		vqp_loop_run(vqp);
	return ret;
}

void vqp_loop_detach(struct vqp *vqp)
{
	/* Once the runner has seen the error state nobody parks vqp any more. */
	wait_var_event(&vqp->loop_running, !smp_load_acquire(&vqp->loop_running));
	spin_lock_bh(&loop_park_lock);
	if (vqp->parked_on)
		loop_unpark_locked(vqp);
	spin_unlock_bh(&loop_park_lock);
}
