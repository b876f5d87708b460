// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "base/dct_cache.h"
#include "base/hash.h"
#include "dc/responder.h"
#include "meta/client.h"
#include "meta/rpc.h"
#include "ns/namespace.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "zcopy/recv.h"

#define ZRECV_MAX		4096		/* the most senders that the node remembers */
/* Of those, the number that is kept for senders who have asked for an outcome only. */
#define ZRECV_TOLD_MAX		512
#define ZRECV_NS_MAX		256		/* the most senders of one namespace on one node */
#define ZRECV_JIFFIES		(60 * HZ)	/* the time that a sender is remembered */
#define ZRECV_GIVEUP_MS		25000		/* the greatest giveup_ms of a sender */
/* The most that run at a time. Each occupies a receive of the rpc service and a thread. */
#define ZRECV_RUNNING_MAX	64

/* A sender's VQP, and its latest zero-copy send. The fields down to `qp` are constant. */
struct zrecv {
	struct hlist_node node;
	u8 node_gid[VQP_GID_BYTES];	/* the sender's node */
	u32 epoch;			/* the epoch of that node */
	u32 tenant;
	u8 gid[VQP_GID_BYTES];		/* the sender's VQP namespace */
	u32 qp;				/* the number of the sender's VQP */
	u32 zcopy;			/* the number of its latest zero-copy send */
	bool running;			/* A worker is receiving that send. */
	u32 done;			/* the messages of that send that have been received */
	unsigned long used_at;		/* when the send ended or was asked for, in jiffies */
	/* These are valid while running. */
	unsigned long until;		/* The sender may wait no longer than this, in jiffies. */
	const struct vqp *target;	/* the VQP whose receives the worker takes, or NULL */
	struct vqp *vqp;		/* the kernel's VQP that READs the messages, or NULL */
};

/* Guards the table with all entries, zrecv_count and zrecv_running. Outside vqp.lock. */
static DEFINE_SPINLOCK(zrecv_lock);
static DEFINE_HASHTABLE(zrecv_table, 8);
static u32 zrecv_count, zrecv_running;
static DECLARE_WAIT_QUEUE_HEAD(zrecv_wait);	/* for the end of a zero-copy receive */

/* ---- The senders that the node remembers ---- */

/* All VQPs of a namespace share a bucket, where zrecv_find() counts them. */
static u32 zrecv_hash(const u8 *gid, const struct vqp_rpc_msg *msg)
{
	return vqp_hash_gid(gid, vqp_hash_gid(msg->gid, be32_to_cpu(msg->tenant)));
}

static bool zrecv_is_of(const struct zrecv *zrecv, const u8 *gid, const struct vqp_rpc_msg *msg)
{
	return zrecv->tenant == be32_to_cpu(msg->tenant) &&
	       !memcmp(zrecv->gid, msg->gid, VQP_GID_BYTES) &&
	       !memcmp(zrecv->node_gid, gid, VQP_GID_BYTES);
}

static bool zrecv_is_old(const struct zrecv *zrecv)
{
	return !zrecv->running && time_after(jiffies, zrecv->used_at + ZRECV_JIFFIES);
}

static void zrecv_free(struct zrecv *zrecv)
{
	lockdep_assert_held(&zrecv_lock);
	hash_del(&zrecv->node);
	zrecv_count--;
	kfree(zrecv);
}

/*
 * The sender's entry, or NULL, and the number of other entries of its namespace. Frees those of the
 * namespace's entries that are old.
 */
static struct zrecv *zrecv_find(const u8 *gid, const struct vqp_rpc_msg *msg, u32 *others)
{
	struct zrecv *zrecv, *found = NULL;
	struct hlist_node *next;

