/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rkeys: what an initiator knows of the windows of its targets (KRCORE's
 * MRStore), so that a request needs no RPC first. The target takes an rkey
 * back before the region goes (VQP_RPC_REVOKE), and hears when the last request
 * that uses it is over.
 */
#ifndef VQP_RC_RKEY_H
#define VQP_RC_RKEY_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/vqp.h>
#include "meta/rpc.h"

struct vqp;
struct vqp_link;

enum vqp_rkey_state {
	VQP_RKEY_WANTED,
	VQP_RKEY_ASKED,
	VQP_RKEY_READY,
	VQP_RKEY_REFUSED,
};

struct vqp_rkey {
	struct hlist_node node;		/* in the table; RCU */
	struct list_head entry;		/* the link's; under rkey_lock, as state's changes */
	refcount_t ref;			/* the table's, the RPC's, each request's */
	struct rkey_revoke *revoke;	/* taken back: who waits for the last reference; or NULL */
	struct vqp_link *link;		/* constant, as all down to index */
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	u32 key;
	u32 index;			/* stretch of VQP_WINDOW_BYTES */
	u8 state;			/* READY: all below is constant */
	bool stale;			/* taken back before the answer came */
	unsigned long refused_at;	/* jiffies */
	u32 device_rkey;
	u32 access;			/* VQP_ACCESS_* */
	u64 iova;			/* of addr */
	u64 addr, bytes;
	struct vqp_rpc_call call;
	struct rcu_head rcu;
};

/*
 * What lets vqp's requests reach [addr, addr + bytes) of `key` with `access` by the link, in
 * one window: referenced. Or NULL: the target does not grant it, or it is being asked. Any context.
 */
struct vqp_rkey *vqp_rkey_get(struct vqp_link *link, const struct vqp *vqp, u32 key, u64 addr,
			      u32 bytes, u32 access);
void vqp_rkey_put(struct vqp_rkey *rkey);	/* any context */

/* Is there one? If not, it is asked for. */
bool vqp_rkey_ready(struct vqp_link *link, const struct vqp *vqp, u32 key, u64 addr, u32 bytes,
		    u32 access);

/* Ask for those of the link that are wanted. Process context. */
void vqp_rkey_ask(struct vqp_link *link);

/* The link ends: from here on nothing more is wanted; and, once nobody asks, all go. */
void vqp_rkey_close(struct vqp_link *link);
void vqp_rkey_drop_all(struct vqp_link *link);

/* VQP_RPC_REVOKE from node gid: waits until no request uses it. 0 or -errno. Process context. */
int vqp_rkey_revoke(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

#endif
