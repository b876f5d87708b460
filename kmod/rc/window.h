/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A window is the part of a region that other nodes' NICs may reach, by an rkey of the RDMA device.
 * It is what the region has in one stretch of VQP_WINDOW_BYTES of its owner's addresses. All
 * initiators that ask for it share a window; each holds it by the rc target of its link, and the
 * window ends when none does any more.
 *
 * Before a region goes, all initiators that hold windows of it are told at once, and waited for, so
 * that no request of theirs fails. The wait is bounded. Safety does not depend on it: the device
 * invalidates the rkey. A window also ends, in the same way, to make room for another.
 */
#ifndef VQP_RC_WINDOW_H
#define VQP_RC_WINDOW_H

#include <linux/bits.h>
#include <linux/types.h>

struct vqp_mr_user;
struct vqp_rc_target;
struct vqp_rpc_msg;
struct work_struct;

#define VQP_WINDOW_SHIFT	21
#define VQP_WINDOW_BYTES	BIT(VQP_WINDOW_SHIFT)

/*
 * The region goes, or its namespace has gone: its windows end when all initiators have answered,
 * or a second later.
 */
extern const struct vqp_mr_user vqp_window_mr_user;

int __init vqp_window_init(void);
void vqp_window_exit(void);	/* after all rc targets have stopped */

/* VQP_RPC_WINDOW from node gid: make a window, or find it. 0 or -errno. Process context. */
int vqp_window_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* vqp_rc_target.revoke: have its initiator let go of windows that end. Consumes a reference. */
void vqp_window_revoke_work(struct work_struct *work);

/* The target takes no more requests: it holds no windows any more. Process context. */
void vqp_window_close_all(struct vqp_rc_target *target);

/* After all rc targets have stopped: wait until the device knows no window any more. */
void vqp_window_wait(void);

#endif
