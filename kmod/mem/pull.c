// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "mem/pull.h"
#include "ns/namespace.h"

#define PULL_PAST_JIFFIES	HZ	/* A pull that is over counts for this time, ... */
#define PULL_PAST_MAX		64	/* ... and so many of a namespace do. */

void vqp_pull_begin(struct vqp_ns *ns, struct vqp_pull *pull)
{
	spin_lock_bh(&ns->pulls_lock);
	list_add(&pull->node, &ns->pulls);
	spin_unlock_bh(&ns->pulls_lock);
}

/* Free the past pulls that count no longer, or are more than `most`. */
static void pull_forget(struct vqp_ns *ns, u32 most)
{
	struct vqp_pull *pull, *next;

	lockdep_assert_held(&ns->pulls_lock);
	list_for_each_entry_safe(pull, next, &ns->past_pulls, node) {
		if (ns->npast_pulls <= most && time_before(jiffies, pull->until))
			break;
		list_del(&pull->node);
		ns->npast_pulls--;
		kfree(pull);
	}
}

void vqp_pull_end(struct vqp_ns *ns, struct vqp_pull *pull, bool again)
{
	spin_lock_bh(&ns->pulls_lock);
	list_del(&pull->node);
	/* When the namespace has died, pull_kill() has come or is yet to come. */
	if (again && vqp_ns_alive(ns)) {
		pull->until = jiffies + PULL_PAST_JIFFIES;
		list_add_tail(&pull->node, &ns->past_pulls);
		ns->npast_pulls++;
		pull = NULL;
	}
	pull_forget(ns, PULL_PAST_MAX);
	spin_unlock_bh(&ns->pulls_lock);
	kfree(pull);
}

/* vqp_ns_user.kill: no window is made for the namespace's sends any more. */
static void pull_kill(struct vqp_ns *ns)
{
	spin_lock_bh(&ns->pulls_lock);
	pull_forget(ns, 0);
	spin_unlock_bh(&ns->pulls_lock);
}

struct vqp_ns_user vqp_pull_ns_user = {
	.kill = pull_kill,
};

void vqp_pull_exit(void)
{
	struct vqp_ns *host = vqp_ns_host();

	pull_kill(host);
	vqp_ns_put(host);
}

static bool part_covers(const struct vqp_sge *part, u64 addr, u64 bytes)
{
	return addr >= part->addr && bytes <= part->length &&
	       addr - part->addr <= part->length - bytes;
}

static bool part_touches(const struct vqp_sge *part, u64 addr, u64 bytes)
{
	return addr < part->addr + part->length && part->addr < addr + bytes;
}

/* Does node gid READ a part of region `key` that `match` accepts? */
static bool pull_has(const struct vqp_pull *pull, const u8 *gid, u32 key, u64 addr, u64 bytes,
		     bool (*match)(const struct vqp_sge *part, u64 addr, u64 bytes))
{
	u32 i;

	if (memcmp(pull->gid, gid, VQP_GID_BYTES))
		return false;
	for (i = 0; i < pull->count; i++)
		if (pull->parts[i].lkey == key && match(&pull->parts[i], addr, bytes))
			return true;
	return false;
}

bool vqp_pull_covers(struct vqp_ns *ns, const u8 *gid, u32 key, u64 addr, u64 bytes)
{
	const struct vqp_pull *pull;
	bool covers = false;

	/* Most READs of a kernel are lookups. A READ of a pull comes after the pull has begun. */
	if (list_empty(&ns->pulls))
		return false;
	spin_lock_bh(&ns->pulls_lock);
	list_for_each_entry(pull, &ns->pulls, node)
		if (pull_has(pull, gid, key, addr, bytes, part_covers)) {
			covers = true;
			break;
		}
	spin_unlock_bh(&ns->pulls_lock);
	return covers;
}

bool vqp_pull_touches(struct vqp_ns *ns, const u8 *gid, u32 key, u64 addr, u64 bytes)
{
	const struct vqp_pull *pull;
	bool touches = false;

	spin_lock_bh(&ns->pulls_lock);
	list_for_each_entry(pull, &ns->pulls, node)
		touches |= pull_has(pull, gid, key, addr, bytes, part_touches);
	list_for_each_entry(pull, &ns->past_pulls, node)
		touches |= time_before(jiffies, pull->until) &&
			   pull_has(pull, gid, key, addr, bytes, part_touches);
	spin_unlock_bh(&ns->pulls_lock);
	return touches;
}
