/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting: lists of requests from user space, each of which is parsed and checked before it is
 * queued (KRCORE, Algorithm 2).
 */
#ifndef VQP_DEV_POST_H
#define VQP_DEV_POST_H

struct vqp;
struct vqp_post;

/*
 * Post the requests of a list until one is bad or finds no room. arg->posted is the number of
 * requests that were posted, also on failure. Returns 0 if it is all of them; or -errno of the
 * first that was not posted. Process context.
 */
int vqp_post_send(struct vqp *vqp, struct vqp_post *arg);
int vqp_post_recv(struct vqp *vqp, struct vqp_post *arg);

#endif
