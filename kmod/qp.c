// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "carrier.h"
#include "context.h"
#include "counters.h"
#include "cq.h"
#include "dc.h"
#include "dct_cache.h"
#include "gate.h"
#include "loop.h"
#include "meta.h"
#include "ns.h"
#include "number.h"
#include "pull.h"
#include "recv.h"
#include "qp.h"
#include "send.h"

#define VQP_NUM_MAX	0xffffff	/* 24 bits, as QP numbers have */
#define VQP_PORT_FIRST	32768		/* of those handed out for port 0 */

static struct kmem_cache *vqp_cache;
/* Control work; and that of the kernel's own VQPs, on whose answers control work waits. */
static struct workqueue_struct *vqp_wq, *vqp_kernel_wq;

/* ---- References ---- */

static enum vqp_object vqp_object(const struct vqp *vqp)
{
	return vqp->ctx ? VQP_OBJ_VQP : VQP_OBJ_KERNEL_VQP;
}

static void vqp_free(struct work_struct *work)
{
	struct vqp *vqp = container_of(to_rcu_work(work), struct vqp, free);

	if (vqp->send_cq)
		vqp_cq_put(vqp->send_cq);
	if (vqp->recv_cq)
		vqp_cq_put(vqp->recv_cq);
	vqp_carriers_release(vqp);
	vqp_ns_put(vqp->ns);
	vqp_count_freed(vqp_object(vqp));
	kmem_cache_free(vqp_cache, vqp);
}

static void vqp_release(struct kref *ref)
{
	struct vqp *vqp = container_of(ref, struct vqp, ref);

	queue_rcu_work(vqp_wq, &vqp->free);
}

void vqp_put(struct vqp *vqp)
{
	kref_put(&vqp->ref, vqp_release);
}

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

struct vqp *vqp_get(struct vqp_context *ctx, u32 qp_num)
{
	struct vqp *vqp = qp_num ? vqp_find(ctx->ns, qp_num, 0) : NULL;

	if (vqp && vqp->ctx != ctx) {
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
	if (!queue_work(vqp->ctx ? vqp_wq : vqp_kernel_wq, &vqp->work))
		vqp_put(vqp);
}

void vqp_fail_later(struct vqp *vqp)
{
	vqp_do_later(vqp, VQP_TODO_FLUSH);
}

void vqp_fail(struct vqp *vqp, u32 status)
{
	spin_lock_bh(&vqp->lock);
	vqp->state = VQP_QP_ERROR;
	vqp_send_abort(vqp, status);
	vqp_carrier_close(vqp);
	spin_unlock_bh(&vqp->lock);
	vqp_recv_flush(vqp);
}

/* Go the route with the carrier that it takes. Consumes route->local. */
static int vqp_attach(struct vqp *vqp, struct vqp_route *route)
{
	struct vqp_ns *local = route->local;

	route->local = NULL;
	return local ? vqp_loop_attach(vqp, local) : vqp_dc_attach(vqp, &route->dct);
}

/* Still without a target, and nobody is using the old one's? */
static bool vqp_is_lost(struct vqp *vqp)
{
	bool lost;

	spin_lock_bh(&vqp->lock);
	lost = vqp->state == VQP_QP_CONNECTED && vqp->carrier->lost(vqp);
	spin_unlock_bh(&vqp->lock);
	return lost;
}

/* The target is not where the metadata said. Once: look up again and go on there. */
static void vqp_reroute(struct vqp *vqp)
{
	struct vqp_route route;
	int ret = -EHOSTUNREACH;

	if (!vqp_is_lost(vqp))
		return;
	vqp_count_event(VQP_EV_STALE);
	if (!vqp->rerouted && vqp->ctx) {
		vqp_dct_cache_forget(vqp->ns->tenant, vqp->remote_gid);
		ret = vqp_meta_route(vqp->ns->tenant, vqp->remote_gid, &route);
	}
	if (!ret) {
		vqp->rerouted = true;
		ret = vqp_attach(vqp, &route);
	}
	if (ret)
		vqp_fail(vqp, VQP_WC_RETRY_EXC_ERR);
}

/*
 * The target is silent. A node that started anew has other lanes: packets for
 * the old ones vanish, and nobody says so. If nothing has changed, the flow
 * goes on trying until it gives up.
 */
static void vqp_suspect(struct vqp *vqp)
{
	struct vqp_route route;
	bool going;

	/* Rerouted meanwhile, to this node perhaps? Nobody but this work changes the carrier. */
	spin_lock_bh(&vqp->lock);
	going = vqp->state == VQP_QP_CONNECTED && vqp->carrier == &vqp_dc_carrier &&
		!vqp->carrier->lost(vqp);
	spin_unlock_bh(&vqp->lock);
	if (!going)
		return;
	vqp_dct_cache_forget(vqp->ns->tenant, vqp->remote_gid);
	if (vqp_meta_route(vqp->ns->tenant, vqp->remote_gid, &route))
		return;
	if (route.local || memcmp(&route.dct, &vqp->dc.dct, sizeof(route.dct)))
		vqp_attach(vqp, &route);
}

static void vqp_work(struct work_struct *work)
{
	struct vqp *vqp = container_of(work, struct vqp, work);

	if (test_and_clear_bit(VQP_TODO_FLUSH, &vqp->todo))
		vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	if (test_and_clear_bit(VQP_TODO_REROUTE, &vqp->todo))
		vqp_reroute(vqp);
	if (test_and_clear_bit(VQP_TODO_SUSPECT, &vqp->todo))
		vqp_suspect(vqp);
	vqp_put(vqp);
}

/* The VQP was granted what it waits for at its namespace's gate. */
static void vqp_turn_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, turn.wait);

	READ_ONCE(vqp->carrier)->kick(vqp);
	vqp_put(vqp);
}

