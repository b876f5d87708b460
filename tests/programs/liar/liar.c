// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A device that behaves as those of other drivers are known to, though it is soft RoCE's: loaded
 * before vqp, the module stands between the verbs of the kernel and rdma_rxe. Each lie is a
 * parameter, and all are told unless a parameter says otherwise. User space is told the truth, and
 * so is everybody once vqp and then this module have been unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>

static bool psn = true;
module_param(psn, bool, 0644);
MODULE_PARM_DESC(psn, "query_qp tells the receive PSN that the QP was given, however far it is (irdma)");

static bool stopped = true;
module_param(stopped, bool, 0644);
MODULE_PARM_DESC(stopped, "query_qp does so of a QP that has been stopped");

static bool events = true;
module_param(events, bool, 0644);
MODULE_PARM_DESC(events, "a QP that fails says so by an event; requests complete when the consumer sees to it");

static bool late = true;
module_param(late, bool, 0644);
MODULE_PARM_DESC(late, "completions can be polled once in a tick, and then all that there are");

static bool registration = true;
module_param(registration, bool, 0644);
MODULE_PARM_DESC(registration, "every third memory region is refused");

static bool sges = true;
module_param(sges, bool, 0444);
MODULE_PARM_DESC(sges, "a request has two SGEs at most, and no inline data");

#define LIAR_SGES	2U

/* A QP of the kernel's. */
struct liar_qp {
	struct list_head node;
	struct ib_qp *qp;
	u32 first_psn;			/* the receive PSN that it was given */
	bool told;			/* Its failure has been told of by an event. */
	bool stopped;			/* The consumer has moved it to the error or reset state. */
};

/* A CQ of the kernel's with a handler, from the first time on that it is polled. */
struct liar_cq {
	struct list_head node;
	struct ib_cq *cq;
	bool open;			/* Completions are told until one poll finds no more. */
	bool wanted;			/* It was polled while it was not open. */
	struct list_head held;		/* completions that are told when their QPs are stopped */
};

struct liar_wc {
	struct list_head node;
	struct ib_wc wc;
};

static typeof_member(struct ib_device, ops) honest;
static u32 honest_send_sges, honest_recv_sges;
/* Each function that stands in for a verb is a reader. */
DEFINE_STATIC_SRCU(liar_srcu);
static LIST_HEAD(liar_qps);
static LIST_HEAD(liar_cqs);
static DEFINE_SPINLOCK(liar_lock);	/* guards both lists, and what is in them */
/* No QP goes while it is held. */
static DEFINE_MUTEX(liar_mutex);

static struct liar_qp *find_qp(const struct ib_qp *qp)
{
	struct liar_qp *q;

	lockdep_assert_held(&liar_lock);
	list_for_each_entry(q, &liar_qps, node)
		if (q->qp == qp)
			return q;
	return NULL;
}

static struct liar_cq *find_cq(const struct ib_cq *cq)
{
	struct liar_cq *c;

	lockdep_assert_held(&liar_lock);
	list_for_each_entry(c, &liar_cqs, node)
		if (c->cq == cq)
			return c;
	return NULL;
}

/* ---- Completions ---- */

static void liar_tick(struct timer_list *timer)
{
	struct liar_cq *c;

	spin_lock_bh(&liar_lock);
	list_for_each_entry(c, &liar_cqs, node) {
		if (!c->wanted)
			continue;
		c->wanted = false;
		c->open = true;
		c->cq->comp_handler(c->cq, c->cq->cq_context);
	}
	spin_unlock_bh(&liar_lock);
	mod_timer(timer, jiffies + 1);
}

static DEFINE_TIMER(liar_timer, liar_tick);

static struct liar_cq *know_cq(struct ib_cq *cq)
{
	struct liar_cq *c = find_cq(cq);

	if (c || !cq->comp_handler)
		return c;
	c = kzalloc(sizeof(*c), GFP_ATOMIC);
	if (!c)
		return NULL;
	c->cq = cq;
	INIT_LIST_HEAD(&c->held);
	list_add(&c->node, &liar_cqs);
	return c;
}

/* Completions that were held back, of QPs that have been stopped since. */
static int take_held(struct liar_cq *c, int n, struct ib_wc *wc)
{
	struct liar_wc *held, *next;
	struct liar_qp *q;
	int taken = 0;

	list_for_each_entry_safe(held, next, &c->held, node) {
		q = find_qp(held->wc.qp);
		if (taken == n || (q && !q->stopped))
			continue;
		wc[taken++] = held->wc;
		list_del(&held->node);
		kfree(held);
	}
	return taken;
}

