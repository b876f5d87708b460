// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "dc/dc.h"
#include "meta/client.h"
#include "meta/lookup.h"
#include "ns/namespace.h"
#include "queue/vqp.h"
#include "sock/fetch.h"
#include "sock/shelf.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

#define TRUNKS_OPENING_MAX	16	/* of a namespace: those whose address may be looked up */
#define TRUNK_RETRY_JIFFIES	HZ
/*
 * Who waits for a trunk has it opened again at once, and then after 1, 2, 4 seconds and so on, up
 * to this: the node may be reached again.
 */
#define TRUNK_RESUME_JIFFIES	(16 * HZ)
#define TRUNK_MEMORY_JIFFIES	(HZ / 10)	/* after which a frame is tried for again */

/*
 * What opens trunks waits for lookups and neighbours, and so does what fetches parcels or ends
 * shelves; what posts frames waits for nobody.
 */
static struct workqueue_struct *trunk_wq, *trunk_open_wq;
static atomic_t trunk_latest_number;

u32 vqp_trunk_number(void)
{
	u32 number;

	do {
		number = atomic_inc_return(&trunk_latest_number);
	} while (!number);
	return number;
}

static void trunk_release(struct kref *ref)
{
	struct vqp_trunk *trunk = container_of(ref, struct vqp_trunk, ref);

	vqp_ns_put(trunk->ns);
	kfree(trunk);
	vqp_count_freed(VQP_OBJ_TRUNK);
}

void vqp_trunk_put(struct vqp_trunk *trunk)
{
	kref_put(&trunk->ref, trunk_release);
}

void vqp_trunk_queue_work(struct vqp_trunk *trunk)
{
	kref_get(&trunk->ref);
	if (!queue_work(trunk_wq, &trunk->work))
		vqp_trunk_put(trunk);
}

/* But for the work itself, under trunk->lock: nobody queues it once the trunk is over. */
static void trunk_queue_open(struct vqp_trunk *trunk, unsigned long delay)
{
	kref_get(&trunk->ref);
	if (mod_delayed_work(trunk_open_wq, &trunk->open, delay))
		vqp_trunk_put(trunk);
}

void vqp_trunk_queue_later(struct vqp_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_UP)
		trunk_queue_open(trunk, TRUNK_MEMORY_JIFFIES);
	spin_unlock_bh(&trunk->lock);
}

void vqp_trunk_queue_fetch(struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	kref_get(&trunk->ref);
	if (!queue_work(trunk_open_wq, &trunk->fetch))
		vqp_trunk_put(trunk);
}

void vqp_trunk_queue_slow(struct work_struct *work)
{
	queue_work(trunk_open_wq, work);
}

/* ---- Opening ---- */

int vqp_trunk_begin(struct vqp_trunk *trunk, enum vqp_trunk_use use)
{
	const int most = use == VQP_TRUNK_TO_ANSWER ? TRUNKS_OPENING_MAX / 2 : TRUNKS_OPENING_MAX;
	const bool eager = use == VQP_TRUNK_TO_SERVE;
	int ret = 0;

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_IDLE && (eager || time_after_eq(jiffies, trunk->retry_at)) &&
	    atomic_read(&trunk->ns->trunks_opening) < most) {
		atomic_inc(&trunk->ns->trunks_opening);
		trunk->state = VQP_TRUNK_OPENING;
		trunk_queue_open(trunk, 0);
	} else if (!vqp_trunk_takes(trunk)) {
		ret = -EHOSTDOWN;
	}
	spin_unlock_bh(&trunk->lock);
	return ret;
}

/* The trunk has that VQP, whose reference it takes, unless it is to be opened no more. */
static int trunk_set_vqp(struct vqp_trunk *trunk, struct vqp *vqp)
{
	int ret = -ESHUTDOWN;

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_OPENING) {
		trunk->vqp = vqp;
		ret = 0;
	}
	spin_unlock_bh(&trunk->lock);
	if (ret)
		vqp_teardown(vqp);
	return ret;
}

/*
 * The node to connect to: where the address is said to be, or if nobody can say, where it was. That
 * one knows whether it has gone. 0, or -errno.
 */
static int trunk_route(struct vqp_trunk *trunk, struct vqp *vqp, struct vqp_dct *dct)
{
	struct vqp_route route;
	int ret;

	if (trunk->tries)
		vqp_dct_cache_doubt(trunk->ns->tenant, trunk->gid);
	ret = vqp_meta_route(trunk->ns, trunk->gid, vqp, &route);
	if (!ret) {
		*dct = route.dct;
		ret = route.local ? -EHOSTUNREACH : 0;
		vqp_route_end(&route);
	}
	if (!ret || !trunk->home.lanes)
		return ret;
	*dct = trunk->home;
	return 0;
}

/*
 * Look the address up, connect, tell the peer that all before the trunk is over, and send what did
 * not arrive before. 0, or -errno. May take seconds; it ends early if the VQP fails.
 */
