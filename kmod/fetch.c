// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "ask.h"
#include "client.h"
#include "fetch.h"
#include "meta.h"
#include "ns.h"
#include "qp.h"
#include "rc.h"
#include "recv.h"
#include "responder.h"
#include "send.h"

#define FETCH_MAX		4096		/* senders that are remembered; so many of them, */
#define FETCH_TOLD_MAX		512		/* only since they asked what came of a pull; */
#define FETCH_NS_MAX		256		/* of one namespace at one node, */
#define FETCH_JIFFIES		(60 * HZ)	/* for longer than they ask */
#define FETCH_GIVEUP_MS		25000	/* the greatest giveup_ms */
#define FETCH_RUNNING_MAX	64	/* each keeps a receive of the service and a thread */

/* A sender's VQP, and its latest pull. */
struct vqp_fetch {
	struct hlist_node node;
	u8 node_gid[VQP_GID_BYTES];	/* constant, as all down to qp */
	u32 epoch;
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	u32 qp;
	u32 pull;
	bool running;
	u32 done;			/* messages that were received */
	unsigned long used_at;		/* jiffies */
	unsigned long until;		/* running: jiffies; its sender may wait no longer */
	const struct vqp *target;	/* running: whose receives it may have; or NULL */
	struct vqp *vqp;		/* running: that fetches; or NULL */
};

static DEFINE_SPINLOCK(fetch_lock);	/* guards all; outside vqp.lock */
static DEFINE_HASHTABLE(fetch_table, 8);
static u32 fetch_count, fetch_running;
static DECLARE_WAIT_QUEUE_HEAD(fetch_wait);	/* for one to end */

/* ---- What is remembered ---- */

/* By namespace, whose VQPs are counted where they are looked for. */
static u32 fetch_hash(const u8 *gid, const struct vqp_ask *msg)
{
	return jhash_3words(jhash(gid, VQP_GID_BYTES, 0), jhash(msg->gid, VQP_GID_BYTES, 0),
			    be32_to_cpu(msg->tenant), 0);
}

static bool fetch_is_of(const struct vqp_fetch *fetch, const u8 *gid, const struct vqp_ask *msg)
{
	return fetch->tenant == be32_to_cpu(msg->tenant) &&
	       !memcmp(fetch->gid, msg->gid, VQP_GID_BYTES) &&
	       !memcmp(fetch->node_gid, gid, VQP_GID_BYTES);
}

static bool fetch_is_old(const struct vqp_fetch *fetch)
{
	return !fetch->running && time_after(jiffies, fetch->used_at + FETCH_JIFFIES);
}

static void fetch_free(struct vqp_fetch *fetch)
{
	lockdep_assert_held(&fetch_lock);
	hash_del(&fetch->node);
	fetch_count--;
	kfree(fetch);
}

/* The sender's entry, or NULL; and how many others its namespace has, without the old ones. */
static struct vqp_fetch *fetch_find(const u8 *gid, const struct vqp_ask *msg, u32 *others)
{
	struct vqp_fetch *fetch, *found = NULL;
	struct hlist_node *next;

	lockdep_assert_held(&fetch_lock);
	*others = 0;
	hash_for_each_possible_safe(fetch_table, fetch, next, node, fetch_hash(gid, msg)) {
		if (!fetch_is_of(fetch, gid, msg))
			continue;
		if (fetch->qp == be32_to_cpu(msg->from_qp) &&
		    fetch->epoch == be32_to_cpu(msg->epoch))
			found = fetch;
		else if (fetch_is_old(fetch))
			fetch_free(fetch);
		else
			++*others;
	}
	return found;
}

static void fetch_forget(bool all)
{
	struct vqp_fetch *fetch;
	struct hlist_node *next;
	int bkt;

	lockdep_assert_held(&fetch_lock);
	hash_for_each_safe(fetch_table, bkt, next, fetch, node)
		if (all || fetch_is_old(fetch))
			fetch_free(fetch);
}

