// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "dc/dc.h"
#include "meta/client.h"
#include "meta/lookup.h"
#include "ns/namespace.h"
#include "queue/vqp.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

#define TRUNKS_OPENING_MAX	16	/* of a namespace: those whose address may be looked up */
#define TRUNK_RETRY_JIFFIES	HZ
#define TRUNK_LOST_TRIES	8	/* at ever longer intervals: four minutes in all */
#define TRUNK_REFUSED_JIFFIES	(HZ / 10)	/* for which a refusal of a port is remembered */
#define TRUNK_SILENT_JIFFIES	HZ		/* the same where the peer says nothing */

/* What opens trunks waits for lookups and neighbours, and what posts frames waits for nobody. */
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

static void trunk_queue_open(struct vqp_trunk *trunk, unsigned long delay)
{
	kref_get(&trunk->ref);
	if (mod_delayed_work(trunk_open_wq, &trunk->open, delay))
		vqp_trunk_put(trunk);
}

/* ---- Users ---- */

static bool trunk_takes(const struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	return trunk->state == VQP_TRUNK_OPENING || trunk->state == VQP_TRUNK_UP;
}

int vqp_trunk_join(struct vqp_trunk *trunk, struct vqp_trunk_user *user)
{
	int ret = -EHOSTDOWN;

	spin_lock_bh(&trunk->lock);
	if (trunk_takes(trunk)) {
		list_add_tail(&user->link, &trunk->users);
		user->ops->hold(user);
		ret = 0;
	}
	spin_unlock_bh(&trunk->lock);
	return ret;
}

void vqp_trunk_leave(struct vqp_trunk *trunk, struct vqp_trunk_user *user)
{
	bool joined;

	spin_lock_bh(&trunk->lock);
	joined = !list_empty(&user->link);
	list_del_init(&user->link);
	spin_unlock_bh(&trunk->lock);
	if (joined)
		user->ops->put(user);
}

void vqp_trunk_due(struct vqp_trunk *trunk, struct vqp_trunk_user *user)
{
	bool due = false;

	spin_lock_bh(&trunk->lock);
	if (list_empty(&user->due_link) && trunk_takes(trunk)) {
		list_add_tail(&user->due_link, &trunk->due);
		user->ops->hold(user);
		due = true;
	}
	spin_unlock_bh(&trunk->lock);
	if (due)
		vqp_trunk_queue_work(trunk);
}

/* The first of trunk->due, which it is no more, with the list's reference; or NULL. */
static struct vqp_trunk_user *trunk_take_due(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user;

	spin_lock_bh(&trunk->lock);
	user = list_first_entry_or_null(&trunk->due, struct vqp_trunk_user, due_link);
	if (user)
		list_del_init(&user->due_link);
	spin_unlock_bh(&trunk->lock);
	return user;
}

/* The first of trunk->waiting, if there is room or `all` are to go; as above. */
static struct vqp_trunk_user *trunk_take_waiting(struct vqp_trunk *trunk, bool all)
{
	struct vqp_trunk_user *user = NULL;

	spin_lock_bh(&trunk->lock);
	if (all || vqp_trunk_has_room(trunk))
		user = list_first_entry_or_null(&trunk->waiting, struct vqp_trunk_user, wait_link);
	if (user)
		list_del_init(&user->wait_link);
	spin_unlock_bh(&trunk->lock);
	return user;
}

static bool trunk_is_before(const struct vqp_trunk_user *user, u32 before)
{
	const u32 peer = READ_ONCE(user->peer);

	return !before || (peer && (s32)(peer - before) < 0);
}

void vqp_trunk_break(struct vqp_trunk *trunk, u32 before)
{
	struct vqp_trunk_user *user, *next;
	LIST_HEAD(over);

	spin_lock_bh(&trunk->lock);
	list_for_each_entry_safe(user, next, &trunk->users, link)
		if (trunk_is_before(user, before))
			list_move_tail(&user->link, &over);
	/* They may leave meanwhile. */
	while ((user = list_first_entry_or_null(&over, struct vqp_trunk_user, link))) {
		list_del_init(&user->link);
		spin_unlock_bh(&trunk->lock);
		user->ops->broken(user);
		user->ops->put(user);
		cond_resched();
		spin_lock_bh(&trunk->lock);
	}
	spin_unlock_bh(&trunk->lock);
}

