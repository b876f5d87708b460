// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/dct_cache.h"
#include "base/hash.h"
#include "base/node.h"
#include "device/parent.h"
#include "meta/client.h"
#include "meta/lookup.h"
#include "meta/rpc.h"
#include "ns/namespace.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/vqp.h"

/* The most requests that the node answers at a time. Further ones wait as for any receive. */
#define RPC_RECEIVES		128
#define RPC_CHANNELS_MAX	256

/* ---- Channels: the kernel's VQPs towards the nodes that it calls ---- */

struct rpc_channel {
	struct hlist_node node;
	u8 gid[VQP_GID_BYTES];
	struct vqp *vqp;
	unsigned long used_at;		/* in jiffies */
};

static DEFINE_MUTEX(rpc_mutex);		/* guards rpc_channels and rpc_nchannels */
static DEFINE_HASHTABLE(rpc_channels, 6);
static u32 rpc_nchannels;

static struct rpc_channel *channel_find(const u8 *gid)
{
	struct rpc_channel *channel;

	hash_for_each_possible(rpc_channels, channel, node, vqp_hash_gid(gid, 0))
		if (!memcmp(channel->gid, gid, VQP_GID_BYTES))
			return channel;
	return NULL;
}

static void channel_drop(struct rpc_channel *channel)
{
	lockdep_assert_held(&rpc_mutex);
	hash_del(&channel->node);
	rpc_nchannels--;
	vqp_teardown(channel->vqp);
	kfree(channel);
}

/* With the table full, drop the channel that has been unused longest and has nothing to send. */
static void channel_make_room(void)
{
	struct rpc_channel *channel, *oldest = NULL;
	int bkt;

	lockdep_assert_held(&rpc_mutex);
	if (rpc_nchannels < RPC_CHANNELS_MAX)
		return;
	hash_for_each(rpc_channels, bkt, channel, node)
		if (!READ_ONCE(channel->vqp->sends) &&
		    (!oldest || time_before(channel->used_at, oldest->used_at)))
			oldest = channel;
	if (oldest)
		channel_drop(oldest);
}

/* A new VQP towards node gid, or ERR_PTR. May wait for a lookup and for ARP, seconds in all. */
static struct vqp *channel_connect(const u8 *gid)
{
	struct vqp_route route;
	struct vqp_ns *host;
	struct vqp *vqp;
	int ret;

	host = vqp_ns_host();
	ret = vqp_meta_route(host, gid, NULL, &route);
	if (ret)
		vqp = ERR_PTR(ret);
	else if (route.local)
		vqp = ERR_PTR(-EHOSTUNREACH);
	else
		vqp = vqp_client_connect(host, gid, &route.dct);
	if (!ret)
		vqp_route_end(&route);
	vqp_ns_put(host);
	return vqp;
}

/* The VQP of the channel to node gid, referenced; or NULL. Drops a channel that has failed. */
static struct vqp *channel_get(const u8 *gid)
{
	struct rpc_channel *channel = channel_find(gid);

	lockdep_assert_held(&rpc_mutex);
	if (channel && READ_ONCE(channel->vqp->state) == VQP_QP_ERROR) {
		channel_drop(channel);
		channel = NULL;
	}
	if (!channel)
		return NULL;
	channel->used_at = jiffies;
	kref_get(&channel->vqp->ref);
	return channel->vqp;
}

/* Add a channel to node gid over vqp. On success the channel owns the caller's reference. */
static int channel_add(const u8 *gid, struct vqp *vqp)
{
	struct rpc_channel *channel;

	channel_make_room();
	if (rpc_nchannels == RPC_CHANNELS_MAX)
		return -ENOSPC;
	channel = kzalloc(sizeof(*channel), GFP_KERNEL);
	if (!channel)
		return -ENOMEM;
	memcpy(channel->gid, gid, VQP_GID_BYTES);
	channel->vqp = vqp;
	hash_add(rpc_channels, &channel->node, vqp_hash_gid(gid, 0));
	rpc_nchannels++;
	return 0;
}

