// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "base/hash.h"
#include "ns/namespace.h"
#include "queue/vqp.h"
#include "sock/shelf.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

#define TRUNKS_MAX		256	/* of a namespace */
/* The most time that a peer has to take what is due, and then the last frame. */
#define TRUNK_BYE_JIFFIES	HZ

/* Guards the table, vqp_ns.trunks and ntrunks; inside it vqp_trunk.lock. Never in softirq. */
static DEFINE_SPINLOCK(trunks_lock);
static DEFINE_HASHTABLE(trunks, 8);

static u32 trunk_hash(const struct vqp_ns *ns, const u8 *gid)
{
	return vqp_hash_gid(gid, (unsigned long)ns);
}

static struct vqp_trunk *trunk_lookup(struct vqp_ns *ns, const u8 *gid)
{
	struct vqp_trunk *trunk;

	lockdep_assert_held(&trunks_lock);
	hash_for_each_possible(trunks, trunk, node, trunk_hash(ns, gid))
		if (trunk->ns == ns && !memcmp(trunk->gid, gid, VQP_GID_BYTES))
			return trunk;
	return NULL;
}

/* Take a trunk out of the table: its reference is the caller's, who ends it. */
static void trunk_unhash(struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunks_lock);
	hash_del(&trunk->node);
	list_del_init(&trunk->ns_link);
	trunk->ns->ntrunks--;
}

/* May a trunk make room? 0: no; 1: it is up, and nobody uses it; 2: it leads nowhere. */
static int trunk_score(struct vqp_trunk *trunk)
{
	int score = 0;

	spin_lock_bh(&trunk->lock);
	if (list_empty(&trunk->users) && list_empty(&trunk->due) && list_empty(&trunk->replies) &&
	    !trunk->nframes && time_after_eq(jiffies, trunk->retry_at)) {
		if (trunk->state == VQP_TRUNK_IDLE)
			score = 2;
		else if (trunk->state == VQP_TRUNK_UP)
			score = 1;
	}
	spin_unlock_bh(&trunk->lock);
	return score;
}

/* One of the namespace's that makes room, off the table; or NULL. */
static struct vqp_trunk *trunk_take_unused(struct vqp_ns *ns)
{
	struct vqp_trunk *trunk, *found = NULL;
	int best = 0, score;

	lockdep_assert_held(&trunks_lock);
	list_for_each_entry(trunk, &ns->trunks, ns_link) {
		score = trunk_score(trunk);
		if (score > best) {
			best = score;
			found = trunk;
		}
		if (best == 2)
			break;
	}
	if (found)
		trunk_unhash(found);
	return found;
}

/* Put a new one into the table, unless there is one. Returns that, referenced; or ERR_PTR(). */
static struct vqp_trunk *trunk_add(struct vqp_trunk *new, struct vqp_trunk **old)
{
	struct vqp_trunk *trunk = trunk_lookup(new->ns, new->gid);

	if (!trunk) {
		if (!vqp_ns_alive(new->ns))
			return ERR_PTR(-ESHUTDOWN);
		if (new->ns->ntrunks >= TRUNKS_MAX)
			*old = trunk_take_unused(new->ns);
		if (new->ns->ntrunks >= TRUNKS_MAX)
			return ERR_PTR(-ENOSPC);
		trunk = new;
		kref_get(&new->ref);	/* of the table */
		hash_add(trunks, &new->node, trunk_hash(new->ns, new->gid));
		list_add_tail(&new->ns_link, &new->ns->trunks);
		new->ns->ntrunks++;
	}
	kref_get(&trunk->ref);
	return trunk;
}

struct vqp_trunk *vqp_trunk_find(struct vqp_ns *ns, const u8 *gid)
{
	struct vqp_trunk *trunk;

	spin_lock(&trunks_lock);
	trunk = trunk_lookup(ns, gid);
	if (trunk)
		kref_get(&trunk->ref);
	spin_unlock(&trunks_lock);
	return trunk;
}

struct vqp_trunk *vqp_trunk_get(struct vqp_ns *ns, const u8 *gid, enum vqp_trunk_use use)
{
	struct vqp_trunk *trunk = vqp_trunk_find(ns, gid), *new = NULL, *old = NULL;
	int ret = 0;