	lockdep_assert_held(&zrecv_lock);
	*others = 0;
	hash_for_each_possible_safe(zrecv_table, zrecv, next, node, zrecv_hash(gid, msg)) {
		if (!zrecv_is_of(zrecv, gid, msg))
			continue;
		if (zrecv->qp == be32_to_cpu(msg->from_qp) &&
		    zrecv->epoch == be32_to_cpu(msg->epoch))
			found = zrecv;
		else if (zrecv_is_old(zrecv))
			zrecv_free(zrecv);
		else
			++*others;
	}
	return found;
}

static void zrecv_forget(bool all)
{
	struct zrecv *zrecv;
	struct hlist_node *next;
	int bkt;

	lockdep_assert_held(&zrecv_lock);
	hash_for_each_safe(zrecv_table, bkt, next, zrecv, node)
		if (all || zrecv_is_old(zrecv))
			zrecv_free(zrecv);
}

/*
 * The sender's entry, which is made if need be. Returns NULL if the namespace has `most` others, if
 * the node remembers `all` senders, or for want of memory.
 */
static struct zrecv *zrecv_get(const u8 *gid, const struct vqp_rpc_msg *msg, u32 most, u32 all)
{
	struct zrecv *zrecv;
	u32 others;

	zrecv = zrecv_find(gid, msg, &others);
	if (zrecv) {
		/* An old entry may be about an earlier VQP of that number. */
		if (zrecv_is_old(zrecv))
			zrecv->zcopy = be32_to_cpu(msg->zcopy) - 1;
		return zrecv;
	}
	if (others >= most)
		return NULL;
	if (zrecv_count >= all)
		zrecv_forget(false);
	if (zrecv_count >= all)
		return NULL;
	zrecv = kzalloc(sizeof(*zrecv), GFP_ATOMIC | __GFP_NOWARN);
	if (!zrecv)
		return NULL;
	memcpy(zrecv->node_gid, gid, VQP_GID_BYTES);
	zrecv->epoch = be32_to_cpu(msg->epoch);
	zrecv->tenant = be32_to_cpu(msg->tenant);
	memcpy(zrecv->gid, msg->gid, VQP_GID_BYTES);
	zrecv->qp = be32_to_cpu(msg->from_qp);
	zrecv->zcopy = be32_to_cpu(msg->zcopy) - 1;
	zrecv->used_at = jiffies;
	hash_add(zrecv_table, &zrecv->node, zrecv_hash(gid, msg));
	zrecv_count++;
	return zrecv;
}

/* The time until which the sender of a request that arrived at received_at waits, in jiffies. */
static unsigned long zrecv_until(const struct vqp_rpc_msg *msg, unsigned long received_at)
{
	const u32 giveup_ms = be32_to_cpu(msg->giveup_ms);

	return received_at + msecs_to_jiffies(min_t(u32, giveup_ms, ZRECV_GIVEUP_MS));
}

/*
 * Begin the zero-copy receive of a request. Returns NULL if too many are running, or if the request
 * is a repetition, or older than what the sender has asked about since.
 */
static struct zrecv *zrecv_begin(const u8 *gid, const struct vqp_rpc_msg *msg,
				 unsigned long received_at)
{
	const u32 zcopy = be32_to_cpu(msg->zcopy);
	struct zrecv *zrecv = NULL;

	spin_lock_bh(&zrecv_lock);
	if (zrecv_running < ZRECV_RUNNING_MAX)
		zrecv = zrecv_get(gid, msg, ZRECV_NS_MAX, ZRECV_MAX - ZRECV_TOLD_MAX);
	if (zrecv && !zrecv->running && (s32)(zcopy - zrecv->zcopy) > 0) {
		zrecv->zcopy = zcopy;
		zrecv->done = 0;
		zrecv->running = true;
		zrecv->until = zrecv_until(msg, received_at);
		zrecv_running++;
	} else {
		zrecv = NULL;
	}
	spin_unlock_bh(&zrecv_lock);
	return zrecv;
}

