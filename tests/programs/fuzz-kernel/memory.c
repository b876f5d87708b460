// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory and mappings, all within the window; and the rings of CQs. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "issue.h"

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Map it at a slot of the window, over whatever is there. */
static void map_at_slot(struct runner *run, size_t bytes, int prot, int flags, int fd, off_t offset, bool ring)
{
	struct world *world = run->world;
	uint32_t slot = rnd_below(&run->rnd, WINDOW_SLOTS);
	void *memory;

	if (bytes > WINDOW_SLOT_BYTES)
		bytes = WINDOW_SLOT_BYTES;
	memory = mmap(world->window + slot * WINDOW_SLOT_BYTES, bytes, prot, flags | MAP_FIXED, fd, offset);
	note(run, memory != MAP_FAILED);
	if (memory == MAP_FAILED)
		return;
	world->maps.objects[slot] = (struct object) { .live = true, .a = (uintptr_t)memory, .b = bytes };
	world->ring_mapped |= ring;
}

void call_map_memory(struct runner *run)
{
	int prot = rnd_percent(&run->rnd, 90) ? PROT_READ | PROT_WRITE : (int)rnd_below(&run->rnd, 4);
	int flags = MAP_ANONYMOUS | (rnd_percent(&run->rnd, 70) ? MAP_PRIVATE : MAP_SHARED);

	map_at_slot(run, page_bytes() * (1 + rnd_below(&run->rnd, 16)), prot, flags, -1, 0, false);
}

void call_map_arena(struct runner *run)
{
	struct object *context = shelf_pick(&run->world->contexts, &run->rnd);
	size_t pages = rnd_percent(&run->rnd, 95) ? 1 + rnd_below(&run->rnd, 16) : 1 + rnd_below(&run->rnd, 1030);

	map_at_slot(run, pages * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, object_fd(context), 0, false);
}

void call_map_cq(struct runner *run)
{
	struct object *cq = shelf_pick(&run->world->cqs, &run->rnd);

	map_at_slot(run, cq->c, PROT_READ | PROT_WRITE, MAP_SHARED, context_fd(run, cq), (off_t)cq->b, true);
}

/* Offsets, lengths, protections and flags that are not offered. */
void call_map_odd(struct runner *run)
{
	struct rnd *r = &run->rnd;
	struct object *object = shelf_pick(rnd_percent(r, 50) ? &run->world->contexts : &run->world->cqs, r);
	static const int flags[] = {
		MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_POPULATE, MAP_SHARED | MAP_LOCKED,
		MAP_SHARED_VALIDATE, MAP_SHARED | MAP_NORESERVE, MAP_PRIVATE | MAP_POPULATE,
	};
	off_t offset = rnd_percent(r, 50) ? 0 : (off_t)(rnd_edge(r) & ~(page_bytes() - 1));

	map_at_slot(run, 1 + rnd_below(r, 9U << 20), (int)rnd_below(r, 8),
		    flags[rnd_below(r, sizeof(flags) / sizeof(flags[0]))], object_fd(object), offset, true);
}

/* All of a mapping or a part; addresses are whole pages, mostly. */
static size_t pick_part(struct rnd *r, const struct object *map, uint8_t **at)
{
	uint32_t pages = (uint32_t)(map->b / page_bytes()) + 1, first = rnd_below(r, pages);

	*at = (uint8_t *)(uintptr_t)map->a;
	if (rnd_percent(r, 50))
		return map->b;
	*at += first * page_bytes();
	return (1 + rnd_below(r, pages - first)) * page_bytes();
}

static bool in_window(const struct world *world, const uint8_t *at, size_t bytes)
{
	return at >= world->window && bytes <= WINDOW_SLOTS * WINDOW_SLOT_BYTES &&
	       at + bytes <= world->window + WINDOW_SLOTS * WINDOW_SLOT_BYTES;
}

void call_unmap(struct runner *run)
{
	struct object *map = shelf_pick(&run->world->maps, &run->rnd);
	uint8_t *at;
	size_t bytes = pick_part(&run->rnd, map, &at);

	if (!in_window(run->world, at, bytes))
		return;
	/* The hole stays reserved: nothing but the program maps there. */
	note(run, mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
		  MAP_FAILED);
	if (bytes == map->b)
		map->live = false;
}

/* Grow, shrink or move to another slot. */
void call_remap(struct runner *run)
{
	struct world *world = run->world;
	struct object *map = shelf_pick(&world->maps, &run->rnd);
	uint32_t slot = rnd_below(&run->rnd, WINDOW_SLOTS);
	uint8_t *at, *to = world->window + slot * WINDOW_SLOT_BYTES;
	size_t bytes = pick_part(&run->rnd, map, &at);
	size_t wanted = rnd_percent(&run->rnd, 70) ? bytes : (1 + rnd_below(&run->rnd, 64)) * page_bytes();
	void *memory;

	if (!in_window(world, at, bytes) || !in_window(world, to, wanted))
		return;
	memory = mremap(at, rnd_percent(&run->rnd, 90) ? bytes : 0, wanted,
			MREMAP_MAYMOVE | MREMAP_FIXED | (rnd_percent(&run->rnd, 10) ? MREMAP_DONTUNMAP : 0), to);
	note(run, memory != MAP_FAILED);
	if (memory != MAP_FAILED)
		world->maps.objects[slot] = (struct object) { .live = true, .a = (uintptr_t)to, .b = wanted };
	/* A program must not find others' mappings where it had its own. */
	(void)mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	     (memory != MAP_FAILED && (to + wanted <= at || at + bytes <= to) ? MAP_FIXED : MAP_FIXED_NOREPLACE),
	     -1, 0);
}

