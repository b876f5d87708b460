// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "counters.h"
#include "grant.h"
#include "ns.h"
#include "peer.h"
#include "qp.h"
#include "rc.h"
#include "window.h"
#include "send.h"

#define GRANTS_OF_LINK		1024
#define GRANT_REFUSED_JIFFIES	HZ	/* until it is asked for again */

static DEFINE_HASHTABLE(grant_table, 10);
/* Guards the table's changes, the links' lists, states. Inside vqp.lock and ask.c's lock. */
static DEFINE_SPINLOCK(grant_lock);

/* Waits for the last reference of all grants that it has taken back. */
struct grant_revoke {
	atomic_t left;
	struct completion done;
};

static u32 grant_hash(const struct vqp_rc *rc, u32 key, u32 index)
{
	return jhash_3words(rc->number, key, index, 0);
}

static struct vqp_grant *grant_find(const struct vqp_rc *rc, const struct vqp *vqp, u32 key,
				    u32 index)
{
	struct vqp_grant *grant;

	hash_for_each_possible_rcu(grant_table, grant, node, grant_hash(rc, key, index),
				   lockdep_is_held(&grant_lock))
		if (grant->rc == rc && grant->key == key && grant->index == index &&
		    grant->tenant == vqp->ns->tenant &&
		    !memcmp(grant->gid, vqp->remote_gid, VQP_GID_BYTES))
			return grant;
	return NULL;
}

static void grant_revoke_done(struct grant_revoke *revoke)
{
	if (atomic_dec_and_test(&revoke->left))
		complete(&revoke->done);
}

void vqp_grant_put(struct vqp_grant *grant)
{
	struct grant_revoke *revoke;

	if (!refcount_dec_and_test(&grant->ref))
		return;
	revoke = grant->revoke;
	kfree_rcu(grant, rcu);
	vqp_count_freed(VQP_OBJ_GRANT);
	if (revoke)
		grant_revoke_done(revoke);
}

/* Nobody finds it any more. The table's reference is the caller's. */
static void grant_unlist(struct vqp_grant *grant)
{
	lockdep_assert_held(&grant_lock);
	hash_del_rcu(&grant->node);
	list_del(&grant->link);
	grant->rc->ngrants--;
}

/* Room for one more: who asks for what there is not must not keep others from asking. */
static bool grant_make_room(struct vqp_rc *rc)
{
	struct vqp_grant *grant;

	lockdep_assert_held(&grant_lock);
	if (rc->ngrants < GRANTS_OF_LINK)
		return true;
	list_for_each_entry(grant, &rc->grants, link) {
		if (grant->state == VQP_GRANT_REFUSED) {
			grant_unlist(grant);
			vqp_grant_put(grant);
			return true;
		}
	}
	return false;
}

static void grant_want(struct vqp_rc *rc, const struct vqp *vqp, u32 key, u32 index)
{
	struct vqp_grant *grant = NULL;

	spin_lock_bh(&grant_lock);
	if (!rc->grants_closed && !grant_find(rc, vqp, key, index) && grant_make_room(rc))
		grant = kzalloc(sizeof(*grant), GFP_ATOMIC | __GFP_NOWARN);
	if (grant) {
		refcount_set(&grant->ref, 1);
		grant->rc = rc;
		grant->tenant = vqp->ns->tenant;
		memcpy(grant->gid, vqp->remote_gid, VQP_GID_BYTES);
		grant->key = key;
		grant->index = index;
		hash_add_rcu(grant_table, &grant->node, grant_hash(rc, key, index));
		list_add_tail(&grant->link, &rc->grants);
		rc->ngrants++;
		vqp_count_made(VQP_OBJ_GRANT);
		vqp_rc_ask_later(rc);
	}
	spin_unlock_bh(&grant_lock);
}

/* It was refused, but that is a while ago. */
static void grant_want_again(struct vqp_grant *grant)
{
	spin_lock_bh(&grant_lock);
	if (grant->state == VQP_GRANT_REFUSED && !grant->rc->grants_closed &&
	    !hlist_unhashed(&grant->node)) {
		grant->state = VQP_GRANT_WANTED;
		vqp_rc_ask_later(grant->rc);
	}
	spin_unlock_bh(&grant_lock);
}

static bool grant_covers(struct vqp_grant *grant, u64 addr, u32 bytes, u32 access)
{
	/* Pairs with the release in grant_answered(). */
	switch (smp_load_acquire(&grant->state)) {
	case VQP_GRANT_READY:
		return (grant->access & access) == access && addr >= grant->addr &&
		       bytes <= grant->bytes && addr - grant->addr <= grant->bytes - bytes;
	case VQP_GRANT_REFUSED:
		if (time_after(jiffies, grant->refused_at + GRANT_REFUSED_JIFFIES))
			grant_want_again(grant);
	}
	return false;
}

struct vqp_grant *vqp_grant_get(struct vqp_rc *rc, const struct vqp *vqp, u32 key, u64 addr,
				u32 bytes, u32 access)
{
	struct vqp_grant *grant;

	rcu_read_lock();
	grant = grant_find(rc, vqp, key, addr >> VQP_WINDOW_SHIFT);
	if (grant && (!grant_covers(grant, addr, bytes, access) ||
		      !refcount_inc_not_zero(&grant->ref)))
		grant = NULL;
	rcu_read_unlock();
	return grant;
}

