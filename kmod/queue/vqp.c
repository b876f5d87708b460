// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "base/ids.h"
#include "ns/movers.h"
#include "ns/namespace.h"
#include "queue/carrier.h"
#include "queue/cq.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/vqp.h"

#define VQP_NUM_MAX	0xffffff	/* 24 bits, as QP numbers have */

static struct kmem_cache *vqp_cache;
static struct workqueue_struct *vqp_wq;

/* ---- References ---- */

static void vqp_free(struct rcu_head *rcu)
{
	struct vqp *vqp = container_of(rcu, struct vqp, rcu);

	vqp_count_freed(vqp->object);
	kmem_cache_free(vqp_cache, vqp);
}

/* No reference is left. Readers under RCU may still find the VQP, but get no reference. */
static void vqp_end_work(struct work_struct *work)
{
	struct vqp *vqp = container_of(work, struct vqp, work);

	if (vqp->send_cq)
		vqp_cq_put(vqp->send_cq);
	if (vqp->recv_cq)
		vqp_cq_put(vqp->recv_cq);
	vqp_carriers_release(vqp);
	vqp_ns_put(vqp->ns);
	call_rcu(&vqp->rcu, vqp_free);
}

static void vqp_release(struct kref *ref)
{
	struct vqp *vqp = container_of(ref, struct vqp, ref);

	/* The VQP's work may drop the last reference as its last step. It does not run any more. */
	INIT_WORK(&vqp->work, vqp_end_work);
	queue_work(vqp_wq, &vqp->work);
}

void vqp_put(struct vqp *vqp)
{
	kref_put(&vqp->ref, vqp_release);
}
EXPORT_SYMBOL_GPL(vqp_put);

struct vqp *vqp_find(struct vqp_ns *ns, u32 qp_num, u16 port)
{
	struct vqp *vqp;

	rcu_read_lock();
	vqp = qp_num ? xa_load(&ns->vqps, qp_num) : xa_load(&ns->ports, port);
	if (vqp && !kref_get_unless_zero(&vqp->ref))
		vqp = NULL;
	rcu_read_unlock();
	return vqp;
}

struct vqp *vqp_find_target(struct vqp_ns *ns, u32 qp_num, u16 port, const u8 *src_gid)
{
	struct vqp *vqp = vqp_find(ns, qp_num, port);

	if (vqp && qp_num && memcmp(vqp->remote_gid, src_gid, VQP_GID_BYTES)) {
		vqp_put(vqp);
		return NULL;
	}
	return vqp;
}

struct vqp *vqp_get(struct vqp_owner *owner, u32 qp_num)
{
	struct vqp *vqp = qp_num ? vqp_find(owner->ns, qp_num, 0) : NULL;

	if (vqp && vqp->owner != owner) {
		vqp_put(vqp);
		return NULL;
	}
	return vqp;
}

/* ---- Errors ---- */

void vqp_do_later(struct vqp *vqp, enum vqp_todo todo)
{
	set_bit(todo, &vqp->todo);
	kref_get(&vqp->ref);
	if (!queue_work(vqp->wq, &vqp->work))
		vqp_put(vqp);
}

void vqp_fail_later(struct vqp *vqp)
{
	vqp_do_later(vqp, VQP_TODO_FLUSH);
}

void vqp_fail(struct vqp *vqp, u32 status)
{
	bool more;

	spin_lock_bh(&vqp->lock);
	vqp->state = VQP_QP_ERROR;
	more = vqp_send_abort(vqp, status);
	vqp_carrier_close(vqp);
	spin_unlock_bh(&vqp->lock);
	vqp_recv_flush(vqp);
	if (more)
		vqp_flush_sends(vqp);
}

void vqp_flush_sends(struct vqp *vqp)
{
	bool more;

	do {
		cond_resched();
		spin_lock_bh(&vqp->lock);
		more = vqp_send_abort(vqp, VQP_WC_WR_FLUSH_ERR);
		spin_unlock_bh(&vqp->lock);
	} while (more);
}

bool vqp_is_lost(struct vqp *vqp)
{
	bool lost;

	spin_lock_bh(&vqp->lock);
	lost = vqp->state == VQP_QP_CONNECTED && vqp->carrier->lost(vqp);
	spin_unlock_bh(&vqp->lock);
	return lost;
}

static void vqp_turn_hold(struct vqp_wait *wait)
{
	kref_get(&container_of(wait, struct vqp, turn.wait)->ref);
}

/* vqp_wait_ops.go: the throttle has granted the VQP the bytes that it waits for. */
static void vqp_turn_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, turn.wait);

	READ_ONCE(vqp->carrier)->kick(vqp);
	vqp_put(vqp);
}

static const struct vqp_wait_ops vqp_turn_wait_ops = {
	.hold = vqp_turn_hold,
	.go = vqp_turn_go,
};

/* ---- Making and destroying ---- */

void vqp_uncharge(struct vqp *vqp)
{
	if (!vqp_is_kernels(vqp))
		vqp_limit_uncharge(&vqp->ns->limits[VQP_LIMIT_VQPS], 1);
}

