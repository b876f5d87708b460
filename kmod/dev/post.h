/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting: request lists from user space, parsed and checked before anything is queued (KRCORE,
 * Algorithm 2).
 */
#ifndef VQP_DEV_POST_H
#define VQP_DEV_POST_H

struct vqp;
struct vqp_post;

int vqp_post_send(struct vqp *vqp, struct vqp_post *arg);
int vqp_post_recv(struct vqp *vqp, struct vqp_post *arg);

#endif
