// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/compat.h"
#include "base/counters.h"
#include "ns/namespace.h"
#include "sock/budget.h"
#include "sock/far.h"
#include "sock/far_alive.h"
#include "sock/far_due.h"
#include "sock/far_life.h"
#include "sock/far_sender.h"
#include "sock/far_table.h"
#include "sock/far_tell.h"
#include "sock/far_window.h"
#include "sock/hub.h"
#include "sock/parcel.h"
#include "sock/stream.h"
#include "sock/trunk.h"

/* So often old halves are dropped, and connections asked for their room, or whether they live. */
#define FAR_TIDY_JIFFIES	HZ

static void far_tidy_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(far_tidy, far_tidy_work);

static void far_tidy_one(struct vqp_far *far)
{
	vqp_far_recall(far);
	vqp_far_check_alive(far);
}

static void far_tidy_work(struct work_struct *work)
{
	bool any;

	vqp_far_drop_old_halves();
	any = vqp_far_each(far_tidy_one);
	if (vqp_trunks_tidy() || any)
		queue_delayed_work(system_dfl_wq, &far_tidy, FAR_TIDY_JIFFIES);
}

/* Each frame goes as it is posted. */
static void far_push(struct vqp_stream *s)
{
}

/*
 * What was sent is on its way, and keeps the memory until it has arrived. What comes from here on
 * is answered by RST, since nobody finds the end any more; but for one that has parcels, which
 * stays until these are over.
 */
static void far_close(struct vqp_stream *s, bool reset)
{
	struct vqp_far *far = vqp_far_of(s);
	bool stays;

	if (!reset)
		vqp_far_finish(s);
	spin_lock_bh(&s->lock);
	if (reset && (far->state == VQP_FAR_OPEN || far->state == VQP_FAR_HALF)) {
		vqp_parcels_drop(far, false);
		vqp_far_set_due(far, VQP_FAR_DUE_RST);
	}
	stays = !list_empty(&far->parcels);
	for (; far->pages; far->pages--)
		vqp_budget_uncharge(s->ns);
	spin_unlock_bh(&s->lock);
	if (!stays)
		vqp_far_leave(far);
}

static const struct vqp_stream_ops far_ops = {
	.kind = VQP_SOCK_FAR,
	.event = VQP_EV_SOCK_FAR,
	.tallied = VQP_TALLY_FAR,
	.send = vqp_far_send,
	.push = far_push,
	.finish = vqp_far_finish,
	.is_writable = vqp_far_is_writable,
	.unread = vqp_far_unread,
	.excess = vqp_far_excess,
	.consumed = vqp_far_consumed,
	.set_window = vqp_far_set_window,
	.close = far_close,
	.release = vqp_far_release,
};

static void far_user_hold(struct vqp_trunk_user *user)
{
	kref_get(&vqp_far_of_user(user)->ref);
}

static void far_user_put(struct vqp_trunk_user *user)
{
	vqp_far_put(vqp_far_of_user(user));
}

static void far_user_sent(struct vqp_trunk_user *user, u32 bytes)
{
	struct vqp_far *far = vqp_far_of_user(user);

	spin_lock_bh(&far->s.lock);
	vqp_far_frame_done(far, bytes);
	far->moved_at = jiffies;
	far->probing = false;
	spin_unlock_bh(&far->s.lock);
	if (bytes)
		vqp_far_room(far);
}

/* What a closed connection has left, or that one is broken, matters for a while. */
static bool far_user_lasts(const struct vqp_trunk_user *user, bool late)
{
	const struct vqp_far *far = container_of(user, struct vqp_far, user);

	if (READ_ONCE(far->state) == VQP_FAR_GONE)
		return !late && READ_ONCE(far->due) & BIT(VQP_FAR_DUE_RST);
	return !(late && READ_ONCE(far->s.closed));
}

static void far_user_room(struct vqp_trunk_user *user)
{
	vqp_far_room(vqp_far_of_user(user));
}

static void far_user_broken(struct vqp_trunk_user *user)
{
	vqp_far_break(vqp_far_of_user(user));
}

static const struct vqp_trunk_user_ops far_user_ops = {
	.hold = far_user_hold,
	.put = far_user_put,
	.sent = far_user_sent,
	.lasts = far_user_lasts,
	.room = far_user_room,
	.tell = vqp_far_tell,
	.broken = far_user_broken,
};

struct vqp_far *vqp_far_make(struct vqp_ns *ns, struct vqp_trunk *trunk)
{
	struct vqp_far *far;
	int ret;

	/* With a page at a time it would be slow: TCP has memory of its own. */
	if (!vqp_budget_has(ns))
		return ERR_PTR(-ENOBUFS);
	ret = vqp_limit_charge(&ns->limits[VQP_LIMIT_STREAMS], 1);
	if (ret)
		return ERR_PTR(ret);
	far = kzalloc(sizeof(*far), GFP_KERNEL_ACCOUNT);
	if (!far) {
		vqp_limit_uncharge(&ns->limits[VQP_LIMIT_STREAMS], 1);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&far->ref);
	vqp_stream_init(&far->s, &far_ops, &far->ref, NULL, ns);
	far->trunk = trunk;
	kref_get(&trunk->ref);
	vqp_trunk_user_init(&far->user, &far_user_ops);
	init_completion(&far->answered);
	far->moved_at = jiffies;
	far->heard_at = jiffies;
	far->window_max = VQP_STREAM_WINDOW;
	far->s.window = VQP_FAR_WINDOW_FIRST;
	INIT_LIST_HEAD(&far->half_link);
	INIT_LIST_HEAD(&far->parcels);
	vqp_count_made(VQP_OBJ_STREAM);
	spin_lock_bh(&far->s.lock);
	vqp_far_grant(far);
	spin_unlock_bh(&far->s.lock);
	vqp_far_hash(far);
	queue_delayed_work(system_dfl_wq, &far_tidy, FAR_TIDY_JIFFIES);
	ret = vqp_stream_list(&far->s) ?: vqp_trunk_join(trunk, &far->user);
	if (ret) {
		vqp_stream_close(&far->s, true);
		vqp_far_put(far);
		return ERR_PTR(ret);
	}
	return far;
}

/* The namespace is dead: nothing comes to it, and its peers are told. */
static void far_kill(struct vqp_ns *ns)
{
	vqp_hub_end(ns);
	vqp_trunks_end(ns);
	vqp_far_drop_halves(ns);
}

struct vqp_ns_user vqp_far_ns_user = {
	.sockets = vqp_hub_begin,
	.kill = far_kill,
};

void vqp_far_exit(void)
{
	vqp_hubs_end();
	vqp_trunks_end(NULL);
	vqp_trunks_flush();
	cancel_delayed_work_sync(&far_tidy);
}
