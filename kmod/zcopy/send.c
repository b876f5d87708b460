// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "dc/dc.h"
#include "mem/mr.h"
#include "mem/pull.h"
#include "meta/rpc.h"
#include "ns/namespace.h"
#include "ns/prio.h"
#include "ns/throttle.h"
#include "queue/carrier.h"
#include "queue/send.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "zcopy/recv.h"
#include "zcopy/send.h"

static unsigned int zcopy_bytes = SZ_256K;
module_param(zcopy_bytes, uint, 0644);
MODULE_PARM_DESC(zcopy_bytes, "messages from this size on go from NIC to NIC (default: 256 KiB; 0: none)");

/* The most bytes of one zero-copy send. More would need too many windows, and take too long. */
#define ZSEND_MAX_BYTES		SZ_64M
#define ZSEND_RETRY_JIFFIES	(HZ / 50)	/* the pause of a VQP whose target READ too few */
/* After this time without an answer, or half of giveup_ms, the sender asks for the outcome, ... */
#define ZSEND_ANSWER_MS		2000U
#define ZSEND_ASK_MS		250		/* ... with this pause between two questions. */
#define ZSEND_SPARE_MS		1000		/* more than the delay of a target's worker */
/* The target surely remembers the outcome for this time, as it does for ZRECV_JIFFIES. */
#define ZSEND_KNOWN_JIFFIES	(50 * HZ)
/*
 * The most zero-copy sends of the node and of a namespace. Each has a thread that waits. The bounds
 * keep one namespace from making the zero-copy sends of another wait for a thread.
 */
#define ZSEND_COUNT_MAX		128
#define ZSEND_NS_MAX		16

struct zsend {
	struct work_struct work;
	struct vqp *vqp;		/* referenced */
	struct vqp_dct dct;		/* of the target's node */
	u32 giveup_ms;			/* A node that is silent for this time has gone. */
	u32 count;			/* the messages, which are in vqp.lent */
	struct vqp_rpc_msg msg;		/* the request */
	struct vqp_pull *pull;		/* what it lets the target's node READ; the namespace's */
};

static struct workqueue_struct *zsend_wq;
static atomic_t zsend_number;		/* the number of the latest zero-copy send */
static atomic_t zsend_count;		/* the zero-copy sends under way */

/* vqp_carrier_ops.wants: a large message in one SGE, of a VQP that is on dc and has no rate. */
static bool zsend_wants(struct vqp *vqp, struct vqp_send *send)
{
	const u32 least = READ_ONCE(zcopy_bytes);

	lockdep_assert_held(&vqp->lock);
	return send->msg.op == VQP_OP_SEND && least && send->msg.bytes >= least &&
	       send->msg.bytes <= ZSEND_MAX_BYTES && send->num_sge == 1 && !send->kbuf &&
	       send->fate == VQP_SEND_FRESH && vqp->carrier == &vqp_dc_carrier &&
	       vqp_link_max() && time_after_eq(jiffies, vqp->zcopy.at) &&
	       vqp_throttle_max(&vqp->ns->throttle) == VQP_UNLIMITED && !vqp_prio_yields(vqp->ns) &&
	       atomic_read(&zsend_count) < ZSEND_COUNT_MAX &&
	       atomic_read(&vqp->ns->zcopies) < ZSEND_NS_MAX;
}

static void zsend_fill(struct zsend *zsend, const struct vqp *vqp)
{
	struct vqp_rpc_msg *msg = &zsend->msg;

	msg->kind = VQP_RPC_ZCOPY;
	msg->tenant = cpu_to_be32(vqp->ns->tenant);
	memcpy(msg->gid, vqp->ns->gid, VQP_GID_BYTES);
	msg->from_qp = cpu_to_be32(vqp->qp_num);
	msg->zcopy = cpu_to_be32(atomic_inc_return(&zsend_number));
	memcpy(msg->to_gid, vqp->remote_gid, VQP_GID_BYTES);
	msg->to_qp = cpu_to_be32(vqp->remote_qp);
	msg->to_port = cpu_to_be32(vqp->remote_port);
	msg->giveup_ms = cpu_to_be32(zsend->giveup_ms);
}

static void zsend_work(struct work_struct *work);

static struct zsend *zsend_create(struct vqp *vqp)
{
	struct zsend *zsend = kzalloc(sizeof(*zsend), GFP_ATOMIC | __GFP_NOWARN);

