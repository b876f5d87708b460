/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Large messages without a copy: the receiver's half; zcopy/send.h has the sender's. A zero-copy
 * receive takes receives of the target VQP for some messages, and READs the messages from the
 * sender's memory into them by a VQP of the kernel. The node remembers the outcome of the latest
 * zero-copy receive of each sender, which may ask for it.
 */
#ifndef VQP_ZCOPY_RECV_H
#define VQP_ZCOPY_RECV_H

#include <linux/types.h>

struct vqp;
struct vqp_rpc_msg;

/*
 * VQP_RPC_ZCOPY and VQP_RPC_ZCOPY_RESULT from node gid, which arrived at received_at (in jiffies).
 * 0 or -errno. Process context.
 */
int vqp_zcopy_recv(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);
int vqp_zcopy_result(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* vqp has failed: wait until no zero-copy receive fills its receives. Process context. */
void vqp_zcopy_recv_break(struct vqp *vqp);

/* After the last request has been answered. Process context. */
void vqp_zcopy_recv_exit(void);

#endif
