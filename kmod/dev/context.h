/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts: open files of /dev/vqp. Each is a struct vqp_owner: all that a function holds, but CQs,
 * lives and dies with one.
 */
#ifndef VQP_DEV_CONTEXT_H
#define VQP_DEV_CONTEXT_H

#include "ns/owner.h"

struct file;
struct vm_area_struct;

struct vqp_context {
	struct vqp_owner owner;
	struct file *file;		/* The open file, which has the context. */
	/*
	 * The file of all its mappings: another open file of the device, attached to nothing. A
	 * mapping has a reference on its file: if that were the context's own, a context would live
	 * for as long as any process has a ring or an arena mapped. It is NULL until the context is
	 * attached.
	 */
	struct file *mapped;
};

/* The context of a file that is being opened; NULL: there is no memory. */
struct vqp_context *vqp_context_create(struct file *file);
void vqp_context_destroy(struct vqp_context *ctx);

/*
 * Attach, once, to that namespace of the caller's network namespace, or to its oldest (NULL).
 * -EISCONN: it is attached to another; and what vqp_open() and opening the device give. Process
 * context.
 */
int vqp_context_attach(struct vqp_context *ctx, const u8 *gid);

/* 0 if it is attached to a namespace that is there; -EUNATCH or -ESHUTDOWN. Any context. */
int vqp_context_ready(const struct vqp_context *ctx);

/* Map a new arena (offset 0), or the ring of the CQ whose offset it is. */
int vqp_context_mmap(struct vqp_context *ctx, struct vm_area_struct *vma);

#endif