static int trunk_open(struct vqp_trunk *trunk)
{
	struct vqp *vqp = vqp_client_make(trunk->ns, trunk->gid);
	struct vqp_dct dct;
	int ret;

	if (IS_ERR(vqp))
		return PTR_ERR(vqp);
	ret = trunk_set_vqp(trunk, vqp) ?: trunk_route(trunk, vqp, &dct) ?:
	      vqp_dc_attach(vqp, &dct);
	if (ret)
		return ret;
	spin_lock_bh(&trunk->lock);
	trunk->frame_bytes = min_t(u32, vqp->dc.tx.cfg->payload_bytes - VQP_FRAME_HEADER,
				   VQP_FRAME_DATA_MAX);
	spin_unlock_bh(&trunk->lock);
	if (!trunk->greeted)
		ret = vqp_trunk_bye(trunk, trunk->number);
	return ret ?: vqp_trunk_send_again(trunk, vqp);
}

static void trunk_opened(struct vqp_trunk *trunk, int ret)
{
	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_OPENING)
		trunk->state = ret ? VQP_TRUNK_FAILED : VQP_TRUNK_UP;
	spin_unlock_bh(&trunk->lock);
	atomic_dec(&trunk->ns->trunks_opening);
	vqp_trunk_queue_work(trunk);
}

static void trunk_open_work(struct work_struct *work)
{
	struct vqp_trunk *trunk = container_of(to_delayed_work(work), struct vqp_trunk, open);
	const enum vqp_trunk_state state = vqp_trunk_check(trunk);

	if (state == VQP_TRUNK_OPENING)
		trunk_opened(trunk, trunk_open(trunk));
	/* For who waits for it, see trunk_resume(). */
	else if (state == VQP_TRUNK_IDLE && vqp_trunk_begin(trunk, VQP_TRUNK_TO_SERVE))
		trunk_queue_open(trunk, TRUNK_RETRY_JIFFIES);
	else if (state == VQP_TRUNK_UP)
		vqp_trunk_queue_work(trunk);
	vqp_trunk_put(trunk);
}

/* ---- The work ---- */

enum vqp_trunk_state vqp_trunk_check(struct vqp_trunk *trunk)
{
	enum vqp_trunk_state state;

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_UP && READ_ONCE(trunk->vqp->state) == VQP_QP_ERROR)
		trunk->state = VQP_TRUNK_FAILED;
	state = trunk->state;
	spin_unlock_bh(&trunk->lock);
	return state;
}

/* Does the node where the connections are say that the address is gone, or that it began anew? */
static bool trunk_is_disowned(struct vqp_trunk *trunk, struct vqp *vqp)
{
	bool refused;

	spin_lock_bh(&vqp->lock);
	spin_lock(&trunk->lock);
	refused = (trunk->refused || vqp->dc.tx.stopped) &&
		  vqp->dc.dct.epoch == trunk->home.epoch &&
		  !memcmp(vqp->dc.dct.node_gid, trunk->home.node_gid, VQP_GID_BYTES);
	spin_unlock(&trunk->lock);
	spin_unlock_bh(&vqp->lock);
	return refused;
}

/* The trunk has no VQP any more. True: what its connections were at the peer is over. */
static bool trunk_lose_vqp(struct vqp_trunk *trunk)
{
	struct vqp *vqp;
	bool over;

	spin_lock_bh(&trunk->lock);
	vqp = trunk->vqp;
	trunk->vqp = NULL;
	over = trunk->state == VQP_TRUNK_OVER;
	spin_unlock_bh(&trunk->lock);
	if (!vqp)
		return over;
	over |= trunk_is_disowned(trunk, vqp);
	vqp_teardown(vqp);
	return over;
}

/* It has failed, and may be opened again. If connections are `over`, it begins anew. */
static void trunk_set_idle(struct vqp_trunk *trunk, bool over)
{
	unsigned long delay;

	spin_lock_bh(&trunk->lock);
	delay = trunk->tries ? TRUNK_RETRY_JIFFIES << (trunk->tries - 1) : 0;
	if (delay < TRUNK_RESUME_JIFFIES)
		trunk->tries++;
	if (!delay)
		trunk->failed_at = jiffies;
	trunk->retry_at = jiffies + TRUNK_RETRY_JIFFIES;
	trunk->resume_at = jiffies + delay;
	trunk->answered = false;
	trunk->refused = false;
	if (over)
		trunk->greeted = false;
	/* Where nobody is awaited any more, the node that there was means nothing. */
	if (over || (list_empty(&trunk->users) && !trunk->nframes))
		trunk->home.lanes = 0;
	if (trunk->state == VQP_TRUNK_FAILED)
		trunk->state = VQP_TRUNK_IDLE;
	spin_unlock_bh(&trunk->lock);
}

/* If anything waits for the trunk, have it opened. */
static void trunk_resume(struct vqp_trunk *trunk)
{
	long delay;

	spin_lock_bh(&trunk->lock);
	delay = trunk->resume_at - jiffies;
	if (trunk->state == VQP_TRUNK_IDLE &&
	    (trunk->nframes || !list_empty(&trunk->due) || !list_empty(&trunk->waiting) ||
	     !list_empty(&trunk->replies)))
		trunk_queue_open(trunk, max(delay, 0L));
	spin_unlock_bh(&trunk->lock);
}