/* Does the peer know of a connection that is a user, or has something to tell? */
static bool trunk_is_known(const struct vqp_trunk *trunk)
{
	const struct vqp_trunk_user *user;

	lockdep_assert_held(&trunk->lock);
	list_for_each_entry(user, &trunk->users, link)
		if (READ_ONCE(user->peer))
			return true;
	list_for_each_entry(user, &trunk->due, due_link)
		if (READ_ONCE(user->peer))
			return true;
	return false;
}

/* ---- Refusals ---- */

bool vqp_trunk_is_refused(struct vqp_trunk *trunk, u16 port)
{
	bool refused;

	spin_lock_bh(&trunk->lock);
	refused = time_before(jiffies, trunk->silent_until) ||
		  (trunk->refused_port == port && time_before(jiffies, trunk->refused_until));
	spin_unlock_bh(&trunk->lock);
	return refused;
}

void vqp_trunk_note_refused(struct vqp_trunk *trunk, u16 port, int err)
{
	spin_lock_bh(&trunk->lock);
	if (err == -ECONNREFUSED) {
		trunk->refused_port = port;
		trunk->refused_until = jiffies + TRUNK_REFUSED_JIFFIES;
	} else {
		trunk->silent_until = jiffies + TRUNK_SILENT_JIFFIES;
	}
	spin_unlock_bh(&trunk->lock);
}

/* ---- Opening ---- */

int vqp_trunk_begin(struct vqp_trunk *trunk, enum vqp_trunk_use use)
{
	const int most = use == VQP_TRUNK_TO_ANSWER ? TRUNKS_OPENING_MAX / 2 : TRUNKS_OPENING_MAX;
	const bool eager = use == VQP_TRUNK_TO_SERVE;
	bool begun = false;
	int ret = 0;

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_IDLE && (eager || time_after_eq(jiffies, trunk->retry_at)) &&
	    atomic_read(&trunk->ns->trunks_opening) < most) {
		atomic_inc(&trunk->ns->trunks_opening);
		trunk->state = VQP_TRUNK_OPENING;
		begun = true;
	} else if (!trunk_takes(trunk)) {
		ret = -EHOSTDOWN;
	}
	spin_unlock_bh(&trunk->lock);
	if (begun)
		trunk_queue_open(trunk, 0);
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
 * Look the address up, connect, and tell the peer that all before is over. 0, or -errno. May take
 * seconds; it ends early if the VQP fails.
 */
static int trunk_open(struct vqp_trunk *trunk)
{
	struct vqp *vqp = vqp_client_make(trunk->ns, trunk->gid);
	struct vqp_route route;
	int ret;

	if (IS_ERR(vqp))
		return PTR_ERR(vqp);
	ret = trunk_set_vqp(trunk, vqp) ?: vqp_meta_route(trunk->ns, trunk->gid, vqp, &route);
	if (ret)
		return ret;
	ret = route.local ? -EHOSTUNREACH : vqp_dc_attach(vqp, &route.dct);
	vqp_route_end(&route);
	if (ret)
		return ret;
	spin_lock_bh(&trunk->lock);
	trunk->frame_bytes = min_t(u32, vqp->dc.tx.cfg->payload_bytes - VQP_FRAME_HEADER,
				   VQP_FRAME_DATA_MAX);
	spin_unlock_bh(&trunk->lock);
	return vqp_trunk_bye(trunk);
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
	else if (state == VQP_TRUNK_IDLE && vqp_trunk_begin(trunk, VQP_TRUNK_TO_ANSWER))
		trunk_queue_open(trunk, TRUNK_RETRY_JIFFIES);
	vqp_trunk_put(trunk);
}

/* ---- The work ---- */

enum vqp_trunk_state vqp_trunk_check(struct vqp_trunk *trunk)
{
	enum vqp_trunk_state state;

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_UP && READ_ONCE(trunk->vqp->state) == VQP_QP_ERROR) {
		trunk->state = VQP_TRUNK_FAILED;
		trunk->lost |= trunk_is_known(trunk);
	}
	state = trunk->state;
	spin_unlock_bh(&trunk->lock);
	return state;
}

