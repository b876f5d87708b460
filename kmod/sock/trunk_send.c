// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "queue/vqp.h"
#include "sock/budget.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

#define TRUNK_REPLIES_MAX	256
/*
 * A trunk takes no more of programs while so many frames are under way: two windows of a flow,
 * so that it never runs dry, and control frames do not stand behind many.
 */
#define TRUNK_FRAMES_MAX	128
/* All that a trunk may have under way: what is kept when a VQP fails fits into the next. */
#define TRUNK_POSTED_MAX	1024

static_assert(TRUNK_POSTED_MAX < VQP_MAX_WR);

/* A page of the budget is charged for one. */
static_assert(sizeof(struct vqp_frame_send) + VQP_FRAME_MAX <= PAGE_SIZE);

struct vqp_frame_send *vqp_trunk_frame(struct vqp_trunk *trunk, struct vqp_trunk_user *user,
				       u32 bytes)
{
	struct vqp_frame_send *f;

	f = kmalloc(sizeof(*f) + VQP_FRAME_HEADER + bytes, GFP_KERNEL_ACCOUNT);
	if (!f)
		return NULL;
	memset(f, 0, sizeof(*f));
	f->trunk = trunk;
	kref_get(&trunk->ref);
	f->user = user;
	if (user)
		user->ops->hold(user);
	return f;
}

void vqp_trunk_frame_free(struct vqp_frame_send *f)
{
	if (f->charged)
		vqp_budget_uncharge(f->trunk->ns);
	if (f->user)
		f->user->ops->put(f->user);
	vqp_trunk_put(f->trunk);
	kfree(f);
}

void vqp_trunk_frame_end(struct vqp_frame_send *f)
{
	if (f->user)
		f->user->ops->sent(f->user, f->bytes);
	vqp_trunk_frame_free(f);
}

bool vqp_trunk_has_room(const struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	return trunk->nframes < TRUNK_FRAMES_MAX / 2;
}

/* The peer's kernel has a frame. */
static void trunk_set_arrived(struct vqp_trunk *trunk, const struct vqp_frame_send *f)
{
	lockdep_assert_held(&trunk->lock);
	if (!trunk->answered && trunk->vqp)
		trunk->home = trunk->vqp->dc.dct;
	trunk->answered = true;
	trunk->tries = 0;
	trunk->greeted |= f->type == VQP_FRAME_BYE;
}

/*
 * vqp_send.done, under vqp.lock: the peer's kernel has the frame, or the VQP has failed. These come
 * in the order in which frames were posted.
 */
static void trunk_sent(struct vqp_send *send, u32 status)
{
	struct vqp_frame_send *f = container_of(send, struct vqp_frame_send, send);
	struct vqp_trunk *trunk = f->trunk;
	bool kick = status, kept;

	spin_lock(&trunk->lock);
	if (!status)
		trunk_set_arrived(trunk, f);
	trunk->refused |= status == VQP_WC_REM_INV_REQ_ERR;
	kept = status && vqp_trunk_keep(f);
	if (!kept)
		trunk->nframes--;
	if (vqp_trunk_has_room(trunk))
		kick |= !list_empty(&trunk->waiting) || !list_empty(&trunk->due) ||
			!list_empty(&trunk->replies);
	/* Once it is unlocked, a frame that is kept may be given up. */
	if (kick)
		vqp_trunk_queue_work(trunk);
	spin_unlock(&trunk->lock);
	if (!kept)
		vqp_trunk_frame_end(f);
}

/* Whose frame it is, waits for room from here on. */
static void trunk_wait(struct vqp_trunk *trunk, struct vqp_trunk_user *user)
{
	lockdep_assert_held(&trunk->lock);
	if (list_empty(&user->wait_link)) {
		list_add_tail(&user->wait_link, &trunk->waiting);
		user->ops->hold(user);
	}
}

/* May a frame be posted now? A life of a trunk begins with the first BYE. */
static bool trunk_may_post(const struct vqp_trunk *trunk, const struct vqp_frame_send *f)
{
	lockdep_assert_held(&trunk->lock);
	if (trunk->state == VQP_TRUNK_OPENING)
		return f->type == VQP_FRAME_BYE && trunk->vqp;
	return trunk->state == VQP_TRUNK_UP &&
	       trunk->nframes < (f->waits ? TRUNK_FRAMES_MAX : TRUNK_POSTED_MAX);
}

/* The VQP to post a frame to, referenced, of which the trunk counts one more; or ERR_PTR(). */
static struct vqp *trunk_enter(struct vqp_trunk *trunk, const struct vqp_frame_send *f)
{
	struct vqp *vqp = ERR_PTR(-EAGAIN);

