// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vqp.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "base/hash.h"
#include "engine/ageing.h"

#define CACHE_MAX	65536		/* the most entries */
/* An entry is not doubted for this time. */
#define CACHE_FRESH_JIFFIES	(HZ / 10)

/*
 * Whoever can send packets to this node has it learn addresses, as many as he likes. They have a
 * half of the cache, and make room for one another alone.
 */
enum cache_half {
	CACHE_OWN,			/* what this node has looked up, or talks to */
	CACHE_HEARD,			/* what packets have said */
	CACHE_HALVES,
};

struct cache_entry {
	struct hlist_node node;		/* in cache_table */
	struct vqp_aged aged;		/* in cache_halves[half] */
	enum cache_half half;
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	struct vqp_dct dct;
	unsigned long put_at;		/* jiffies */
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(cache_table, 12);	/* read under RCU */
static DEFINE_SPINLOCK(cache_lock);	/* guards changes of cache_table, and cache_halves */
static struct vqp_ageing cache_halves[CACHE_HALVES] = {
	[CACHE_OWN] = { .list = LIST_HEAD_INIT(cache_halves[CACHE_OWN].list) },
	[CACHE_HEARD] = { .list = LIST_HEAD_INIT(cache_halves[CACHE_HEARD].list) },
};

static unsigned int cache_max = CACHE_MAX;

static int cache_set_max(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, CACHE_HALVES, CACHE_MAX);
}

static const struct kernel_param_ops cache_max_ops = {
	.set = cache_set_max,
	.get = param_get_uint,
};

module_param_cb(cache_max, &cache_max_ops, &cache_max, 0444);
__MODULE_PARM_TYPE(cache_max, "uint");
MODULE_PARM_DESC(cache_max, "addresses of other nodes' functions that are remembered, at most (default, and most: 65536)");

static u32 cache_hash(u32 tenant, const u8 *gid)
{
	return vqp_hash_gid(gid, tenant);
}

static struct cache_entry *cache_find(u32 tenant, const u8 *gid)
{
	struct cache_entry *e;

	hash_for_each_possible_rcu(cache_table, e, node, cache_hash(tenant, gid),
				   lockdep_is_held(&cache_lock)) {
		if (e->tenant == tenant && !memcmp(e->gid, gid, VQP_GID_BYTES))
			return e;
	}
	return NULL;
}

static void cache_drop(struct cache_entry *e)
{
	lockdep_assert_held(&cache_lock);
	hash_del_rcu(&e->node);
	vqp_ageing_del(&cache_halves[e->half], &e->aged);
	kfree_rcu(e, rcu);
	vqp_count_freed(VQP_OBJ_CACHE);
}

bool vqp_dct_cache_get(u32 tenant, const u8 *gid, struct vqp_dct *dct)
{
	struct cache_entry *e;

	rcu_read_lock();
	e = cache_find(tenant, gid);
	if (e) {
		*dct = e->dct;
		vqp_aged_use(&e->aged);
	}
	rcu_read_unlock();
	return e;
}

/* Is that known, and no worse kept than in `half`? */
static bool cache_knows(u32 tenant, const u8 *gid, const struct vqp_dct *dct, enum cache_half half)
{
	struct cache_entry *e;
	bool known;

	rcu_read_lock();
	e = cache_find(tenant, gid);
	known = e && e->half <= half && !memcmp(&e->dct, dct, sizeof(*dct));
	rcu_read_unlock();
	return known;
}

/* If the half is full, what was used least lately makes room. */
static void cache_make_room(struct vqp_ageing *half)
{
	struct vqp_aged *oldest;

	lockdep_assert_held(&cache_lock);
	if (half->count < cache_max / CACHE_HALVES)
		return;
	oldest = vqp_ageing_oldest(half, NULL);
	cache_drop(container_of(oldest, struct cache_entry, aged));
}

static void cache_put(u32 tenant, const u8 *gid, const struct vqp_dct *dct, enum cache_half half,
		      gfp_t gfp)
{
	struct cache_entry *e = kzalloc(sizeof(*e), gfp), *old;

	if (!e)
		return;
	e->tenant = tenant;
	memcpy(e->gid, gid, VQP_GID_BYTES);
	e->dct = *dct;
	e->half = half;
	e->put_at = jiffies;
	spin_lock_bh(&cache_lock);
	old = cache_find(tenant, gid);
	if (old) {
		e->half = min(e->half, old->half);
		cache_drop(old);
	}
	cache_make_room(&cache_halves[e->half]);
	vqp_ageing_add(&cache_halves[e->half], &e->aged);
	hash_add_rcu(cache_table, &e->node, cache_hash(tenant, gid));
	vqp_count_made(VQP_OBJ_CACHE);
	spin_unlock_bh(&cache_lock);
}

void vqp_dct_cache_put(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	cache_put(tenant, gid, dct, CACHE_OWN, GFP_KERNEL);
}

void vqp_dct_cache_note(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	if (!cache_knows(tenant, gid, dct, CACHE_OWN))
		cache_put(tenant, gid, dct, CACHE_OWN, GFP_ATOMIC);
}

void vqp_dct_cache_learn(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	if (!cache_knows(tenant, gid, dct, CACHE_HEARD))
		cache_put(tenant, gid, dct, CACHE_HEARD, GFP_ATOMIC);
}

void vqp_dct_cache_suggest(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	struct vqp_dct known;

	if (!vqp_dct_cache_get(tenant, gid, &known))
		cache_put(tenant, gid, dct, CACHE_OWN, GFP_KERNEL);
}

void vqp_dct_cache_forget(u32 tenant, const u8 *gid)
{
	struct cache_entry *e;

	spin_lock_bh(&cache_lock);
	e = cache_find(tenant, gid);
	if (e)
		cache_drop(e);
	spin_unlock_bh(&cache_lock);
}

void vqp_dct_cache_doubt(u32 tenant, const u8 *gid)
{
	struct cache_entry *e;

	spin_lock_bh(&cache_lock);
	e = cache_find(tenant, gid);
	if (e && time_after(jiffies, e->put_at + CACHE_FRESH_JIFFIES))
		cache_drop(e);
	spin_unlock_bh(&cache_lock);
}

void vqp_dct_cache_disprove(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	struct cache_entry *e;

	spin_lock_bh(&cache_lock);
	e = cache_find(tenant, gid);
	if (e && !memcmp(&e->dct, dct, sizeof(*dct)))
		cache_drop(e);
	spin_unlock_bh(&cache_lock);
}

void vqp_dct_cache_clear(void)
{
	struct hlist_node *next;
	struct cache_entry *e;
	u32 i;

	/* Peers have a say in how many entries there are, but not in how many a bucket has. */
	for (i = 0; i < HASH_SIZE(cache_table); i++) {
		spin_lock_bh(&cache_lock);
		hlist_for_each_entry_safe(e, next, &cache_table[i], node)
			cache_drop(e);
		spin_unlock_bh(&cache_lock);
		cond_resched();
	}
}

int vqp_dct_cache_walk(int skip, int (*fn)(u32 tenant, const u8 *gid,
					   const struct vqp_dct *dct, void *arg), void *arg)
{
	struct cache_entry *e;
	int bkt, i = 0;

	rcu_read_lock();
	hash_for_each_rcu(cache_table, bkt, e, node) {
		if (i++ < skip)
			continue;
		if (fn(e->tenant, e->gid, &e->dct, arg)) {
			i--;
			break;
		}
	}
	rcu_read_unlock();
	return i;
}
