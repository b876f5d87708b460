/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Large messages without a copy: the receiver's half (pull.h has the other). A fetch takes the
 * receives of some messages and reads their bytes from the sender's memory into them, as a VQP of
 * the kernel's. What came of a sender's latest is remembered, for it may ask.
 */
#ifndef VQP_FETCH_H
#define VQP_FETCH_H

#include <linux/types.h>

struct vqp;
struct vqp_ask;

/* VQP_ASK_PULL* from node gid, heard then (in jiffies). 0 or -errno. Process context. */
int vqp_fetch(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at);
int vqp_fetch_tell(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at);

/* vqp has failed and takes no more receives: wait until none is being filled. Process context. */
void vqp_fetch_break(struct vqp *vqp);

/* No question comes any more. */
void vqp_fetch_exit(void);

#endif
