// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "base/compat.h"
#include "device/gid.h"
#include "device/parent.h"
#include "rc/qp.h"

#define RC_QP_TIMEOUT		13	/* 33 ms: 4.096 us * 2^13 (IBTA 9.7.6.1.3) */
#define RC_QP_RETRIES		7	/* After these dc takes over, which bears more loss. */
#define RC_QP_READS		32U	/* the most READs outstanding, in each direction */
#define RC_QP_RNR_TIMER		12	/* 0.64 ms; links use no receives */
#define RC_QP_HOP_LIMIT		64
#define RC_QP_RESOLVE_MS	1000
/* The time that a QP rests. A packet waits for 3 s at most until ARP finds its neighbour. */
#define RC_QP_REST_JIFFIES	(5 * HZ)
#define RC_QP_REST_MAX		64	/* the most QPs that rest; the oldest makes room */

/*
 * Soft RoCE's packets have a reference on their QP until they have left the node, and
 * ib_destroy_qp() waits for them: Linux 6.1 for a second, after which it destroys the QP all the
 * same, later versions without a limit. A network link may be down, or a neighbour unresolved, for
 * longer. A QP that has been in use therefore rests in state RESET before it is destroyed.
 */
struct rc_qp_rest {
	struct list_head node;
	struct ib_qp *qp;
	unsigned long until;		/* the end of the rest, in jiffies */
	spinlock_t lock;		/* guards complain; taken with interrupts off */
	void (*complain)(void *ctx);	/* NULL: nobody wants to know. */
};

static LIST_HEAD(rest_list);		/* in the order of `until` */
static u32 rest_count;			/* the length of rest_list */
static DEFINE_SPINLOCK(rest_lock);	/* guards rest_list and rest_count */

u32 vqp_rc_qp_reads(const struct vqp_parent *parent)
{
	return min_t(u32, RC_QP_READS, parent->dev->attrs.max_qp_rd_atom);
}

/* The QP reports an error. Its requests may complete much later, or only when it is stopped. */
static void rc_qp_event(struct ib_event *event, void *context)
{
	struct rc_qp_rest *rest = context;
	unsigned long flags;

	if (!vqp_is_qp_failure(event))
		return;
	spin_lock_irqsave(&rest->lock, flags);
	if (rest->complain)
		rest->complain(event->element.qp->send_cq->cq_context);
	spin_unlock_irqrestore(&rest->lock, flags);
}

static void rc_qp_hush(struct ib_qp *qp)
{
	struct rc_qp_rest *rest = qp->qp_context;

	spin_lock_irq(&rest->lock);
	rest->complain = NULL;
	spin_unlock_irq(&rest->lock);
}

struct ib_qp *vqp_rc_qp_create(struct vqp_parent *parent, void *ctx, void (*complain)(void *ctx),
			       u32 send_wrs, u32 sges)
{
	struct ib_qp_init_attr init = {
		.cap = {
			.max_send_wr = send_wrs + 1,	/* one for ib_drain_sq() */
			.max_recv_wr = 1,		/* for ib_drain_rq() */
			.max_send_sge = sges,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.event_handler = rc_qp_event,
	};
	struct rc_qp_rest *rest;
	struct ib_qp *qp;
	struct ib_cq *cq;

	/* The memory for the rest is allocated here, so that vqp_rc_qp_retire() cannot fail. */
	rest = kzalloc(sizeof(*rest), GFP_KERNEL);
	if (!rest)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&rest->lock);
	rest->complain = complain;
	cq = ib_alloc_cq_any(parent->dev, ctx, send_wrs + 3, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq)) {
		kfree(rest);
		return ERR_CAST(cq);
	}
	init.send_cq = cq;
	init.recv_cq = cq;
	init.qp_context = rest;
	qp = ib_create_qp(parent->pd, &init);
	if (IS_ERR(qp)) {
		vqp_parent_free_cq(cq);
		kfree(rest);
		return qp;
	}
	rest->qp = qp;
	return qp;
}

void vqp_rc_qp_destroy(struct ib_qp *qp)
{
	struct rc_qp_rest *rest = qp->qp_context;
	struct ib_cq *cq = qp->send_cq;

	rc_qp_hush(qp);
	ib_destroy_qp(qp);
	kfree(rest);
	vqp_parent_free_cq(cq);
}

/* ---- Rest ---- */

static struct ib_qp *rest_take(bool all)
{
	struct rc_qp_rest *rest;
	struct ib_qp *qp = NULL;

	spin_lock(&rest_lock);
	rest = list_first_entry_or_null(&rest_list, struct rc_qp_rest, node);
	if (rest && (all || rest_count > RC_QP_REST_MAX || time_after_eq(jiffies, rest->until))) {
		list_del(&rest->node);
		rest_count--;
		qp = rest->qp;
	}
	spin_unlock(&rest_lock);
	return qp;
}

