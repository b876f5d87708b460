/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files behind api/api.h share. Process context. */
#ifndef VQP_API_INTERNAL_H
#define VQP_API_INTERNAL_H

#include <linux/types.h>

struct vqp;
struct vqp_owner;
struct vqp_route;
struct work_struct;

/*
 * Into the namespace's table and the owner's list, which takes a reference: once it is there,
 * another thread may destroy it. Consumes the charge on failure.
 */
int __must_check vqp_add(struct vqp *vqp);

/* All that owner has, which nobody else can reach any more. */
void vqp_destroy_all(struct vqp_owner *owner);

/* Go the route with the carrier that it takes. Consumes route->local. */
int vqp_attach(struct vqp *vqp, struct vqp_route *route);

/* Find the way to (gid, port or number) and attach its carrier (KRCORE, Algorithm 1). */
int __must_check vqp_connect_to(struct vqp *vqp, const u8 *gid, u16 port, u32 qp_num);

/* vqp.work of what vqp_create() makes. */
void vqp_relocate_work(struct work_struct *work);

#endif
