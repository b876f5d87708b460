// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "base/counters.h"
#include "mem/mr.h"
#include "mem/pull.h"
#include "meta/rpc.h"
#include "ns/namespace.h"
#include "rc/reg.h"
#include "rc/target.h"
#include "rc/window.h"

#define WINDOW_MAX		1024	/* the most windows of the node */
#define WINDOW_NS_MAX		256	/* the most windows of one VQP namespace */
/* The time that an initiator has to answer when its windows are revoked, or make room. */
#define WINDOW_REVOKE_MS	1000
#define WINDOW_ROOM_MS		5000
/* Who revokes a window waits so much longer before the initiator's link is ended in any case. */
#define WINDOW_SPARE_MS		250
/* A window makes room for no other until this time after an initiator has asked for it. */
#define WINDOW_KEEP_JIFFIES	HZ
#define WINDOW_ENDING_MAX	64	/* the most windows that make room at a time */

/* Why a window ends. Each initiator that holds it is told, and then lets go of it. */
enum window_end {
	WINDOW_STAYS,
	WINDOW_MAKES_ROOM,		/* for another one */
	WINDOW_REVOKED,			/* with all others of its region */
};

struct vqp_window {
	struct kref ref;		/* Each holder has a reference. */
	struct list_head node;		/* in window_list */
	struct list_head mr_link;	/* in vqp_mr.windows */
	struct list_head holders;	/* struct window_holder.window_link */
	struct vqp_mr *mr;		/* waits for its windows before it goes */
	u32 index;			/* addr >> VQP_WINDOW_SHIFT */
	bool pull;			/* It is for READs of zero-copy messages alone. */
	enum window_end end;
	/* In jiffies: when an initiator asked for it last; when it was to end. */
	unsigned long asked_at, ended_at;
	u64 addr;			/* the first address, as functions name it */
	u64 bytes;
	struct mutex lock;		/* is held while `reg` is made */
	struct vqp_reg reg;
};

/* The initiator of `target` knows the window's rkey. */
struct window_holder {
	struct list_head window_link;	/* in vqp_window.holders */
	struct list_head target_link;	/* in vqp_rc_target.windows */
	struct vqp_window *window;	/* referenced */
	struct vqp_rc_target *target;	/* referenced */
	bool told;			/* The initiator has been told to let go. */
};

/*
 * Guards all lists of windows and holders, what windows and holders have that changes, the counts
 * below, and those of namespaces. No verb is called and no memory allocated under it. Inside
 * vqp_rc_target.lock.
 */
static DEFINE_MUTEX(window_mutex);
static LIST_HEAD(window_list);		/* the one that was asked for longest ago comes first */
static u32 window_count;		/* the windows in the list */
static u32 window_ending_count;		/* those of them that end */
static atomic_t window_made;		/* the windows that the device may know */
static struct workqueue_struct *window_wq;

/*
 * The device's access rights of a window: those that the region grants to functions, or those of
 * a zero-copy send. 0: there is nothing to reach.
 */
static int window_access(const struct vqp_mr *mr, bool pull)
{
	int access = pull || (mr->access & VQP_ACCESS_REMOTE_READ) ? IB_ACCESS_REMOTE_READ : 0;

	if (!pull && (mr->access & VQP_ACCESS_REMOTE_WRITE))
		access |= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	return access;
}

/* No initiator holds the window any more, so that no request uses it. */
static void window_release(struct kref *ref)
{
	struct vqp_window *window = container_of(ref, struct vqp_window, ref);
	struct vqp_mr *mr = window->mr;

	vqp_reg_free(&window->reg);
	mutex_lock(&window_mutex);
	if (window->end) {
		mr->ns->windows_ending--;
		window_ending_count--;
	}
	mr->ns->windows--;
	window_count--;
	list_del(&window->node);
	list_del(&window->mr_link);
	mutex_unlock(&window_mutex);
	smp_mb();	/* Order the removal before wake_up_var()'s look for waiters. */
	wake_up_var(&mr->windows);
	if (atomic_dec_and_test(&window_made))
		wake_up_var(&window_made);
	kfree(window);
	vqp_count_freed(VQP_OBJ_WINDOW);
}

