/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Large messages without a copy: the receiver's half (zcopy/send.h has the other). A zero-copy
 * receive takes the receives of some messages and reads their bytes from the sender's memory into
 * them, as a VQP of the kernel's. What came of a sender's latest is remembered, for it may ask.
 */
#ifndef VQP_ZCOPY_RECV_H
#define VQP_ZCOPY_RECV_H

#include <linux/types.h>

struct vqp;
struct vqp_rpc_msg;

/* VQP_RPC_ZCOPY* from node gid, received then (in jiffies). 0 or -errno. Process context. */
int vqp_zcopy_recv(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);
int vqp_zcopy_result(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* vqp has failed and takes no more receives: wait until none is being filled. Process context. */
void vqp_zcopy_recv_break(struct vqp *vqp);

/* No request comes any more. */
void vqp_zcopy_recv_exit(void);

#endif
