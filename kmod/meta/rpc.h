/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RPCs between the kernel modules of two nodes. A request and its answer are one SEND each, from
 * the host namespace of one node to port 0 of the other's, a port that no function can name. The
 * dc carrier delivers each SEND exactly once and in order.
 */
#ifndef VQP_META_RPC_H
#define VQP_META_RPC_H

#include <linux/types.h>
#include <linux/vqp.h>

#define VQP_RPC_VERSION	2
#define VQP_RPC_PARTS	8

enum vqp_rpc_kind {
	/*
	 * Make an rc target for the initiator's QP. The answer has the target's QP (rc/target.h).
	 */
	VQP_RPC_LINK_OPEN	= 1,
	/* Stop the rc target. The answer has the PSN that it had reached. */
	VQP_RPC_LINK_CLOSE	= 2,
	/* Open the window of stretch `index` of region `key` (rc/window.h). */
	VQP_RPC_WINDOW		= 3,
	/*
	 * Region `key` goes, or its window `index`. The answer comes when no request uses it any
	 * more (rc/rkey.h).
	 */
	VQP_RPC_REVOKE		= 4,
	/* Receive these messages. The answer says how many were received (zcopy/recv.h). */
	VQP_RPC_ZCOPY		= 5,
	/* Tell the outcome of that request, and do not begin it any more. */
	VQP_RPC_ZCOPY_RESULT	= 6,
	/* The probe has been answered. Has it moved the PSN: 0 or ENODATA? (rc/target.h) */
	VQP_RPC_LINK_PROBED	= 7,
	/* Is there still a link of that number: 0 or ENOENT? (rc/link.h) */
	VQP_RPC_LINK_ALIVE	= 8,
	/* May a link begin that would have `count` packets a second: 0 or EBUSY? (rc/target.h) */
	VQP_RPC_LINK_ROOM	= 9,
	/* End the link of that number, so that one which is used more can begin (rc/link.h). */
	VQP_RPC_LINK_YIELD	= 10,
	/* There is room for a link now, for some seconds. Answer: 0 (rc/link.h). */
	VQP_RPC_LINK_COME	= 11,
	VQP_RPC_MAX		= VQP_RPC_LINK_COME,
};

/* A message of a zero-copy send: `bytes` at `addr` of region `key`. */
struct vqp_rpc_part {
	__be64 addr;
	__be32 key;
	__be32 bytes;
	__be32 flags;		/* VQP_PKT_IMM */
	u32 imm;		/* in wire order, with VQP_PKT_IMM */
};

/* Flags of a message */
#define VQP_RPC_PULL	0x01	/* WINDOW, REVOKE: it is for zero-copy sends (mem/pull.h). */
#define VQP_RPC_ALONE	0x02	/* REVOKE: one window makes room, and its region stays. */

struct vqp_rpc_msg {
	u8 version;
	u8 kind;		/* enum vqp_rpc_kind */
	u8 is_answer;
	u8 flags;		/* VQP_RPC_* below */
	__be32 id;		/* the number of the request, which the answer repeats */
	__be32 epoch;		/* the sending node's */
	__be32 status;		/* of an answer: 0 or an errno value */
	__be32 link;		/* LINK_*, WINDOW: the initiator's number of the link */
	__be32 qpn, psn;	/* LINK_* */
	__be32 mtu;		/* LINK_OPEN: in bytes */
	__be32 reads;		/* LINK_OPEN: the most READs that the sender answers at a time */
	/* WINDOW, REVOKE, ZCOPY*: the namespace of the region, or of the sender. */
	__be32 tenant;
	u8 gid[VQP_GID_BYTES];
	__be32 key;		/* WINDOW, REVOKE: of the region */
	/* WINDOW, REVOKE with VQP_RPC_ALONE: the stretch of VQP_WINDOW_BYTES */
	__be32 index;
	__be32 rkey;		/* answer to WINDOW: the device's rkey of the window */
	__be32 access;		/* answer to WINDOW: the VQP_ACCESS_* that it grants */
	__be64 iova;		/* answer to WINDOW: the device's address of `addr` */
	__be64 addr, bytes;	/* answer to WINDOW: the window in the owner's addresses */
	__be32 from_qp;		/* ZCOPY*: the sender's VQP */
	__be32 zcopy;		/* ZCOPY*: the number of the request; a VQP's numbers grow */
	u8 to_gid[VQP_GID_BYTES];	/* ZCOPY: the address that the messages are for */
	__be32 to_qp, to_port;	/* ZCOPY: the VQP or the port */
	/* ZCOPY: the number of parts; answer: of messages received. LINK_ROOM: of packets */
	__be32 count;
	/* ZCOPY: no message is to be received later than this after the request. */
	__be32 giveup_ms;
	struct vqp_rpc_part parts[VQP_RPC_PARTS];
};

/*
 * A handler carries out a request from node `gid`, which arrived at received_at (in jiffies), and
 * writes the answer over the request. Its result, 0 or -errno, becomes the status of the answer.
 * Process context.
 */
typedef int (*vqp_rpc_handler)(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* Register the handler of requests of `kind`, before the first parent comes. */
void __init vqp_rpc_handle(enum vqp_rpc_kind kind, vqp_rpc_handler handler);

struct vqp_rpc_call;
struct vqp;
struct vqp_dct;
struct vqp_device_user;

/*
 * The answer has come, or it is NULL because the peer has gone or does not answer. The function is
 * called once for each call with bottom halves off, and for the calls to one node in the order of
 * its answers.
 */
typedef void (*vqp_rpc_fn)(struct vqp_rpc_call *call, const struct vqp_rpc_msg *answer);

/*
 * A call that is under way. The memory is the caller's; it must stay from vqp_rpc_start() until
 * answered() or vqp_rpc_cancel() returns.
 */
struct vqp_rpc_call {
	struct hlist_node node;
	u32 id;
	u8 kind;
	u8 gid[VQP_GID_BYTES];		/* of the node that is called */
	vqp_rpc_fn answered;
};

int __init vqp_rpc_init(void);
void vqp_rpc_exit(void);

extern struct vqp_device_user vqp_rpc_device_user;

/*
 * Call node `gid`, whose metadata is in the cache (tenant 0). 0, or -errno: answered() is then not
 * called. Process context; the first call to a node resolves its address, which may take seconds.
 */
int vqp_rpc_start(struct vqp_rpc_call *call, const u8 *gid, const struct vqp_rpc_msg *msg);

/*
 * Wait no longer. Afterwards answered() does not run and is not called. False: it has been called.
 * Process context.
 */
bool vqp_rpc_cancel(struct vqp_rpc_call *call);

/*
 * Node `gid`, which had the metadata *dct, does not answer: look up vqp's target, which was on it.
 * 1: the node has made its parent anew, and *dct and the channel lead to the new one;
 * -EHOSTUNREACH: the target's address is on another node now; 0: nothing new is known. Process
 * context.
 */
int vqp_rpc_relearn(const u8 *gid, struct vqp_dct *dct, const struct vqp *vqp);

/* Close the channel to that node: no request to it arrives there later. Process context. */
void vqp_rpc_hang_up(const u8 *gid);

/*
 * Call, and wait at most timeout_ms for the answer, which replaces the request. 0 or -errno, which
 * may be the answer's status. Process context.
 */
int vqp_rpc(const u8 *gid, struct vqp_rpc_msg *msg, u32 timeout_ms);

#endif