struct vqp *vqp_alloc(struct vqp_owner *owner)
{
	struct vqp_ns *ns = owner->ns;
	const bool charged = owner != &ns->kernel;
	struct vqp *vqp;
	int ret;

	ret = charged ? vqp_limit_charge(&ns->limits[VQP_LIMIT_VQPS], 1) : 0;
	if (ret)
		return ERR_PTR(ret);
	vqp = kmem_cache_zalloc(vqp_cache, GFP_KERNEL_ACCOUNT);
	if (!vqp) {
		if (charged)
			vqp_limit_uncharge(&ns->limits[VQP_LIMIT_VQPS], 1);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&vqp->ref);
	INIT_LIST_HEAD(&vqp->owner_link);
	spin_lock_init(&vqp->lock);
	spin_lock_init(&vqp->rq_lock);
	INIT_LIST_HEAD(&vqp->rq);
	INIT_LIST_HEAD(&vqp->unsent);
	INIT_LIST_HEAD(&vqp->lent);
	INIT_LIST_HEAD(&vqp->recv_waiters);
	vqp_wait_init(&vqp->turn.wait, &vqp_turn_wait_ops);
	vqp_carriers_init(vqp);
	vqp->ns = ns;
	vqp_ns_get(ns);
	vqp->owner = owner;
	vqp->memory = owner;
	vqp->wq = vqp_wq;
	vqp->object = charged ? VQP_OBJ_VQP : VQP_OBJ_KERNEL_VQP;
	vqp_count_made(vqp->object);
	return vqp;
}

void vqp_set_cqs(struct vqp *vqp, struct vqp_cq *send_cq, struct vqp_cq *recv_cq)
{
	vqp->send_cq = send_cq;
	vqp->recv_cq = recv_cq;
	if (send_cq)
		kref_get(&send_cq->ref);
	if (recv_cq)
		kref_get(&recv_cq->ref);
}

int vqp_publish(struct vqp *vqp)
{
	struct vqp_ns *ns = vqp->ns;
	int ret;

	ret = vqp_id_take(&ns->vqps, VQP_NUM_MAX, &ns->next_qp_num, vqp, &vqp->qp_num);
	if (ret)
		vqp_uncharge(vqp);
	return ret == -EBUSY ? -ENOSPC : ret;
}

void vqp_silence(struct vqp *vqp)
{
	/* By now the number may be another VQP's; and port 0 is the rpc service's. */
	if (vqp->qp_num)
		xa_cmpxchg(&vqp->ns->vqps, vqp->qp_num, vqp, NULL, GFP_KERNEL);
	xa_cmpxchg(&vqp->ns->ports, vqp->port, vqp, NULL, GFP_KERNEL);

	spin_lock_bh(&vqp->rq_lock);
	spin_lock(&vqp->lock);
	vqp->silent = true;
	vqp->state = VQP_QP_ERROR;
	vqp_carrier_close(vqp);
	spin_unlock(&vqp->lock);
	spin_unlock_bh(&vqp->rq_lock);
}

/*
 * The end of a VQP, in five steps: 1. Nothing finds the VQP any more. 2. It falls silent: it writes
 * no CQE, and sends no packet after the CLOSE that releases the target's context. 3. The loop
 * carrier's thread, the timer, the waits and the work end; an answer that still finds the flow has
 * no effect. 4. The requests in the queues are freed. 5. The charge and the reference are dropped.
 * The memory may live longer, but the caller may make another VQP at once.
 */
void vqp_teardown(struct vqp *vqp)
{
	vqp_silence(vqp);
	vqp_flush_sends(vqp);

	vqp_carriers_detach(vqp);
	if (vqp_throttle_leave(&vqp->ns->throttle, &vqp->turn))
		vqp_put(vqp);
	if (cancel_work_sync(&vqp->work))
		vqp_put(vqp);
	if (!vqp_is_kernels(vqp) && vqp_movers_leave(vqp->ns->movers, &vqp->move))
		vqp_put(vqp);
	/* Who queues the work from here on did not see that it is over; it must not do more. */
	WRITE_ONCE(vqp->todo, 0);
	vqp_carriers_forget(vqp);
	vqp_flush_sends(vqp);
	vqp_recv_flush(vqp);
	if (atomic_read(&vqp->receiving))
		vqp_carriers_break_recvs(vqp);
	vqp_uncharge(vqp);
	vqp_put(vqp);
}

int __init vqp_init(void)
{
	vqp_cache = KMEM_CACHE(vqp, 0);
	if (!vqp_cache)
		return -ENOMEM;
	vqp_wq = alloc_workqueue("vqp", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!vqp_wq) {
		kmem_cache_destroy(vqp_cache);
		return -ENOMEM;
	}
	return 0;
}

void vqp_exit(void)
{
	/* The queued vqp_end_work() become RCU callbacks, for which rcu_barrier() waits. */
	destroy_workqueue(vqp_wq);
	rcu_barrier();
	kmem_cache_destroy(vqp_cache);
}