/* ---- Making and destroying ---- */

static void vqp_uncharge(struct vqp *vqp)
{
	if (vqp->ctx)
		vqp_limit_uncharge(&vqp->ns->limits[VQP_LIMIT_VQPS], 1);
}

/* Of ctx, charged to ns, or (NULL) the kernel's own; or ERR_PTR. */
static struct vqp *vqp_alloc(struct vqp_ns *ns, struct vqp_context *ctx)
{
	struct vqp *vqp;
	int ret;

	ret = ctx ? vqp_limit_charge(&ns->limits[VQP_LIMIT_VQPS], 1) : 0;
	if (ret)
		return ERR_PTR(ret);
	vqp = kmem_cache_zalloc(vqp_cache, GFP_KERNEL_ACCOUNT);
	if (!vqp) {
		if (ctx)
			vqp_limit_uncharge(&ns->limits[VQP_LIMIT_VQPS], 1);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&vqp->ref);
	INIT_LIST_HEAD(&vqp->ctx_link);
	spin_lock_init(&vqp->lock);
	spin_lock_init(&vqp->rq_lock);
	INIT_LIST_HEAD(&vqp->rq);
	INIT_LIST_HEAD(&vqp->unsent);
	INIT_LIST_HEAD(&vqp->lent);
	INIT_LIST_HEAD(&vqp->recv_waiters);
	vqp_wait_init(&vqp->turn.wait, &vqp->ref, vqp_turn_go);
	INIT_WORK(&vqp->work, vqp_work);
	INIT_RCU_WORK(&vqp->free, vqp_free);
	vqp_carriers_init(vqp);
	vqp->ns = ns;
	vqp_ns_get(ns);
	vqp->ctx = ctx;
	vqp->owner = ctx;
	vqp_count_made(vqp_object(vqp));
	return vqp;
}

/* Give it a number under which it is found. */
static int vqp_publish(struct vqp *vqp)
{
	struct vqp_ns *ns = vqp->ns;
	int ret;

	ret = vqp_number_take(&ns->vqps, VQP_NUM_MAX, &ns->next_qp_num, vqp, &vqp->qp_num);
	return ret == -EBUSY ? -ENOSPC : ret;
}

