// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Wrong CQs, and wrong mappings: of arenas, and of the rings of CQs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bad.h"

/* ---- Arenas ---- */

static int map(struct bad *b, size_t bytes, int flags, off_t offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, b->fd, offset) == MAP_FAILED ? errno : 0;
}

static int arena_huge(struct bad *b)
{
	return map(b, VQP_MAX_ARENA_BYTES + 4096, MAP_SHARED, 0);
}

static int arena_offset(struct bad *b)
{
	return map(b, 4096, MAP_SHARED, 4096);
}

static int arena_private(struct bad *b)
{
	return map(b, 4096, MAP_PRIVATE, 0);
}

/* ---- CQs and their rings ---- */

static int create_cq(struct bad *b, uint32_t entries)
{
	struct vqp_create_cq create = { .cqe = entries };

	return bad_ioctl(b->fd, VQP_IOC_CREATE_CQ, &create);
}

static int cq_flags(struct bad *b)
{
	struct vqp_create_cq create = { .cqe = 1, .flags = 1 };

	return bad_ioctl(b->fd, VQP_IOC_CREATE_CQ, &create);
}

static struct vqp_create_cq good_cq(int fd)
{
	struct vqp_create_cq create = { .cqe = 16 };

	if (bad_ioctl(fd, VQP_IOC_CREATE_CQ, &create))
		vqpt_die(errno, "CREATE_CQ");
	return create;
}

/* Map `bytes` of a ring from there on. */
static int map_ring(int fd, uint64_t bytes, uint64_t offset, int flags)
{
	void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);

	return ring == MAP_FAILED ? errno : 0;
}

static int ring_beyond(struct bad *b)
{
	const struct vqp_create_cq cq = good_cq(b->fd);

	return map_ring(b->fd, cq.ring_bytes + 4096, cq.ring_offset, MAP_SHARED);
}

static int ring_from_its_middle(struct bad *b)
{
	const struct vqp_create_cq cq = good_cq(b->fd);

	return map_ring(b->fd, cq.ring_bytes, cq.ring_offset + 4096, MAP_SHARED);
}

static int ring_private(struct bad *b)
{
	const struct vqp_create_cq cq = good_cq(b->fd);

	return map_ring(b->fd, cq.ring_bytes, cq.ring_offset, MAP_PRIVATE);
}

static int ring_of_another_context(struct bad *b)
{
	const struct vqp_create_cq cq = good_cq(bad_stranger(b).context->cmd_fd);

	return map_ring(b->fd, cq.ring_bytes, cq.ring_offset, MAP_SHARED);
}

static int ring_of_no_cq(struct bad *b)
{
	const struct vqp_create_cq cq = good_cq(b->fd);

	close(cq.fd);
	return map_ring(b->fd, cq.ring_bytes, cq.ring_offset, MAP_SHARED);
}

static int ring_of_the_descriptor(struct bad *b)
{
	const struct vqp_create_cq cq = good_cq(b->fd);

	return map_ring(cq.fd, cq.ring_bytes, 0, MAP_SHARED);
}

static int cq_empty(struct bad *b)
{
	return create_cq(b, 0);
}

static int cq_huge(struct bad *b)
{
	return create_cq(b, VQP_MAX_CQE + 1);
}

/* ---- Mappings and their context ---- */

/* The context goes when its descriptor does: another one gets its port. The mappings stay. */
static int map_outlives_context(struct bad *b)
{
	int port = vqp_bind(b->conn.qp, 0), fd = b->fd;
	struct vqp_create_cq cq = good_cq(fd);
	struct vqp_cq_ring *ring = mmap(NULL, cq.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					(off_t)cq.ring_offset);
	char *arena = vqp_alloc(b->conn.context, 4096);

	if (port <= 0 || ring == MAP_FAILED || !arena)
		vqpt_die(errno, "a port and mappings");
	if (close(fd))
		vqpt_die(errno, "close");
	*arena = 1;
	ring->head = 0;
	b->conn = bad_stranger(b);
	b->fd = b->conn.context->cmd_fd;
	port = vqp_bind(b->conn.qp, (uint16_t)port);
	return port < 0 ? -port : 0;
}

const struct bad_case bad_maps[] = {
	{ "arena-huge", BAD_CONTEXT, arena_huge },
	{ "arena-offset", BAD_CONTEXT, arena_offset },
	{ "arena-private", BAD_CONTEXT, arena_private },
	{ "cq-empty", BAD_CONTEXT, cq_empty },
	{ "cq-huge", BAD_CONTEXT, cq_huge },
	{ "cq-flags", BAD_CONTEXT, cq_flags },
	{ "ring-beyond", BAD_CONTEXT, ring_beyond },
	{ "ring-from-its-middle", BAD_CONTEXT, ring_from_its_middle },
	{ "ring-private", BAD_CONTEXT, ring_private },
	{ "ring-of-another-context", BAD_CONTEXT, ring_of_another_context },
	{ "ring-of-no-cq", BAD_CONTEXT, ring_of_no_cq },
	{ "ring-of-the-descriptor", BAD_CONTEXT, ring_of_the_descriptor },
	{ "map-outlives-context", BAD_CONTEXT, map_outlives_context },
	{ 0 }
};