void call_protect(struct runner *run)
{
	struct object *map = shelf_pick(&run->world->maps, &run->rnd);
	uint8_t *at;
	size_t bytes = pick_part(&run->rnd, map, &at);

	if (in_window(run->world, at, bytes))
		note(run, !mprotect(at, bytes, (int)rnd_below(&run->rnd, 8)));
}

void call_advise(struct runner *run)
{
	static const int advices[] = {
		MADV_DONTNEED, MADV_DONTFORK, MADV_DOFORK, MADV_REMOVE, MADV_FREE, MADV_WILLNEED,
		MADV_MERGEABLE, MADV_PAGEOUT, MADV_COLD, MADV_POPULATE_READ, MADV_POPULATE_WRITE,
		MADV_DODUMP, MADV_WIPEONFORK,
	};
	struct object *map = shelf_pick(&run->world->maps, &run->rnd);
	uint8_t *at;
	size_t bytes = pick_part(&run->rnd, map, &at);

	if (in_window(run->world, at, bytes))
		note(run, !madvise(at, bytes, advices[rnd_below(&run->rnd, sizeof(advices) / sizeof(advices[0]))]));
}

/* ---- CQs ---- */

static bool epoll_once(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLERR };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	bool good = epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) &&
		    epoll_wait(epoll, &event, 1, 1) >= 0;

	close(epoll);
	return good;
}

void call_poll(struct runner *run)
{
	int fd = object_fd(shelf_pick(&run->world->cqs, &run->rnd));
	struct pollfd pollfd = { .fd = fd, .events = (short)(POLLIN | rnd_u32(&run->rnd)) };

	if (rnd_percent(&run->rnd, 50))
		note(run, epoll_once(fd));
	else
		note(run, poll(&pollfd, 1, (int)rnd_below(&run->rnd, 3)) >= 0);
}

static void check_cqe(struct runner *run, const struct vqp_cqe *cqe)
{
	if (cqe->wr_id >> 32 != WR_ID_MARK)
		fail(run, "a completion of a request nobody posted: %#llx", (unsigned long long)cqe->wr_id);
	if (cqe->status > VQP_WC_RNR_RETRY_EXC_ERR || !cqe->qp_num || cqe->reserved0 || cqe->reserved1)
		fail(run, "a completion with status %u, VQP %u, reserved %u and %llu", cqe->status, cqe->qp_num,
		     cqe->reserved0, (unsigned long long)cqe->reserved1);
}

static void check_ring(struct runner *run, const struct vqp_cq_ring *ring, size_t bytes, uint32_t head, uint32_t tail)
{
	const struct vqp_cqe *cqes = (const void *)((const uint8_t *)ring + VQP_CQ_CQE_OFFSET);
	uint32_t entries = ring->entries;

	if (!entries || entries & (entries - 1) || tail - head > entries ||
	    VQP_CQ_CQE_OFFSET + entries * sizeof(*cqes) > bytes)
		fail(run, "a ring of %u entries in %zu bytes: head %u, tail %u", entries, bytes, head, tail);
	for (; head != tail; head++)
		check_cqe(run, &cqes[head % entries]);
}

/* Nobody but the kernel has written to it, but for its head; and the descriptor's number was not used again. */
static bool ring_is_ours(const struct world *world, int fd)
{
	char path[32], name[32] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !world->tainted && world->program->nthreads == 1 && !world->children.objects[0].live &&
	       !world->forked && readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "vqp-cq");
}

/* A private look at the ring, so that no other thread unmaps it; and of one CQ throughout, whatever another makes. */
void call_consume(struct runner *run)
{
	const struct object copy = *shelf_pick(&run->world->cqs, &run->rnd), *cq = &copy;
	uint8_t *at = run->stage + STAGE_PAGES * page_bytes();
	struct vqp_cq_ring *ring;
	uint32_t head, tail;

	if (cq->c > RING_BYTES)
		return;
	ring = mmap(at, cq->c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, context_fd(run, cq), (off_t)cq->b);
	note(run, ring != MAP_FAILED);
	if (ring != MAP_FAILED) {
		head = ring->head;
		tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		if (ring_is_ours(run->world, object_fd(cq))) {
			check_ring(run, ring, cq->c, head, tail);
			__atomic_store_n(&ring->head, tail, __ATOMIC_RELEASE);
		}
	}
	/* A call that fails may have taken away what was there. */
	(void)mmap(at, cq->c, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* A hostile owner of the ring. */
void call_scribble(struct runner *run)
{
	struct object *map = shelf_pick(&run->world->maps, &run->rnd);
	uint32_t word = (uint32_t)rnd_edge(&run->rnd);
	uint8_t *at = (uint8_t *)(uintptr_t)map->a;

	if (rnd_percent(&run->rnd, 30))
		at += 4 * rnd_below(&run->rnd, (uint32_t)(map->b / 4) + 1);
	run->world->tainted |= run->world->ring_mapped;
	/* What threads make at once may be an address of one mapping with the length of another. */
	note(run, memory_write(in_window(run->world, at, sizeof(word)) ? at : NULL, &word, sizeof(word)));
}