static void window_put(struct vqp_window *window)
{
	kref_put(&window->ref, window_release);
}

/* ---- Room ---- */

/* Have the initiators that hold the window let go of it. */
static void window_end(struct vqp_window *window, enum window_end end)
{
	struct window_holder *holder;

	lockdep_assert_held(&window_mutex);
	if (!window->end) {
		window->mr->ns->windows_ending++;
		window_ending_count++;
	}
	window->end = end;
	window->ended_at = jiffies;
	list_for_each_entry(holder, &window->holders, window_link) {
		vqp_rc_target_hold(holder->target);
		if (!queue_work(window_wq, &holder->target->revoke))
			vqp_rc_target_put(holder->target);
	}
}

/* How many windows the namespace will have when those that end have ended. */
static u32 window_ns_count(const struct vqp_ns *ns)
{
	return ns->windows - ns->windows_ending;
}

/*
 * The namespace whose window is to make room for one of ns: the one that has most, if it will not
 * have fewer than ns then, and all the room that is being made goes to ns; or ns itself.
 */
static const struct vqp_ns *window_richest(const struct vqp_ns *ns)
{
	const struct vqp_ns *richest = ns;
	const struct vqp_window *window;
	u32 most;

	if (ns->windows >= WINDOW_NS_MAX)
		return ns;
	most = window_ns_count(ns) + window_ending_count + 1;
	list_for_each_entry(window, &window_list, node) {
		if (window_ns_count(window->mr->ns) <= most)
			continue;
		richest = window->mr->ns;
		most = window_ns_count(richest);
	}
	return richest;
}

/* Have the oldest window of a namespace that has more than its share make room for one of ns. */
static void window_make_room(const struct vqp_ns *ns)
{
	const unsigned long now = jiffies;
	static unsigned long looked_at;
	struct vqp_window *window;

	lockdep_assert_held(&window_mutex);
	/* To look takes a while: once in a jiffy is enough. */
	if (looked_at == now || window_ending_count >= WINDOW_ENDING_MAX)
		return;
	looked_at = now;
	ns = window_richest(ns);
	list_for_each_entry(window, &window_list, node) {
		if (window->mr->ns != ns || window->end)
			continue;
		if (time_after(now, window->asked_at + WINDOW_KEEP_JIFFIES))
			window_end(window, WINDOW_MAKES_ROOM);
		break;
	}
}

/* ---- Opening ---- */

/*
 * Set the window's range to the part of mr between index * VQP_WINDOW_BYTES and the next multiple.
 * Returns false if there is no such part.
 */
static bool window_set_range(struct vqp_window *window, const struct vqp_mr *mr, u32 index)
{
	const u64 start = (u64)index << VQP_WINDOW_SHIFT;
	const u64 from = max(start, mr->addr);
	const u64 to = min(start + VQP_WINDOW_BYTES, mr->addr + mr->length);

	window->index = index;
	window->addr = from;
	window->bytes = to - from;
	return from < to;
}

/* What the node of `target` asks for, not yet in any list; or ERR_PTR if it may not have it. */
static struct vqp_window *window_create(struct vqp_mr *mr, const struct vqp_rc_target *target,
					u32 index, bool pull)
{
	struct vqp_window *window = kzalloc(sizeof(*window), GFP_KERNEL);

	if (!window)
		return ERR_PTR(-ENOMEM);
	kref_init(&window->ref);
	INIT_LIST_HEAD(&window->holders);
	mutex_init(&window->lock);
	window->mr = mr;
	window->pull = pull;
	if (!window_set_range(window, mr, index) || !window_access(mr, pull) ||
	    (pull && !vqp_pull_touches(mr->ns, target->gid, mr->key, window->addr,
				       window->bytes))) {
		kfree(window);
		return ERR_PTR(-EACCES);
	}
	return window;
}