/* Its VQP has failed, or it is over. By its work, or at its end. */
static void trunk_fail(struct vqp_trunk *trunk)
{
	const bool over = trunk_lose_vqp(trunk);

	/* Who connects does so by TCP, and the others wait, unless there is nothing to wait for. */
	if (over)
		vqp_trunk_break(trunk, 0);
	else
		vqp_trunk_break_asking(trunk);
	vqp_trunk_give_up(trunk, over);
	trunk_set_idle(trunk, over);
	trunk_resume(trunk);
}

static void trunk_work(struct work_struct *work)
{
	struct vqp_trunk *trunk = container_of(work, struct vqp_trunk, work);

	switch (vqp_trunk_check(trunk)) {
	case VQP_TRUNK_UP:
		vqp_trunk_post_replies(trunk);
		vqp_trunk_tell(trunk);
		vqp_trunk_tell_room(trunk);
		break;
	case VQP_TRUNK_FAILED:
		/* Who opens it again waits for this. */
		trunk_fail(trunk);
		break;
	case VQP_TRUNK_IDLE:
		trunk_resume(trunk);
		break;
	default:
		break;
	}
	vqp_trunk_put(trunk);
}

/* ---- The beginning and the end ---- */

struct vqp_trunk *vqp_trunk_alloc(struct vqp_ns *ns, const u8 *gid)
{
	struct vqp_trunk *trunk = kzalloc(sizeof(*trunk), GFP_KERNEL_ACCOUNT);

	if (!trunk)
		return NULL;
	kref_init(&trunk->ref);
	INIT_LIST_HEAD(&trunk->ns_link);
	trunk->ns = ns;
	vqp_ns_get(ns);
	memcpy(trunk->gid, gid, VQP_GID_BYTES);
	INIT_WORK(&trunk->work, trunk_work);
	INIT_DELAYED_WORK(&trunk->open, trunk_open_work);
	INIT_WORK(&trunk->fetch, vqp_fetch_work);
	INIT_LIST_HEAD(&trunk->fetches);
	spin_lock_init(&trunk->lock);
	trunk->number = vqp_trunk_number();
	trunk->retry_at = jiffies;
	trunk->resume_at = jiffies;
	trunk->refused_until = jiffies;
	trunk->silent_until = jiffies;
	trunk->shelf_at = jiffies;
	INIT_LIST_HEAD(&trunk->users);
	INIT_LIST_HEAD(&trunk->due);
	INIT_LIST_HEAD(&trunk->waiting);
	INIT_LIST_HEAD(&trunk->replies);
	INIT_LIST_HEAD(&trunk->again);
	INIT_LIST_HEAD(&trunk->resend);
	vqp_count_made(VQP_OBJ_TRUNK);
	return trunk;
}

void vqp_trunk_stop(struct vqp_trunk *trunk)
{
	struct vqp *vqp = NULL;

	spin_lock_bh(&trunk->lock);
	if (trunk->state != VQP_TRUNK_UP) {
		trunk->state = VQP_TRUNK_OVER;
		vqp = vqp_trunk_vqp_get(trunk);
	}
	spin_unlock_bh(&trunk->lock);
	if (!vqp)
		return;
	vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	vqp_put(vqp);
}

void vqp_trunk_end(struct vqp_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	trunk->state = VQP_TRUNK_OVER;
	spin_unlock_bh(&trunk->lock);
	/* The works queue each other, but not from here on. */
	if (cancel_delayed_work_sync(&trunk->open))
		vqp_trunk_put(trunk);
	if (cancel_work_sync(&trunk->work))
		vqp_trunk_put(trunk);
	if (cancel_work_sync(&trunk->fetch))
		vqp_trunk_put(trunk);
	trunk_fail(trunk);
	vqp_fetch_end(trunk);
	vqp_shelf_drop(trunk, false);
	/* What completed meanwhile has queued it, perhaps; it does nothing. */
	if (cancel_work_sync(&trunk->work))
		vqp_trunk_put(trunk);
	vqp_trunk_put(trunk);
}

void vqp_trunks_flush(void)
{
	flush_workqueue(trunk_open_wq);
}

int __init vqp_trunk_init(void)
{
	atomic_set(&trunk_latest_number, get_random_u32());
	trunk_wq = alloc_workqueue("vqp_trunk", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!trunk_wq)
		return -ENOMEM;
	trunk_open_wq = alloc_workqueue("vqp_trunk_open", WQ_UNBOUND, 0);
	if (trunk_open_wq)
		return 0;
	destroy_workqueue(trunk_wq);
	return -ENOMEM;
}

void vqp_trunk_exit(void)
{
	destroy_workqueue(trunk_open_wq);
	destroy_workqueue(trunk_wq);
}
