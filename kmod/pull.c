// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "ask.h"
#include "carrier.h"
#include "counters.h"
#include "dc.h"
#include "dct_cache.h"
#include "fetch.h"
#include "gate.h"
#include "mr.h"
#include "ns.h"
#include "prio.h"
#include "pull.h"
#include "qp.h"
#include "rc.h"
#include "send.h"

static unsigned int pull_bytes = SZ_256K;
module_param(pull_bytes, uint, 0644);
MODULE_PARM_DESC(pull_bytes, "messages from this size on are fetched from NIC to NIC (default: 256 KiB; 0: none)");

#define PULL_MAX_BYTES		SZ_64M	/* in all; more takes too many windows, and too long */
#define PULL_RETRY_JIFFIES	(HZ / 50)	/* after something could not be fetched */
#define PULL_ANSWER_MS		2000U	/* after that, or half of giveup_ms, it is asked about, */
#define PULL_ASK_MS		250	/* so often */
#define PULL_SPARE_MS		1000	/* longer than a target's worker is late */
#define PULL_KNOWN_JIFFIES	(50 * HZ)	/* its target surely remembers it (FETCH_JIFFIES) */
/* Each has a thread that waits, and none is to wait for a thread, whatever others send to whom. */
#define PULL_COUNT_MAX		128
#define PULL_NS_MAX		16

struct vqp_pull {
	struct work_struct work;
	struct vqp *vqp;		/* referenced */
	struct vqp_dct dct;		/* of the node that is to fetch */
	u32 giveup_ms;			/* silent for so long, it is gone */
	u32 count;
	struct vqp_ask msg;
};

static struct workqueue_struct *pull_wq;
static atomic_t pull_number, pull_count;
static DECLARE_WAIT_QUEUE_HEAD(pull_over);

/* Is it worth it? */
static bool pull_wants(struct vqp *vqp, struct vqp_send *send)
{
	const u32 least = READ_ONCE(pull_bytes);

	lockdep_assert_held(&vqp->lock);
	return send->msg.op == VQP_OP_SEND && least && send->msg.bytes >= least &&
	       send->msg.bytes <= PULL_MAX_BYTES && send->num_sge == 1 && !send->kbuf &&
	       send->fate == VQP_SEND_FRESH && vqp->carrier == &vqp_dc_carrier &&
	       vqp_rc_max() && time_after_eq(jiffies, vqp->pull.at) &&
	       !vqp_gate_max(&vqp->ns->gate) && !vqp_prio_yields(vqp->ns) &&
	       atomic_read(&pull_count) < PULL_COUNT_MAX &&
	       atomic_read(&vqp->ns->pulls) < PULL_NS_MAX;
}

static void pull_fill(struct vqp_pull *pull, const struct vqp *vqp)
{
	struct vqp_ask *msg = &pull->msg;

	msg->kind = VQP_ASK_PULL;
	msg->tenant = cpu_to_be32(vqp->ns->tenant);
	memcpy(msg->gid, vqp->ns->gid, VQP_GID_BYTES);
	msg->from_qp = cpu_to_be32(vqp->qp_num);
	msg->pull = cpu_to_be32(atomic_inc_return(&pull_number));
	memcpy(msg->to_gid, vqp->remote_gid, VQP_GID_BYTES);
	msg->to_qp = cpu_to_be32(vqp->remote_qp);
	msg->to_port = cpu_to_be32(vqp->remote_port);
	msg->giveup_ms = cpu_to_be32(pull->giveup_ms);
}

/* False: its memory is not the function's any more, as dc will say. */
static bool pull_add(struct vqp_pull *pull, struct vqp_send *send)
{
	struct vqp_ask_part *part = &pull->msg.parts[pull->count];
	const struct vqp_sge *sge = &send->sge[0];
	struct vqp *vqp = pull->vqp;

	if (!vqp_mr_valid(vqp->ns, sge->lkey, sge->addr, sge->length, 0, vqp->memory))
		return false;
	part->addr = cpu_to_be64(sge->addr);
	part->key = cpu_to_be32(sge->lkey);
	part->bytes = cpu_to_be32(send->msg.bytes);
	part->flags = cpu_to_be32(send->msg.flags & VQP_PKT_IMM);
	part->imm = send->msg.imm;
	pull->msg.count = cpu_to_be32(++pull->count);
	list_move_tail(&send->msg.link, &vqp->lent);
	return true;
}

static void pull_work(struct work_struct *work);

/* Have `first` fetched, and those like it behind it. */
static int pull_take(struct vqp *vqp, struct vqp_send *first)
{
	struct vqp_msg *msg, *next;
	struct vqp_send *send;
	struct vqp_pull *pull;
	u32 bytes = 0;

	lockdep_assert_held(&vqp->lock);
	pull = kzalloc(sizeof(*pull), GFP_ATOMIC | __GFP_NOWARN);
	if (!pull)
		return -ENOMEM;
	INIT_WORK(&pull->work, pull_work);
	pull->vqp = vqp;
	pull->dct = vqp->dc.dct;
	pull->giveup_ms = vqp->dc.tx.cfg->giveup_us / USEC_PER_MSEC;
	pull_fill(pull, vqp);
	list_for_each_entry_safe(msg, next, &vqp->unsent, link) {
		send = vqp_send_of(msg);
		if (pull->count == VQP_ASK_PARTS || !pull_wants(vqp, send) ||
		    msg->bytes > PULL_MAX_BYTES - bytes || !pull_add(pull, send))
			break;
		bytes += msg->bytes;
	}
	if (!pull->count) {
		kfree(pull);
		return -EACCES;
	}
	kref_get(&vqp->ref);
	vqp_carrier_hold(vqp, &vqp_pull_carrier);
	vqp->pull.under_way = true;
	atomic_inc(&pull_count);
	atomic_inc(&vqp->ns->pulls);
	vqp_prio_note(vqp->ns);
	queue_work(pull_wq, &pull->work);
	return 0;
}

