// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "ask.h"
#include "client.h"
#include "dct_cache.h"
#include "meta.h"
#include "node.h"
#include "ns.h"
#include "parent.h"
#include "qp.h"
#include "recv.h"
#include "send.h"

/* Questions that are being answered at most; who asks more waits, as for any receive. */
#define ASK_RECEIVES	128
#define ASK_LINES_MAX	256

/* ---- Lines: the kernel's VQPs towards the nodes that are told something ---- */

struct ask_line {
	struct hlist_node node;
	u8 gid[VQP_GID_BYTES];
	struct vqp *vqp;
	unsigned long used_at;		/* jiffies */
};

static DEFINE_MUTEX(ask_mutex);		/* guards the lines */
static DEFINE_HASHTABLE(ask_lines, 6);
static u32 ask_nlines;

static struct ask_line *line_find(const u8 *gid)
{
	struct ask_line *line;

	hash_for_each_possible(ask_lines, line, node, jhash(gid, VQP_GID_BYTES, 0))
		if (!memcmp(line->gid, gid, VQP_GID_BYTES))
			return line;
	return NULL;
}

static void line_drop(struct ask_line *line)
{
	lockdep_assert_held(&ask_mutex);
	hash_del(&line->node);
	ask_nlines--;
	vqp_teardown(line->vqp);
	kfree(line);
}

/* The one that nothing was said on for the longest time makes room. */
static void line_make_room(void)
{
	struct ask_line *line, *oldest = NULL;
	int bkt;

	lockdep_assert_held(&ask_mutex);
	if (ask_nlines < ASK_LINES_MAX)
		return;
	hash_for_each(ask_lines, bkt, line, node)
		if (!READ_ONCE(line->vqp->sends) &&
		    (!oldest || time_before(line->used_at, oldest->used_at)))
			oldest = line;
	if (oldest)
		line_drop(oldest);
}

/* A VQP towards that node, or ERR_PTR. Its address may have to be resolved, which takes seconds. */
static struct vqp *line_connect(const u8 *gid)
{
	struct vqp_route route;
	struct vqp_ns *host;
	struct vqp *vqp;
	int ret;

	ret = vqp_meta_route(0, gid, &route);
	if (ret)
		return ERR_PTR(ret);
	if (route.local) {
		vqp_route_end(&route);
		return ERR_PTR(-EHOSTUNREACH);
	}
	host = vqp_ns_host();
	vqp = vqp_client_connect(host, gid, &route.dct);
	vqp_ns_put(host);
	return vqp;
}

/* The line's VQP, referenced; one that has failed goes. NULL: there is none. */
static struct vqp *line_get(const u8 *gid)
{
	struct ask_line *line = line_find(gid);

	lockdep_assert_held(&ask_mutex);
	if (line && READ_ONCE(line->vqp->state) == VQP_QP_ERROR) {
		line_drop(line);
		line = NULL;
	}
	if (!line)
		return NULL;
	line->used_at = jiffies;
	kref_get(&line->vqp->ref);
	return line->vqp;
}

/* A line by way of vqp, which it takes over. */
static int line_add(const u8 *gid, struct vqp *vqp)
{
	struct ask_line *line;

	line_make_room();
	if (ask_nlines == ASK_LINES_MAX)
		return -ENOSPC;
	line = kzalloc(sizeof(*line), GFP_KERNEL);
	if (!line)
		return -ENOMEM;
	memcpy(line->gid, gid, VQP_GID_BYTES);
	line->vqp = vqp;
	hash_add(ask_lines, &line->node, jhash(gid, VQP_GID_BYTES, 0));
	ask_nlines++;
	return 0;
}

/* The line to that node goes, unless it leads to `dct`; NULL: in any case. */
static void line_hang_up(const u8 *gid, const struct vqp_dct *dct)
{
	struct ask_line *line;

	mutex_lock(&ask_mutex);
	line = line_find(gid);
	if (line && (!dct || memcmp(&line->vqp->dc.dct, dct, sizeof(*dct))))
		line_drop(line);
	mutex_unlock(&ask_mutex);
}

/* The VQP towards that node, referenced; made anew when the last one failed. */
static struct vqp *line_vqp(const u8 *gid)
{
	struct vqp *vqp, *made;
	int ret = 0;

	mutex_lock(&ask_mutex);
	vqp = line_get(gid);
	mutex_unlock(&ask_mutex);
	if (vqp)
		return vqp;
	made = line_connect(gid);
	if (IS_ERR(made))
		return made;
	mutex_lock(&ask_mutex);
	vqp = line_get(gid);
	if (!vqp) {
		ret = line_add(gid, made);
		if (!ret) {
			made = NULL;
			vqp = line_get(gid);
		}
	}
	mutex_unlock(&ask_mutex);
	/* Another was quicker, or there is no room. */
	if (made)
		vqp_teardown(made);
	return vqp ?: ERR_PTR(ret ?: -EIO);
}