	if (!zsend)
		return NULL;
	zsend->pull = kzalloc(struct_size(zsend->pull, parts, VQP_RPC_PARTS),
			      GFP_ATOMIC | __GFP_NOWARN);
	if (!zsend->pull) {
		kfree(zsend);
		return NULL;
	}
	INIT_WORK(&zsend->work, zsend_work);
	zsend->vqp = vqp;
	zsend->dct = vqp->dc.dct;
	memcpy(zsend->pull->gid, zsend->dct.node_gid, VQP_GID_BYTES);
	zsend->giveup_ms = vqp->dc.tx.cfg->giveup_us / USEC_PER_MSEC;
	zsend_fill(zsend, vqp);
	return zsend;
}

/*
 * Add a message to the request. Returns false if its memory is not registered any more: dc will
 * complete it with an error.
 */
static bool zsend_add(struct zsend *zsend, struct vqp_send *send)
{
	struct vqp_rpc_part *part = &zsend->msg.parts[zsend->count];
	const struct vqp_sge *sge = &send->sge[0];
	struct vqp *vqp = zsend->vqp;

	if (!vqp_mr_valid(vqp->ns, sge->lkey, sge->addr, sge->length, 0, vqp->memory))
		return false;
	part->addr = cpu_to_be64(sge->addr);
	part->key = cpu_to_be32(sge->lkey);
	part->bytes = cpu_to_be32(send->msg.bytes);
	part->flags = cpu_to_be32(send->msg.flags & VQP_PKT_IMM);
	part->imm = send->msg.imm;
	zsend->pull->parts[zsend->count] = *sge;
	zsend->msg.count = cpu_to_be32(++zsend->count);
	list_move_tail(&send->msg.link, &vqp->lent);
	return true;
}

/* vqp_carrier_ops.take: have the target READ `first`, and the messages behind it that it wants. */
static int zsend_take(struct vqp *vqp, struct vqp_send *first)
{
	struct vqp_msg *msg, *next;
	struct vqp_send *send;
	struct zsend *zsend;
	u32 bytes = 0;

	lockdep_assert_held(&vqp->lock);
	zsend = zsend_create(vqp);
	if (!zsend)
		return -ENOMEM;
	list_for_each_entry_safe(msg, next, &vqp->unsent, link) {
		send = vqp_send_of(msg);
		if (zsend->count == VQP_RPC_PARTS || !zsend_wants(vqp, send) ||
		    msg->bytes > ZSEND_MAX_BYTES - bytes || !zsend_add(zsend, send))
			break;
		bytes += msg->bytes;
	}
	if (!zsend->count) {
		kfree(zsend->pull);
		kfree(zsend);
		return -EACCES;
	}
	zsend->pull->count = zsend->count;
	vqp_pull_begin(vqp->ns, zsend->pull);
	kref_get(&vqp->ref);
	vqp_carrier_hold(vqp, &vqp_zcopy_carrier);
	atomic_inc(&zsend_count);
	atomic_inc(&vqp->ns->zcopies);
	vqp_prio_note(vqp->ns);
	queue_work(zsend_wq, &zsend->work);
	return 0;
}

static void zsend_init(struct vqp *vqp)
{
	vqp->zcopy.at = jiffies;
}

const struct vqp_carrier_ops vqp_zcopy_carrier = {
	.alone = true,
	.init = zsend_init,
	.wants = zsend_wants,
	.take = zsend_take,
	.break_recvs = vqp_zcopy_recv_break,
};

/*
 * The zero-copy send has ended. The first `done` messages were received. The others were not, and
 * go by dc; or, if the outcome is not `known`, each of them may have been, and is lost.
 */
static void zsend_settle(struct zsend *zsend, bool known, u32 done)
{
	struct vqp *vqp = zsend->vqp;
	struct vqp_send *send;
	struct vqp_msg *msg;
	u32 i = 0;

	vqp_pull_end(vqp->ns, zsend->pull, done < zsend->count);
	atomic_dec(&vqp->ns->zcopies);
	atomic_dec(&zsend_count);
	spin_lock_bh(&vqp->lock);
	list_for_each_entry(msg, &vqp->lent, link) {
		send = vqp_send_of(msg);
		if (i++ < done)
			send->fate = VQP_SEND_DONE;
		else
			send->fate = known ? VQP_SEND_AGAIN : VQP_SEND_LOST;
	}
	vqp->zcopy.at = jiffies + (done < zsend->count ? ZSEND_RETRY_JIFFIES : 0);
	vqp_carrier_unhold(vqp);
	vqp_count_events(VQP_EV_ZCOPY_MESSAGES, done);
	vqp_send_take_back(vqp);
	spin_unlock_bh(&vqp->lock);
}

