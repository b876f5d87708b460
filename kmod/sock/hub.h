/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hub is where frames from other nodes arrive at a namespace: a VQP of the kernel's at its port
 * 0, which no function can name, with a bounded number of receives. One work takes the frames in
 * order and gives the receives back, so that no stream keeps others from receiving.
 */
#ifndef VQP_SOCK_HUB_H
#define VQP_SOCK_HUB_H

#include <linux/init.h>
#include <linux/types.h>

struct vqp_ns;

/* A message has come to ns from address `gid`. Process context; in order for each sender. */
typedef void (*vqp_hub_fn)(struct vqp_ns *ns, const u8 *gid, const void *msg, u32 bytes);

/* Before there are namespaces, and after the last has ended. */
int __init vqp_hub_init(vqp_hub_fn input);
void vqp_hub_exit(void);

/*
 * Give ns a hub if it has sockets on, and none yet; it keeps that until it dies. Without memory it
 * has none, which the log says, and its connections are of TCP until the next call, which comes
 * with its next connect at the latest. Process context.
 */
void vqp_hub_begin(struct vqp_ns *ns);

/* End all, when no namespace is given one any more. */
void vqp_hubs_end(void);

/* ns is dead: no frame is taken when the function returns. Process context. */
void vqp_hub_end(struct vqp_ns *ns);

#endif
