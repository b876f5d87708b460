/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * To find where a VQP's target is by now may take as long as a meta server is silent. A namespace
 * has workers of its own for that, and VQPs beyond their number wait in line: however many targets
 * of a namespace are silent, other namespaces' are found, and nothing else that a VQP has to do
 * waits for it. The movers know no VQP: what waits is a struct vqp_wait.
 */
#ifndef VQP_NS_MOVERS_H
#define VQP_NS_MOVERS_H

#include <linux/init.h>
#include <linux/types.h>

struct vqp_movers;
struct vqp_wait;

#define VQP_MOVERS_MAX	4	/* the workers of a namespace */

int __init vqp_movers_init(void);
/* Waits for all movers. None has anything to do any more. */
void vqp_movers_exit(void);

/* The movers of a new namespace; or NULL for want of memory. Process context. */
struct vqp_movers *vqp_movers_create(void);
/* Nothing is queued any more, or will be. Any context. */
void vqp_movers_destroy(struct vqp_movers *movers);

/*
 * Have a mover call the wait's go(), which may sleep. No two do so at a time: a wait that is queued
 * while it is going goes once more afterwards. Process context.
 */
void vqp_movers_queue(struct vqp_movers *movers, struct vqp_wait *wait);

/*
 * Unless it is queued anew, the wait goes no more: the function waits for a mover that it keeps.
 * True: it was waiting, and the reference of the list is the caller's. Process context.
 */
bool vqp_movers_leave(struct vqp_movers *movers, struct vqp_wait *wait);

#endif