	if (!trunk) {
		new = vqp_trunk_alloc(ns, gid);
		if (!new)
			return ERR_PTR(-ENOMEM);
	} else if (vqp_trunk_check(trunk) == VQP_TRUNK_FAILED) {
		/* It was up until now, perhaps, and may be so again. */
		vqp_trunk_queue_work(trunk);
		flush_work(&trunk->work);
		if (use == VQP_TRUNK_TO_CONNECT)
			use = VQP_TRUNK_TO_SERVE;
	}
	spin_lock(&trunks_lock);
	if (new)
		trunk = trunk_add(new, &old);
	if (!IS_ERR(trunk))
		ret = vqp_trunk_begin(trunk, use);
	spin_unlock(&trunks_lock);
	if (new)
		vqp_trunk_put(new);
	if (old)
		vqp_trunk_end(old);
	if (ret) {
		vqp_trunk_put(trunk);
		return ERR_PTR(ret);
	}
	return trunk;
}

bool vqp_trunks_tidy(void)
{
	struct vqp_trunk *trunk;
	bool any = false;
	int bkt;

	spin_lock(&trunks_lock);
	hash_for_each(trunks, bkt, trunk, node)
		any |= vqp_shelf_drop(trunk, true);
	spin_unlock(&trunks_lock);
	return any;
}

void vqp_trunk_look(struct vqp_trunk *trunk, struct vqp_trunk_info *info)
{
	struct vqp *vqp;

	*info = (struct vqp_trunk_info){};
	spin_lock_bh(&trunk->lock);
	vqp = vqp_trunk_vqp_get(trunk);
	spin_unlock_bh(&trunk->lock);
	if (!vqp)
		return;
	/* This lock is outside that of the trunk. */
	spin_lock_bh(&vqp->lock);
	memcpy(info->node_gid, vqp->dc.dct.node_gid, sizeof(info->node_gid));
	info->flow = vqp->dc.flow;
	info->srtt_us = vqp->dc.tx.cc.srtt_us;
	info->resent = vqp->dc.tx.packets_resent;
	spin_unlock_bh(&vqp->lock);
	vqp_put(vqp);
}

/* ---- The end ---- */

static bool trunk_has_work(struct vqp_trunk *trunk, bool all)
{
	bool has;

	spin_lock_bh(&trunk->lock);
	has = !list_empty(&trunk->due) || (all && trunk->nframes);
	spin_unlock_bh(&trunk->lock);
	return has;
}

/* Wait until nothing is due, or with `all` under way; at the latest until it fails, or then. */
static void trunk_drain(struct vqp_trunk *trunk, bool all, unsigned long until)
{
	while (trunk_has_work(trunk, all) && vqp_trunk_check(trunk) == VQP_TRUNK_UP &&
	       time_before(jiffies, until))
		schedule_timeout_uninterruptible(1);
}

/*
 * Tell the peer that all is over, when it has been told that streams were at their ends: these were
 * closed a moment ago.
 */
static void trunk_say_bye(struct vqp_trunk *trunk, unsigned long until)
{
	trunk_drain(trunk, false, until);
	/* The last that was due may not be posted yet. */
	flush_work(&trunk->work);
	/* Without memory it is not told, and learns it when it sends. */
	if (vqp_trunk_check(trunk) == VQP_TRUNK_UP)
		vqp_trunk_bye(trunk, vqp_trunk_number());
}

/* Take the trunks of ns, or all if that is NULL, off the table. */
static void trunks_take(struct vqp_ns *ns, struct list_head *taken)
{
	struct hlist_node *next;
	struct vqp_trunk *trunk;
	int bkt;

	spin_lock(&trunks_lock);
	if (ns) {
		list_for_each_entry(trunk, &ns->trunks, ns_link)
			hash_del(&trunk->node);
		list_splice_init(&ns->trunks, taken);
		ns->ntrunks = 0;
	} else {
		hash_for_each_safe(trunks, bkt, next, trunk, node) {
			trunk_unhash(trunk);
			list_add(&trunk->ns_link, taken);
		}
	}
	spin_unlock(&trunks_lock);
}

/* They wait for their peers at the same time. */
void vqp_trunks_end(struct vqp_ns *ns)
{
	unsigned long until = jiffies + TRUNK_BYE_JIFFIES;
	struct vqp_trunk *trunk, *next;
	LIST_HEAD(taken);

	trunks_take(ns, &taken);
	list_for_each_entry(trunk, &taken, ns_link)
		vqp_trunk_stop(trunk);
	list_for_each_entry(trunk, &taken, ns_link)
		trunk_say_bye(trunk, until);
	until = jiffies + TRUNK_BYE_JIFFIES;
	list_for_each_entry_safe(trunk, next, &taken, ns_link) {
		trunk_drain(trunk, true, until);
		list_del_init(&trunk->ns_link);
		vqp_trunk_end(trunk);
	}
}