	spin_lock_bh(&trunk->lock);
	if (trunk_may_post(trunk, f)) {
		vqp = vqp_trunk_vqp_get(trunk);
		trunk->nframes++;
	} else if (trunk->state == VQP_TRUNK_OVER) {
		vqp = ERR_PTR(-EIO);
	} else {
		if (f->waits)
			trunk_wait(trunk, f->user);
		/* It is to be opened, perhaps. */
		if (trunk->state != VQP_TRUNK_UP)
			vqp_trunk_queue_work(trunk);
	}
	spin_unlock_bh(&trunk->lock);
	return vqp;
}

void vqp_trunk_frame_prepare(struct vqp_frame_send *f)
{
	f->send.opcode = VQP_WR_SEND;
	f->send.fate = VQP_SEND_FRESH;
	f->send.kbuf = vqp_frame_of(f);
	f->send.done = trunk_sent;
	f->send.msg.op = VQP_OP_SEND;
	f->send.msg.bytes = vqp_frame_head(f->type) + f->bytes;
}

/* Post a frame whose header is written. */
static int trunk_post(struct vqp_frame_send *f)
{
	struct vqp_trunk *trunk = f->trunk;
	LIST_HEAD(sends);
	struct vqp *vqp;
	int ret;

	vqp = trunk_enter(trunk, f);
	if (IS_ERR(vqp))
		return PTR_ERR(vqp);
	vqp_trunk_frame_prepare(f);
	list_add(&f->send.msg.link, &sends);
	ret = vqp_send_queue(vqp, &sends, 1);
	vqp_put(vqp);
	if (ret == 1)
		return 0;
	/* The VQP has failed, for a VQP has more room than TRUNK_POSTED_MAX. */
	spin_lock_bh(&trunk->lock);
	trunk->nframes--;
	if (f->waits)
		trunk_wait(trunk, f->user);
	spin_unlock_bh(&trunk->lock);
	vqp_trunk_queue_work(trunk);
	return -EAGAIN;
}

int vqp_trunk_post(struct vqp_frame_send *f, const struct vqp_frame *frame)
{
	f->type = frame->type;
	vqp_frame_write(frame, vqp_frame_of(f));
	return trunk_post(f);
}

int vqp_trunk_bye(struct vqp_trunk *trunk, u32 before)
{
	const struct vqp_frame bye = { .type = VQP_FRAME_BYE, .from = before };
	struct vqp_frame_send *f = vqp_trunk_frame(trunk, NULL, 0);
	int ret;

	if (!f)
		return -ENOMEM;
	ret = vqp_trunk_post(f, &bye);
	if (ret)
		vqp_trunk_frame_free(f);
	return ret;
}

void vqp_trunk_reply(struct vqp_trunk *trunk, const struct vqp_frame *frame)
{
	struct vqp_frame_send *f = vqp_trunk_frame(trunk, NULL, 0);
	bool queued = false;

	if (!f)
		return;
	f->type = frame->type;
	vqp_frame_write(frame, vqp_frame_of(f));
	spin_lock_bh(&trunk->lock);
	if (trunk->nreplies < TRUNK_REPLIES_MAX && trunk->state != VQP_TRUNK_OVER) {
		list_add_tail(&f->send.msg.link, &trunk->replies);
		trunk->nreplies++;
		queued = true;
	}
	spin_unlock_bh(&trunk->lock);
	if (queued)
		vqp_trunk_queue_work(trunk);
	else
		vqp_trunk_frame_free(f);
}

/* The oldest reply, off the list; or NULL. */
static struct vqp_frame_send *trunk_take_reply(struct vqp_trunk *trunk)
{
	struct vqp_frame_send *f = NULL;

	spin_lock_bh(&trunk->lock);
	if (!list_empty(&trunk->replies)) {
		f = container_of(list_first_entry(&trunk->replies, struct vqp_msg, link),
				 struct vqp_frame_send, send.msg);
		list_del(&f->send.msg.link);
		trunk->nreplies--;
	}
	spin_unlock_bh(&trunk->lock);
	return f;
}

/* Without room for a reply: it stays the next one. */
static void trunk_put_reply(struct vqp_frame_send *f)
{
	struct vqp_trunk *trunk = f->trunk;

	spin_lock_bh(&trunk->lock);
	list_add(&f->send.msg.link, &trunk->replies);
	trunk->nreplies++;
	spin_unlock_bh(&trunk->lock);
}

void vqp_trunk_post_replies(struct vqp_trunk *trunk)
{
	struct vqp_frame_send *f;
	int ret = 0;

	while (!ret && (f = trunk_take_reply(trunk))) {
		ret = trunk_post(f);
		if (ret == -EAGAIN)
			trunk_put_reply(f);
		else if (ret)
			vqp_trunk_frame_free(f);
	}
}
