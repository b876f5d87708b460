// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "ask.h"
#include "compat.h"
#include "counters.h"
#include "parent.h"
#include "rc.h"
#include "rc_end.h"
#include "rc_qp.h"
#include "window.h"

#define END_SEND_WRS		16		/* registrations of windows */
#define END_STOPPED_MAX		256		/* that are remembered, */
#define END_STOPPED_JIFFIES	(60 * HZ)	/* at most for so long */
/* Initiators let go of a link that they do not use long before. */
#define END_SILENT_JIFFIES	(60 * HZ)

static DEFINE_MUTEX(end_walk);		/* one walk that drops end_mutex, or removal, at a time */
static DEFINE_MUTEX(end_mutex);		/* guards the list; inside end.lock */
static LIST_HEAD(end_list);		/* newest first */

static void end_release(struct kref *ref)
{
	kfree(container_of(ref, struct vqp_rc_end, ref));
	vqp_count_freed(VQP_OBJ_RC_END);
}

void vqp_rc_end_hold(struct vqp_rc_end *end)
{
	kref_get(&end->ref);
}

void vqp_rc_end_put(struct vqp_rc_end *end)
{
	kref_put(&end->ref, end_release);
}

struct vqp_rc_end *vqp_rc_end_get(const u8 *gid, const struct vqp_ask *msg)
{
	const u32 epoch = be32_to_cpu(msg->epoch), link = be32_to_cpu(msg->link);
	struct vqp_rc_end *end, *found = NULL;

	mutex_lock(&end_mutex);
	list_for_each_entry(end, &end_list, node) {
		if (end->link == link && end->epoch == epoch &&
		    !memcmp(end->gid, gid, VQP_GID_BYTES)) {
			found = end;
			vqp_rc_end_hold(end);
			break;
		}
	}
	mutex_unlock(&end_mutex);
	return found;
}

void vqp_rc_end_stop(struct vqp_rc_end *end)
{
	struct ib_qp *qp;

	mutex_lock(&end->lock);
	qp = end->qp;
	if (qp) {
		end->stop_status = vqp_rc_qp_stop(qp, &end->psn);
		end->stopped_at = jiffies;
		end->qp = NULL;
		/* First the QP, which may be in the midst of a window. */
		vqp_rc_qp_retire(qp);
		vqp_window_close_all(&end->windows);
	}
	mutex_unlock(&end->lock);
}

/* ---- Opening and closing ---- */

static struct vqp_rc_end *end_create(const u8 *gid, const struct vqp_ask *msg)
{
	struct vqp_rc_end *end = kzalloc(sizeof(*end), GFP_KERNEL);

	if (!end)
		return NULL;
	kref_init(&end->ref);
	memcpy(end->gid, gid, VQP_GID_BYTES);
	end->epoch = be32_to_cpu(msg->epoch);
	end->link = be32_to_cpu(msg->link);
	mutex_init(&end->lock);
	INIT_LIST_HEAD(&end->windows);
	vqp_count_made(VQP_OBJ_RC_END);
	return end;
}

static int end_start(struct vqp_rc_end *end, struct vqp_parent *parent, struct vqp_ask *msg)
{
	struct vqp_rc_dest dest = {
		.qpn = be32_to_cpu(msg->qpn),
		.psn = be32_to_cpu(msg->psn) & VQP_PSN_MASK,
		.mtu = be32_to_cpu(msg->mtu),
		.reads = be32_to_cpu(msg->reads),
	};
	u32 psn = get_random_u32() & VQP_PSN_MASK;
	struct ib_qp *qp;
	int ret;

	memcpy(dest.gid, end->gid, VQP_GID_BYTES);
	qp = vqp_rc_qp_create(parent, NULL, END_SEND_WRS, 1);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = vqp_rc_qp_connect(qp, parent, psn, &dest);
	if (ret) {
		vqp_rc_qp_destroy(qp);
		return ret;
	}
	end->qp = qp;
	end->seen_psn = U32_MAX;
	msg->qpn = cpu_to_be32(qp->qp_num);
	msg->psn = cpu_to_be32(psn);
	msg->mtu = cpu_to_be32(min(parent->mtu, dest.mtu));
	msg->reads = cpu_to_be32(vqp_rc_qp_reads(parent));
	return 0;
}

/* What that node made in an earlier life, it does not know any more. */
static void end_stop_old(const u8 *gid, u32 epoch)
{
	struct vqp_rc_end *end, *old;

	do {
		old = NULL;
		mutex_lock(&end_mutex);
		list_for_each_entry(end, &end_list, node) {
			if (READ_ONCE(end->qp) && end->epoch != epoch &&
			    !memcmp(end->gid, gid, VQP_GID_BYTES)) {
				old = end;
				vqp_rc_end_hold(old);
				break;
			}
		}
		mutex_unlock(&end_mutex);
		if (old) {
			vqp_rc_end_stop(old);
			vqp_rc_end_put(old);
		}
	} while (old);
}

