/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * loop/ is the carrier within the node. It knows the queue and memory, and no device.
 *
 * The loop carrier serves VQPs whose target is on this node. The posting thread copies once, from
 * page to page, and completes the request before the post returns. A SEND that finds no receive
 * waits until one is posted.
 */
#ifndef VQP_LOOP_LOOP_H
#define VQP_LOOP_LOOP_H

#include <linux/init.h>

struct vqp;
struct vqp_carrier_ops;
struct vqp_ns;

extern const struct vqp_carrier_ops vqp_loop_carrier;

int __init vqp_loop_init(void);
void vqp_loop_exit(void);

/*
 * Attach vqp to the namespace `local`, at first or after a reroute. The reference on `local` is the
 * callee's, also on failure. 0 or -errno. Process context.
 */
int vqp_loop_attach(struct vqp *vqp, struct vqp_ns *local);

#endif