static u32 zrecv_end(struct zrecv *zrecv)
{
	u32 done;

	spin_lock_bh(&zrecv_lock);
	done = zrecv->done;
	zrecv->used_at = jiffies;
	zrecv->running = false;
	zrecv->target = NULL;
	zrecv_running--;
	spin_unlock_bh(&zrecv_lock);
	wake_up_all(&zrecv_wait);
	return done;
}

/*
 * Does the sender still wait? If it does, the next message counts as received from here on, whether
 * or not the answer arrives: a sender that asks for the outcome learns of it.
 */
static bool zrecv_is_waited_for(struct zrecv *zrecv)
{
	bool waited_for;

	spin_lock_bh(&zrecv_lock);
	waited_for = time_before(jiffies, zrecv->until);
	if (waited_for)
		zrecv->done++;
	spin_unlock_bh(&zrecv_lock);
	return waited_for;
}

int vqp_zcopy_result(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	const u32 zcopy = be32_to_cpu(msg->zcopy);
	struct zrecv *zrecv;
	int ret = 0;

	spin_lock_bh(&zrecv_lock);
	/*
	 * The sender may ask about a request that ZRECV_NS_MAX refused. It has to get an answer,
	 * or else it would have to take its messages for lost.
	 */
	zrecv = zrecv_get(gid, msg, ZRECV_MAX, ZRECV_MAX);
	if (!zrecv) {
		ret = -ENOMEM;
	} else if (zrecv->zcopy == zcopy && zrecv->running) {
		zrecv->until = zrecv_until(msg, received_at);
		ret = -EINPROGRESS;
	} else if (zrecv->zcopy == zcopy) {
		msg->count = cpu_to_be32(zrecv->done);
	} else if (zrecv->running || (s32)(zcopy - zrecv->zcopy) < 0) {
		/* The sender has been told the outcome, and has sent a later one since. */
		ret = -ESTALE;
	} else {
		/* The request has not arrived. From now on zrecv_begin() refuses it. */
		zrecv->zcopy = zcopy;
		zrecv->done = 0;
		zrecv->used_at = jiffies;
		msg->count = 0;
	}
	spin_unlock_bh(&zrecv_lock);
	return ret;
}

/* ---- Receiving ---- */

struct zrecv_part {
	struct completion done;
	u32 status;
	struct vqp_recv *recv;		/* taken from the target VQP */
	struct vqp_send send;		/* It ends in a flexible array, and so comes last. */
};

static void zrecv_part_done(struct vqp_send *send, u32 status)
{
	struct zrecv_part *part = container_of(send, struct zrecv_part, send);

	part->status = status;
	complete(&part->done);
}

/*
 * The READ of a message into the next receive of `target`; or NULL if there is no receive, or it is
 * too small.
 */
static struct zrecv_part *zrecv_take(struct vqp *target, const struct vqp_rpc_part *from)
{
	const u32 bytes = be32_to_cpu(from->bytes);
	struct zrecv_part *part;
	struct vqp_recv *recv;

	if (!bytes || bytes > VQP_MAX_MSG_BYTES || vqp_recv_take(target, bytes, &recv))
		return NULL;
	part = kzalloc(sizeof(*part) + recv->num_sge * sizeof(recv->sge[0]), GFP_KERNEL);
	if (!part) {
		vqp_recv_put_back(recv);
		return NULL;
	}
	init_completion(&part->done);
	part->recv = recv;
	part->send.opcode = VQP_WR_RDMA_READ;
	part->send.done = zrecv_part_done;
	part->send.kbuf = recv->kbuf;
	part->send.num_sge = recv->num_sge;
	memcpy(part->send.sge, recv->sge, recv->num_sge * sizeof(recv->sge[0]));
	part->send.msg.op = VQP_OP_READ;
	part->send.msg.bytes = bytes;
	part->send.msg.remote_addr = be64_to_cpu(from->addr);
	part->send.msg.rkey = be32_to_cpu(from->key);
	return part;
}