static struct vqp_window *window_find(const struct vqp_mr *mr, u32 index, bool pull)
{
	struct vqp_window *window;

	lockdep_assert_held(&window_mutex);
	list_for_each_entry(window, &mr->windows, mr_link)
		if (window->index == index && window->pull == pull && !window->end &&
		    kref_get_unless_zero(&window->ref))
			return window;
	return NULL;
}

static void window_add(struct vqp_window *window)
{
	lockdep_assert_held(&window_mutex);
	list_add_tail(&window->node, &window_list);
	list_add(&window->mr_link, &window->mr->windows);
	window_count++;
	window->mr->ns->windows++;
	atomic_inc(&window_made);
	vqp_count_made(VQP_OBJ_WINDOW);
}

/*
 * The initiator of `target` holds the window from now on. Returns `new`, in which that is noted; or
 * NULL if it has held the window before.
 */
static struct window_holder *window_hold(struct vqp_window *window, struct vqp_rc_target *target,
					 struct window_holder *new)
{
	struct window_holder *holder;

	lockdep_assert_held(&window_mutex);
	list_for_each_entry(holder, &window->holders, window_link)
		if (holder->target == target)
			return NULL;
	kref_get(&window->ref);
	new->window = window;
	vqp_rc_target_hold(target);
	new->target = target;
	list_add(&new->window_link, &window->holders);
	list_add_tail(&new->target_link, &target->windows);
	return new;
}

/* The initiator of `target` holds no window any more that `lets_go` says. */
static void window_let_go(struct vqp_rc_target *target,
			  bool (*lets_go)(const struct window_holder *holder, const void *arg),
			  const void *arg)
{
	struct window_holder *holder, *next;
	LIST_HEAD(gone);

	mutex_lock(&window_mutex);
	list_for_each_entry_safe(holder, next, &target->windows, target_link) {
		if (!lets_go(holder, arg))
			continue;
		list_del(&holder->window_link);
		list_move(&holder->target_link, &gone);
	}
	mutex_unlock(&window_mutex);
	list_for_each_entry_safe(holder, next, &gone, target_link) {
		window_put(holder->window);
		vqp_rc_target_put(holder->target);
		kfree(holder);
	}
}

static bool holder_is_any(const struct window_holder *holder, const void *arg)
{
	return true;
}

static bool holder_is_told(const struct window_holder *holder, const void *arg)
{
	return holder->told;
}

static bool holder_is_of(const struct window_holder *holder, const void *window)
{
	return holder->window == window;
}

/* The window that the initiator of `target` asks for, referenced and held by it; or ERR_PTR. */
static struct vqp_window *window_get(struct vqp_mr *mr, struct vqp_rc_target *target, u32 index,
				     bool pull)
{
	struct vqp_window *new = window_create(mr, target, index, pull), *window;
	struct window_holder *holder;
	int ret = 0;

	if (IS_ERR(new))
		return new;
	holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	if (!holder) {
		kfree(new);
		return ERR_PTR(-ENOMEM);
	}
	mutex_lock(&window_mutex);
	window = window_find(mr, index, pull);
	if (window) {
		list_move_tail(&window->node, &window_list);
	} else if (!vqp_ns_alive(mr->ns)) {
		/* A namespace that goes revokes its windows. None is made behind its back. */
		ret = -ENOENT;
	} else if (window_count >= WINDOW_MAX || mr->ns->windows >= WINDOW_NS_MAX) {
		/* The initiator asks again in a second. */
		window_make_room(mr->ns);
		ret = -EDQUOT;
	} else {
		window_add(new);
		swap(window, new);
	}
	if (window) {
		window->asked_at = jiffies;
		if (window_hold(window, target, holder))
			holder = NULL;
	}
	mutex_unlock(&window_mutex);
	kfree(new);
	kfree(holder);
	return ret ? ERR_PTR(ret) : window;
}

