// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include "ns/namespace.h"
#include "sock/far.h"
#include "sock/far_table.h"
#include "sock/parcel.h"
#include "sock/stream.h"
#include "sock/trunk.h"

#define FAR_HALF_JIFFIES	(10 * HZ)	/* for a client to go on, which it does at once */
/*
 * Halves of a namespace. An OPEN looks at all of them under a lock that all tenants share, whatever
 * backlogs the namespace has.
 */
#define FAR_HALVES_MAX		1024

/* The ends on this node by number. Who is in it is not closed, or has parcels under way. */
static DEFINE_HASHTABLE(fars, 12);
static DEFINE_SPINLOCK(fars_lock);	/* guards these; in process context alone */
/* The halves, oldest first, by vqp_stream.pending; those of each namespace are in vqp_ns.halves. */
static LIST_HEAD(far_halves);

void vqp_far_hash(struct vqp_far *far)
{
	spin_lock(&fars_lock);
	far->id = vqp_trunk_number();
	hash_add(fars, &far->node, far->id);
	spin_unlock(&fars_lock);
}

void vqp_far_leave(struct vqp_far *far)
{
	spin_lock(&fars_lock);
	hash_del(&far->node);
	spin_unlock(&fars_lock);
	vqp_trunk_leave(far->trunk, &far->user);
}

struct vqp_far *vqp_far_find(const struct vqp_ns *ns, const u8 *gid, u32 id)
{
	struct vqp_far *far, *found = NULL;

	spin_lock(&fars_lock);
	hash_for_each_possible(fars, far, node, id) {
		if (far->id == id && far->s.ns == ns &&
		    !memcmp(far->trunk->gid, gid, VQP_GID_BYTES)) {
			found = far;
			kref_get(&far->ref);
			break;
		}
	}
	spin_unlock(&fars_lock);
	return found;
}

void vqp_far_add_half(struct vqp_far *far)
{
	far->half_since = jiffies;
	spin_lock(&fars_lock);
	far->half = true;
	list_add_tail(&far->s.pending, &far_halves);
	list_add_tail(&far->half_link, &far->s.ns->halves);
	far->s.ns->nhalves++;
	spin_unlock(&fars_lock);
}

bool vqp_far_take_half(struct vqp_far *far)
{
	bool half;

	spin_lock(&fars_lock);
	half = far->half;
	if (half) {
		list_del_init(&far->s.pending);
		list_del_init(&far->half_link);
		far->s.ns->nhalves--;
	}
	far->half = false;
	spin_unlock(&fars_lock);
	return half;
}

void vqp_far_drop_half(struct vqp_far *far)
{
	if (!vqp_far_take_half(far))
		return;
	vqp_stream_close(&far->s, true);
	vqp_far_put(far);
}

bool vqp_far_set_gone(struct vqp_far *far, int err)
{
	bool connecting;

	spin_lock_bh(&far->s.lock);
	connecting = far->state == VQP_FAR_CONNECTING;
	far->state = VQP_FAR_GONE;
	vqp_parcels_drop(far, false);
	if (connecting)
		far->answer = -err;
	spin_unlock_bh(&far->s.lock);
	if (connecting)
		complete(&far->answered);
	return connecting;
}

void vqp_far_break(struct vqp_far *far)
{
	if (!vqp_far_set_gone(far, EHOSTDOWN))
		vqp_stream_break(&far->s, ECONNRESET);
	vqp_far_drop_half(far);
	if (READ_ONCE(far->s.closed))
		vqp_far_leave(far);
}

/* The oldest half of ns, referenced; or NULL. */
static struct vqp_far *far_half_of(struct vqp_ns *ns)
{
	struct vqp_far *far;

	spin_lock(&fars_lock);
	far = list_first_entry_or_null(&ns->halves, struct vqp_far, half_link);
	if (far)
		kref_get(&far->ref);
	spin_unlock(&fars_lock);
	return far;
}

void vqp_far_drop_halves(struct vqp_ns *ns)
{
	struct vqp_far *far;

	while ((far = far_half_of(ns))) {
		vqp_far_drop_half(far);
		vqp_far_put(far);
	}
}

/* A half that is too old, referenced; or NULL. */
static struct vqp_far *far_old_half(void)
{
	struct vqp_far *far;

	spin_lock(&fars_lock);
	far = list_first_entry_or_null(&far_halves, struct vqp_far, s.pending);
	if (far && time_after(jiffies, far->half_since + FAR_HALF_JIFFIES))
		kref_get(&far->ref);
	else
		far = NULL;
	spin_unlock(&fars_lock);
	return far;
}

void vqp_far_drop_old_halves(void)
{
	struct vqp_far *far;

	while ((far = far_old_half())) {
		vqp_far_drop_half(far);
		vqp_far_put(far);
	}
}

bool vqp_far_may_add_half(struct vqp_ns *ns, u16 port, u32 *same)
{
	struct vqp_far *far;
	u32 n = 0;
	bool may;

	spin_lock(&fars_lock);
	may = ns->nhalves < FAR_HALVES_MAX;
	if (may)
		list_for_each_entry(far, &ns->halves, half_link)
			n += far->s.names.local_port == port;
	spin_unlock(&fars_lock);
	*same = n;
	return may;
}

bool vqp_far_each(void (*fn)(struct vqp_far *far))
{
	struct vqp_far *far;
	bool any = false;
	u32 i;

	for (i = 0; i < HASH_SIZE(fars); i++) {
		if (hlist_empty(&fars[i]))
			continue;
		any = true;
		spin_lock(&fars_lock);
		hlist_for_each_entry(far, &fars[i], node)
			fn(far);
		spin_unlock(&fars_lock);
		cond_resched();
	}
	return any;
}