/* It has failed, and may be opened again. Returns when to do so to tell the peer; 0: never. */
static unsigned long trunk_set_idle(struct vqp_trunk *trunk)
{
	unsigned long delay = 0;

	spin_lock_bh(&trunk->lock);
	if (trunk->state == VQP_TRUNK_FAILED) {
		trunk->state = VQP_TRUNK_IDLE;
		trunk->retry_at = jiffies + TRUNK_RETRY_JIFFIES;
		trunk->lost &= trunk->tries < TRUNK_LOST_TRIES;
		if (trunk->lost)
			delay = TRUNK_RETRY_JIFFIES << trunk->tries++;
		else
			trunk->tries = 0;
	}
	spin_unlock_bh(&trunk->lock);
	return delay;
}

/* The trunk has no VQP any more, and what it was to take is lost. By its work, or at its end. */
static void trunk_fail(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user;
	struct vqp_frame_send *f;
	unsigned long delay;
	struct vqp *vqp;

	spin_lock_bh(&trunk->lock);
	vqp = trunk->vqp;
	trunk->vqp = NULL;
	spin_unlock_bh(&trunk->lock);
	if (vqp)
		vqp_teardown(vqp);
	vqp_trunk_break(trunk, 0);
	while ((user = trunk_take_due(trunk)))
		user->ops->put(user);
	while ((user = trunk_take_waiting(trunk, true)))
		user->ops->put(user);
	while ((f = vqp_trunk_take_reply(trunk)))
		vqp_trunk_frame_free(f);
	delay = trunk_set_idle(trunk);
	if (delay)
		trunk_queue_open(trunk, delay);
}

/* There is room: who waits may go on. */
static void trunk_tell_room(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user;

	while ((user = trunk_take_waiting(trunk, false))) {
		user->ops->room(user);
		user->ops->put(user);
		cond_resched();
	}
}

/* It is still due. */
static void trunk_put_back(struct vqp_trunk *trunk, struct vqp_trunk_user *user)
{
	spin_lock_bh(&trunk->lock);
	if (list_empty(&user->due_link)) {
		list_add(&user->due_link, &trunk->due);
		user->ops->hold(user);
	}
	spin_unlock_bh(&trunk->lock);
}

static void trunk_tell(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user;
	bool told = true;

	while (told && (user = trunk_take_due(trunk))) {
		told = user->ops->tell(user);
		/* The work comes back when there is room. */
		if (!told)
			trunk_put_back(trunk, user);
		user->ops->put(user);
		cond_resched();
	}
}

static void trunk_work(struct work_struct *work)
{
	struct vqp_trunk *trunk = container_of(work, struct vqp_trunk, work);

	switch (vqp_trunk_check(trunk)) {
	case VQP_TRUNK_UP:
		vqp_trunk_post_replies(trunk);
		trunk_tell(trunk);
		trunk_tell_room(trunk);
		break;
	case VQP_TRUNK_FAILED:
		/* Who opens it again waits for this. */
		trunk_fail(trunk);
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
	spin_lock_init(&trunk->lock);
	trunk->retry_at = jiffies;
	trunk->refused_until = jiffies;
	trunk->silent_until = jiffies;
	INIT_LIST_HEAD(&trunk->users);
	INIT_LIST_HEAD(&trunk->due);
	INIT_LIST_HEAD(&trunk->waiting);
	INIT_LIST_HEAD(&trunk->replies);
	vqp_count_made(VQP_OBJ_TRUNK);
	return trunk;
}

void vqp_trunk_stop(struct vqp_trunk *trunk)
{
	struct vqp *vqp = NULL;

	spin_lock_bh(&trunk->lock);
	if (trunk->state != VQP_TRUNK_UP) {
		trunk->state = VQP_TRUNK_OVER;
		vqp = trunk->vqp;
	}
	if (vqp)
		kref_get(&vqp->ref);
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
	trunk_fail(trunk);
	/* What completed meanwhile has queued it, perhaps; it does nothing. */
	if (cancel_work_sync(&trunk->work))
		vqp_trunk_put(trunk);
	vqp_trunk_put(trunk);
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