bool vqp_grant_ready(struct vqp_rc *rc, const struct vqp *vqp, u32 key, u64 addr, u32 bytes,
		     u32 access)
{
	struct vqp_grant *grant;
	bool ready;

	rcu_read_lock();
	grant = grant_find(rc, vqp, key, addr >> VQP_WINDOW_SHIFT);
	ready = grant && grant_covers(grant, addr, bytes, access);
	rcu_read_unlock();
	if (!grant)
		grant_want(rc, vqp, key, addr >> VQP_WINDOW_SHIFT);
	return ready;
}

/* ---- Asking ---- */

static void grant_answered(struct vqp_ask_call *call, const struct vqp_ask *answer)
{
	struct vqp_grant *grant = container_of(call, struct vqp_grant, call);
	u8 state = VQP_GRANT_REFUSED;

	if (answer && !answer->status) {
		grant->rkey = be32_to_cpu(answer->rkey);
		grant->access = be32_to_cpu(answer->access);
		grant->iova = be64_to_cpu(answer->iova);
		grant->addr = be64_to_cpu(answer->addr);
		grant->bytes = be64_to_cpu(answer->bytes);
		state = VQP_GRANT_READY;
	}
	spin_lock(&grant_lock);
	if (grant->stale)
		state = VQP_GRANT_REFUSED;
	grant->stale = false;
	grant->refused_at = jiffies;
	/* Pairs with the acquire in grant_covers(). */
	smp_store_release(&grant->state, state);
	spin_unlock(&grant_lock);
	vqp_grant_put(grant);
}

/* The next that is wanted: asked from here on, with a reference for the question. */
static struct vqp_grant *grant_next_wanted(struct vqp_rc *rc)
{
	struct vqp_grant *grant, *wanted = NULL;

	spin_lock_bh(&grant_lock);
	list_for_each_entry(grant, &rc->grants, link) {
		if (grant->state == VQP_GRANT_WANTED) {
			wanted = grant;
			wanted->state = VQP_GRANT_ASKED;
			refcount_inc(&wanted->ref);
			break;
		}
	}
	spin_unlock_bh(&grant_lock);
	return wanted;
}

void vqp_grant_ask(struct vqp_rc *rc)
{
	struct vqp_grant *grant;
	struct vqp_ask msg;

	while ((grant = grant_next_wanted(rc))) {
		msg = (struct vqp_ask) {
			.kind = VQP_ASK_WINDOW,
			.link = cpu_to_be32(rc->number),
			.tenant = cpu_to_be32(grant->tenant),
			.key = cpu_to_be32(grant->key),
			.index = cpu_to_be32(grant->index),
		};
		memcpy(msg.gid, grant->gid, VQP_GID_BYTES);
		grant->call.answered = grant_answered;
		if (vqp_ask_start(&grant->call, rc->peer->gid, &msg)) {
			local_bh_disable();
			grant_answered(&grant->call, NULL);
			local_bh_enable();
		}
	}
}

void vqp_grant_close(struct vqp_rc *rc)
{
	spin_lock_bh(&grant_lock);
	rc->grants_closed = true;
	spin_unlock_bh(&grant_lock);
}

void vqp_grant_drop_all(struct vqp_rc *rc)
{
	struct vqp_grant *grant;
	bool asked;

	for (;;) {
		spin_lock_bh(&grant_lock);
		grant = list_first_entry_or_null(&rc->grants, struct vqp_grant, link);
		if (grant) {
			asked = grant->state == VQP_GRANT_ASKED;
			grant_unlist(grant);
		}
		spin_unlock_bh(&grant_lock);
		if (!grant)
			return;
		if (asked && vqp_ask_cancel(&grant->call))
			vqp_grant_put(grant);
		vqp_grant_put(grant);
	}
}

/* ---- Taking back ---- */

static void grant_revoke_of(struct vqp_rc *rc, const struct vqp_ask *msg,
			    struct grant_revoke *revoke)
{
	const u32 tenant = be32_to_cpu(msg->tenant), key = be32_to_cpu(msg->key);
	struct vqp_grant *grant, *next;
	LIST_HEAD(taken);

	spin_lock_bh(&grant_lock);
	list_for_each_entry_safe(grant, next, &rc->grants, link) {
		if (grant->key != key || grant->tenant != tenant ||
		    memcmp(grant->gid, msg->gid, VQP_GID_BYTES))
			continue;
		/* The answer may be behind this. */
		grant->stale = grant->state == VQP_GRANT_ASKED;
		if (grant->state != VQP_GRANT_READY)
			continue;
		grant_unlist(grant);
		grant->revoke = revoke;
		atomic_inc(&revoke->left);
		list_add(&grant->link, &taken);
	}
	spin_unlock_bh(&grant_lock);
	list_for_each_entry_safe(grant, next, &taken, link)
		vqp_grant_put(grant);
}

int vqp_grant_revoke(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at)
{
	struct grant_revoke revoke = { .left = ATOMIC_INIT(1) };
	struct vqp_rc *rc = vqp_rc_get(gid, be32_to_cpu(msg->link));

	/* The link has gone, and its grants with it. */
	if (!rc)
		return 0;
	init_completion(&revoke.done);
	grant_revoke_of(rc, msg, &revoke);
	vqp_rc_put(rc);
	grant_revoke_done(&revoke);
	/* Requests end, or their link fails and lets go of them; the target waits but a second. */
	wait_for_completion(&revoke.done);
	return 0;
}
