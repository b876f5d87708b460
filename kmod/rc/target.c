// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/compat.h"
#include "base/counters.h"
#include "device/parent.h"
#include "meta/rpc.h"
#include "rc/link.h"
#include "rc/qp.h"
#include "rc/target.h"
#include "rc/window.h"

#define TARGET_SEND_WRS		16		/* registrations of windows under way */
/* The node remembers the final PSNs of this number of stopped targets, for this time at most. */
#define TARGET_STOPPED_MAX	256
#define TARGET_STOPPED_JIFFIES	(60 * HZ)
/*
 * After this time without a request a target asks whether there is still a link. Initiators end an
 * idle link long before.
 */
#define TARGET_SILENT_JIFFIES	(60 * HZ)
#define TARGET_ASK_MS		5000		/* the time limit of that question */
/* If there is no room for another target, the use of those there are is measured for so long. */
#define TARGET_USE_JIFFIES	HZ
/* A target ends for another that would be used more than so many times as much, ... */
#define TARGET_USE_RATIO	2
#define TARGET_KEEP_JIFFIES	(5 * HZ)	/* ... but not before it is that old. */
#define TARGET_ROOM_JIFFIES	(5 * HZ)	/* The room is kept for the other for this time. */

/* Held by target_each(), which drops target_mutex inside its walk, and by removals. */
static DEFINE_MUTEX(target_walk);
/* Guards target_list. Inside vqp_rc_target.lock and target_walk. */
static DEFINE_MUTEX(target_mutex);
static LIST_HEAD(target_list);		/* newest first */
static struct workqueue_struct *target_wq;	/* for vqp_rc_target.ask */

/*
 * Call fn for each target that has been opened, without target_mutex. fn may sleep, but waits for
 * no other node: whoever else walks or removes waits for it.
 */
static void target_each(void (*fn)(struct vqp_rc_target *target, void *arg), void *arg)
{
	struct vqp_rc_target *target;

	mutex_lock(&target_walk);
	mutex_lock(&target_mutex);
	list_for_each_entry(target, &target_list, node) {
		/* The target stays in the list, whose reference it thus keeps. */
		mutex_unlock(&target_mutex);
		fn(target, arg);
		mutex_lock(&target_mutex);
	}
	mutex_unlock(&target_mutex);
	mutex_unlock(&target_walk);
}

static void target_release(struct kref *ref)
{
	kfree(container_of(ref, struct vqp_rc_target, ref));
	vqp_count_freed(VQP_OBJ_RC_TARGET);
}

void vqp_rc_target_hold(struct vqp_rc_target *target)
{
	kref_get(&target->ref);
}

void vqp_rc_target_put(struct vqp_rc_target *target)
{
	kref_put(&target->ref, target_release);
}

struct vqp_rc_target *vqp_rc_target_get(const u8 *gid, const struct vqp_rpc_msg *msg)
{
	const u32 epoch = be32_to_cpu(msg->epoch), link = be32_to_cpu(msg->link);
	struct vqp_rc_target *target, *found = NULL;

	mutex_lock(&target_mutex);
	list_for_each_entry(target, &target_list, node) {
		if (target->link == link && target->epoch == epoch &&
		    !memcmp(target->gid, gid, VQP_GID_BYTES)) {
			found = target;
			vqp_rc_target_hold(target);
			break;
		}
	}
	mutex_unlock(&target_mutex);
	return found;
}

void vqp_rc_target_stop(struct vqp_rc_target *target)
{
	struct ib_qp *qp;

	mutex_lock(&target->lock);
	qp = target->qp;
	if (qp) {
		target->stop_status = vqp_rc_qp_stop(qp, &target->psn);
		target->stopped_at = jiffies;
		/* The QP goes first, because it may be reading or writing a window. */
		vqp_rc_qp_retire(qp);
		vqp_window_close_all(target);
		/* Last, because target_forget() looks at it without the lock. */
		smp_store_release(&target->qp, NULL);
	}
	mutex_unlock(&target->lock);
}

/* The PSN of the request that the target expects next, as far as the device tells. 0 or -errno. */
static int target_psn(const struct vqp_rc_target *target, u32 *psn)
{
	lockdep_assert_held(&target->lock);
	return target->qp ? vqp_rc_qp_psn(target->qp, psn) : -ENOENT;
}

/* ---- Opening and closing ---- */

static void target_ask_work(struct work_struct *work);
static void target_forget(bool all);

static struct vqp_rc_target *target_create(const u8 *gid, const struct vqp_rpc_msg *msg)
{
	struct vqp_rc_target *target = kzalloc(sizeof(*target), GFP_KERNEL);