static void zrecv_receive(struct zrecv_part *part, const struct vqp_rpc_msg *msg,
			  const struct vqp_rpc_part *from)
{
	const struct vqp_recv_info info = {
		.opcode = VQP_WC_RECV,
		.bytes = part->send.msg.bytes,
		.with_imm = be32_to_cpu(from->flags) & VQP_PKT_IMM,
		.imm = from->imm,
		.src_qp = be32_to_cpu(msg->from_qp),
		.src_gid = msg->gid,
	};

	vqp_recv_complete(part->recv, &info);
}

/*
 * Post the READs and complete the receives in order, up to the first that fails. The worker is the
 * only thread that changes zrecv->done meanwhile.
 */
static void zrecv_parts(struct zrecv *zrecv, struct zrecv_part **parts, u32 count,
			const struct vqp_rpc_msg *msg)
{
	bool going = true;
	LIST_HEAD(sends);
	int posted;
	u32 i;

	for (i = 0; i < count; i++)
		list_add_tail(&parts[i]->send.msg.link, &sends);
	posted = count ? vqp_send_queue(zrecv->vqp, &sends, count) : 0;
	for (i = 0; (int)i < posted; i++) {
		wait_for_completion(&parts[i]->done);
		going = going && !parts[i]->status && zrecv_is_waited_for(zrecv);
		if (going)
			zrecv_receive(parts[i], msg, &msg->parts[i]);
	}
	/* The last goes back first, so that the receives are in order at the head of the queue. */
	for (i = count; i-- > 0; ) {
		if (i >= zrecv->done)
			vqp_recv_put_back(parts[i]->recv);
		kfree(parts[i]);
	}
}

/*
 * The number of messages, from the first on, that can be READ by rc now. vqp_link_ready() begins a
 * link or asks for windows where it says no, so that a later zero-copy send can.
 */
static u32 zrecv_ready(struct vqp *vqp, const struct vqp_rpc_msg *msg)
{
	const u32 count = min_t(u32, be32_to_cpu(msg->count), VQP_RPC_PARTS);
	struct vqp_send probe = { .msg.op = VQP_OP_READ };
	u32 i, ready = 0;

	spin_lock_bh(&vqp->lock);
	for (i = 0; i < count && vqp->state == VQP_QP_CONNECTED; i++) {
		probe.msg.bytes = be32_to_cpu(msg->parts[i].bytes);
		probe.msg.remote_addr = be64_to_cpu(msg->parts[i].addr);
		probe.msg.rkey = be32_to_cpu(msg->parts[i].key);
		if (probe.msg.bytes > VQP_MAX_MSG_BYTES)
			break;
		if (vqp_link_ready(vqp, &probe) && ready == i)
			ready++;
	}
	spin_unlock_bh(&vqp->lock);
	return ready;
}

/*
 * Is the sender on node gid, as far as is known here? A node can have messages of its own functions
 * READ, and of no other node's. Nothing is looked up, because rpcs of all tenants wait for their
 * handlers: messages of a sender that is not known go by dc, whose packets say where it is.
 */
static bool zrecv_knows(struct vqp *target, const u8 *gid, const struct vqp_rpc_msg *msg,
			struct vqp_dct *dct)
{
	struct vqp_ns *local = vqp_ns_find(target->ns->tenant, msg->gid);

	if (local) {
		vqp_ns_put(local);
		return false;
	}
	return vqp_dct_cache_get(target->ns->tenant, msg->gid, dct) &&
	       !memcmp(dct->node_gid, gid, VQP_GID_BYTES);
}

/* A VQP of the kernel in the target's namespace, connected to the sender's namespace; or NULL. */
static struct vqp *zrecv_connect(struct vqp *target, const u8 *gid, const struct vqp_rpc_msg *msg)
{
	struct vqp_dct dct;
	struct vqp *vqp;

	if (!zrecv_knows(target, gid, msg, &dct))
		return NULL;
	vqp = vqp_client_connect(target->ns, msg->gid, &dct);
	if (IS_ERR(vqp))
		return NULL;
	vqp->memory = target->owner;
	return vqp;
}