static void pull_init(struct vqp *vqp)
{
	vqp->pull.at = jiffies;
}

const struct vqp_carrier_ops vqp_pull_carrier = {
	.alone = true,
	.init = pull_init,
	.wants = pull_wants,
	.take = pull_take,
	.break_recvs = vqp_fetch_break,
};

void vqp_pull_wait(struct vqp *vqp)
{
	/* Who is killed takes the memory along. */
	wait_event_killable(pull_over, !READ_ONCE(vqp->pull.under_way));
}

/* The first `done` were received; the others were not, or (if not even that is known) perhaps. */
static void pull_settle(struct vqp_pull *pull, bool known, u32 done)
{
	struct vqp *vqp = pull->vqp;
	struct vqp_send *send;
	struct vqp_msg *msg;
	u32 i = 0;

	atomic_dec(&vqp->ns->pulls);
	atomic_dec(&pull_count);
	spin_lock_bh(&vqp->lock);
	list_for_each_entry(msg, &vqp->lent, link) {
		send = vqp_send_of(msg);
		if (i++ < done)
			send->fate = VQP_SEND_DONE;
		else
			send->fate = known ? VQP_SEND_AGAIN : VQP_SEND_LOST;
	}
	vqp->pull.at = jiffies + (done < pull->count ? PULL_RETRY_JIFFIES : 0);
	vqp_carrier_unhold(vqp);
	WRITE_ONCE(vqp->pull.under_way, false);
	vqp_count_events(VQP_EV_PULLED, done);
	vqp_send_take_back(vqp);
	spin_unlock_bh(&vqp->lock);
	wake_up_all(&pull_over);
}

/* Not one of them was received, nor will be: it was never asked for, or the target said so. */
static bool pull_is_refused(const struct vqp_ask *msg, int ret)
{
	return ret && (msg->is_answer || (ret != -EIO && ret != -ETIMEDOUT));
}

/* The messages' address is on another node now, as far as is known. */
static bool pull_has_moved(struct vqp_pull *pull)
{
	const struct vqp *vqp = pull->vqp;

	return vqp_ask_relearn(pull->dct.node_gid, &pull->dct, vqp->ns->tenant,
			       vqp->remote_gid) == -EHOSTUNREACH;
}

/*
 * What was asked is under way no more once the line is hung up, and its target receives nothing
 * giveup_ms after the last question that it heard; what is on its way then may take a moment.
 */
static void pull_give_up(const struct vqp_pull *pull)
{
	vqp_ask_hang_up(pull->dct.node_gid);
	msleep(pull->giveup_ms + PULL_SPARE_MS);
}

/* Ask once more what came of it: as pull_ask(), or -EINPROGRESS. */
static int pull_ask_again(const struct vqp_pull *pull, struct vqp_ask *msg, u32 answer_ms,
			  u32 *done)
{
	int ret;

	*msg = pull->msg;
	msg->kind = VQP_ASK_PULLED;
	ret = vqp_ask(pull->dct.node_gid, msg, answer_ms);
	*done = be32_to_cpu(msg->count);
	return ret;
}

/* Ask, and about what was asked until that is known: 0, with *done, or -errno. */
static int pull_ask(struct vqp_pull *pull, u32 *done)
{
	const u32 answer_ms = min(PULL_ANSWER_MS, pull->giveup_ms / 2);
	const unsigned long giveup = msecs_to_jiffies(pull->giveup_ms);
	struct vqp_ask msg = pull->msg;
	unsigned long heard_at = jiffies, asked_at = heard_at;
	int ret;

	ret = vqp_ask(pull->dct.node_gid, &msg, answer_ms);
	*done = ret ? 0 : be32_to_cpu(msg.count);
	if (!ret || pull_is_refused(&msg, ret))
		return 0;
	while (!time_after(asked_at, heard_at + giveup)) {
		if (!msg.is_answer && pull_has_moved(pull)) {
			/* Who might have received of them is gone, as on dc. */
			*done = 0;
			ret = 0;
			break;
		}
		msleep(PULL_ASK_MS);
		asked_at = jiffies;
		ret = pull_ask_again(pull, &msg, answer_ms, done);
		if (!ret && time_after(jiffies, heard_at + PULL_KNOWN_JIFFIES))
			ret = -ESTALE;
		if (!ret || ret == -ESTALE)
			return ret;
		if (ret == -EINPROGRESS)
			heard_at = asked_at;
	}
	pull_give_up(pull);
	return ret;
}

static void pull_work(struct work_struct *work)
{
	struct vqp_pull *pull = container_of(work, struct vqp_pull, work);
	u32 done;
	int ret;

	/* The line to that node is found by its address. */
	vqp_dct_cache_suggest(0, pull->dct.node_gid, &pull->dct);
	ret = pull_ask(pull, &done);
	pull_settle(pull, !ret, ret ? 0 : min(done, pull->count));
	vqp_put(pull->vqp);
	kfree(pull);
}

int __init vqp_pull_init(void)
{
	pull_wq = alloc_workqueue("vqp_pull", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!pull_wq)
		return -ENOMEM;
	vqp_ask_handle(VQP_ASK_PULL, vqp_fetch);
	vqp_ask_handle(VQP_ASK_PULLED, vqp_fetch_tell);
	return 0;
}

void vqp_pull_exit(void)
{
	destroy_workqueue(pull_wq);
}