	if (!target)
		return NULL;
	kref_init(&target->ref);
	memcpy(target->gid, gid, VQP_GID_BYTES);
	target->epoch = be32_to_cpu(msg->epoch);
	target->link = be32_to_cpu(msg->link);
	target->first_psn = be32_to_cpu(msg->psn) & VQP_PSN_MASK;
	target->made_at = jiffies;
	mutex_init(&target->lock);
	INIT_LIST_HEAD(&target->windows);
	INIT_WORK(&target->revoke, vqp_window_revoke_work);
	INIT_WORK(&target->ask, target_ask_work);
	vqp_count_made(VQP_OBJ_RC_TARGET);
	return target;
}

static int target_start(struct vqp_rc_target *target, struct vqp_parent *parent,
			struct vqp_rpc_msg *msg)
{
	struct vqp_rc_dest dest = {
		.qpn = be32_to_cpu(msg->qpn),
		.psn = target->first_psn,
		.mtu = be32_to_cpu(msg->mtu),
		.reads = be32_to_cpu(msg->reads),
	};
	u32 psn = get_random_u32() & VQP_PSN_MASK;
	struct ib_qp *qp;
	int ret;

	memcpy(dest.gid, target->gid, VQP_GID_BYTES);
	qp = vqp_rc_qp_create(parent, NULL, NULL, TARGET_SEND_WRS, 1);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = vqp_rc_qp_connect(qp, parent, psn, &dest);
	if (ret) {
		vqp_rc_qp_destroy(qp);
		return ret;
	}
	target->qp = qp;
	target->seen_psn = U32_MAX;
	msg->qpn = cpu_to_be32(qp->qp_num);
	msg->psn = cpu_to_be32(psn);
	msg->mtu = cpu_to_be32(min(parent->mtu, dest.mtu));
	msg->reads = cpu_to_be32(vqp_rc_qp_reads(parent));
	return 0;
}

/* Stop the targets of links that node `gid` made before its module was loaded anew. */
static void target_stop_old(const u8 *gid, u32 epoch)
{
	struct vqp_rc_target *target, *old;

	do {
		old = NULL;
		mutex_lock(&target_mutex);
		list_for_each_entry(target, &target_list, node) {
			if (READ_ONCE(target->qp) && target->epoch != epoch &&
			    !memcmp(target->gid, gid, VQP_GID_BYTES)) {
				old = target;
				vqp_rc_target_hold(old);
				break;
			}
		}
		mutex_unlock(&target_mutex);
		if (old) {
			vqp_rc_target_stop(old);
			vqp_rc_target_put(old);
		}
	} while (old);
}

static u32 target_opening;		/* targets that are being made; under target_mutex */

/* The number of targets that there are or will be. */
static u32 target_count_live(void)
{
	struct vqp_rc_target *target;
	u32 live = target_opening;

	lockdep_assert_held(&target_mutex);
	list_for_each_entry(target, &target_list, node)
		live += !!READ_ONCE(target->qp);
	return live;
}

/* The room that a link has made is kept for node `gid` until then, in jiffies. */
static struct {
	u8 gid[VQP_GID_BYTES];
	unsigned long until;
	bool is;
} target_kept;				/* under target_mutex */

/* Is there room for a target of node gid's? If it is to be `taken`, target_opened() ends that. */
static bool target_has_room(const u8 *gid, bool taken)
{
	bool has;
	u32 live;

	mutex_lock(&target_mutex);
	live = target_count_live();
	if (target_kept.is && time_after(jiffies, target_kept.until))
		target_kept.is = false;
	if (target_kept.is && memcmp(target_kept.gid, gid, VQP_GID_BYTES))
		live++;
	has = live < vqp_link_max();
	target_opening += has && taken;
	mutex_unlock(&target_mutex);
	return has;
}

/* The room that was taken has a target now; or none (NULL), and is free again. */
static void target_opened(struct vqp_rc_target *target)
{
	mutex_lock(&target_mutex);
	target_opening--;
	if (target) {
		list_add(&target->node, &target_list);
		if (!memcmp(target_kept.gid, target->gid, VQP_GID_BYTES))
			target_kept.is = false;
	}
	mutex_unlock(&target_mutex);
}

static struct vqp_rc_target *target_make(const u8 *gid, struct vqp_rpc_msg *msg,
					 struct vqp_parent *parent)
{
	struct vqp_rc_target *target = target_create(gid, msg);
	int ret;

	if (!target)
		return ERR_PTR(-ENOMEM);
	ret = target_start(target, parent, msg);
	if (ret) {
		vqp_rc_target_put(target);
		return ERR_PTR(ret);
	}
	return target;
}