/* Make the window at the device, by the target's QP for all QPs of the PD. */
static int window_make(struct vqp_window *window, struct ib_qp *qp)
{
	const struct vqp_mr *mr = window->mr;
	const u64 from = window->addr - mr->addr + mr->first_offset;

	lockdep_assert_held(&window->lock);
	return vqp_reg_make(&window->reg, qp, mr->pages + (from >> PAGE_SHIFT),
			    offset_in_page(from), window->bytes,
			    window_access(mr, window->pull));
}

static void window_answer(const struct vqp_window *window, struct vqp_rpc_msg *msg)
{
	msg->rkey = cpu_to_be32(window->reg.ib_mr->rkey);
	msg->access = cpu_to_be32(window->pull ? 0 : window->mr->access);
	msg->iova = cpu_to_be64(window->reg.ib_mr->iova);
	msg->addr = cpu_to_be64(window->addr);
	msg->bytes = cpu_to_be64(window->bytes);
}

static int window_open(struct vqp_rc_target *target, struct vqp_mr *mr, struct vqp_rpc_msg *msg)
{
	struct vqp_window *window;
	int ret = 0;

	lockdep_assert_held(&target->lock);
	window = window_get(mr, target, be32_to_cpu(msg->index),
			    msg->flags & VQP_RPC_PULL);
	if (IS_ERR(window))
		return PTR_ERR(window);
	mutex_lock(&window->lock);
	if (!window->reg.ib_mr)
		ret = window_make(window, target->qp);
	mutex_unlock(&window->lock);
	if (ret)
		window_let_go(target, holder_is_of, window);
	else
		window_answer(window, msg);
	window_put(window);
	return ret;
}

int vqp_window_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_rc_target *target = vqp_rc_target_get(gid, msg);
	struct vqp_mr *mr = NULL;
	struct vqp_ns *ns;
	int ret = -ENOENT;

	if (!target)
		return ret;
	ns = vqp_ns_find(be32_to_cpu(msg->tenant), msg->gid);
	mutex_lock(&target->lock);
	/* Not before the lock is taken: a region that goes waits for all who have found it. */
	if (ns && target->qp)
		mr = vqp_mr_find(ns, be32_to_cpu(msg->key));
	if (mr) {
		ret = window_open(target, mr, msg);
		vqp_mr_put(mr);
	}
	mutex_unlock(&target->lock);
	if (ns)
		vqp_ns_put(ns);
	vqp_rc_target_put(target);
	return ret;
}

/* ---- Closing ---- */

void vqp_window_close_all(struct vqp_rc_target *target)
{
	window_let_go(target, holder_is_any, NULL);
}

void vqp_window_wait(void)
{
	wait_var_event(&window_made, !atomic_read(&window_made));
}

/* A window that the initiator of `target` is to let go of; those that are waited for come first. */
static struct vqp_window *window_ending(struct vqp_rc_target *target)
{
	struct vqp_window *window = NULL;
	struct window_holder *holder;

	lockdep_assert_held(&window_mutex);
	list_for_each_entry(holder, &target->windows, target_link) {
		if (holder->window->end == WINDOW_REVOKED)
			return holder->window;
		if (holder->window->end)
			window = holder->window;
	}
	return window;
}

/*
 * Write what the initiator of `target` is to be told next, and note which windows it then lets go
 * of: one, or all of a region. Windows of that namespace go behind all others, so that namespaces
 * take turns however many regions of theirs end. False: nothing is to be told.
 */
static bool window_next_revoke(struct vqp_rc_target *target, struct vqp_rpc_msg *msg)
{
	struct window_holder *holder, *next;
	struct vqp_window *window;
	LIST_HEAD(behind);
	bool alone;

	mutex_lock(&window_mutex);
	window = window_ending(target);
	if (window) {
		alone = window->end == WINDOW_MAKES_ROOM;
		*msg = (struct vqp_rpc_msg) {
			.kind = VQP_RPC_REVOKE,
			.flags = (alone ? VQP_RPC_ALONE : 0) | (window->pull ? VQP_RPC_PULL : 0),
			.link = cpu_to_be32(target->link),
			.tenant = cpu_to_be32(window->mr->ns->tenant),
			.key = cpu_to_be32(window->mr->key),
			.index = cpu_to_be32(window->index),
		};
		memcpy(msg->gid, window->mr->ns->gid, VQP_GID_BYTES);
		list_for_each_entry_safe(holder, next, &target->windows, target_link) {
			holder->told = holder->window == window ||
				       (!alone && holder->window->mr == window->mr);
			if (holder->window->mr->ns == window->mr->ns)
				list_move_tail(&holder->target_link, &behind);
		}
		list_splice_tail(&behind, &target->windows);
	}
	mutex_unlock(&window_mutex);
	return window;
}