static int vqp_check_create(const struct vqp_create_qp *arg)
{
	if (arg->flags & ~VQP_QP_SQ_SIG_ALL)
		return -EINVAL;
	if (arg->max_send_wr > VQP_MAX_WR || arg->max_recv_wr > VQP_MAX_WR ||
	    arg->max_send_sge > VQP_MAX_SGE || arg->max_recv_sge > VQP_MAX_SGE)
		return -EINVAL;
	return 0;
}

/*
 * Into the namespace's table and the context's list, which takes a reference: once it is there,
 * another thread may destroy it. Consumes the charge on failure.
 */
static int vqp_add(struct vqp_context *ctx, struct vqp *vqp)
{
	int ret;

	mutex_lock(&ctx->lock);
	ret = ctx->dead ? -ESHUTDOWN : vqp_publish(vqp);
	if (!ret) {
		kref_get(&vqp->ref);
		list_add(&vqp->ctx_link, &ctx->vqps);
	}
	mutex_unlock(&ctx->lock);
	if (ret)
		vqp_uncharge(vqp);
	return ret;
}

int vqp_create(struct vqp_context *ctx, struct vqp_create_qp *arg)
{
	struct vqp_cq *send_cq, *recv_cq;
	struct vqp *vqp;
	int ret;

	ret = vqp_check_create(arg);
	if (ret)
		return ret;
	send_cq = vqp_cq_get_fd(ctx, arg->send_cq_fd);
	if (IS_ERR(send_cq))
		return PTR_ERR(send_cq);
	recv_cq = vqp_cq_get_fd(ctx, arg->recv_cq_fd);
	if (IS_ERR(recv_cq)) {
		ret = PTR_ERR(recv_cq);
		goto put_send_cq;
	}
	vqp = vqp_alloc(ctx->ns, ctx);
	if (IS_ERR(vqp)) {
		ret = PTR_ERR(vqp);
		goto put_recv_cq;
	}
	vqp->send_cq = send_cq;
	vqp->recv_cq = recv_cq;
	vqp->max_send_wr = arg->max_send_wr;
	vqp->max_recv_wr = arg->max_recv_wr;
	vqp->max_send_sge = arg->max_send_sge;
	vqp->max_recv_sge = arg->max_recv_sge;
	vqp->flags = arg->flags;
	ret = vqp_add(ctx, vqp);
	if (!ret)
		arg->qp_num = vqp->qp_num;
	vqp_put(vqp);
	return ret;

put_recv_cq:
	vqp_cq_put(recv_cq);
put_send_cq:
	vqp_cq_put(send_cq);
	return ret;
}

/*
 * Off its context's list: nobody binds or connects it any more.
 * 1. Nobody new finds it. 2. It falls silent: no CQE, no packet after the
 * CLOSE that lets the target's context go. 3. Loop runner, timer, waits for a turn or a slot, and
 * work end; answers that still find its flow find it dead. 4. What the queues
 * hold is freed. 5. The charge and the reference go. The memory follows later,
 * but who destroys a VQP may make another at once.
 */
static void vqp_teardown(struct vqp *vqp)
{
	if (vqp->qp_num)
		xa_erase(&vqp->ns->vqps, vqp->qp_num);
	if (vqp->port || vqp->heard)
		xa_erase(&vqp->ns->ports, vqp->port);

	spin_lock_bh(&vqp->rq_lock);
	spin_lock(&vqp->lock);
	vqp->silent = true;
	vqp->state = VQP_QP_ERROR;
	vqp_carrier_close(vqp);
	vqp_send_abort(vqp, VQP_WC_WR_FLUSH_ERR);
	spin_unlock(&vqp->lock);
	spin_unlock_bh(&vqp->rq_lock);

	vqp_carriers_detach(vqp);
	if (vqp_gate_leave(&vqp->ns->gate, &vqp->turn))
		vqp_put(vqp);
	if (cancel_work_sync(&vqp->work))
		vqp_put(vqp);
	vqp_carriers_forget(vqp);
	vqp_recv_flush(vqp);
	if (atomic_read(&vqp->receiving))
		vqp_carriers_break_recvs(vqp);
	vqp_uncharge(vqp);
	vqp_put(vqp);
}