/* Is the completion to be held back? *told: the QP whose failure is to be told of, unless NULL. */
static bool hold(struct liar_cq *c, const struct ib_wc *wc, struct ib_qp **told)
{
	struct liar_qp *q = find_qp(wc->qp);
	struct liar_wc *held;

	if (!events || wc->status == IB_WC_SUCCESS || !q || q->stopped || !q->qp->event_handler)
		return false;
	held = kmalloc(sizeof(*held), GFP_ATOMIC);
	if (!held)
		return false;
	held->wc = *wc;
	list_add_tail(&held->node, &c->held);
	if (!q->told)
		*told = q->qp;
	q->told = true;
	return true;
}

static int liar_poll_cq(struct ib_cq *cq, int n, struct ib_wc *wc)
{
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };
	const int token = srcu_read_lock(&liar_srcu);
	int taken = 0, polled, i;
	struct ib_qp *told = NULL;
	struct liar_cq *c;

	spin_lock_bh(&liar_lock);
	c = know_cq(cq);
	if (c && late && !c->open) {
		c->wanted = true;
	} else {
		if (c)
			taken = take_held(c, n, wc);
		polled = max(honest.poll_cq(cq, n - taken, wc + taken), 0) + taken;
		if (c)
			c->open = polled == n;
		for (i = taken; i < polled; i++)
			if (!c || !hold(c, &wc[i], &told))
				wc[taken++] = wc[i];
	}
	spin_unlock_bh(&liar_lock);
	if (told) {
		event.device = told->device;
		event.element.qp = told;
		told->event_handler(&event, told->qp_context);
	}
	srcu_read_unlock(&liar_srcu, token);
	return taken;
}

static void forget_cq(struct liar_cq *c)
{
	struct liar_wc *held, *next;

	list_del(&c->node);
	list_for_each_entry_safe(held, next, &c->held, node)
		kfree(held);
	kfree(c);
}

static int liar_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	const int token = srcu_read_lock(&liar_srcu);
	struct liar_cq *c;
	int ret;

	spin_lock_bh(&liar_lock);
	c = find_cq(cq);
	if (c)
		forget_cq(c);
	spin_unlock_bh(&liar_lock);
	ret = honest.destroy_cq(cq, udata);
	srcu_read_unlock(&liar_srcu, token);
	return ret;
}

/* ---- QPs ---- */

static int create_qp(struct ib_qp *qp, struct ib_qp_init_attr *init)
{
	struct liar_qp *q;
	int ret;

	if (sges && (init->cap.max_send_sge > LIAR_SGES || init->cap.max_recv_sge > LIAR_SGES ||
		     init->cap.max_inline_data))
		return -EINVAL;
	q = kzalloc(sizeof(*q), GFP_KERNEL);
	if (!q)
		return -ENOMEM;
	ret = honest.create_qp(qp, init, NULL);
	if (ret) {
		kfree(q);
		return ret;
	}
	q->qp = qp;
	spin_lock_bh(&liar_lock);
	list_add(&q->node, &liar_qps);
	spin_unlock_bh(&liar_lock);
	return 0;
}

static int liar_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	const int token = srcu_read_lock(&liar_srcu);
	int ret = udata ? honest.create_qp(qp, init, udata) : create_qp(qp, init);

	srcu_read_unlock(&liar_srcu, token);
	return ret;
}

static void wake(struct ib_cq *cq)
{
	struct liar_cq *c = find_cq(cq);

	if (!c || list_empty(&c->held))
		return;
	c->open = true;
	cq->comp_handler(cq, cq->cq_context);
}

static int liar_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	const bool stop = mask & IB_QP_STATE &&
			  (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_RESET);
	const int token = srcu_read_lock(&liar_srcu);
	int ret = honest.modify_qp(qp, attr, mask, udata);
	struct liar_qp *q;

	spin_lock_bh(&liar_lock);
	q = find_qp(qp);
	if (!ret && q && mask & IB_QP_RQ_PSN)
		q->first_psn = attr->rq_psn;
	if (!ret && q && mask & IB_QP_STATE) {
		q->stopped = stop;
		q->told = false;
	}
	if (!ret && q && stop) {
		wake(qp->send_cq);
		wake(qp->recv_cq);
	}
	spin_unlock_bh(&liar_lock);
	srcu_read_unlock(&liar_srcu, token);
	return ret;
}

static int liar_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_qp_init_attr *init)
{
	const int token = srcu_read_lock(&liar_srcu);
	int ret = honest.query_qp(qp, attr, mask, init);
	struct liar_qp *q;

	spin_lock_bh(&liar_lock);
	q = find_qp(qp);
	if (!ret && q && (psn || (stopped && q->stopped)))
		attr->rq_psn = q->first_psn;
	spin_unlock_bh(&liar_lock);
	srcu_read_unlock(&liar_srcu, token);
	return ret;
}

