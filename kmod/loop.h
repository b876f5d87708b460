/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The loop carrier: both ends on this node. The posting thread copies once,
 * from page to page, and completes the request before the post returns. A SEND
 * that finds no receive posted parks its VQP until there is one.
 */
#ifndef VQP_LOOP_H
#define VQP_LOOP_H

struct vqp;
struct vqp_ns;

/*
 * Connect vqp to `local` (takes over the reference, also on failure), also anew after a reroute.
 * Process context.
 */
int vqp_loop_attach(struct vqp *vqp, struct vqp_ns *local);

/* Carry out what is queued, unless another thread does. Process context. */
void vqp_loop_run(struct vqp *vqp);

/* dst got a receive, or will get none any more: let those who wait for it go on. */
void vqp_loop_unpark(struct vqp *dst);

/* vqp is being destroyed: wait until no thread carries out its requests. */
void vqp_loop_detach(struct vqp *vqp);

#endif
