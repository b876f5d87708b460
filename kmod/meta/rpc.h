/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Kernel to kernel: what the modules of two nodes have to tell each other beside
 * the functions' data. A request and its answer are a SEND each, over the dc
 * carrier and so exactly once and in order, from one host namespace to port 0 of
 * the other: a port that no function can name.
 */
#ifndef VQP_META_RPC_H
#define VQP_META_RPC_H

#include <linux/types.h>
#include <linux/vqp.h>

#define VQP_RPC_VERSION	2
#define VQP_RPC_PARTS	8

enum vqp_rpc_kind {
	VQP_RPC_LINK_OPEN	= 1,	/* make a target for my QP; answer: its own (rc/target.h) */
	VQP_RPC_LINK_CLOSE	= 2,	/* take no more; answer: the PSN it had reached */
	VQP_RPC_WINDOW		= 3,	/* let me use part `index` of region `key` (rc/window.h) */
	VQP_RPC_REVOKE		= 4,	/* region `key` goes: answer when you are done with it */
	VQP_RPC_ZCOPY		= 5,	/* receive these; answer: how many (zcopy/recv.h) */
	VQP_RPC_ZCOPY_RESULT	= 6,	/* what came of that? It is not to be begun any more */
	VQP_RPC_MAX		= VQP_RPC_ZCOPY_RESULT,
};

/* A message of a zero-copy send: `bytes` at `addr` of region `key`. */
struct vqp_rpc_part {
	__be64 addr;
	__be32 key;
	__be32 bytes;
	__be32 flags;		/* VQP_PKT_IMM */
	u32 imm;		/* as given */
};

struct vqp_rpc_msg {
	u8 version;
	u8 kind;		/* enum vqp_rpc_kind */
	u8 is_answer;
	u8 reserved;
	__be32 id;		/* of the request; the answer repeats it */
	__be32 epoch;		/* of the node that sends this */
	__be32 status;		/* answers: 0 or an errno */
	__be32 link;		/* LINK_*, WINDOW: number of the link among its initiator's */
	__be32 qpn, psn;	/* LINK_* */
	__be32 mtu;		/* LINK_OPEN: bytes */
	__be32 reads;		/* LINK_OPEN: that its end answers at once */
	__be32 tenant;		/* WINDOW, REVOKE, ZCOPY*: whose region */
	u8 gid[VQP_GID_BYTES];
	__be32 key;
	__be32 index;		/* WINDOW */
	__be32 rkey;		/* its answer: the device's key for it, */
	__be32 access;		/* VQP_ACCESS_* it grants, */
	__be64 iova;		/* the device's address of */
	__be64 addr, bytes;	/* the part, as functions know it */
	__be32 from_qp;		/* ZCOPY*: the sender's VQP */
	__be32 zcopy;		/* its latest; each has a greater number */
	u8 to_gid[VQP_GID_BYTES];	/* ZCOPY: whom the messages are for */
	__be32 to_qp, to_port;
	__be32 count;		/* of parts; answers: that were received */
	__be32 giveup_ms;	/* ZCOPY: to be received within that, or not at all */
	struct vqp_rpc_part parts[VQP_RPC_PARTS];
};

/*
 * Carries out a request from node `gid`, which arrived at received_at (in jiffies). The answer
 * replaces the request, but for its status, which is the result: 0 or -errno. Process context.
 */
typedef int (*vqp_rpc_handler)(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* Register what answers requests of `kind`, before the first parent comes. */
void __init vqp_rpc_handle(enum vqp_rpc_kind kind, vqp_rpc_handler handler);

struct vqp_rpc_call;
struct vqp_dct;
struct vqp_device_user;

/*
 * The answer has come, or (NULL) none will: the peer is gone or silent. Once for each call;
 * bottom halves off, calls to one node in the order of its answers.
 */
typedef void (*vqp_rpc_fn)(struct vqp_rpc_call *call, const struct vqp_rpc_msg *answer);

/* The asker's memory, from vqp_rpc_start() until `answered` or vqp_rpc_cancel() returns. */
struct vqp_rpc_call {
	struct hlist_node node;
	u32 id;
	u8 kind;
	u8 gid[VQP_GID_BYTES];		/* who is asked */
	vqp_rpc_fn answered;
};

int __init vqp_rpc_init(void);
void vqp_rpc_exit(void);

extern struct vqp_device_user vqp_rpc_device_user;

/*
 * Ask node `gid`, whose metadata is in the cache (tenant 0). 0, or -errno: then `answered` is not
 * called. Process context; resolves the node's address the first time.
 */
int vqp_rpc_start(struct vqp_rpc_call *call, const u8 *gid, const struct vqp_rpc_msg *msg);

/* Wait no longer: from here on `answered` is not called, and does not run. False: it was. */
bool vqp_rpc_cancel(struct vqp_rpc_call *call);

/*
 * Node `gid`, which was to be found at `dct`, does not answer: look a target on it up. 1: the node
 * has started its parent anew, and *dct and the channel lead there; -EHOSTUNREACH: the target's
 * address is on another node now; 0: nothing is known that was not. Process context.
 */
int vqp_rpc_relearn(const u8 *gid, struct vqp_dct *dct, u32 tenant, const u8 *target_gid);

/* Nothing that was asked of that node arrives any more unless it has already. Process context. */
void vqp_rpc_hang_up(const u8 *gid);

/* Ask, and wait at most timeout_ms; the answer replaces the request. 0 or -errno, its own, too. */
int vqp_rpc(const u8 *gid, struct vqp_rpc_msg *msg, u32 timeout_ms);

#endif
