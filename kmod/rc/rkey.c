// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/once.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "device/peer.h"
#include "ns/namespace.h"
#include "queue/send.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "rc/rkey.h"
#include "rc/window.h"

#define RKEYS_OF_LINK		1024	/* the most rkeys of a link */
#define RKEY_REFUSED_JIFFIES	HZ	/* the time until a refused rkey is asked for again */
/*
 * A namespace's VQPs ask for at most this number of windows in a second, after a burst of 256. As a
 * struct vqp_rate has it, each is RKEY_ASK_BYTES bytes.
 */
#define RKEY_ASKS_PER_S		4096
#define RKEY_ASK_BYTES		(VQP_RATE_BURST_BYTES / 256)

static DEFINE_HASHTABLE(rkey_table, 10);	/* read under RCU */
/*
 * Guards changes of the table, the links' lists of rkeys and the rkeys' states. It is taken inside
 * vqp.lock and meta/rpc.c's lock.
 */
static DEFINE_SPINLOCK(rkey_lock);

/* A revocation, which waits until no request uses the rkeys that it has removed. */
struct rkey_revoke {
	atomic_t left;			/* the rkeys that are still in use, and one */
	struct completion done;
};

/* Functions choose keys and indices. With a secret they cannot choose ones that collide. */
static u32 rkey_hash(const struct vqp_link *link, u32 key, u32 index)
{
	static siphash_aligned_key_t secret;

	get_random_once(&secret, sizeof(secret));
	return siphash_3u32(link->number, key, index, &secret);
}

/* A zero-copy READ has a window of its own, which functions do not use. */
static struct vqp_rkey *rkey_find(const struct vqp_link *link, const struct vqp *vqp, u32 key,
				  u32 index)
{
	const bool pull = vqp_is_zcopy(vqp);
	struct vqp_rkey *rkey;

	hash_for_each_possible_rcu(rkey_table, rkey, node, rkey_hash(link, key, index),
				   lockdep_is_held(&rkey_lock))
		if (rkey->link == link && rkey->key == key && rkey->index == index &&
		    rkey->pull == pull && rkey->tenant == vqp->ns->tenant &&
		    !memcmp(rkey->gid, vqp->remote_gid, VQP_GID_BYTES))
			return rkey;
	return NULL;
}

static void rkey_revoke_done(struct rkey_revoke *revoke)
{
	if (atomic_dec_and_test(&revoke->left))
		complete(&revoke->done);
}

void vqp_rkey_put(struct vqp_rkey *rkey)
{
	struct rkey_revoke *revoke;

	if (!refcount_dec_and_test(&rkey->ref))
		return;
	revoke = rkey->revoke;
	kfree_rcu(rkey, rcu);
	vqp_count_freed(VQP_OBJ_RKEY);
	if (revoke)
		rkey_revoke_done(revoke);
}

/* Take the rkey out of the table and the list. Their reference passes to the caller. */
static void rkey_unlist(struct vqp_rkey *rkey)
{
	lockdep_assert_held(&rkey_lock);
	hash_del_rcu(&rkey->node);
	list_del(&rkey->entry);
	rkey->link->nrkeys--;
}

/*
 * Is there room for another rkey on the link? A full link drops the oldest refused rkey: a function
 * that asks for windows that do not exist must not keep other functions' windows out.
 */
static bool rkey_make_room(struct vqp_link *link)
{
	struct vqp_rkey *rkey;

	lockdep_assert_held(&rkey_lock);
	if (link->nrkeys < RKEYS_OF_LINK)
		return true;
	rkey = list_first_entry_or_null(&link->rkeys_refused, struct vqp_rkey, entry);
	if (!rkey)
		return false;
	rkey_unlist(rkey);
	vqp_rkey_put(rkey);
	return true;
}