/*
 * An initiator answers when no request of it uses the windows any more. If it does not answer, the
 * target stops, and with it all windows of the link end: only then is it sure that no request is
 * under way.
 */
void vqp_window_revoke_work(struct work_struct *work)
{
	struct vqp_rc_target *target = container_of(work, struct vqp_rc_target, revoke);
	struct vqp_rpc_msg msg;
	u32 answer_ms;

	while (window_next_revoke(target, &msg)) {
		answer_ms = msg.flags & VQP_RPC_ALONE ? WINDOW_ROOM_MS : WINDOW_REVOKE_MS;
		if (vqp_rpc(target->gid, &msg, answer_ms))
			vqp_rc_target_stop(target);
		else
			window_let_go(target, holder_is_told, NULL);
	}
	vqp_rc_target_put(target);
}

static void window_revoke(struct vqp_mr *mr)
{
	struct vqp_window *window;

	mutex_lock(&window_mutex);
	list_for_each_entry(window, &mr->windows, mr_link)
		window_end(window, WINDOW_REVOKED);
	mutex_unlock(&window_mutex);
}

/* The time that the initiators of a region that is revoked still have, in jiffies. */
static long window_time_left(struct vqp_mr *mr)
{
	const unsigned long most = msecs_to_jiffies(WINDOW_REVOKE_MS + WINDOW_SPARE_MS);
	struct vqp_window *window;
	long left = 0;

	mutex_lock(&window_mutex);
	window = list_first_entry_or_null(&mr->windows, struct vqp_window, mr_link);
	if (window)
		left = (long)(window->ended_at + most - jiffies);
	mutex_unlock(&window_mutex);
	return max(left, 1L);
}

/* A target whose initiator has not let go of the region yet, referenced; or NULL. */
static struct vqp_rc_target *window_late_target(struct vqp_mr *mr)
{
	struct vqp_rc_target *target = NULL;
	struct window_holder *holder;
	struct vqp_window *window;

	mutex_lock(&window_mutex);
	list_for_each_entry(window, &mr->windows, mr_link) {
		holder = list_first_entry_or_null(&window->holders, struct window_holder,
						  window_link);
		if (!holder)
			continue;
		target = holder->target;
		vqp_rc_target_hold(target);
		break;
	}
	mutex_unlock(&window_mutex);
	return target;
}

/*
 * The work of a target may take longer than its initiator has, for many regions or to reach the
 * initiator at all. Then this function stops the target.
 */
static void window_revoke_wait(struct vqp_mr *mr)
{
	struct vqp_rc_target *target;

	while (!wait_var_event_timeout(&mr->windows, list_empty(&mr->windows),
				       window_time_left(mr))) {
		target = window_late_target(mr);
		if (!target)
			break;
		vqp_rc_target_stop(target);
		vqp_rc_target_put(target);
	}
	wait_var_event(&mr->windows, list_empty(&mr->windows));
	/* The last of them has let go of the region when it has dropped the mutex. */
	mutex_lock(&window_mutex);
	mutex_unlock(&window_mutex);
}

const struct vqp_mr_user vqp_window_mr_user = {
	.revoke = window_revoke,
	.wait = window_revoke_wait,
};

int __init vqp_window_init(void)
{
	window_wq = alloc_workqueue("vqp_window", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return window_wq ? 0 : -ENOMEM;
}

void vqp_window_exit(void)
{
	destroy_workqueue(window_wq);
}
