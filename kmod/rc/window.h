/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Windows: what of a region another node's NIC may reach, by a key of the
 * device's own. A window is the region's part in one stretch of VQP_WINDOW_BYTES
 * of its owner's addresses; it belongs to the target of one link, which asked for it,
 * and is gone with the region or the target, whichever is first.
 *
 * Before a region goes its windows' holders are told and waited for, so that no request of theirs
 * fails. That is courtesy, and bounded: what makes it safe is that the device forgets the key.
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

/* VQP_RPC_WINDOW: make one, or find it. 0 or -errno. Process context. */
int vqp_window_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* The region goes, or its namespace has gone. Waits for those who use it, at most a second each. */
void vqp_window_revoke(struct vqp_mr *mr);

/* A target's: it takes no more requests. */
void vqp_window_close_all(struct list_head *windows);

/* All targets have stopped: until those that regions took have gone, too. */
void vqp_window_wait(void);

#endif
