// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/string.h>
#include "cursor.h"
#include "mr.h"

void vqp_cursor_init(struct vqp_cursor *c, struct vqp_ns *ns,
		     const struct vqp_context *owner, u32 access,
		     const struct vqp_sge *sge, u32 num_sge)
{
	*c = (struct vqp_cursor) {
		.ns = ns,
		.owner = owner,
		.access = access,
		.sge = sge,
		.num_sge = num_sge,
	};
}

void vqp_cursor_init_kernel(struct vqp_cursor *c, void *kbuf)
{
	*c = (struct vqp_cursor) { .kbuf = kbuf };
}

static void cursor_next_sge(struct vqp_cursor *c)
{
	vqp_cursor_end(c);
	c->sge++;
	c->num_sge--;
	c->done = 0;
}

void vqp_cursor_skip(struct vqp_cursor *c, u32 bytes)
{
	if (c->kbuf) {
		c->kbuf += bytes;
		return;
	}
	while (c->num_sge && bytes >= c->sge->length - c->done) {
		bytes -= c->sge->length - c->done;
		cursor_next_sge(c);
	}
	c->done += bytes;
}

int vqp_cursor_map(struct vqp_cursor *c, u32 most, void **ptr)
{
	u64 offset;
	u32 bytes;

	if (c->kbuf) {
		*ptr = c->kbuf;
		c->kbuf += most;
		return most;
	}
	while (c->num_sge && c->done == c->sge->length)
		cursor_next_sge(c);
	if (!c->num_sge)
		return -EINVAL;
	if (!c->mr)
		c->mr = vqp_mr_get(c->ns, c->sge->lkey, c->sge->addr,
				   c->sge->length, c->access, c->owner);
	if (!c->mr)
		return -EACCES;
	offset = c->sge->addr + c->done - c->mr->addr + c->mr->first_offset;
	bytes = min3(most, c->sge->length - c->done,
		     (u32)(PAGE_SIZE - offset_in_page(offset)));
	c->mapped = kmap_local_page(c->mr->pages[offset >> PAGE_SHIFT]);
	*ptr = c->mapped + offset_in_page(offset);
	c->done += bytes;
	return bytes;
}

void vqp_cursor_unmap(struct vqp_cursor *c)
{
	if (c->mapped)
		kunmap_local(c->mapped);
	c->mapped = NULL;
}

void vqp_cursor_end(struct vqp_cursor *c)
{
	if (c->mr)
		vqp_mr_put(c->mr);
	c->mr = NULL;
}

int vqp_cursor_gather(struct vqp_cursor *c, void *dst, u32 bytes)
{
	void *src;
	int n;

	for (; bytes; bytes -= n, dst += n) {
		n = vqp_cursor_map(c, bytes, &src);
		if (n < 0)
			return n;
		memcpy(dst, src, n);
		vqp_cursor_unmap(c);
	}
	return 0;
}

int vqp_cursor_scatter(struct vqp_cursor *c, const void *src, u32 bytes)
{
	void *dst;
	int n;

	for (; bytes; bytes -= n, src += n) {
		n = vqp_cursor_map(c, bytes, &dst);
		if (n < 0)
			return n;
		memcpy(dst, src, n);
		vqp_cursor_unmap(c);
	}
	return 0;
}
