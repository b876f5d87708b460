/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Grants: what an initiator knows of the windows of its targets (KRCORE's
 * MRStore), so that a request needs no question first. The target takes a grant
 * back before the region goes (VQP_ASK_REVOKE), and hears when the last request
 * that uses it is over.
 */
#ifndef VQP_GRANT_H
#define VQP_GRANT_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/vqp.h>
#include "ask.h"

struct vqp;
struct vqp_rc;

enum vqp_grant_state {
	VQP_GRANT_WANTED,
	VQP_GRANT_ASKED,
	VQP_GRANT_READY,
	VQP_GRANT_REFUSED,
};

struct vqp_grant {
	struct hlist_node node;		/* in the table; RCU */
	struct list_head link;		/* the link's; under grant_lock, as state's changes */
	refcount_t ref;			/* the table's, the question's, each request's */
	struct grant_revoke *revoke;	/* taken back: who waits for the last reference; or NULL */
	struct vqp_rc *rc;		/* constant, as all down to index */
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	u32 key;
	u32 index;			/* stretch of VQP_WINDOW_BYTES */
	u8 state;			/* READY: all below is constant */
	bool stale;			/* taken back before the answer came */
	unsigned long refused_at;	/* jiffies */
	u32 rkey;
	u32 access;			/* VQP_ACCESS_* */
	u64 iova;			/* of addr */
	u64 addr, bytes;
	struct vqp_ask_call call;
	struct rcu_head rcu;
};

/*
 * What lets vqp's requests reach [addr, addr + bytes) of `key` with `access` by the link rc, in
 * one window: referenced. Or NULL: the target does not grant it, or it is being asked. Any context.
 */
struct vqp_grant *vqp_grant_get(struct vqp_rc *rc, const struct vqp *vqp, u32 key, u64 addr,
				u32 bytes, u32 access);
void vqp_grant_put(struct vqp_grant *grant);	/* any context */

/* Is there one? If not, it is asked for. */
bool vqp_grant_ready(struct vqp_rc *rc, const struct vqp *vqp, u32 key, u64 addr, u32 bytes,
		     u32 access);

/* Ask for those of rc that are wanted. Process context. */
void vqp_grant_ask(struct vqp_rc *rc);

/* The link ends: from here on nothing more is wanted; and, once nobody asks, all go. */
void vqp_grant_close(struct vqp_rc *rc);
void vqp_grant_drop_all(struct vqp_rc *rc);

/* VQP_ASK_REVOKE from node gid: waits until no request uses it. 0 or -errno. Process context. */
int vqp_grant_revoke(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at);

#endif
