// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vqp.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "base/hash.h"

#define CACHE_MAX	65536		/* the most entries */
/* An entry is not doubted for this time. */
#define CACHE_FRESH_JIFFIES	(HZ / 10)

struct cache_entry {
	struct hlist_node node;		/* in cache_table */
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	struct vqp_dct dct;
	unsigned long put_at;		/* jiffies */
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(cache_table, 12);	/* read under RCU */
static DEFINE_SPINLOCK(cache_lock);	/* guards changes of cache_table, and cache_count */
static u32 cache_count;

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
	kfree_rcu(e, rcu);
	cache_count--;
	vqp_count_freed(VQP_OBJ_CACHE);
}

bool vqp_dct_cache_get(u32 tenant, const u8 *gid, struct vqp_dct *dct)
{
	struct cache_entry *e;

	rcu_read_lock();
	e = cache_find(tenant, gid);
	if (e)
		*dct = e->dct;
	rcu_read_unlock();
	return e;
}

static void cache_put(u32 tenant, const u8 *gid, const struct vqp_dct *dct, gfp_t gfp)
{
	struct cache_entry *e = kzalloc(sizeof(*e), gfp), *old;

	if (!e)
		return;
	e->tenant = tenant;
	memcpy(e->gid, gid, VQP_GID_BYTES);
	e->dct = *dct;
	e->put_at = jiffies;
	spin_lock_bh(&cache_lock);
	old = cache_find(tenant, gid);
	if (old)
		cache_drop(old);
	if (cache_count < CACHE_MAX) {
		hash_add_rcu(cache_table, &e->node, cache_hash(tenant, gid));
		cache_count++;
		vqp_count_made(VQP_OBJ_CACHE);
		e = NULL;
	}
	spin_unlock_bh(&cache_lock);
	kfree(e);
}

void vqp_dct_cache_put(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	cache_put(tenant, gid, dct, GFP_KERNEL);
}

void vqp_dct_cache_learn(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	struct vqp_dct known;

	if (!vqp_dct_cache_get(tenant, gid, &known) || memcmp(&known, dct, sizeof(known)))
		cache_put(tenant, gid, dct, GFP_ATOMIC);
}

void vqp_dct_cache_suggest(u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	struct vqp_dct known;

	if (!vqp_dct_cache_get(tenant, gid, &known))
		cache_put(tenant, gid, dct, GFP_KERNEL);
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
	int bkt;

	spin_lock_bh(&cache_lock);
	hash_for_each_safe(cache_table, bkt, next, e, node)
		cache_drop(e);
	spin_unlock_bh(&cache_lock);
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
