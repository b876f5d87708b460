// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/highmem.h>
#include <linux/mm.h>
#include "mem/copy.h"
#include "mem/cursor.h"
#include "mem/mr.h"

void vqp_cursor_init(struct vqp_cursor *c, struct vqp_ns *ns,
		     const struct vqp_owner *owner, u32 access,
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

void vqp_cursor_init_kernel_sges(struct vqp_cursor *c, const struct vqp_sge *sge, u32 num_sge)
{
	*c = (struct vqp_cursor) { .kernel = true, .sge = sge, .num_sge = num_sge };
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

/* The page with the next byte of the present SGE. 0, or -EACCES. */
static int cursor_find(struct vqp_cursor *c, struct page **page, u32 *offset)
{
	u64 at = c->sge->addr + c->done;

	if (c->kernel) {
		*page = virt_to_page((void *)(uintptr_t)at);
		*offset = offset_in_page(at);
		return 0;
	}
	if (!c->mr)
		c->mr = vqp_mr_get(c->ns, c->sge->lkey, c->sge->addr,
				   c->sge->length, c->access, c->owner);
	if (!c->mr)
		return -EACCES;
	at += c->mr->first_offset - c->mr->addr;
	*page = c->mr->pages[at >> PAGE_SHIFT];
	*offset = offset_in_page(at);
	return 0;
}

/* Advance by at most `most` bytes that lie in one page. See vqp_cursor_map() for the result. */
static int cursor_step(struct vqp_cursor *c, u32 most, struct page **page, u32 *offset)
{
	u32 bytes;
	int ret;

	while (c->num_sge && c->done == c->sge->length)
		cursor_next_sge(c);
	if (!c->num_sge)
		return -EINVAL;
	ret = cursor_find(c, page, offset);
	if (ret)
		return ret;
	bytes = min3(most, c->sge->length - c->done, (u32)(PAGE_SIZE - *offset));
	c->done += bytes;
	return bytes;
}

int vqp_cursor_map(struct vqp_cursor *c, u32 most, void **ptr)
{
	struct page *page;
	u32 offset;
	int bytes;

	if (c->kbuf) {
		*ptr = c->kbuf;
		c->kbuf += most;
		return most;
	}
	bytes = cursor_step(c, most, &page, &offset);
	if (bytes < 0)
		return bytes;
	c->mapped = kmap_local_page(page);
	*ptr = c->mapped + offset;
	return bytes;
}

int vqp_cursor_page(struct vqp_cursor *c, u32 most, struct page **page, u32 *offset)
{
	u32 bytes;

	if (!c->kbuf)
		return cursor_step(c, most, page, offset);
	*page = virt_to_page(c->kbuf);
	*offset = offset_in_page(c->kbuf);
	bytes = min_t(u32, most, PAGE_SIZE - *offset);
	c->kbuf += bytes;
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
		vqp_copy_from(dst, src, n);
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
		vqp_copy_to(dst, src, n);
		vqp_cursor_unmap(c);
	}
	return 0;
}
