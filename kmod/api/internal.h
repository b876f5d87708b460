/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions that the files behind api/api.h share. All are for process context. */
#ifndef VQP_API_INTERNAL_H
#define VQP_API_INTERNAL_H

#include <linux/types.h>

struct vqp;
struct vqp_owner;
struct vqp_route;
struct vqp_wait_ops;
struct work_struct;

/*
 * Add a VQP to its namespace's table and its owner's list, which takes a reference: from then on
 * another thread may destroy the VQP. On failure the VQP's charge is undone. Returns 0, -ESHUTDOWN,
 * -ENOSPC or -ENOMEM.
 */
int __must_check vqp_add(struct vqp *vqp);

/* Destroy all VQPs and regions of an owner that no other thread uses. */
void vqp_destroy_all(struct vqp_owner *owner);

/* Attach vqp to the carrier that the route leads over. Consumes the reference route->local. */
int vqp_attach(struct vqp *vqp, struct vqp_route *route);

/*
 * Look up address gid, and connect vqp to a port or a VQP number there (KRCORE, Algorithm 1). The
 * errors are those of vqp_connect().
 */
int __must_check vqp_connect_to(struct vqp *vqp, const u8 *gid, u16 port, u32 qp_num);

/* vqp.work of the VQPs that vqp_create() makes, which waits for nothing; and vqp.move of them. */
void vqp_relocate_work(struct work_struct *work);
extern const struct vqp_wait_ops vqp_relocate_wait_ops;

#endif