int vqp_rc_target_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_rc_target *target = vqp_rc_target_get(gid, msg);
	struct vqp_parent *parent;
	int token, ret;

	if (target) {
		vqp_rc_target_put(target);
		return -EEXIST;
	}
	target_stop_old(gid, be32_to_cpu(msg->epoch));
	parent = vqp_parent_enter(&token);
	if (!parent)
		return -ENETDOWN;
	ret = -EBUSY;
	if (target_has_room(gid, true)) {
		target = target_make(gid, msg, parent);
		ret = PTR_ERR_OR_ZERO(target);
		/* Before vqp_parent_leave(), so that vqp_rc_target_down() finds the target. */
		target_opened(ret ? NULL : target);
	}
	vqp_parent_leave(token);
	/* Whoever opens and closes links may not wait for target_look_work() to bound them. */
	target_forget(false);
	return ret;
}

int vqp_rc_target_probed(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_rc_target *target = vqp_rc_target_get(gid, msg);
	int ret = -ENOENT;
	u32 psn;

	if (!target)
		return ret;
	mutex_lock(&target->lock);
	if (target->qp) {
		target->tells_psn = !target_psn(target, &psn) && psn != target->first_psn;
		if (target->tells_psn)
			target->used_psn = psn;
		ret = target->tells_psn ? 0 : -ENODATA;
	}
	mutex_unlock(&target->lock);
	vqp_rc_target_put(target);
	return ret;
}

int vqp_rc_target_close(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_rc_target *target = vqp_rc_target_get(gid, msg);
	int ret;

	if (!target)
		return -ENOENT;
	vqp_rc_target_stop(target);
	msg->psn = cpu_to_be32(target->psn);
	ret = target->stop_status;
	vqp_rc_target_put(target);
	return ret;
}

/* ---- Targets that end so that others can begin ---- */

/* The node that asked for room in vain, and would use a link most. Under target_mutex. */
static struct {
	u8 gid[VQP_GID_BYTES];
	u32 packets;			/* a second; 0: there is none */
} target_wanted;

static unsigned long target_measured_at;	/* in jiffies; only the work uses it */
static bool target_measuring;			/* likewise: the use is being measured since then */

static void target_rotate_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(target_rotate, target_rotate_work);

/* The packets that have come since the last call; U32_MAX for a target that is to stay. */
static u32 target_use(struct vqp_rc_target *target)
{
	u32 packets = U32_MAX, psn;

	mutex_lock(&target->lock);
	if (target->tells_psn && !target_psn(target, &psn)) {
		packets = (psn - target->used_psn) & VQP_PSN_MASK;
		target->used_psn = psn;
	}
	mutex_unlock(&target->lock);
	return time_before(jiffies, target->made_at + TARGET_KEEP_JIFFIES) ? U32_MAX : packets;
}

struct target_least {
	struct vqp_rc_target *target;	/* NULL: no target makes room. */
	u32 packets;			/* its use */
};

static void target_compare_use(struct vqp_rc_target *target, void *arg)
{
	struct target_least *least = arg;
	const u32 packets = target_use(target);

	if (packets >= least->packets)
		return;
	if (least->target)
		vqp_rc_target_put(least->target);
	vqp_rc_target_hold(target);
	least->target = target;
	least->packets = packets;
}

/*
 * Have the least used target, of `packets` packets a second, make room for the node that has asked
 * most for it, if that would use the link more than TARGET_USE_RATIO times as much.
 */
static void target_make_room(struct vqp_rc_target *target, u32 packets)
{
	struct vqp_rpc_msg msg = {
		.kind = VQP_RPC_LINK_YIELD,
		.link = cpu_to_be32(target->link),
	};
	u8 gid[VQP_GID_BYTES];
	bool make;

	mutex_lock(&target_mutex);
	make = target_wanted.packets / TARGET_USE_RATIO > packets;
	target_wanted.packets = 0;
	memcpy(gid, target_wanted.gid, VQP_GID_BYTES);
	if (make) {
		memcpy(target_kept.gid, gid, VQP_GID_BYTES);
		target_kept.until = jiffies + TARGET_ROOM_JIFFIES;
		target_kept.is = true;
	}
	mutex_unlock(&target_mutex);
	if (!make)
		return;
	/* An initiator that does not answer sends nothing either, most likely. */
	if (vqp_rpc(target->gid, &msg, TARGET_ASK_MS))
		vqp_rc_target_stop(target);
	msg = (struct vqp_rpc_msg) { .kind = VQP_RPC_LINK_COME };
	vqp_rpc(gid, &msg, TARGET_ASK_MS);
}