/* Drop the channel to node gid, unless its VQP is connected by `dct`. NULL drops it in any case. */
static void channel_hang_up(const u8 *gid, const struct vqp_dct *dct)
{
	struct rpc_channel *channel;

	mutex_lock(&rpc_mutex);
	channel = channel_find(gid);
	if (channel && (!dct || memcmp(&channel->vqp->dc.dct, dct, sizeof(*dct))))
		channel_drop(channel);
	mutex_unlock(&rpc_mutex);
}

/* The VQP of the channel to node gid, referenced, which is made if need be; or ERR_PTR. */
static struct vqp *channel_vqp(const u8 *gid)
{
	struct vqp *vqp, *made;
	int ret = 0;

	mutex_lock(&rpc_mutex);
	vqp = channel_get(gid);
	mutex_unlock(&rpc_mutex);
	if (vqp)
		return vqp;
	made = channel_connect(gid);
	if (IS_ERR(made))
		return made;
	mutex_lock(&rpc_mutex);
	vqp = channel_get(gid);
	if (!vqp) {
		ret = channel_add(gid, made);
		if (!ret) {
			made = NULL;
			vqp = channel_get(gid);
		}
	}
	mutex_unlock(&rpc_mutex);
	/* Another thread has added a channel meanwhile, or there is no room. */
	if (made)
		vqp_teardown(made);
	return vqp ?: ERR_PTR(ret ?: -EIO);
}

/* vqp_device_user.down: the channels' VQPs end with the parent. */
static void rpc_down(void)
{
	struct hlist_node *next;
	struct rpc_channel *channel;
	int bkt;

	mutex_lock(&rpc_mutex);
	hash_for_each_safe(rpc_channels, bkt, next, channel, node)
		channel_drop(channel);
	mutex_unlock(&rpc_mutex);
}

struct vqp_device_user vqp_rpc_device_user = {
	.down = rpc_down,
};

/* ---- Calls ---- */

/* The calls under way, by id. A call belongs to the code that takes it out of the table. */
static DEFINE_HASHTABLE(rpc_calls, 8);
static DEFINE_SPINLOCK(rpc_lock);		/* guards rpc_calls and rpc_next_id */
static u32 rpc_next_id;

static struct vqp_rpc_call *call_find(u32 id)
{
	struct vqp_rpc_call *call;

	lockdep_assert_held(&rpc_lock);
	hash_for_each_possible(rpc_calls, call, node, id)
		if (call->id == id)
			return call;
	return NULL;
}

static void call_add(struct vqp_rpc_call *call, const u8 *gid, u8 kind)
{
	memcpy(call->gid, gid, VQP_GID_BYTES);
	call->kind = kind;
	spin_lock_bh(&rpc_lock);
	call->id = rpc_next_id++;
	hash_add(rpc_calls, &call->node, call->id);
	spin_unlock_bh(&rpc_lock);
}

/*
 * Call `id` ends: by `answer` from node gid, or, if that is NULL, because no answer will come. An
 * answer of another node or another kind is dropped.
 */
static void call_finish(u32 id, const u8 *gid, const struct vqp_rpc_msg *answer)
{
	struct vqp_rpc_call *call;

	/*
	 * The call is finished under the lock, so that nothing uses it any more when
	 * vqp_rpc_cancel() returns.
	 */
	spin_lock_bh(&rpc_lock);
	call = call_find(id);
	if (call && (!answer || (call->kind == answer->kind &&
				 !memcmp(call->gid, gid, VQP_GID_BYTES)))) {
		hash_del(&call->node);
		call->answered(call, answer);
	}
	spin_unlock_bh(&rpc_lock);
}

bool vqp_rpc_cancel(struct vqp_rpc_call *call)
{
	bool pending;

	spin_lock_bh(&rpc_lock);
	pending = call_find(call->id) == call;
	if (pending)
		hash_del(&call->node);
	spin_unlock_bh(&rpc_lock);
	return pending;
}

