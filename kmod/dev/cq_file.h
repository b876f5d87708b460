/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The descriptor of a CQ, by which user space names it and waits for CQEs. */
#ifndef VQP_DEV_CQ_FILE_H
#define VQP_DEV_CQ_FILE_H

#include <linux/types.h>

struct vqp_cq;
struct vqp_create_cq;
struct vqp_owner;

/*
 * Make a CQ and its descriptor, and copy the answer to uarg, of which user space knows the first
 * `usize` bytes. Returns 0 or -errno. Process context.
 */
int vqp_cq_file_create(struct vqp_owner *owner, struct vqp_create_cq *arg,
		       void __user *uarg, size_t usize);

/*
 * The CQ behind descriptor fd, referenced; ERR_PTR(-EBADF) if fd is not open, ERR_PTR(-EINVAL) if
 * it is no CQ of the owner.
 */
struct vqp_cq *vqp_cq_file_get(const struct vqp_owner *owner, int fd);

#endif
