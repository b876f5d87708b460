// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When a trunk's VQP fails, the frames that it had are kept in order, and the next VQP gets them
 * before any other. Each of them is counted and charged as before, so that there are no more than
 * a trunk may have under way.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "queue/carrier.h"
#include "queue/vqp.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

static struct vqp_frame_send *again_frame(struct vqp_msg *msg)
{
	return container_of(msg, struct vqp_frame_send, send.msg);
}

/* Who connects does so by TCP after a failure, and the opener says BYE. */
bool vqp_trunk_keep(struct vqp_frame_send *f)
{
	struct vqp_trunk *trunk = f->trunk;

	lockdep_assert_held(&trunk->lock);
	if (trunk->state == VQP_TRUNK_OVER || f->type == VQP_FRAME_OPEN ||
	    f->type == VQP_FRAME_REFUSE || f->type == VQP_FRAME_BYE)
		return false;
	list_add_tail(&f->send.msg.link, &trunk->again);
	return true;
}

/* Take as many frames as may be queued in one piece. */
static u32 again_take(struct vqp_trunk *trunk, struct list_head *sends)
{
	struct vqp_msg *msg, *next;
	u32 n = 0;

	list_for_each_entry_safe(msg, next, &trunk->resend, link) {
		if (n == VQP_CARRIER_DEPTH)
			break;
		vqp_trunk_frame_prepare(again_frame(msg));
		list_move_tail(&msg->link, sends);
		n++;
	}
	return n;
}

/* If this VQP fails, too, what it has got comes back to trunk->again, before the rest. */
int vqp_trunk_send_again(struct vqp_trunk *trunk, struct vqp *vqp)
{
	LIST_HEAD(sends);
	int ret;
	u32 n;

	spin_lock_bh(&trunk->lock);
	list_splice_tail_init(&trunk->again, &trunk->resend);
	spin_unlock_bh(&trunk->lock);
	while ((n = again_take(trunk, &sends))) {
		ret = vqp_send_queue(vqp, &sends, n);
		list_splice_init(&sends, &trunk->resend);
		if (ret < 0)
			return ret;
		cond_resched();
	}
	return 0;
}

/* What a trunk goes on trying for. */
enum again_rest {
	AGAIN_ALL,
	AGAIN_LATE,			/* VQP_TRUNK_ORPHAN_JIFFIES are over. */
	AGAIN_NONE,
};

static bool again_user_lasts(const struct vqp_trunk_user *user, enum again_rest rest)
{
	return rest != AGAIN_NONE && user->ops->lasts(user, rest == AGAIN_LATE);
}

/* Is a frame worth sending? That its connection is broken, a peer is told for a while. */
static bool again_lasts(const struct vqp_frame_send *f, enum again_rest rest)
{
	if (f->type == VQP_FRAME_REFUSE)
		return false;
	if (!f->user || f->type == VQP_FRAME_RST)
		return rest == AGAIN_ALL;
	return again_user_lasts(f->user, rest);
}

/* Take the frames that are given up off a list. Returns how many these are. */
static u32 again_take_frames(struct list_head *from, enum again_rest rest, struct list_head *over)
{
	struct vqp_msg *msg, *next;
	u32 n = 0;

	list_for_each_entry_safe(msg, next, from, link) {
		if (again_lasts(again_frame(msg), rest))
			continue;
		list_move_tail(&msg->link, over);
		n++;
	}
	return n;
}

/* A user that is given up, but for the frames that it has, off the lists, or NULL. */
static struct vqp_trunk_user *again_take_due(struct vqp_trunk *trunk, enum again_rest rest)
{
	struct vqp_trunk_user *user;

	lockdep_assert_held(&trunk->lock);
	list_for_each_entry(user, &trunk->due, due_link) {
		if (!again_user_lasts(user, rest)) {
			list_del_init(&user->due_link);
			return user;
		}
	}
	list_for_each_entry(user, &trunk->waiting, wait_link) {
		if (!again_user_lasts(user, rest)) {
			list_del_init(&user->wait_link);
			return user;
		}
	}
	return NULL;
}

void vqp_trunk_give_up(struct vqp_trunk *trunk, bool all)
{
	enum again_rest rest = all ? AGAIN_NONE : AGAIN_ALL;
	struct vqp_trunk_user *user;
	struct vqp_msg *msg, *next;
	LIST_HEAD(frames);

	spin_lock_bh(&trunk->lock);
	if (!all && trunk->tries &&
	    time_after(jiffies, trunk->failed_at + VQP_TRUNK_ORPHAN_JIFFIES))
		rest = AGAIN_LATE;
	list_splice_tail_init(&trunk->resend, &trunk->again);
	trunk->nframes -= again_take_frames(&trunk->again, rest, &frames);
	/* What was not posted yet is not counted there. */
	trunk->nreplies -= again_take_frames(&trunk->replies, rest, &frames);
	while ((user = again_take_due(trunk, rest))) {
		spin_unlock_bh(&trunk->lock);
		/* One that was closed ends with what it had to tell. */
		user->ops->broken(user);
		user->ops->put(user);
		cond_resched();
		spin_lock_bh(&trunk->lock);
	}
	spin_unlock_bh(&trunk->lock);
	list_for_each_entry_safe(msg, next, &frames, link) {
		list_del(&msg->link);
		vqp_trunk_frame_end(again_frame(msg));
		cond_resched();
	}
}
