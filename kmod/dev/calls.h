/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The ioctls of a context. */
#ifndef VQP_DEV_CALLS_H
#define VQP_DEV_CALLS_H

struct vqp_context;

/* Carry out the ioctl that cmd names, with the argument at uarg. Process context. */
long vqp_call(struct vqp_context *ctx, unsigned int cmd, void __user *uarg);

#endif
