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
 * A trunk takes no more bytes of streams while so many frames are under way: two windows of a flow,
 * so that it never runs dry, and control frames do not stand behind many.
 */
#define TRUNK_FRAMES_MAX	128

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

bool vqp_trunk_has_room(const struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	return trunk->nframes < TRUNK_FRAMES_MAX / 2;
}

/* The peer knows that all before is over. */
static void trunk_set_found(struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	trunk->lost = false;
	trunk->tries = 0;
}

/* vqp_send.done, under vqp.lock: the peer's kernel has the frame, or the VQP has failed. */
static void trunk_sent(struct vqp_send *send, u32 status)
{
	struct vqp_frame_send *f = container_of(send, struct vqp_frame_send, send);
	struct vqp_trunk *trunk = f->trunk;
	bool kick = status;

	spin_lock(&trunk->lock);
	trunk->nframes--;
	if (vqp_trunk_has_room(trunk))
		kick |= !list_empty(&trunk->waiting) || !list_empty(&trunk->due) ||
			!list_empty(&trunk->replies);
	if (status)
		trunk->lost |= f->user && READ_ONCE(f->user->peer);
	else if (f->bye)
		trunk_set_found(trunk);
	spin_unlock(&trunk->lock);
	if (f->user)
		f->user->ops->sent(f->user, f->bytes);
	if (kick)
		vqp_trunk_queue_work(trunk);
	vqp_trunk_frame_free(f);
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

/* The VQP to post a frame to, referenced, of which the trunk counts one more; or ERR_PTR(). */
static struct vqp *trunk_enter(struct vqp_trunk *trunk, const struct vqp_frame_send *f)
{
	struct vqp *vqp = ERR_PTR(-EIO);

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_UP && f->bytes && trunk->nframes >= TRUNK_FRAMES_MAX) {
		trunk_wait(trunk, f->user);
		vqp = ERR_PTR(-EAGAIN);
	} else if (trunk->state == VQP_TRUNK_UP ||
		   (trunk->state == VQP_TRUNK_OPENING && f->bye && trunk->vqp)) {
		vqp = trunk->vqp;
		kref_get(&vqp->ref);
		trunk->nframes++;
	}
	spin_unlock_bh(&trunk->lock);
	return vqp;
}

/* Post a frame whose header is written. */
static int trunk_post(struct vqp_frame_send *f)
{
	struct vqp_trunk *trunk = f->trunk;
	LIST_HEAD(sends);
	struct vqp *vqp;
	bool alone;
	int ret;

	vqp = trunk_enter(trunk, f);
	if (IS_ERR(vqp))
		return PTR_ERR(vqp);
	f->send.opcode = VQP_WR_SEND;
	f->send.kbuf = vqp_frame_of(f);
	f->send.done = trunk_sent;
	f->send.msg.op = VQP_OP_SEND;
	f->send.msg.bytes = VQP_FRAME_HEADER + f->bytes;
	list_add(&f->send.msg.link, &sends);
	ret = vqp_send_queue(vqp, &sends, 1);
	vqp_put(vqp);
	if (ret == 1)
		return 0;
	ret = ret == -ENOMEM ? -EAGAIN : -EIO;
	spin_lock_bh(&trunk->lock);
	alone = !--trunk->nframes;
	if (ret == -EAGAIN && f->bytes)
		trunk_wait(trunk, f->user);
	spin_unlock_bh(&trunk->lock);
	/* It notices that the VQP has failed; and no frame's completion says that there is room. */
	if (alone || ret == -EIO)
		vqp_trunk_queue_work(trunk);
	return ret;
}

int vqp_trunk_post(struct vqp_frame_send *f, const struct vqp_frame *frame)
{
	vqp_frame_write(frame, vqp_frame_of(f));
	return trunk_post(f);
}

int vqp_trunk_bye(struct vqp_trunk *trunk)
{
	const struct vqp_frame bye = { .type = VQP_FRAME_BYE, .from = vqp_trunk_number() };
	struct vqp_frame_send *f = vqp_trunk_frame(trunk, NULL, 0);
	int ret;

	if (!f)
		return -ENOMEM;
	f->bye = true;
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
	vqp_frame_write(frame, vqp_frame_of(f));
	spin_lock_bh(&trunk->lock);
	if (trunk->nreplies < TRUNK_REPLIES_MAX &&
	    (trunk->state == VQP_TRUNK_OPENING || trunk->state == VQP_TRUNK_UP)) {
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

struct vqp_frame_send *vqp_trunk_take_reply(struct vqp_trunk *trunk)
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

	while (!ret && (f = vqp_trunk_take_reply(trunk))) {
		ret = trunk_post(f);
		if (ret == -EAGAIN)
			trunk_put_reply(f);
		else if (ret)
			vqp_trunk_frame_free(f);
	}
}
