// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The connections of a trunk: which there are, what they have to tell, who waits for room. */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

#define TRUNK_REFUSED_JIFFIES	(HZ / 10)	/* for which a refusal of a port is remembered */
#define TRUNK_SILENT_JIFFIES	HZ		/* the same where the peer says nothing */

int vqp_trunk_join(struct vqp_trunk *trunk, struct vqp_trunk_user *user)
{
	int ret = -EHOSTDOWN;

	spin_lock_bh(&trunk->lock);
	if (vqp_trunk_takes(trunk)) {
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
	if (list_empty(&user->due_link) && trunk->state != VQP_TRUNK_OVER) {
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

/* The first of trunk->waiting, if there is room; as above. */
static struct vqp_trunk_user *trunk_take_waiting(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user = NULL;

	spin_lock_bh(&trunk->lock);
	if (vqp_trunk_has_room(trunk))
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

static bool trunk_is_asking(const struct vqp_trunk_user *user, u32 unused)
{
	return !READ_ONCE(user->peer);
}

/* Break the connections of which is() is true. */
static void trunk_break(struct vqp_trunk *trunk,
			bool (*is)(const struct vqp_trunk_user *user, u32 arg), u32 arg)
{
	struct vqp_trunk_user *user, *next;
	LIST_HEAD(over);

	spin_lock_bh(&trunk->lock);
	list_for_each_entry_safe(user, next, &trunk->users, link)
		if (is(user, arg))
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

void vqp_trunk_break(struct vqp_trunk *trunk, u32 before)
{
	trunk_break(trunk, trunk_is_before, before);
}

void vqp_trunk_break_asking(struct vqp_trunk *trunk)
{
	trunk_break(trunk, trunk_is_asking, 0);
}

void vqp_trunk_tell_room(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user;

	while ((user = trunk_take_waiting(trunk))) {
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

void vqp_trunk_tell(struct vqp_trunk *trunk)
{
	struct vqp_trunk_user *user;
	int ret = 0;

	while (!ret && (user = trunk_take_due(trunk))) {
		ret = user->ops->tell(user);
		if (ret)
			trunk_put_back(trunk, user);
		user->ops->put(user);
		cond_resched();
	}
	/* The work comes back when there is room. Nobody tells it of memory. */
	if (ret == -ENOMEM)
		vqp_trunk_queue_later(trunk);
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