void vqp_destroy_all(struct vqp_context *ctx)
{
	struct vqp *vqp;

	while ((vqp = list_first_entry_or_null(&ctx->vqps, struct vqp, ctx_link))) {
		list_del_init(&vqp->ctx_link);
		vqp_teardown(vqp);
	}
}

int vqp_destroy(struct vqp *vqp, struct vqp_destroy_qp *arg)
{
	struct vqp_context *ctx = vqp->ctx;
	bool mine;

	if (arg->reserved)
		return -EINVAL;
	mutex_lock(&ctx->lock);
	/* Two threads may have found it; one destroys it. */
	mine = !list_empty(&vqp->ctx_link);
	list_del_init(&vqp->ctx_link);
	mutex_unlock(&ctx->lock);
	if (!mine)
		return -ENOENT;
	/* May wait for a lookup that is under way: not with the lock. */
	vqp_teardown(vqp);
	/* What it has sent may be written to from here on. A process that ends takes it away. */
	vqp_pull_wait(vqp);
	return 0;
}

struct vqp *vqp_create_kernel(struct vqp_ns *ns, const u8 *gid, const struct vqp_dct *dct)
{
	struct vqp *vqp = vqp_alloc(ns, NULL);
	int ret;

	if (IS_ERR(vqp))
		return vqp;
	/*
	 * A lock class of its own: others' work looks things up, and waits for the lock
	 * under which this one is made and destroyed. Its own looks nothing up.
	 */
	INIT_WORK(&vqp->work, vqp_work);
	vqp->max_send_wr = VQP_MAX_WR;
	memcpy(vqp->remote_gid, gid, VQP_GID_BYTES);
	ret = vqp_dc_attach(vqp, dct);
	if (ret) {
		vqp_teardown(vqp);
		return ERR_PTR(ret);
	}
	return vqp;
}

struct vqp *vqp_create_service(struct vqp_ns *ns,
			       void (*heard)(struct vqp_recv *recv,
					     const struct vqp_recv_info *info),
			       u32 max_recv_wr)
{
	struct vqp *vqp = vqp_alloc(ns, NULL);
	int ret;

	if (IS_ERR(vqp))
		return vqp;
	vqp->heard = heard;
	vqp->max_recv_wr = max_recv_wr;
	vqp->state = VQP_QP_BOUND;
	ret = xa_insert(&ns->ports, 0, vqp, GFP_KERNEL);
	if (ret) {
		vqp->heard = NULL;
		vqp_teardown(vqp);
		return ERR_PTR(ret);
	}
	return vqp;
}

void vqp_destroy_kernel(struct vqp *vqp)
{
	vqp_teardown(vqp);
}

/* ---- Binding and connecting ---- */

int vqp_bind(struct vqp *vqp, struct vqp_bind *arg)
{
	struct vqp_context *ctx = vqp->ctx;
	u32 port = arg->port;
	int ret;

	if (port > U16_MAX)
		return -EINVAL;
	mutex_lock(&ctx->lock);
	if (vqp->state != VQP_QP_INIT || list_empty(&vqp->ctx_link)) {
		ret = -EINVAL;
		goto unlock;
	}
	if (port)
		ret = xa_insert(&vqp->ns->ports, port, vqp, GFP_KERNEL_ACCOUNT);
	else
		ret = xa_alloc(&vqp->ns->ports, &port, vqp,
			       XA_LIMIT(VQP_PORT_FIRST, U16_MAX), GFP_KERNEL_ACCOUNT);
	if (ret) {
		ret = ret == -EBUSY ? -EADDRINUSE : ret;
		goto unlock;
	}
	spin_lock_bh(&vqp->lock);
	vqp->port = port;
	if (vqp->state == VQP_QP_INIT)
		vqp->state = VQP_QP_BOUND;
	spin_unlock_bh(&vqp->lock);
	arg->port = port;
unlock:
	mutex_unlock(&ctx->lock);
	return ret;
}

