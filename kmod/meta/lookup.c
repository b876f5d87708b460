// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "base/hash.h"
#include "base/trace.h"
#include "device/parent.h"
#include "meta/lookup.h"
#include "meta/server.h"
#include "ns/namespace.h"
#include "queue/vqp.h"

/*
 * A lookup that is wanted or under way. All who want to know the address meanwhile share it. The
 * first of them whose namespace has a place for a lookup does it, so that nobody waits for places
 * of another namespace.
 */
struct lookup {
	/* In lookup_table until the lookup is done, or nobody wants to know any more. */
	struct hlist_node node;
	struct kref ref;		/* Each task that wants to know has a reference. */
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	bool begun;			/* written under lookup_lock, and read without */
	struct completion done;
	/* These are constant once it is done. */
	int ret;
	struct vqp_dct dct;
};

static DEFINE_SPINLOCK(lookup_lock);	/* guards the table, and references from it */
static DEFINE_HASHTABLE(lookup_table, 8);

static u32 lookup_hash(u32 tenant, const u8 *gid)
{
	return vqp_hash_gid(gid, tenant);
}

static void lookup_release(struct kref *ref)
{
	hash_del(&container_of(ref, struct lookup, ref)->node);
}

static void lookup_put(struct lookup *lookup)
{
	bool last;

	spin_lock(&lookup_lock);
	last = kref_put(&lookup->ref, lookup_release);
	spin_unlock(&lookup_lock);
	if (last)
		kfree(lookup);
}

static struct lookup *lookup_find(u32 tenant, const u8 *gid)
{
	struct lookup *lookup;

	lockdep_assert_held(&lookup_lock);
	hash_for_each_possible(lookup_table, lookup, node, lookup_hash(tenant, gid))
		if (lookup->tenant == tenant && !memcmp(lookup->gid, gid, VQP_GID_BYTES))
			return lookup;
	return NULL;
}

/* The lookup of the address, referenced; or NULL. */
static struct lookup *lookup_join(u32 tenant, const u8 *gid)
{
	struct lookup *lookup, *new = kzalloc(sizeof(*new), GFP_KERNEL);

	if (!new)
		return NULL;
	kref_init(&new->ref);
	new->tenant = tenant;
	memcpy(new->gid, gid, VQP_GID_BYTES);
	init_completion(&new->done);
	spin_lock(&lookup_lock);
	lookup = lookup_find(tenant, gid);
	if (lookup) {
		kref_get(&lookup->ref);
	} else {
		hash_add(lookup_table, &new->node, lookup_hash(tenant, gid));
		swap(lookup, new);
	}
	spin_unlock(&lookup_lock);
	kfree(new);
	return lookup;
}

/* Returns whether the caller is to do the lookup. */
static bool lookup_begin(struct lookup *lookup)
{
	bool mine;

	spin_lock(&lookup_lock);
	mine = !lookup->begun;
	WRITE_ONCE(lookup->begun, true);
	spin_unlock(&lookup_lock);
	return mine;
}

static void lookup_end(struct lookup *lookup, int ret)
{
	lookup->ret = ret;
	spin_lock(&lookup_lock);
	hash_del(&lookup->node);
	spin_unlock(&lookup_lock);
	complete_all(&lookup->done);
}

static int lookup_do(struct vqp_ns *ns, const u8 *gid, const struct vqp *vqp, struct vqp_dct *dct)
{
	const ktime_t began = ktime_get();
	int ret;

	vqp_count_event(VQP_EV_LOOKUPS);
	ret = vqp_meta_ask(ns->tenant, gid, vqp, dct);
	trace_vqp_lookup(ns->tenant, gid, ret, ktime_us_delta(ktime_get(), began));
	/* The table is stale: vqp_ns_find() has not found the address on this node. */
	if (!ret && vqp_meta_is_local(dct))
		ret = -EHOSTUNREACH;
	if (!ret)
		vqp_dct_cache_put(ns->tenant, gid, dct);
	return ret;
}

/*
 * Do the lookup, unless somebody else does. For a VQP that takes one of the namespace's places: one
 * tenant's functions do not wait for all that another tenant's ask for. Returns 0, with *mine if
 * the caller has done it; or -EINTR.
 */
static int lookup_lead(struct lookup *lookup, struct vqp_ns *ns, const struct vqp *vqp, bool *mine)
{
	int ret = 0;

	*mine = false;
	if (READ_ONCE(lookup->begun))
		return 0;
	if (vqp)
		ret = vqp_meta_down(&ns->lookups, vqp, &lookup->begun);
	if (ret)
		return ret == -EALREADY ? 0 : ret;
	*mine = lookup_begin(lookup);
	if (*mine)
		lookup_end(lookup, lookup_do(ns, lookup->gid, vqp, &lookup->dct));
	if (vqp)
		up(&ns->lookups);
	return 0;
}

/* Is that where the VQP's target was and is not any more? */
static bool lookup_is_disproved(const struct vqp *vqp, const struct vqp_dct *dct)
{
	return vqp && !memcmp(dct, &vqp->dc.dct, sizeof(*dct));
}

static int lookup_shared(struct vqp_ns *ns, const u8 *gid, const struct vqp *vqp,
			 struct vqp_dct *dct)
{
	bool mine, again, once = true;
	struct lookup *lookup;
	int ret;

	do {
		lookup = lookup_join(ns->tenant, gid);
		if (!lookup)
			return -ENOMEM;
		ret = lookup_lead(lookup, ns, vqp, &mine);
		if (!ret)
			ret = vqp_meta_wait(&lookup->done, vqp);
		again = false;
		if (!ret) {
			ret = lookup->ret;
			*dct = lookup->dct;
			/*
			 * The task that did the lookup was killed; or it read the table before the
			 * target moved, perhaps, and a lookup that begins now does not.
			 */
			again = !mine && (ret == -EINTR ||
					  (!ret && once && lookup_is_disproved(vqp, dct)));
			once &= ret != 0;
		}
		lookup_put(lookup);
	} while (again);
	return ret;
}

int vqp_meta_route(struct vqp_ns *ns, const u8 *gid, const struct vqp *vqp,
		   struct vqp_route *route)
{
	route->local = vqp_ns_find(ns->tenant, gid);
	if (route->local || vqp_dct_cache_get(ns->tenant, gid, &route->dct))
		return 0;
	if (!vqp_parent_is_up())
		return -ENETDOWN;
	return lookup_shared(ns, gid, vqp, &route->dct);
}

void vqp_route_end(struct vqp_route *route)
{
	if (route->local)
		vqp_ns_put(route->local);
}

void vqp_meta_exit(void)
{
	vqp_meta_set(NULL, 0);
	vqp_dct_cache_clear();
}