/* After a link has asked for room in vain, it runs when the measuring begins, and when it ends. */
static void target_rotate_work(struct work_struct *work)
{
	struct target_least least = { .packets = U32_MAX };
	unsigned long took;

	/* Another has asked while it ran. */
	if (target_measuring &&
	    time_before(jiffies, target_measured_at + TARGET_USE_JIFFIES)) {
		queue_delayed_work(system_dfl_wq, to_delayed_work(work), TARGET_USE_JIFFIES);
		return;
	}
	target_each(target_compare_use, &least);
	took = max(jiffies - target_measured_at, 1UL);
	target_measured_at = jiffies;
	target_measuring = !target_measuring;
	if (target_measuring)
		queue_delayed_work(system_dfl_wq, to_delayed_work(work), TARGET_USE_JIFFIES);
	else if (least.target)
		target_make_room(least.target, div_u64((u64)least.packets * HZ, took));
	if (least.target)
		vqp_rc_target_put(least.target);
}

int vqp_rc_target_room(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	const u32 packets = be32_to_cpu(msg->count);

	target_stop_old(gid, be32_to_cpu(msg->epoch));
	if (target_has_room(gid, false))
		return 0;
	if (!vqp_link_max())
		return -EBUSY;
	mutex_lock(&target_mutex);
	if (packets > target_wanted.packets) {
		target_wanted.packets = packets;
		memcpy(target_wanted.gid, gid, VQP_GID_BYTES);
	}
	mutex_unlock(&target_mutex);
	/* The work does not wait for others here, because they hold receives of rpcs meanwhile. */
	queue_delayed_work(system_dfl_wq, &target_rotate, 0);
	return -EBUSY;
}

/* ---- Targets that their initiators have left ---- */

/* Has no request come since the last call, as far as the device tells? */
static bool target_is_silent(struct vqp_rc_target *target)
{
	bool silent = false;
	u32 psn;

	mutex_lock(&target->lock);
	if (!target_psn(target, &psn)) {
		silent = target->seen_psn == psn;
		target->seen_psn = psn;
	}
	mutex_unlock(&target->lock);
	return silent;
}

/*
 * Has the initiator died? It then sends nothing, knows the link no more, and has not closed it.
 * Each target has a work of its own to ask, so that none waits for the silence of others.
 */
static void target_ask_work(struct work_struct *work)
{
	struct vqp_rc_target *target = container_of(work, struct vqp_rc_target, ask);
	struct vqp_rpc_msg msg = {
		.kind = VQP_RPC_LINK_ALIVE,
		.link = cpu_to_be32(target->link),
	};

	if (vqp_rpc(target->gid, &msg, TARGET_ASK_MS))
		vqp_rc_target_stop(target);
	vqp_rc_target_put(target);
}

static void target_ask_if_silent(struct vqp_rc_target *target, void *arg)
{
	if (!target_is_silent(target))
		return;
	vqp_rc_target_hold(target);
	if (!queue_work(target_wq, &target->ask))
		vqp_rc_target_put(target);
}

/* Of a target that has stopped. */
static bool target_is_old(const struct vqp_rc_target *target)
{
	return time_after(jiffies, target->stopped_at + TARGET_STOPPED_JIFFIES);
}

/* Drop stopped targets that are old, or too many; or all stopped targets. */
static void target_forget(bool all)
{
	struct vqp_rc_target *target, *next;
	u32 stopped = 0;

	mutex_lock(&target_walk);
	mutex_lock(&target_mutex);
	list_for_each_entry_safe(target, next, &target_list, node) {
		/* Pairs with vqp_rc_target_stop(), which is through with a target without a QP. */
		if (smp_load_acquire(&target->qp) ||
		    (!all && !target_is_old(target) && ++stopped <= TARGET_STOPPED_MAX))
			continue;
		list_del(&target->node);
		vqp_rc_target_put(target);
	}
	mutex_unlock(&target_mutex);
	mutex_unlock(&target_walk);
}

static void target_stop(struct vqp_rc_target *target, void *arg)
{
	vqp_rc_target_stop(target);
}

void vqp_rc_target_down(void)
{
	target_each(target_stop, NULL);
	vqp_window_wait();
}

static void target_look_work(struct work_struct *work)
{
	target_each(target_ask_if_silent, NULL);
	target_forget(false);
	queue_delayed_work(system_dfl_wq, to_delayed_work(work), TARGET_SILENT_JIFFIES);
}

static DECLARE_DEFERRABLE_WORK(target_look, target_look_work);

int __init vqp_rc_target_init(void)
{
	int ret;

	target_wq = alloc_workqueue("vqp_target", WQ_UNBOUND, 0);
	if (!target_wq)
		return -ENOMEM;
	ret = vqp_window_init();
	if (ret)
		destroy_workqueue(target_wq);
	else
		queue_delayed_work(system_dfl_wq, &target_look, TARGET_SILENT_JIFFIES);
	return ret;
}

void vqp_rc_target_exit(void)
{
	cancel_delayed_work_sync(&target_look);
	cancel_delayed_work_sync(&target_rotate);
	destroy_workqueue(target_wq);
	target_each(target_stop, NULL);
	vqp_window_exit();
	target_forget(true);
}