/* May VQPs of ns have their link ask for a window now? */
static bool rkey_may_ask(struct vqp_ns *ns)
{
	const u64 now_ns = ktime_get_ns();

	lockdep_assert_held(&rkey_lock);
	if (!ns->asks.max)
		vqp_rate_set(&ns->asks, RKEY_ASKS_PER_S * RKEY_ASK_BYTES, now_ns);
	return vqp_rate_allows(&ns->asks, now_ns);
}

/* The rkey is wanted by ns, and in the list of those, from which ask_work takes it. */
static void rkey_wanted(struct vqp_rkey *rkey, struct vqp_ns *ns)
{
	lockdep_assert_held(&rkey_lock);
	rkey->state = VQP_RKEY_WANTED;
	vqp_rate_charge(&ns->asks, RKEY_ASK_BYTES, ktime_get_ns());
	vqp_link_ask_later(rkey->link);
}

/* Put a new rkey into the table and `list`, one of the link's. */
static void rkey_add(struct vqp_rkey *rkey, struct vqp_link *link, struct list_head *list)
{
	lockdep_assert_held(&rkey_lock);
	refcount_set(&rkey->ref, 1);
	rkey->link = link;
	hash_add_rcu(rkey_table, &rkey->node, rkey_hash(link, rkey->key, rkey->index));
	list_add_tail(&rkey->entry, list);
	link->nrkeys++;
	vqp_count_made(VQP_OBJ_RKEY);
}

static void rkey_want(struct vqp_link *link, const struct vqp *vqp, u32 key, u32 index)
{
	struct vqp_rkey *rkey = NULL;

	spin_lock_bh(&rkey_lock);
	if (!link->rkeys_closed && !rkey_find(link, vqp, key, index) && rkey_may_ask(vqp->ns) &&
	    rkey_make_room(link))
		rkey = kzalloc(sizeof(*rkey), GFP_ATOMIC | __GFP_NOWARN);
	if (rkey) {
		rkey->tenant = vqp->ns->tenant;
		memcpy(rkey->gid, vqp->remote_gid, VQP_GID_BYTES);
		rkey->key = key;
		rkey->index = index;
		rkey->pull = vqp_is_zcopy(vqp);
		rkey_add(rkey, link, &link->rkeys_wanted);
		rkey_wanted(rkey, vqp->ns);
	}
	spin_unlock_bh(&rkey_lock);
}

/* Ask again for an rkey that the target refused RKEY_REFUSED_JIFFIES ago. */
static void rkey_want_again(struct vqp_rkey *rkey, struct vqp_ns *ns)
{
	spin_lock_bh(&rkey_lock);
	if (rkey->state == VQP_RKEY_REFUSED && !rkey->link->rkeys_closed &&
	    !hlist_unhashed(&rkey->node) && rkey_may_ask(ns)) {
		list_move_tail(&rkey->entry, &rkey->link->rkeys_wanted);
		rkey_wanted(rkey, ns);
	}
	spin_unlock_bh(&rkey_lock);
}

static bool rkey_covers(const struct vqp_rkey *rkey, u64 addr, u32 bytes, u32 access)
{
	/* Pairs with the release in rkey_answered(). */
	return smp_load_acquire(&rkey->state) == VQP_RKEY_READY &&
	       (rkey->access & access) == access && addr >= rkey->addr &&
	       bytes <= rkey->bytes && addr - rkey->addr <= rkey->bytes - bytes;
}

static bool rkey_was_refused_long_ago(const struct vqp_rkey *rkey)
{
	return READ_ONCE(rkey->state) == VQP_RKEY_REFUSED &&
	       time_after(jiffies, READ_ONCE(rkey->refused_at) + RKEY_REFUSED_JIFFIES);
}

struct vqp_rkey *vqp_rkey_get(struct vqp_link *link, const struct vqp *vqp, u32 key, u64 addr,
			      u32 bytes, u32 access)
{
	struct vqp_rkey *rkey;

	rcu_read_lock();
	rkey = rkey_find(link, vqp, key, addr >> VQP_WINDOW_SHIFT);
	if (rkey && (!rkey_covers(rkey, addr, bytes, access) ||
		     !refcount_inc_not_zero(&rkey->ref)))
		rkey = NULL;
	rcu_read_unlock();
	return rkey;
}

