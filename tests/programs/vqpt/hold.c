// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* As many of one thing as the kernel gives, to meet the limits of a namespace. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vqpt.h"

struct hold {
	struct ibv_context *context;
	struct ibv_cq *cq;
	void *memory;			/* what regions are of */
	uint64_t bytes;
};

static void *make_vqp(const struct hold *h)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = h->cq, .recv_cq = h->cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = VQP_QPT_VQP,
	};

	return vqp_create_qp(vqp_pd(h->context), &attr);
}

static int unmake_vqp(const struct hold *h, void *vqp)
{
	(void)h;
	return vqp_destroy_qp(vqp);
}

static void *make_mr(const struct hold *h)
{
	return vqp_reg_mr(vqp_pd(h->context), h->memory, h->bytes, IBV_ACCESS_LOCAL_WRITE);
}

static int unmake_mr(const struct hold *h, void *mr)
{
	(void)h;
	return vqp_dereg_mr(mr);
}

static void *make_arena(const struct hold *h)
{
	return vqp_alloc(h->context, h->bytes);
}

static int unmake_arena(const struct hold *h, void *arena)
{
	return vqp_free(arena, h->bytes);
}

static const struct kind {
	const char *name;
	void *(*make)(const struct hold *h);
	int (*unmake)(const struct hold *h, void *thing);
} kinds[] = {
	{ "vqps", make_vqp, unmake_vqp },
	{ "mrs", make_mr, unmake_mr },
	{ "arenas", make_arena, unmake_arena },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	vqpt_die(0, "what is '%s'? vqps, mrs or arenas", name);
}

static struct hold open_hold(const struct vqpt_options *o, const struct kind *kind)
{
	struct hold h = { .context = vqp_open(), .bytes = o->bytes };

	if (!h.context)
		vqpt_die(errno, "vqp_open");
	if (kind->make == make_vqp) {
		h.cq = vqp_create_cq(h.context, 1, NULL);
		if (!h.cq)
			vqpt_die(errno, "vqp_create_cq");
	} else if (kind->make == make_mr) {
		h.memory = o->arena ? vqp_alloc(h.context, h.bytes) :
			   mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!h.memory || h.memory == MAP_FAILED)
			vqpt_die(errno, "memory for %llu bytes", (unsigned long long)h.bytes);
	}
	return h;
}

int vqpt_hold_run(const struct vqpt_options *o, char **args)
{
	const struct kind *kind = find_kind(args[0]);
	struct hold h = open_hold(o, kind);
	void **things = calloc(o->count, sizeof(*things));
	int err = 0, again = 0;
	uint32_t n = 0;

	if (!things)
		vqpt_die(ENOMEM, "room for %u", o->count);
	while (!err && n < o->count) {
		things[n] = kind->make(&h);
		if (things[n])
			n++;
		else
			err = errno;
	}
	/* What goes makes room at once. */
	if (err && n) {
		again = kind->unmake(&h, things[n - 1]);
		if (!again && !kind->make(&h))
			again = errno;
	}
	vqpt_ready("made=%u errno=%s again=%s pid=%d\n", n, err ? strerrorname_np(err) : "OK",
		   again ? strerrorname_np(abs(again)) : "OK", getpid());
	while (o->background)
		pause();
	free(things);
	return vqp_close(h.context);
}