static void zrecv_set_vqp(struct zrecv *zrecv, const struct vqp *target, struct vqp *vqp)
{
	spin_lock_bh(&zrecv_lock);
	zrecv->target = target;
	zrecv->vqp = vqp;
	spin_unlock_bh(&zrecv_lock);
}

static void zrecv_for(struct zrecv *zrecv, struct vqp *target, const u8 *gid,
		      const struct vqp_rpc_msg *msg)
{
	struct zrecv_part *parts[VQP_RPC_PARTS];
	struct vqp *vqp = zrecv_connect(target, gid, msg);
	u32 ready, taken;

	if (!vqp)
		return;
	/* Before a receive is taken, so that vqp_zcopy_recv_break() finds this worker. */
	zrecv_set_vqp(zrecv, target, vqp);
	ready = zrecv_ready(vqp, msg);
	for (taken = 0; taken < ready; taken++) {
		parts[taken] = zrecv_take(target, &msg->parts[taken]);
		if (!parts[taken])
			break;
	}
	zrecv_parts(zrecv, parts, taken, msg);
	zrecv_set_vqp(zrecv, NULL, NULL);
	vqp_teardown(vqp);
}

/* The VQP that the first packet of a flow with these numbers would find, referenced; or NULL. */
static struct vqp *zrecv_target(const struct vqp_rpc_msg *msg)
{
	const u32 qp_num = be32_to_cpu(msg->to_qp), port = be32_to_cpu(msg->to_port);
	struct vqp *target = NULL;
	struct vqp_ns *ns;

	ns = vqp_ns_find(be32_to_cpu(msg->tenant), msg->to_gid);
	if (!ns)
		return NULL;
	if (vqp_ns_alive(ns) && port <= U16_MAX)
		target = vqp_find_target(ns, qp_num, port, msg->gid);
	vqp_ns_put(ns);
	/* VQPs of the kernel receive no messages without a copy. */
	if (target && vqp_is_kernels(target)) {
		vqp_put(target);
		target = NULL;
	}
	return target;
}

int vqp_zcopy_recv(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct zrecv *zrecv = zrecv_begin(gid, msg, received_at);
	struct vqp *target;
	u32 done = 0;

	if (zrecv) {
		target = zrecv_target(msg);
		if (target) {
			zrecv_for(zrecv, target, gid, msg);
			vqp_put(target);
		}
		done = zrecv_end(zrecv);
	}
	msg->count = cpu_to_be32(done);
	return 0;
}

/* ---- Ends ---- */

/*
 * Fail the kernel's VQPs of all zero-copy receives that use receives of `target`, so that these
 * VQPs READ nothing more. Returns their number.
 */
static u32 zrecv_stop(const struct vqp *target)
{
	struct vqp *vqps[ZRECV_RUNNING_MAX];
	struct zrecv *zrecv;
	u32 count = 0, i;
	int bkt;

	spin_lock_bh(&zrecv_lock);
	hash_for_each(zrecv_table, bkt, zrecv, node) {
		if (zrecv->running && zrecv->target == target) {
			kref_get(&zrecv->vqp->ref);
			vqps[count++] = zrecv->vqp;
		}
	}
	spin_unlock_bh(&zrecv_lock);
	for (i = 0; i < count; i++) {
		vqp_fail(vqps[i], VQP_WC_WR_FLUSH_ERR);
		vqp_put(vqps[i]);
	}
	return count;
}

void vqp_zcopy_recv_break(struct vqp *vqp)
{
	while (atomic_read(&vqp->receiving) && zrecv_stop(vqp))
		wait_event_timeout(zrecv_wait, !atomic_read(&vqp->receiving), HZ / 10);
}

void vqp_zcopy_recv_exit(void)
{
	spin_lock_bh(&zrecv_lock);
	zrecv_forget(true);
	spin_unlock_bh(&zrecv_lock);
}