bool vqp_rkey_ready(struct vqp_link *link, const struct vqp *vqp, u32 key, u64 addr, u32 bytes,
		    u32 access)
{
	struct vqp_rkey *rkey;
	bool ready;

	rcu_read_lock();
	rkey = rkey_find(link, vqp, key, addr >> VQP_WINDOW_SHIFT);
	ready = rkey && rkey_covers(rkey, addr, bytes, access);
	if (rkey && !ready && rkey_was_refused_long_ago(rkey))
		rkey_want_again(rkey, vqp->ns);
	rcu_read_unlock();
	if (!rkey)
		rkey_want(link, vqp, key, addr >> VQP_WINDOW_SHIFT);
	return ready;
}

/* ---- Asking ---- */

static void rkey_answered(struct vqp_rpc_call *call, const struct vqp_rpc_msg *answer)
{
	struct vqp_rkey *rkey = container_of(call, struct vqp_rkey, call);
	u8 state = VQP_RKEY_REFUSED;

	if (answer && !answer->status) {
		rkey->device_rkey = be32_to_cpu(answer->rkey);
		rkey->access = be32_to_cpu(answer->access);
		rkey->iova = be64_to_cpu(answer->iova);
		rkey->addr = be64_to_cpu(answer->addr);
		rkey->bytes = be64_to_cpu(answer->bytes);
		state = VQP_RKEY_READY;
	}
	spin_lock(&rkey_lock);
	if (rkey->stale)
		state = VQP_RKEY_REFUSED;
	rkey->stale = false;
	WRITE_ONCE(rkey->refused_at, jiffies);
	if (state == VQP_RKEY_REFUSED && !hlist_unhashed(&rkey->node))
		list_move_tail(&rkey->entry, &rkey->link->rkeys_refused);
	/* Pairs with the acquire in rkey_covers(). */
	smp_store_release(&rkey->state, state);
	spin_unlock(&rkey_lock);
	vqp_rkey_put(rkey);
}

/* Mark the next wanted rkey as asked for. Returns it with a reference for the rpc, or NULL. */
static struct vqp_rkey *rkey_next_wanted(struct vqp_link *link)
{
	struct vqp_rkey *rkey;

	spin_lock_bh(&rkey_lock);
	rkey = list_first_entry_or_null(&link->rkeys_wanted, struct vqp_rkey, entry);
	if (rkey) {
		rkey->state = VQP_RKEY_ASKED;
		list_move_tail(&rkey->entry, &link->rkeys);
		refcount_inc(&rkey->ref);
	}
	spin_unlock_bh(&rkey_lock);
	return rkey;
}

void vqp_rkey_ask(struct vqp_link *link)
{
	struct vqp_rkey *rkey;
	struct vqp_rpc_msg msg;

	while ((rkey = rkey_next_wanted(link))) {
		msg = (struct vqp_rpc_msg) {
			.kind = VQP_RPC_WINDOW,
			.flags = rkey->pull ? VQP_RPC_PULL : 0,
			.link = cpu_to_be32(link->number),
			.tenant = cpu_to_be32(rkey->tenant),
			.key = cpu_to_be32(rkey->key),
			.index = cpu_to_be32(rkey->index),
		};
		memcpy(msg.gid, rkey->gid, VQP_GID_BYTES);
		rkey->call.answered = rkey_answered;
		if (vqp_rpc_start(&rkey->call, link->peer->gid, &msg)) {
			local_bh_disable();
			rkey_answered(&rkey->call, NULL);
			local_bh_enable();
		}
	}
}

void vqp_rkey_close(struct vqp_link *link)
{
	spin_lock_bh(&rkey_lock);
	link->rkeys_closed = true;
	spin_unlock_bh(&rkey_lock);
}