static u32 end_count_live(void)
{
	struct vqp_rc_end *end;
	u32 live = 0;

	mutex_lock(&end_mutex);
	list_for_each_entry(end, &end_list, node)
		live += !!READ_ONCE(end->qp);
	mutex_unlock(&end_mutex);
	return live;
}

int vqp_rc_end_open(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at)
{
	struct vqp_rc_end *end = vqp_rc_end_get(gid, msg);
	struct vqp_parent *parent;
	int token, ret;

	if (end) {
		vqp_rc_end_put(end);
		return -EEXIST;
	}
	end_stop_old(gid, be32_to_cpu(msg->epoch));
	if (end_count_live() >= vqp_rc_max())
		return -EBUSY;
	end = end_create(gid, msg);
	if (!end)
		return -ENOMEM;
	parent = vqp_parent_enter(&token);
	if (!parent) {
		vqp_rc_end_put(end);
		return -ENETDOWN;
	}
	ret = end_start(end, parent, msg);
	if (ret) {
		vqp_rc_end_put(end);
	} else {
		/* Still inside: vqp_rc_end_down() is to find it. */
		mutex_lock(&end_mutex);
		list_add(&end->node, &end_list);
		mutex_unlock(&end_mutex);
	}
	vqp_parent_leave(token);
	return ret;
}

int vqp_rc_end_close(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at)
{
	struct vqp_rc_end *end = vqp_rc_end_get(gid, msg);
	int ret;

	if (!end)
		return -ENOENT;
	vqp_rc_end_stop(end);
	msg->psn = cpu_to_be32(end->psn);
	ret = end->stop_status;
	vqp_rc_end_put(end);
	return ret;
}

/* ---- Those that are left ---- */

/* A second look: has anything come since the first? An initiator that died says nothing. */
static bool end_is_silent(struct vqp_rc_end *end)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	bool silent = false;

	mutex_lock(&end->lock);
	if (end->qp && !ib_query_qp(end->qp, &attr, IB_QP_RQ_PSN, &init)) {
		silent = end->seen_psn == attr.rq_psn;
		end->seen_psn = attr.rq_psn;
	}
	mutex_unlock(&end->lock);
	return silent;
}

static bool end_is_old(const struct vqp_rc_end *end)
{
	return !READ_ONCE(end->qp) &&
	       time_after(jiffies, end->stopped_at + END_STOPPED_JIFFIES);
}

/* Forget those that stopped long ago, and the oldest of too many. */
static void end_forget(bool all)
{
	struct vqp_rc_end *end, *next;
	u32 stopped = 0;

	mutex_lock(&end_walk);
	mutex_lock(&end_mutex);
	list_for_each_entry_safe(end, next, &end_list, node) {
		if (READ_ONCE(end->qp) ||
		    (!all && !end_is_old(end) && ++stopped <= END_STOPPED_MAX))
			continue;
		list_del(&end->node);
		vqp_rc_end_put(end);
	}
	mutex_unlock(&end_mutex);
	mutex_unlock(&end_walk);
}

/* Stop each that `match` wants (NULL: all). */
static void end_stop_each(bool (*match)(struct vqp_rc_end *end))
{
	struct vqp_rc_end *end, *prev = NULL;

	mutex_lock(&end_walk);
	mutex_lock(&end_mutex);
	list_for_each_entry(end, &end_list, node) {
		vqp_rc_end_hold(end);
		mutex_unlock(&end_mutex);
		if (prev)
			vqp_rc_end_put(prev);
		if (!match || match(end))
			vqp_rc_end_stop(end);
		prev = end;
		mutex_lock(&end_mutex);
	}
	mutex_unlock(&end_mutex);
	if (prev)
		vqp_rc_end_put(prev);
	mutex_unlock(&end_walk);
}

void vqp_rc_end_down(void)
{
	end_stop_each(NULL);
	vqp_window_wait();
}

static void end_look_work(struct work_struct *work)
{
	end_stop_each(end_is_silent);
	end_forget(false);
	queue_delayed_work(system_dfl_wq, to_delayed_work(work), END_SILENT_JIFFIES);
}

static DECLARE_DEFERRABLE_WORK(end_look, end_look_work);

int __init vqp_rc_end_init(void)
{
	queue_delayed_work(system_dfl_wq, &end_look, END_SILENT_JIFFIES);
	return 0;
}

void vqp_rc_end_exit(void)
{
	cancel_delayed_work_sync(&end_look);
	end_stop_each(NULL);
	end_forget(true);
}