/* The sender's entry, with what it says of itself; NULL: there are `all`, or `most` of its own. */
static struct vqp_fetch *fetch_get(const u8 *gid, const struct vqp_ask *msg, u32 most, u32 all)
{
	struct vqp_fetch *fetch;
	u32 others;

	fetch = fetch_find(gid, msg, &others);
	if (fetch) {
		/* Of the number's last life, perhaps. */
		if (fetch_is_old(fetch))
			fetch->pull = be32_to_cpu(msg->pull) - 1;
		return fetch;
	}
	if (others >= most)
		return NULL;
	if (fetch_count >= all)
		fetch_forget(false);
	if (fetch_count >= all)
		return NULL;
	fetch = kzalloc(sizeof(*fetch), GFP_ATOMIC | __GFP_NOWARN);
	if (!fetch)
		return NULL;
	memcpy(fetch->node_gid, gid, VQP_GID_BYTES);
	fetch->epoch = be32_to_cpu(msg->epoch);
	fetch->tenant = be32_to_cpu(msg->tenant);
	memcpy(fetch->gid, msg->gid, VQP_GID_BYTES);
	fetch->qp = be32_to_cpu(msg->from_qp);
	fetch->pull = be32_to_cpu(msg->pull) - 1;
	fetch->used_at = jiffies;
	hash_add(fetch_table, &fetch->node, fetch_hash(gid, msg));
	fetch_count++;
	return fetch;
}

/* Its sender, who asked at that time, waits until then. In jiffies. */
static unsigned long fetch_until(const struct vqp_ask *msg, unsigned long heard_at)
{
	const u32 giveup_ms = be32_to_cpu(msg->giveup_ms);

	return heard_at + msecs_to_jiffies(min_t(u32, giveup_ms, FETCH_GIVEUP_MS));
}

/* A pull that its sender does not wait for any more is not begun, nor one twice. NULL then. */
static struct vqp_fetch *fetch_begin(const u8 *gid, const struct vqp_ask *msg,
				     unsigned long heard_at)
{
	const u32 pull = be32_to_cpu(msg->pull);
	struct vqp_fetch *fetch = NULL;

	spin_lock_bh(&fetch_lock);
	if (fetch_running < FETCH_RUNNING_MAX)
		fetch = fetch_get(gid, msg, FETCH_NS_MAX, FETCH_MAX - FETCH_TOLD_MAX);
	if (fetch && !fetch->running && (s32)(pull - fetch->pull) > 0) {
		fetch->pull = pull;
		fetch->done = 0;
		fetch->running = true;
		fetch->until = fetch_until(msg, heard_at);
		fetch_running++;
	} else {
		fetch = NULL;
	}
	spin_unlock_bh(&fetch_lock);
	return fetch;
}

static u32 fetch_end(struct vqp_fetch *fetch)
{
	u32 done;

	spin_lock_bh(&fetch_lock);
	done = fetch->done;
	fetch->used_at = jiffies;
	fetch->running = false;
	fetch->target = NULL;
	fetch_running--;
	spin_unlock_bh(&fetch_lock);
	wake_up_all(&fetch_wait);
	return done;
}

/* Does its sender still wait for it? From here on it is received, whatever the sender hears. */
static bool fetch_is_waited_for(struct vqp_fetch *fetch)
{
	bool waited_for;

	spin_lock_bh(&fetch_lock);
	waited_for = time_before(jiffies, fetch->until);
	if (waited_for)
		fetch->done++;
	spin_unlock_bh(&fetch_lock);
	return waited_for;
}

