/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rkeys: the initiator's cache of the windows of its targets (KRCORE's MRStore), so that a request
 * needs no RPC first. Before a region goes, its node revokes the rkey (VQP_RPC_REVOKE) and is
 * answered when the last request that uses the rkey is over.
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
	VQP_RKEY_WANTED,	/* The target is to be asked. */
	VQP_RKEY_ASKED,		/* The RPC is under way. */
	VQP_RKEY_READY,
	VQP_RKEY_REFUSED,	/* It stays for a while, so that the target is not asked again. */
};

struct vqp_rkey {
	struct hlist_node node;		/* in the table, read under RCU */
	struct list_head entry;		/* in a list of the link; rkey_lock guards it and `state` */
	/* The table, the RPC that asks and each request that uses the rkey have a reference. */
	refcount_t ref;
	/* Revoked: the revocation that waits for the last reference; or NULL. */
	struct rkey_revoke *revoke;
	struct vqp_link *link;		/* constant, as are the fields down to pull */
	u32 tenant;
	u8 gid[VQP_GID_BYTES];
	u32 key;			/* of the region, in the namespace (tenant, gid) */
	u32 index;			/* of the stretch of VQP_WINDOW_BYTES */
	bool pull;			/* The window is for READs of zero-copy messages. */
	/* enum vqp_rkey_state; what follows is constant once READY */
	u8 state;
	bool stale;			/* It was revoked before the answer came. */
	unsigned long refused_at;	/* jiffies */
	u32 device_rkey;		/* what the NIC of the target knows the window by */
	u32 access;			/* VQP_ACCESS_* */
	/* the window's address for the NIC of the target, at `addr` */
	u64 iova;
	u64 addr, bytes;		/* the window */
	struct vqp_rpc_call call;
	struct rcu_head rcu;
};

/*
 * The rkey by which requests of vqp reach [addr, addr + bytes) of region `key`, which lies in one
 * window, over the link with `access`: referenced. NULL: the target refuses it, or has yet to
 * answer. Any context.
 */
struct vqp_rkey *vqp_rkey_get(struct vqp_link *link, const struct vqp *vqp, u32 key, u64 addr,
			      u32 bytes, u32 access);
void vqp_rkey_put(struct vqp_rkey *rkey);	/* any context */

/* Is there such an rkey? If not, the target is asked for it. Any context. */
bool vqp_rkey_ready(struct vqp_link *link, const struct vqp *vqp, u32 key, u64 addr, u32 bytes,
		    u32 access);

/* Ask the target for the rkeys of the link that are wanted. Process context. */
void vqp_rkey_ask(struct vqp_link *link);

/*
 * The end of a link, in two steps: no rkey is wanted any more; and when ask_work has ended, all
 * rkeys of the link are dropped. Process context.
 */
void vqp_rkey_close(struct vqp_link *link);
void vqp_rkey_drop_all(struct vqp_link *link);

/*
 * VQP_RPC_REVOKE from node gid: wait until no request uses the rkey. 0 or -errno. Process context.
 */
int vqp_rkey_revoke(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

#endif
