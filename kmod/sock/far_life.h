/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How ends of connections to other nodes begin, and what becomes of them with their namespaces. */
#ifndef VQP_SOCK_FAR_LIFE_H
#define VQP_SOCK_FAR_LIFE_H

struct vqp_far;
struct vqp_ns;
struct vqp_ns_user;
struct vqp_trunk;

/* An end that is charged, listed, hashed and of that trunk, which it references; or ERR_PTR(). */
struct vqp_far *vqp_far_make(struct vqp_ns *ns, struct vqp_trunk *trunk);

/* No socket is left, and no namespace is given a hub any more. */
void vqp_far_exit(void);

/* It gives namespaces with sockets their hubs, and ends these and the trunks. */
extern struct vqp_ns_user vqp_far_ns_user;

#endif