static struct vqp_rkey *rkey_first(struct vqp_link *link)
{
	return list_first_entry_or_null(&link->rkeys, struct vqp_rkey, entry) ?:
	       list_first_entry_or_null(&link->rkeys_wanted, struct vqp_rkey, entry) ?:
	       list_first_entry_or_null(&link->rkeys_refused, struct vqp_rkey, entry);
}

void vqp_rkey_drop_all(struct vqp_link *link)
{
	struct vqp_rkey *rkey;
	bool asked;

	for (;;) {
		spin_lock_bh(&rkey_lock);
		rkey = rkey_first(link);
		if (rkey) {
			asked = rkey->state == VQP_RKEY_ASKED;
			rkey_unlist(rkey);
		}
		spin_unlock_bh(&rkey_lock);
		if (!rkey)
			return;
		if (asked && vqp_rpc_cancel(&rkey->call))
			vqp_rkey_put(rkey);
		vqp_rkey_put(rkey);
	}
}

/* ---- Taking back ---- */

/*
 * The rkey's window makes room for another. Ask for one in its place no sooner than if this one had
 * been refused, so that the other comes first.
 */
static void rkey_rest(const struct vqp_rkey *rkey)
{
	struct vqp_rkey *rest = kzalloc(sizeof(*rest), GFP_ATOMIC | __GFP_NOWARN);

	if (!rest)
		return;
	rest->tenant = rkey->tenant;
	memcpy(rest->gid, rkey->gid, VQP_GID_BYTES);
	rest->key = rkey->key;
	rest->index = rkey->index;
	rest->pull = rkey->pull;
	rest->state = VQP_RKEY_REFUSED;
	rest->refused_at = jiffies;
	rkey_add(rest, rkey->link, &rkey->link->rkeys_refused);
}

static void rkey_revoke_of(struct vqp_link *link, const struct vqp_rpc_msg *msg,
			   struct rkey_revoke *revoke)
{
	const u32 tenant = be32_to_cpu(msg->tenant), key = be32_to_cpu(msg->key);
	const bool alone = msg->flags & VQP_RPC_ALONE, pull = msg->flags & VQP_RPC_PULL;
	const u32 index = be32_to_cpu(msg->index);
	struct vqp_rkey *rkey, *next;
	LIST_HEAD(taken);

	spin_lock_bh(&rkey_lock);
	list_for_each_entry_safe(rkey, next, &link->rkeys, entry) {
		if (rkey->key != key || rkey->tenant != tenant ||
		    memcmp(rkey->gid, msg->gid, VQP_GID_BYTES))
			continue;
		if (alone && (rkey->index != index || rkey->pull != pull))
			continue;
		/* An answer that is under way may grant what this revocation takes back. */
		rkey->stale = rkey->state == VQP_RKEY_ASKED;
		if (rkey->state != VQP_RKEY_READY)
			continue;
		rkey_unlist(rkey);
		if (alone && !link->rkeys_closed)
			rkey_rest(rkey);
		rkey->revoke = revoke;
		atomic_inc(&revoke->left);
		list_add(&rkey->entry, &taken);
	}
	spin_unlock_bh(&rkey_lock);
	list_for_each_entry_safe(rkey, next, &taken, entry)
		vqp_rkey_put(rkey);
}

int vqp_rkey_revoke(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct rkey_revoke revoke = { .left = ATOMIC_INIT(1) };
	struct vqp_link *link = vqp_link_get(gid, be32_to_cpu(msg->link));

	/* Without the link there are no rkeys of it. */
	if (!link)
		return 0;
	init_completion(&revoke.done);
	rkey_revoke_of(link, msg, &revoke);
	vqp_link_put(link);
	rkey_revoke_done(&revoke);
	/*
	 * The requests that use the rkeys complete, or their link fails and releases them. The
	 * target waits for WINDOW_REVOKE_MS, and then stops its half of the link.
	 */
	wait_for_completion(&revoke.done);
	return 0;
}