/* The nodes that were asked are forgotten with the parent. */
static void ask_down(void)
{
	struct hlist_node *next;
	struct ask_line *line;
	int bkt;

	mutex_lock(&ask_mutex);
	hash_for_each_safe(ask_lines, bkt, next, line, node)
		line_drop(line);
	mutex_unlock(&ask_mutex);
}

struct vqp_device_user vqp_ask_device_user = {
	.down = ask_down,
};

/* ---- Calls ---- */

static DEFINE_HASHTABLE(ask_calls, 8);		/* by id; whoever takes one out may use it */
static DEFINE_SPINLOCK(ask_lock);		/* guards it and: */
static u32 ask_next_id;

static struct vqp_ask_call *call_find(u32 id)
{
	struct vqp_ask_call *call;

	lockdep_assert_held(&ask_lock);
	hash_for_each_possible(ask_calls, call, node, id)
		if (call->id == id)
			return call;
	return NULL;
}

static void call_add(struct vqp_ask_call *call, const u8 *gid, u8 kind)
{
	memcpy(call->gid, gid, VQP_GID_BYTES);
	call->kind = kind;
	spin_lock_bh(&ask_lock);
	call->id = ask_next_id++;
	hash_add(ask_calls, &call->node, call->id);
	spin_unlock_bh(&ask_lock);
}

/* `answer` from node gid; or NULL: none will come. */
static void call_finish(u32 id, const u8 *gid, const struct vqp_ask *answer)
{
	struct vqp_ask_call *call;

	/* Called with the lock: vqp_ask_cancel() waits for a call that is being finished. */
	spin_lock_bh(&ask_lock);
	call = call_find(id);
	if (call && (!answer || (call->kind == answer->kind &&
				 !memcmp(call->gid, gid, VQP_GID_BYTES)))) {
		hash_del(&call->node);
		call->answered(call, answer);
	}
	spin_unlock_bh(&ask_lock);
}

bool vqp_ask_cancel(struct vqp_ask_call *call)
{
	bool pending;

	spin_lock_bh(&ask_lock);
	pending = call_find(call->id) == call;
	if (pending)
		hash_del(&call->node);
	spin_unlock_bh(&ask_lock);
	return pending;
}

struct ask_send {
	struct vqp_ask msg;
	struct vqp_send send;		/* last: ends in a flexible array */
};

static void ask_sent(struct vqp_send *send, u32 status)
{
	struct ask_send *s = container_of(send, struct ask_send, send);

	if (status && !s->msg.is_answer)
		call_finish(be32_to_cpu(s->msg.id), NULL, NULL);
	kfree(s);
}

static int ask_post(const u8 *gid, const struct vqp_ask *msg, u32 id, bool is_answer)
{
	struct ask_send *s = kzalloc(sizeof(*s), GFP_KERNEL);
	LIST_HEAD(sends);
	struct vqp *vqp;
	int ret;

	if (!s)
		return -ENOMEM;
	s->msg = *msg;
	s->msg.version = VQP_ASK_VERSION;
	s->msg.is_answer = is_answer;
	s->msg.id = cpu_to_be32(id);
	s->msg.epoch = cpu_to_be32(vqp_node_epoch());
	s->send.opcode = VQP_WR_SEND;
	s->send.kbuf = &s->msg;
	s->send.done = ask_sent;
	s->send.msg.op = VQP_OP_SEND;
	s->send.msg.bytes = sizeof(s->msg);
	list_add(&s->send.msg.link, &sends);
	vqp = line_vqp(gid);
	ret = PTR_ERR_OR_ZERO(vqp);
	if (!ret) {
		ret = vqp_send_queue(vqp, &sends, 1);
		vqp_put(vqp);
	}
	if (ret < 0) {
		kfree(s);
		return ret;
	}
	return 0;
}

int vqp_ask_start(struct vqp_ask_call *call, const u8 *gid, const struct vqp_ask *msg)
{
	int ret;

	call_add(call, gid, msg->kind);
	ret = ask_post(gid, msg, call->id, false);
	/* If it has been finished meanwhile, the caller knows. */
	return ret && vqp_ask_cancel(call) ? ret : 0;
}

struct ask_wait {
	struct vqp_ask_call call;
	struct completion done;
	struct vqp_ask *msg;
	int ret;
};

static void ask_wait_answered(struct vqp_ask_call *call, const struct vqp_ask *answer)
{
	struct ask_wait *wait = container_of(call, struct ask_wait, call);

	wait->ret = answer ? -(int)be32_to_cpu(answer->status) : -EIO;
	if (answer)
		*wait->msg = *answer;
	complete(&wait->done);
}

int vqp_ask(const u8 *gid, struct vqp_ask *msg, u32 timeout_ms)
{
	struct ask_wait wait = {
		.call.answered = ask_wait_answered,
		.msg = msg,
		.ret = -ETIMEDOUT,
	};
	int ret;

	init_completion(&wait.done);
	ret = vqp_ask_start(&wait.call, gid, msg);
	if (ret)
		return ret;
	wait_for_completion_timeout(&wait.done, msecs_to_jiffies(timeout_ms));
	vqp_ask_cancel(&wait.call);
	return wait.ret;
}