static int rest_reset(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/*
 * While soft RoCE resets a QP, a packet that it had let pass before is put into the QP's queue, and
 * nothing takes it out again: ib_destroy_qp() would wait for that packet's reference for 50 s, and
 * warn. A second reset, an RCU grace period after the first, drops such packets.
 */
static void rest_end(bool all)
{
	struct ib_qp *qp;

	while ((qp = rest_take(all))) {
		rest_reset(qp);
		vqp_rc_qp_destroy(qp);
	}
}

static void rest_work_fn(struct work_struct *work)
{
	rest_end(false);
	if (!list_empty(&rest_list))
		queue_delayed_work(system_dfl_wq, to_delayed_work(work), HZ);
}

static DECLARE_DELAYED_WORK(rest_work, rest_work_fn);

void vqp_rc_qp_retire(struct ib_qp *qp)
{
	struct rc_qp_rest *rest = qp->qp_context;
	bool crowded;

	rc_qp_hush(qp);
	if (rest_reset(qp)) {
		vqp_rc_qp_destroy(qp);
		return;
	}
	spin_lock(&rest_lock);
	rest->until = jiffies + RC_QP_REST_JIFFIES;
	list_add_tail(&rest->node, &rest_list);
	crowded = ++rest_count > RC_QP_REST_MAX;
	spin_unlock(&rest_lock);
	if (crowded)
		mod_delayed_work(system_dfl_wq, &rest_work, 0);
	else
		queue_delayed_work(system_dfl_wq, &rest_work, HZ);
}

void vqp_rc_qp_down(void)
{
	cancel_delayed_work_sync(&rest_work);
	synchronize_rcu();
	rest_end(true);
}

/* ---- Connecting ---- */

struct rc_qp_resolve {
	struct completion done;
	int status;
};

static void rc_qp_resolved(int status, struct sockaddr *src, struct rdma_dev_addr *addr, void *arg)
{
	struct rc_qp_resolve *resolve = arg;

	resolve->status = status;
	complete(&resolve->done);
}

/* ib_modify_qp() resolves the destination's MAC address for user space only. */
static int rc_qp_set_dmac(const struct ib_gid_attr *sgid, struct rdma_ah_attr *ah,
			  const union ib_gid *dgid)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} src, dst;
	struct rdma_dev_addr addr = { .net = &init_net, .sgid_attr = sgid };
	struct rc_qp_resolve resolve;
	int ret;

	rdma_gid2ip(&src.any, &sgid->gid);
	rdma_gid2ip(&dst.any, dgid);
	init_completion(&resolve.done);
	ret = rdma_resolve_ip(&src.any, &dst.any, &addr, RC_QP_RESOLVE_MS, rc_qp_resolved, true,
			      &resolve);
	if (!ret) {
		wait_for_completion(&resolve.done);
		ret = resolve.status;
	}
	if (!ret)
		memcpy(ah->roce.dmac, addr.dst_dev_addr, ETH_ALEN);
	return ret;
}

static int rc_qp_to_init(struct ib_qp *qp, const struct vqp_parent *parent)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = parent->gid.port,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				       IB_QP_ACCESS_FLAGS);
}

static int rc_qp_to_rtr(struct ib_qp *qp, const struct vqp_parent *parent,
			const struct vqp_rc_dest *dest)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = ib_mtu_int_to_enum(min(parent->mtu, dest->mtu)),
		.dest_qp_num = dest->qpn,
		.rq_psn = dest->psn,
		.max_dest_rd_atomic = vqp_rc_qp_reads(parent),
		.min_rnr_timer = RC_QP_RNR_TIMER,
		.ah_attr.type = rdma_ah_find_type(parent->dev, parent->gid.port),
	};
	const struct ib_gid_attr *sgid;
	union ib_gid dgid;
	int ret;

	sgid = vqp_gid_get(parent->dev, &parent->gid);
	if (IS_ERR(sgid))
		return PTR_ERR(sgid);
	memcpy(dgid.raw, dest->gid, sizeof(dgid.raw));
	rdma_ah_set_port_num(&attr.ah_attr, parent->gid.port);
	rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, sgid->index, RC_QP_HOP_LIMIT, 0);
	ret = rc_qp_set_dmac(sgid, &attr.ah_attr, &dgid);
	if (!ret)
		ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
					      IB_QP_DEST_QPN | IB_QP_RQ_PSN |
					      IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	rdma_put_gid_attr(sgid);
	return ret;
}

int vqp_rc_qp_connect(struct ib_qp *qp, const struct vqp_parent *parent, u32 psn,
		      const struct vqp_rc_dest *dest)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = RC_QP_TIMEOUT,
		.retry_cnt = RC_QP_RETRIES,
		.rnr_retry = RC_QP_RETRIES,
		.sq_psn = psn,
		.max_rd_atomic = min3(RC_QP_READS, dest->reads,
				      (u32)parent->dev->attrs.max_qp_init_rd_atom),
	};
	int ret;

	ret = rc_qp_to_init(qp, parent);
	if (!ret)
		ret = rc_qp_to_rtr(qp, parent, dest);
	if (!ret)
		ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
					      IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
					      IB_QP_MAX_QP_RD_ATOMIC);
	return ret;
}

int vqp_rc_qp_psn(struct ib_qp *qp, u32 *psn)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int ret;

	ret = ib_query_qp(qp, &attr, IB_QP_RQ_PSN, &init);
	if (!ret)
		*psn = attr.rq_psn & VQP_PSN_MASK;
	return ret;
}

int vqp_rc_qp_stop(struct ib_qp *qp, u32 *psn)
{
	/* The QP goes to the error state, after the request that it is carrying out. */
	ib_drain_rq(qp);
	return vqp_rc_qp_psn(qp, psn);
}