static int liar_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	const int token = srcu_read_lock(&liar_srcu);
	struct liar_qp *q;
	int ret;

	mutex_lock(&liar_mutex);
	spin_lock_bh(&liar_lock);
	q = find_qp(qp);
	if (q)
		list_del(&q->node);
	spin_unlock_bh(&liar_lock);
	mutex_unlock(&liar_mutex);
	kfree(q);
	ret = honest.destroy_qp(qp, udata);
	srcu_read_unlock(&liar_srcu, token);
	return ret;
}

/* ---- Memory ---- */

static struct ib_mr *liar_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	const int token = srcu_read_lock(&liar_srcu);
	static atomic_t count;
	struct ib_mr *mr;

	if (registration && atomic_inc_return(&count) % 3 == 0)
		mr = ERR_PTR(-ENOMEM);
	else
		mr = honest.alloc_mr(pd, type, max_sg);
	srcu_read_unlock(&liar_srcu, token);
	return mr;
}

/* ---- The device ---- */

/* "ud" or "rc" is written: all such QPs of the kernel's fail, as by an error of the device. */
static int fail_qps(const char *val, const struct kernel_param *kp)
{
	const enum ib_qp_type type = sysfs_streq(val, "ud") ? IB_QPT_UD : IB_QPT_RC;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_qp *qps[64];
	struct liar_qp *q;
	u32 n = 0, i;

	mutex_lock(&liar_mutex);
	spin_lock_bh(&liar_lock);
	list_for_each_entry(q, &liar_qps, node)
		if (q->qp->qp_type == type && n < ARRAY_SIZE(qps))
			qps[n++] = q->qp;
	spin_unlock_bh(&liar_lock);
	for (i = 0; i < n; i++)
		honest.modify_qp(qps[i], &attr, IB_QP_STATE, NULL);
	mutex_unlock(&liar_mutex);
	return n ? 0 : -ENODEV;
}

static const struct kernel_param_ops fail_qps_ops = {
	.set = fail_qps,
};

module_param_cb(fail_qps, &fail_qps_ops, NULL, 0200);
MODULE_PARM_DESC(fail_qps, "\"ud\" or \"rc\" is written: such QPs of the kernel's fail");

static int liar_add(struct ib_device *dev)
{
	if (dev->ops.driver_id != RDMA_DRIVER_RXE)
		return -EOPNOTSUPP;
	if (!honest.poll_cq) {
		honest = dev->ops;
		honest_send_sges = dev->attrs.max_send_sge;
		honest_recv_sges = dev->attrs.max_recv_sge;
	}
	if (sges) {
		dev->attrs.max_send_sge = LIAR_SGES;
		dev->attrs.max_recv_sge = LIAR_SGES;
	}
	dev->ops.poll_cq = liar_poll_cq;
	dev->ops.destroy_cq = liar_destroy_cq;
	dev->ops.create_qp = liar_create_qp;
	dev->ops.modify_qp = liar_modify_qp;
	dev->ops.query_qp = liar_query_qp;
	dev->ops.destroy_qp = liar_destroy_qp;
	dev->ops.alloc_mr = liar_alloc_mr;
	return 0;
}

static void liar_remove(struct ib_device *dev, void *data)
{
	dev->ops.poll_cq = honest.poll_cq;
	dev->ops.destroy_cq = honest.destroy_cq;
	dev->ops.create_qp = honest.create_qp;
	dev->ops.modify_qp = honest.modify_qp;
	dev->ops.query_qp = honest.query_qp;
	dev->ops.destroy_qp = honest.destroy_qp;
	dev->ops.alloc_mr = honest.alloc_mr;
	dev->attrs.max_send_sge = honest_send_sges;
	dev->attrs.max_recv_sge = honest_recv_sges;
}

static struct ib_client liar_client = {
	.name = "vqp-liar",
	.add = liar_add,
	.remove = liar_remove,
};

static int __init liar_init(void)
{
	mod_timer(&liar_timer, jiffies + 1);
	return ib_register_client(&liar_client);
}

static void __exit liar_exit(void)
{
	struct liar_cq *c, *next_cq;
	struct liar_qp *q, *next_qp;

	ib_unregister_client(&liar_client);
	synchronize_srcu(&liar_srcu);
	timer_shutdown_sync(&liar_timer);
	list_for_each_entry_safe(c, next_cq, &liar_cqs, node)
		forget_cq(c);
	list_for_each_entry_safe(q, next_qp, &liar_qps, node)
		kfree(q);
}

module_init(liar_init);
module_exit(liar_exit);

MODULE_DESCRIPTION("A device that behaves as those of other drivers do");
MODULE_LICENSE("Dual BSD/GPL");
