/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A walk over the memory that a request names, piece by piece: a list of SGEs
 * (checked against the key table as the walk reaches them), or one stretch of
 * kernel memory.
 */
#ifndef VQP_MEM_CURSOR_H
#define VQP_MEM_CURSOR_H

#include <linux/types.h>
#include <linux/vqp.h>

struct page;
struct vqp_owner;
struct vqp_mr;
struct vqp_ns;

struct vqp_cursor {
	struct vqp_ns *ns;
	const struct vqp_owner *owner;	/* of the keys, or NULL: remote keys */
	u32 access;				/* VQP_ACCESS_* that the walk needs */
	const struct vqp_sge *sge;		/* present one */
	u32 num_sge;				/* from it on */
	u32 done;				/* bytes of it walked over */
	/* its region, referenced, or NULL: not looked up yet */
	struct vqp_mr *mr;
	void *kbuf;				/* kernel memory instead, or NULL */
	void *mapped;
};

void vqp_cursor_init(struct vqp_cursor *c, struct vqp_ns *ns,
		     const struct vqp_owner *owner, u32 access,
		     const struct vqp_sge *sge, u32 num_sge);
void vqp_cursor_init_kernel(struct vqp_cursor *c, void *kbuf);

/* Skip `bytes` bytes. The list must be that long. */
void vqp_cursor_skip(struct vqp_cursor *c, u32 bytes);

/*
 * Map the next piece, at most `most` bytes (not 0): its address in *ptr, its
 * length as the result; -EACCES when the key does not grant it (any more),
 * -EINVAL at the end of the list. Unmap before the next call; cursors that are
 * mapped at once are unmapped in reverse order. Any context.
 */
int __must_check vqp_cursor_map(struct vqp_cursor *c, u32 most, void **ptr);
void vqp_cursor_unmap(struct vqp_cursor *c);

/*
 * The same for a device, which needs no mapping: the page and where in it the piece begins.
 * Whoever uses it after vqp_cursor_end() takes a reference of c->mr, NULL for kernel memory.
 */
int __must_check vqp_cursor_page(struct vqp_cursor *c, u32 most, struct page **page, u32 *offset);

void vqp_cursor_end(struct vqp_cursor *c);

/* Copy `bytes` bytes from a walk to linear memory, or back. */
int __must_check vqp_cursor_gather(struct vqp_cursor *c, void *dst, u32 bytes);
int __must_check vqp_cursor_scatter(struct vqp_cursor *c, const void *src, u32 bytes);

#endif
