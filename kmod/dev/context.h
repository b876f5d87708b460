/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A context is an open file of /dev/vqp. It is a struct vqp_owner: all that a function makes by it,
 * but for CQs, ends with it at the latest.
 */
#ifndef VQP_DEV_CONTEXT_H
#define VQP_DEV_CONTEXT_H

#include "ns/owner.h"

struct file;
struct vm_area_struct;

struct vqp_context {
	struct vqp_owner owner;
	struct file *file;		/* the open file that the context is the private data of */
	/*
	 * The file of all mappings, which is another open file of the device that is not attached.
	 * A mapping has a reference on its file. If that were the context's own file, a context
	 * would live for as long as any process has a ring or an arena mapped. The pointer is NULL
	 * until the context is attached.
	 */
	struct file *mapped;
};

/* Make the context of a file that is being opened; or NULL for want of memory. */
struct vqp_context *vqp_context_create(struct file *file);
void vqp_context_destroy(struct vqp_context *ctx);

/*
 * Attach the context, once, to the namespace with address `gid` of the caller's network namespace,
 * or to the oldest one if `gid` is NULL. To attach it again to the same does nothing. Returns 0;
 * -EISCONN if it is attached to another; -EPERM also if the namespace is the host's own and who
 * opened the device lacks CAP_NET_ADMIN; or an error of vqp_open() or of opening the device.
 * Process context.
 */
int vqp_context_attach(struct vqp_context *ctx, const u8 *gid);

/*
 * Returns 0 if the context is attached and the namespace is alive; -EUNATCH or -ESHUTDOWN if not.
 * Any context.
 */
int vqp_context_ready(const struct vqp_context *ctx);

/* Map a new arena at offset 0, or the ring of the CQ whose vqp_ring_offset() the offset is. */
int vqp_context_mmap(struct vqp_context *ctx, struct vm_area_struct *vma);

#endif