int vqp_fetch_tell(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at)
{
	const u32 pull = be32_to_cpu(msg->pull);
	struct vqp_fetch *fetch;
	int ret = 0;

	spin_lock_bh(&fetch_lock);
	/* Of one that its share kept from being begun, too: a message is not lost for that. */
	fetch = fetch_get(gid, msg, FETCH_MAX, FETCH_MAX);
	if (!fetch) {
		ret = -ENOMEM;
	} else if (fetch->pull == pull && fetch->running) {
		fetch->until = fetch_until(msg, heard_at);
		ret = -EINPROGRESS;
	} else if (fetch->pull == pull) {
		msg->count = cpu_to_be32(fetch->done);
	} else if (fetch->running || (s32)(pull - fetch->pull) < 0) {
		/* It has been told, and has gone on. */
		ret = -ESTALE;
	} else {
		/* It never came, and comes too late from now on. */
		fetch->pull = pull;
		fetch->done = 0;
		fetch->used_at = jiffies;
		msg->count = 0;
	}
	spin_unlock_bh(&fetch_lock);
	return ret;
}

/* ---- Fetching ---- */

struct fetch_part {
	struct completion done;
	u32 status;
	struct vqp_recv *recv;		/* taken */
	struct vqp_send send;		/* last: ends in a flexible array */
};

static void fetch_part_done(struct vqp_send *send, u32 status)
{
	struct fetch_part *part = container_of(send, struct fetch_part, send);

	part->status = status;
	complete(&part->done);
}

/* The READ of a message into a receive of `target`; or NULL: it has none that will do. */
static struct fetch_part *fetch_take(struct vqp *target, const struct vqp_ask_part *from)
{
	const u32 bytes = be32_to_cpu(from->bytes);
	struct fetch_part *part;
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
	part->send.done = fetch_part_done;
	part->send.kbuf = recv->kbuf;
	part->send.num_sge = recv->num_sge;
	memcpy(part->send.sge, recv->sge, recv->num_sge * sizeof(recv->sge[0]));
	part->send.msg.op = VQP_OP_READ;
	part->send.msg.bytes = bytes;
	part->send.msg.remote_addr = be64_to_cpu(from->addr);
	part->send.msg.rkey = be32_to_cpu(from->key);
	return part;
}

static void fetch_receive(struct fetch_part *part, const struct vqp_ask *msg,
			  const struct vqp_ask_part *from)
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

/* Post all, and wait for them in order. Nobody else changes fetch->done meanwhile. */
static void fetch_parts(struct vqp_fetch *fetch, struct fetch_part **parts, u32 count,
			const struct vqp_ask *msg)
{
	bool going = true;
	LIST_HEAD(sends);
	int posted;
	u32 i;

	for (i = 0; i < count; i++)
		list_add_tail(&parts[i]->send.msg.link, &sends);
	posted = count ? vqp_send_queue(fetch->vqp, &sends, count) : 0;
	for (i = 0; (int)i < posted; i++) {
		wait_for_completion(&parts[i]->done);
		going = going && !parts[i]->status && fetch_is_waited_for(fetch);
		if (going)
			fetch_receive(parts[i], msg, &msg->parts[i]);
	}
	/* In their order, at the head of the queue. */
	for (i = count; i-- > 0; ) {
		if (i >= fetch->done)
			vqp_recv_put_back(parts[i]->recv);
		kfree(parts[i]);
	}
}

/* The first of them that can go by rc. For the others that is seen to, for the next time. */
static u32 fetch_ready(struct vqp *vqp, const struct vqp_ask *msg)
{
	const u32 count = min_t(u32, be32_to_cpu(msg->count), VQP_ASK_PARTS);
	struct vqp_send probe = { .msg.op = VQP_OP_READ };
	u32 i, ready = 0;

	spin_lock_bh(&vqp->lock);
	for (i = 0; i < count && vqp->state == VQP_QP_CONNECTED; i++) {
		probe.msg.bytes = be32_to_cpu(msg->parts[i].bytes);
		probe.msg.remote_addr = be64_to_cpu(msg->parts[i].addr);
		probe.msg.rkey = be32_to_cpu(msg->parts[i].key);
		if (probe.msg.bytes > VQP_MAX_MSG_BYTES)
			break;
		if (vqp_rc_ready(vqp, &probe) && ready == i)
			ready++;
	}
	spin_unlock_bh(&vqp->lock);
	return ready;
}