struct rpc_send {
	struct vqp_rpc_msg msg;
	struct vqp_send send;		/* It ends in a flexible array, and so comes last. */
};

static void rpc_sent(struct vqp_send *send, u32 status)
{
	struct rpc_send *s = container_of(send, struct rpc_send, send);

	if (status && !s->msg.is_answer)
		call_finish(be32_to_cpu(s->msg.id), NULL, NULL);
	kfree(s);
}

static int rpc_post(const u8 *gid, const struct vqp_rpc_msg *msg, u32 id, bool is_answer)
{
	struct rpc_send *s = kzalloc(sizeof(*s), GFP_KERNEL);
	LIST_HEAD(sends);
	struct vqp *vqp;
	int ret;

	if (!s)
		return -ENOMEM;
	s->msg = *msg;
	s->msg.version = VQP_RPC_VERSION;
	s->msg.is_answer = is_answer;
	s->msg.id = cpu_to_be32(id);
	s->msg.epoch = cpu_to_be32(vqp_node_epoch());
	s->send.opcode = VQP_WR_SEND;
	s->send.kbuf = &s->msg;
	s->send.done = rpc_sent;
	s->send.msg.op = VQP_OP_SEND;
	s->send.msg.bytes = sizeof(s->msg);
	list_add(&s->send.msg.link, &sends);
	vqp = channel_vqp(gid);
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

int vqp_rpc_start(struct vqp_rpc_call *call, const u8 *gid, const struct vqp_rpc_msg *msg)
{
	int ret;

	call_add(call, gid, msg->kind);
	ret = rpc_post(gid, msg, call->id, false);
	/* A call that is not in the table any more has been finished, with its callback. */
	return ret && vqp_rpc_cancel(call) ? ret : 0;
}

struct rpc_wait {
	struct vqp_rpc_call call;
	struct completion done;
	struct vqp_rpc_msg *msg;
	int ret;
};

static void rpc_wait_answered(struct vqp_rpc_call *call, const struct vqp_rpc_msg *answer)
{
	struct rpc_wait *wait = container_of(call, struct rpc_wait, call);

	wait->ret = answer ? -(int)be32_to_cpu(answer->status) : -EIO;
	if (answer)
		*wait->msg = *answer;
	complete(&wait->done);
}

int vqp_rpc(const u8 *gid, struct vqp_rpc_msg *msg, u32 timeout_ms)
{
	struct rpc_wait wait = {
		.call.answered = rpc_wait_answered,
		.msg = msg,
		.ret = -ETIMEDOUT,
	};
	int ret;

	init_completion(&wait.done);
	ret = vqp_rpc_start(&wait.call, gid, msg);
	if (ret)
		return ret;
	wait_for_completion_timeout(&wait.done, msecs_to_jiffies(timeout_ms));
	vqp_rpc_cancel(&wait.call);
	return wait.ret;
}

int vqp_rpc_relearn(const u8 *gid, struct vqp_dct *dct, const struct vqp *vqp)
{
	struct vqp_route route;
	int ret = -EHOSTUNREACH;

	vqp_dct_cache_doubt(vqp->ns->tenant, vqp->remote_gid);
	/* VQPs of other tenants may depend on it, too, and outlive this one. */
	if (vqp_meta_route(vqp->ns, vqp->remote_gid, NULL, &route))
		return 0;
	if (!route.local && !memcmp(route.dct.node_gid, gid, VQP_GID_BYTES)) {
		ret = memcmp(&route.dct, dct, sizeof(*dct)) != 0;
		*dct = route.dct;
		vqp_dct_cache_note(0, gid, dct);
		channel_hang_up(gid, dct);
	}
	vqp_route_end(&route);
	return ret;
}

void vqp_rpc_hang_up(const u8 *gid)
{
	channel_hang_up(gid, NULL);
}

/* ---- The service: requests that arrive ---- */

/* A receive of the service, and the work that answers the request in it. */
struct rpc_receive {
	struct work_struct work;
	unsigned long at;		/* when msg arrived, in jiffies */
	struct vqp_rpc_msg msg;
	u8 gid[VQP_GID_BYTES];		/* the caller's node, from which the request came */
	struct vqp_recv recv;		/* It ends in a flexible array, and so comes last. */
};

static struct vqp *rpc_service;
static struct workqueue_struct *rpc_wq;

static void receive_post(struct rpc_receive *receive)
{
	if (vqp_recv_post(rpc_service, &receive->recv))
		kfree(receive);
}

static vqp_rpc_handler rpc_handlers[VQP_RPC_MAX + 1] __ro_after_init;

void __init vqp_rpc_handle(enum vqp_rpc_kind kind, vqp_rpc_handler handler)
{
	rpc_handlers[kind] = handler;
}

static int rpc_answer(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	vqp_rpc_handler handler;

	handler = msg->kind <= VQP_RPC_MAX ?
		  rpc_handlers[array_index_nospec(msg->kind, VQP_RPC_MAX + 1)] : NULL;
	return handler ? handler(gid, msg, received_at) : -EOPNOTSUPP;
}

static void rpc_work(struct work_struct *work)
{
	struct rpc_receive *receive = container_of(work, struct rpc_receive, work);
	int ret = rpc_answer(receive->gid, &receive->msg, receive->at);

	receive->msg.status = cpu_to_be32(-ret);
	/* Without an answer the call ends by the caller's time limit. */
	ret = rpc_post(receive->gid, &receive->msg, be32_to_cpu(receive->msg.id), true);
	if (ret)
		pr_debug("no answer to %pI6c: %d\n", receive->gid, ret);
	receive_post(receive);
}

static void rpc_on_recv(struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	struct rpc_receive *receive = container_of(recv, struct rpc_receive, recv);

	if (!info) {
		kfree(receive);
		return;
	}
	if (info->bytes != sizeof(receive->msg) || receive->msg.version != VQP_RPC_VERSION) {
		receive_post(receive);
		return;
	}
	if (receive->msg.is_answer) {
		call_finish(be32_to_cpu(receive->msg.id), info->src_gid, &receive->msg);
		receive_post(receive);
		return;
	}
	memcpy(receive->gid, info->src_gid, VQP_GID_BYTES);
	receive->at = jiffies;
	queue_work(rpc_wq, &receive->work);
}

static struct rpc_receive * __init receive_create(void)
{
	struct rpc_receive *receive = kzalloc(sizeof(*receive), GFP_KERNEL);

	if (!receive)
		return NULL;
	INIT_WORK(&receive->work, rpc_work);
	receive->recv.kbuf = &receive->msg;
	receive->recv.bytes = sizeof(receive->msg);
	return receive;
}

int __init vqp_rpc_init(void)
{
	struct vqp_ns *host = vqp_ns_host();
	struct rpc_receive *receive;
	int i;

	/* Ids begin at random, so that answers to calls of an earlier load match none of this. */
	rpc_next_id = get_random_u32();
	rpc_wq = alloc_workqueue("vqp_rpc", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	rpc_service = rpc_wq ? vqp_client_listen(host, rpc_on_recv, RPC_RECEIVES) : NULL;
	vqp_ns_put(host);
	if (IS_ERR_OR_NULL(rpc_service)) {
		if (rpc_wq)
			destroy_workqueue(rpc_wq);
		return -ENOMEM;
	}
	for (i = 0; i < RPC_RECEIVES; i++) {
		receive = receive_create();
		if (!receive) {
			vqp_rpc_exit();
			return -ENOMEM;
		}
		receive_post(receive);
	}
	return 0;
}

void vqp_rpc_exit(void)
{
	/* The work that is still queued posts receives to the VQP, which fails by then. */
	kref_get(&rpc_service->ref);
	vqp_teardown(rpc_service);
	destroy_workqueue(rpc_wq);
	vqp_put(rpc_service);
	rpc_down();
}
