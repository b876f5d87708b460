/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A cursor walks over the memory that a request names, piece by piece. The memory is a list of
 * SGEs, each of which is checked against the key table when the walk reaches it; or kernel memory,
 * one stretch or a list of SGEs that have its addresses and no keys.
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
	const struct vqp_owner *owner;	/* whose keys they are; NULL: they are rkeys */
	u32 access;			/* the VQP_ACCESS_* that the walk needs */
	bool kernel;			/* The SGEs are the kernel's own. */
	const struct vqp_sge *sge;	/* the present SGE */
	u32 num_sge;			/* the number of SGEs from the present one on */
	u32 done;			/* the bytes of the present SGE that are walked over */
	/* The region of the present SGE, referenced; NULL: it was not looked up yet. */
	struct vqp_mr *mr;
	void *kbuf;			/* the kernel memory instead of SGEs, or NULL */
	void *mapped;			/* the piece that is mapped, or NULL */
};

void vqp_cursor_init(struct vqp_cursor *c, struct vqp_ns *ns,
		     const struct vqp_owner *owner, u32 access,
		     const struct vqp_sge *sge, u32 num_sge);
void vqp_cursor_init_kernel(struct vqp_cursor *c, void *kbuf);
/* SGEs of the kernel's direct mapping, which are trusted. */
void vqp_cursor_init_kernel_sges(struct vqp_cursor *c, const struct vqp_sge *sge, u32 num_sge);

/* Skip `bytes` bytes. The list must be that long. */
void vqp_cursor_skip(struct vqp_cursor *c, u32 bytes);

/*
 * Map the next piece, of at most `most` bytes, which is not 0. Returns the length of the piece,
 * with its address in *ptr; -EACCES if the key does not grant it, or does not any more; -EINVAL at
 * the end of the list. The caller unmaps the piece before the next call. Pieces of several cursors
 * that are mapped at a time are unmapped in reverse order. Any context.
 */
int __must_check vqp_cursor_map(struct vqp_cursor *c, u32 most, void **ptr);
void vqp_cursor_unmap(struct vqp_cursor *c);

/*
 * The same for a device, which needs no mapping: the page of the next piece, and the piece's offset
 * in it. A caller that uses the page after vqp_cursor_end() takes a reference on c->mr, which is
 * NULL for kernel memory.
 */
int __must_check vqp_cursor_page(struct vqp_cursor *c, u32 most, struct page **page, u32 *offset);

void vqp_cursor_end(struct vqp_cursor *c);

/* Copy `bytes` bytes from a walk to linear memory, or back. */
int __must_check vqp_cursor_gather(struct vqp_cursor *c, void *dst, u32 bytes);
int __must_check vqp_cursor_scatter(struct vqp_cursor *c, const void *src, u32 bytes);

#endif
