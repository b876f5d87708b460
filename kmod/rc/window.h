/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A window is the part of a region that another node's NIC may reach, by an rkey of the RDMA
 * device. It is what the region has in one stretch of VQP_WINDOW_BYTES of its owner's addresses. A
 * window belongs to the rc target of one link, whose initiator asked for it, and ends with the
 * region or with the target, whichever ends first.
 *
 * Before a region goes, the initiators that hold its windows are told and waited for, so that no
 * request of theirs fails. The wait is bounded. Safety does not depend on it: the device
 * invalidates the rkey.
 */
#ifndef VQP_RC_WINDOW_H
#define VQP_RC_WINDOW_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/types.h>

struct vqp_rpc_msg;
struct vqp_mr;

#define VQP_WINDOW_SHIFT	21
#define VQP_WINDOW_BYTES	BIT(VQP_WINDOW_SHIFT)

/* VQP_RPC_WINDOW from node gid: make a window, or find it. 0 or -errno. Process context. */
int vqp_window_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/*
 * The region goes, or its namespace has gone: end its windows. Waits for each initiator that uses
 * one, at most a second for each. Process context.
 */
void vqp_window_revoke(struct vqp_mr *mr);

/* End all windows of an rc target, which takes no more requests. Process context. */
void vqp_window_close_all(struct list_head *windows);

/* After all rc targets have stopped: wait for the windows that are being revoked. */
void vqp_window_wait(void);

#endif