int vqp_ask_relearn(const u8 *gid, struct vqp_dct *dct, u32 tenant, const u8 *target_gid)
{
	struct vqp_route route;
	int ret = -EHOSTUNREACH;

	vqp_dct_cache_forget(tenant, target_gid);
	if (vqp_meta_route(tenant, target_gid, &route))
		return 0;
	if (!route.local && !memcmp(route.dct.node_gid, gid, VQP_GID_BYTES)) {
		ret = memcmp(&route.dct, dct, sizeof(*dct)) != 0;
		*dct = route.dct;
		vqp_dct_cache_learn(0, gid, dct);
		line_hang_up(gid, dct);
	}
	vqp_route_end(&route);
	return ret;
}

void vqp_ask_hang_up(const u8 *gid)
{
	line_hang_up(gid, NULL);
}

/* ---- The service: questions that arrive ---- */

/* A receive of the service, which also carries out what it has received. */
struct ask_heard {
	struct work_struct work;
	unsigned long at;		/* jiffies: when */
	struct vqp_ask msg;
	u8 gid[VQP_GID_BYTES];
	struct vqp_recv recv;		/* last: ends in a flexible array */
};

static struct vqp *ask_service;
static struct workqueue_struct *ask_wq;

static void heard_post(struct ask_heard *heard)
{
	if (vqp_recv_post(ask_service, &heard->recv))
		kfree(heard);
}

static vqp_ask_handler ask_handlers[VQP_ASK_MAX + 1] __ro_after_init;

void __init vqp_ask_handle(enum vqp_ask_kind kind, vqp_ask_handler handler)
{
	ask_handlers[kind] = handler;
}

static int ask_answer(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at)
{
	vqp_ask_handler handler;

	handler = msg->kind <= VQP_ASK_MAX ?
		  ask_handlers[array_index_nospec(msg->kind, VQP_ASK_MAX + 1)] : NULL;
	return handler ? handler(gid, msg, heard_at) : -EOPNOTSUPP;
}

static void ask_work(struct work_struct *work)
{
	struct ask_heard *heard = container_of(work, struct ask_heard, work);
	int ret = ask_answer(heard->gid, &heard->msg, heard->at);

	heard->msg.status = cpu_to_be32(-ret);
	/* The asker waits for an answer that cannot be sent, but not for long. */
	ret = ask_post(heard->gid, &heard->msg, be32_to_cpu(heard->msg.id), true);
	if (ret)
		pr_debug("vqp: no answer to %pI6c: %d\n", heard->gid, ret);
	heard_post(heard);
}

static void ask_heard(struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	struct ask_heard *heard = container_of(recv, struct ask_heard, recv);

	if (!info) {
		kfree(heard);
		return;
	}
	if (info->bytes != sizeof(heard->msg) || heard->msg.version != VQP_ASK_VERSION) {
		heard_post(heard);
		return;
	}
	if (heard->msg.is_answer) {
		call_finish(be32_to_cpu(heard->msg.id), info->src_gid, &heard->msg);
		heard_post(heard);
		return;
	}
	memcpy(heard->gid, info->src_gid, VQP_GID_BYTES);
	heard->at = jiffies;
	queue_work(ask_wq, &heard->work);
}

static struct ask_heard * __init heard_create(void)
{
	struct ask_heard *heard = kzalloc(sizeof(*heard), GFP_KERNEL);

	if (!heard)
		return NULL;
	INIT_WORK(&heard->work, ask_work);
	heard->recv.kbuf = &heard->msg;
	heard->recv.bytes = sizeof(heard->msg);
	return heard;
}

int __init vqp_ask_init(void)
{
	struct vqp_ns *host = vqp_ns_host();
	struct ask_heard *heard;
	int i;

	/* An answer to a question of an earlier life is none to one of this. */
	ask_next_id = get_random_u32();
	ask_wq = alloc_workqueue("vqp_ask", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	ask_service = ask_wq ? vqp_client_listen(host, ask_heard, ASK_RECEIVES) : NULL;
	vqp_ns_put(host);
	if (IS_ERR_OR_NULL(ask_service)) {
		if (ask_wq)
			destroy_workqueue(ask_wq);
		return -ENOMEM;
	}
	for (i = 0; i < ASK_RECEIVES; i++) {
		heard = heard_create();
		if (!heard) {
			vqp_ask_exit();
			return -ENOMEM;
		}
		heard_post(heard);
	}
	return 0;
}

void vqp_ask_exit(void)
{
	/* Its memory outlives the work that would post its receives again. */
	kref_get(&ask_service->ref);
	vqp_teardown(ask_service);
	destroy_workqueue(ask_wq);
	vqp_put(ask_service);
	ask_down();
}