/* Find the way to (gid, port or number) and attach its carrier (KRCORE, Algorithm 1). */
static int vqp_connect_to(struct vqp *vqp, const u8 *gid, u16 port, u32 qp_num)
{
	struct vqp_route route;
	int ret;

	ret = vqp_meta_route(vqp->ns->tenant, gid, &route);
	if (ret)
		return ret;
	if (!route.local)
		ret = vqp_dc_resolve(&route.dct);
	if (ret)
		return ret;
	/* To end a region under it may take seconds; many may wait here. */
	ret = mutex_lock_killable(&vqp->ctx->lock);
	if (ret)
		goto end_route;
	if (!vqp_ns_alive(vqp->ns)) {
		ret = -ESHUTDOWN;
		goto unlock;
	}
	if (list_empty(&vqp->ctx_link)) {
		ret = -ENOENT;
		goto unlock;
	}
	if (vqp->state != VQP_QP_INIT) {
		ret = vqp->state == VQP_QP_CONNECTED ? -EISCONN : -EINVAL;
		goto unlock;
	}
	memcpy(vqp->remote_gid, gid, VQP_GID_BYTES);
	vqp->remote_port = port;
	vqp->remote_qp = qp_num;
	ret = vqp_attach(vqp, &route);
unlock:
	mutex_unlock(&vqp->ctx->lock);
end_route:
	vqp_route_end(&route);
	return ret;
}

int vqp_connect(struct vqp *vqp, struct vqp_connect *arg)
{
	if (!arg->port || arg->port > U16_MAX)
		return -EINVAL;
	return vqp_connect_to(vqp, arg->gid, arg->port, 0);
}

int vqp_accept(struct vqp *vqp, struct vqp_accept *arg)
{
	struct vqp *reply;
	int ret;

	if (arg->reserved || !arg->src_qp || vqp->state != VQP_QP_BOUND)
		return -EINVAL;
	reply = vqp_alloc(vqp->ns, vqp->ctx);
	if (IS_ERR(reply))
		return PTR_ERR(reply);
	reply->send_cq = vqp->send_cq;
	reply->recv_cq = vqp->recv_cq;
	kref_get(&reply->send_cq->ref);
	kref_get(&reply->recv_cq->ref);
	reply->max_send_wr = vqp->max_send_wr;
	reply->max_send_sge = vqp->max_send_sge;
	reply->flags = vqp->flags;
	ret = vqp_add(vqp->ctx, reply);
	if (ret)
		goto put;
	ret = vqp_connect_to(reply, arg->src_gid, 0, arg->src_qp);
	if (ret)
		vqp_destroy(reply, &(struct vqp_destroy_qp) {});
	else
		arg->new_qp_num = reply->qp_num;
put:
	vqp_put(reply);
	return ret;
}

int vqp_query(struct vqp *vqp, struct vqp_query_qp *arg)
{
	spin_lock_bh(&vqp->lock);
	*arg = (struct vqp_query_qp) {
		.qp_num = vqp->qp_num,
		.state = vqp->state,
		.carrier = vqp->shown_carrier,
		.port = vqp->port,
		.remote_port = vqp->remote_port,
		.remote_qp = vqp->remote_qp,
		.sends_pending = vqp->sends,
		.recvs_pending = READ_ONCE(vqp->recvs),
	};
	memcpy(arg->remote_gid, vqp->remote_gid, VQP_GID_BYTES);
	spin_unlock_bh(&vqp->lock);
	return 0;
}

int __init vqp_init(void)
{
	vqp_cache = KMEM_CACHE(vqp, 0);
	if (!vqp_cache)
		return -ENOMEM;
	vqp_wq = alloc_workqueue("vqp", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!vqp_wq)
		goto err_cache;
	vqp_kernel_wq = alloc_workqueue("vqp_kernel", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!vqp_kernel_wq)
		goto err_wq;
	return 0;

err_wq:
	destroy_workqueue(vqp_wq);
err_cache:
	kmem_cache_destroy(vqp_cache);
	return -ENOMEM;
}

void vqp_exit(void)
{
	/* Work drops references, whose frees pass a grace period and become work again. */
	destroy_workqueue(vqp_kernel_wq);
	flush_workqueue(vqp_wq);
	rcu_barrier();
	destroy_workqueue(vqp_wq);
	rcu_barrier();
	kmem_cache_destroy(vqp_cache);
}
