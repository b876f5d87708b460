/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pulls: what a zero-copy send names, or a shelf of sockets has (sock/shelf.h), is READ by the
 * kernel of the target's node, whatever rights the regions grant to functions. Without these rights
 * that kernel READs nothing else by dc, and by rc no more than the windows that pulls have touched.
 *
 * That kernel may need windows first (rc/window.h), and has asked for them when it answers that it
 * could not READ. So that they are made for the next send, such a pull counts for a second more.
 */
#ifndef VQP_MEM_PULL_H
#define VQP_MEM_PULL_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/vqp.h>

struct vqp_ns;
struct vqp_ns_user;

struct vqp_pull {
	/* in vqp_ns.pulls or .past_pulls, under vqp_ns.pulls_lock */
	struct list_head node;
	unsigned long until;		/* of a past pull: the end of that second, in jiffies */
	u8 gid[VQP_GID_BYTES];		/* of the node that READs */
	u32 count;			/* the number of parts */
	struct vqp_sge parts[];		/* what it READs, with lkeys of the sender's */
};

extern struct vqp_ns_user vqp_pull_ns_user;

/* No pull is under way any more: forget those of the host's namespace, which is never killed. */
void vqp_pull_exit(void);

/* The pull is known from here on. Its memory is kmalloc()ed, and the namespace's. Any context. */
void vqp_pull_begin(struct vqp_ns *ns, struct vqp_pull *pull);
/* It is over. *again: another send of the same messages may follow. Any context. */
void vqp_pull_end(struct vqp_ns *ns, struct vqp_pull *pull, bool again);

/* May node gid READ all of [addr, addr + bytes) of region `key` now? Any context. */
bool vqp_pull_covers(struct vqp_ns *ns, const u8 *gid, u32 key, u64 addr, u64 bytes);
/* Is it to have a window of any of that? Any context. */
bool vqp_pull_touches(struct vqp_ns *ns, const u8 *gid, u32 key, u64 addr, u64 bytes);

#endif