/* A VQP of the kernel's in target's namespace, towards the sender's on node gid; or NULL. */
static struct vqp *fetch_connect(struct vqp *target, const u8 *gid, const struct vqp_ask *msg)
{
	struct vqp *vqp = NULL;
	struct vqp_route route;

	if (vqp_meta_route(target->ns->tenant, msg->gid, &route))
		return NULL;
	/* Nobody has another node's functions fetched. */
	if (!route.local && !memcmp(route.dct.node_gid, gid, VQP_GID_BYTES)) {
		vqp = vqp_client_connect(target->ns, msg->gid, &route.dct);
		vqp = IS_ERR(vqp) ? NULL : vqp;
	}
	vqp_route_end(&route);
	if (vqp)
		vqp->memory = target->owner;
	return vqp;
}

static void fetch_set_vqp(struct vqp_fetch *fetch, const struct vqp *target, struct vqp *vqp)
{
	spin_lock_bh(&fetch_lock);
	fetch->target = target;
	fetch->vqp = vqp;
	spin_unlock_bh(&fetch_lock);
}

static void fetch_for(struct vqp_fetch *fetch, struct vqp *target, const u8 *gid,
		      const struct vqp_ask *msg)
{
	struct fetch_part *parts[VQP_ASK_PARTS];
	struct vqp *vqp = fetch_connect(target, gid, msg);
	u32 ready, taken;

	if (!vqp)
		return;
	/* Before a receive is taken: vqp_fetch_break() is to find it. */
	fetch_set_vqp(fetch, target, vqp);
	ready = fetch_ready(vqp, msg);
	for (taken = 0; taken < ready; taken++) {
		parts[taken] = fetch_take(target, &msg->parts[taken]);
		if (!parts[taken])
			break;
	}
	fetch_parts(fetch, parts, taken, msg);
	fetch_set_vqp(fetch, NULL, NULL);
	vqp_teardown(vqp);
}

/* Whom the messages are for, referenced: as the first packet of a flow would find it. */
static struct vqp *fetch_target(const struct vqp_ask *msg)
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
	/* Not the kernel's own. */
	if (target && vqp_is_kernels(target)) {
		vqp_put(target);
		target = NULL;
	}
	return target;
}

int vqp_fetch(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at)
{
	struct vqp_fetch *fetch = fetch_begin(gid, msg, heard_at);
	struct vqp *target;
	u32 done = 0;

	if (fetch) {
		target = fetch_target(msg);
		if (target) {
			fetch_for(fetch, target, gid, msg);
			vqp_put(target);
		}
		done = fetch_end(fetch);
	}
	msg->count = cpu_to_be32(done);
	return 0;
}

/* ---- Ends ---- */

/* Those that have receives of target, or may: what they have not begun, they will not. */
static u32 fetch_stop(const struct vqp *target)
{
	struct vqp *vqps[FETCH_RUNNING_MAX];
	struct vqp_fetch *fetch;
	u32 count = 0, i;
	int bkt;

	spin_lock_bh(&fetch_lock);
	hash_for_each(fetch_table, bkt, fetch, node) {
		if (fetch->running && fetch->target == target) {
			kref_get(&fetch->vqp->ref);
			vqps[count++] = fetch->vqp;
		}
	}
	spin_unlock_bh(&fetch_lock);
	for (i = 0; i < count; i++) {
		vqp_fail(vqps[i], VQP_WC_WR_FLUSH_ERR);
		vqp_put(vqps[i]);
	}
	return count;
}

void vqp_fetch_break(struct vqp *vqp)
{
	while (atomic_read(&vqp->receiving) && fetch_stop(vqp))
		wait_event_timeout(fetch_wait, !atomic_read(&vqp->receiving), HZ / 10);
}

void vqp_fetch_exit(void)
{
	spin_lock_bh(&fetch_lock);
	fetch_forget(true);
	spin_unlock_bh(&fetch_lock);
}