/*
 * Did the rpc fail in such a way that no message was received, or will be? It did if the target
 * answered with an error, or if the request was not sent.
 */
static bool zsend_is_refused(const struct vqp_rpc_msg *msg, int ret)
{
	return ret && (msg->is_answer || (ret != -EIO && ret != -ETIMEDOUT));
}

/* Is the target's address on another node by now? */
static bool zsend_has_moved(struct zsend *zsend)
{
	return vqp_rpc_relearn(zsend->dct.node_gid, &zsend->dct, zsend->vqp) == -EHOSTUNREACH;
}

/*
 * Wait until the target cannot receive the messages any more. Without the channel no request is
 * under way. The target receives nothing later than giveup_ms after the last request that it
 * heard, and may complete a receive ZSEND_SPARE_MS late.
 */
static void zsend_give_up(const struct zsend *zsend)
{
	vqp_rpc_hang_up(zsend->dct.node_gid);
	msleep(zsend->giveup_ms + ZSEND_SPARE_MS);
}

/* Ask for the outcome: as zsend_ask(), or -EINPROGRESS while the target receives. */
static int zsend_ask_again(const struct zsend *zsend, struct vqp_rpc_msg *msg, u32 answer_ms,
			   u32 *done)
{
	int ret;

	*msg = zsend->msg;
	msg->kind = VQP_RPC_ZCOPY_RESULT;
	ret = vqp_rpc(zsend->dct.node_gid, msg, answer_ms);
	*done = be32_to_cpu(msg->count);
	return ret;
}

/*
 * Send the request and ask for its outcome until that is known. Returns 0 and *done, the number of
 * messages received; or -errno if the outcome cannot be known.
 */
static int zsend_ask(struct zsend *zsend, u32 *done)
{
	const u32 answer_ms = min(ZSEND_ANSWER_MS, zsend->giveup_ms / 2);
	const unsigned long giveup = msecs_to_jiffies(zsend->giveup_ms);
	struct vqp_rpc_msg msg = zsend->msg;
	unsigned long heard_at = jiffies, asked_at = heard_at;
	int ret;

	ret = vqp_rpc(zsend->dct.node_gid, &msg, answer_ms);
	*done = ret ? 0 : be32_to_cpu(msg.count);
	if (!ret || zsend_is_refused(&msg, ret))
		return 0;
	while (!time_after(asked_at, heard_at + giveup)) {
		if (!msg.is_answer && zsend_has_moved(zsend)) {
			/* The VQP that may have received messages has gone, as it has for dc. */
			*done = 0;
			ret = 0;
			break;
		}
		msleep(ZSEND_ASK_MS);
		asked_at = jiffies;
		ret = zsend_ask_again(zsend, &msg, answer_ms, done);
		if (!ret && time_after(jiffies, heard_at + ZSEND_KNOWN_JIFFIES))
			ret = -ESTALE;
		if (!ret || ret == -ESTALE)
			return ret;
		if (ret == -EINPROGRESS)
			heard_at = asked_at;
	}
	zsend_give_up(zsend);
	return ret;
}

static void zsend_work(struct work_struct *work)
{
	struct zsend *zsend = container_of(work, struct zsend, work);
	u32 done;
	int ret;

	/* vqp_rpc() looks the node up by its GID, and finds here what the VQP knows of it. */
	vqp_dct_cache_suggest(0, zsend->dct.node_gid, &zsend->dct);
	ret = zsend_ask(zsend, &done);
	zsend_settle(zsend, !ret, ret ? 0 : min(done, zsend->count));
	vqp_put(zsend->vqp);
	kfree(zsend);
}

int __init vqp_zcopy_init(void)
{
	zsend_wq = alloc_workqueue("vqp_zcopy", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!zsend_wq)
		return -ENOMEM;
	vqp_rpc_handle(VQP_RPC_ZCOPY, vqp_zcopy_recv);
	vqp_rpc_handle(VQP_RPC_ZCOPY_RESULT, vqp_zcopy_result);
	return 0;
}

void vqp_zcopy_exit(void)
{
	destroy_workqueue(zsend_wq);
	vqp_pull_exit();
}
