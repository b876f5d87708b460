// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Request lists: mostly what a program would post, with now and then a field at an edge. */
#include <errno.h>
#include <string.h>
#include "issue.h"

#define LIST_BYTES	32768

struct list {
	uint8_t bytes[LIST_BYTES];
	uint32_t used, context;		/* which context's regions it names, mostly */
};

static _Thread_local struct list list;

static void *take(size_t bytes)
{
	void *at = list.bytes + list.used;

	if (bytes > sizeof(list.bytes) - list.used)
		return NULL;
	memset(at, 0, bytes);
	list.used += (uint32_t)bytes;
	return at;
}

static uint64_t wr_id(struct rnd *r)
{
	return WR_ID_MARK << 32 | rnd_u32(r);
}

/* A part of a region; lengths are mostly those of a packet or few. */
static struct vqp_sge pick_sge(struct runner *run)
{
	struct rnd *r = &run->rnd;
	struct object *mr = shelf_pick_fit(&run->world->mrs, r, object_of_context, list.context);
	uint32_t region = (uint32_t)mr->c, from, most;

	from = rnd_percent(r, 70) ? 0 : rnd_below(r, region + 1);
	most = rnd_percent(r, 90) && region - from > 9000 ? 9000 : region - from;
	return (struct vqp_sge) {
		.addr = mr->b + from,
		.length = rnd_percent(r, 2) ? (uint32_t)rnd_edge(r) : rnd_below(r, most + 1),
		.lkey = rnd_percent(r, 2) ? rnd_u32(r) : (uint32_t)mr->a,
	};
}

static bool add_sges(struct runner *run, uint32_t n)
{
	struct vqp_sge *sge;

	while (n--) {
		sge = take(sizeof(*sge));
		if (!sge)
			return false;
		*sge = pick_sge(run);
	}
	return true;
}

static uint32_t pick_sge_count(struct rnd *r)
{
	return rnd_percent(r, 90) ? rnd_below(r, 3) : rnd_below(r, VQP_MAX_SGE + 2);
}

/* What a one-sided request is about. */
static void aim(struct runner *run, struct vqp_send_wr *wr)
{
	const struct target *target = run->world->target;
	struct vqp_sge remote;

	if (target->known && rnd_percent(&run->rnd, 40)) {
		wr->rkey = target->key;
		wr->remote_addr = target->addr + rnd_below(&run->rnd, (uint32_t)target->bytes);
		return;
	}
	remote = pick_sge(run);
	wr->rkey = remote.lkey;
	wr->remote_addr = rnd_percent(&run->rnd, 3) ? rnd_edge(&run->rnd) : remote.addr;
}

/* An atomic: mostly at a word. */
static void aim_word(struct rnd *r, struct vqp_send_wr *wr)
{
	if (rnd_percent(r, 90))
		wr->remote_addr &= ~7ULL;
	wr->compare_add = rnd_percent(r, 50) ? 0 : rnd_edge(r);
	wr->swap = rnd_edge(r);
}

/* And into one. */
static bool add_word(struct runner *run, struct vqp_send_wr *wr)
{
	struct vqp_sge *sge = take(sizeof(*sge));

	if (!sge)
		return false;
	*sge = pick_sge(run);
	sge->length = sizeof(uint64_t);
	wr->num_sge = 1;
	return true;
}

static bool add_send(struct runner *run)
{
	struct vqp_send_wr *wr = take(sizeof(*wr));
	struct rnd *r = &run->rnd;
	uint8_t *payload;

	if (!wr)
		return false;
	wr->wr_id = wr_id(r);
	wr->opcode = rnd_percent(r, 95) ? rnd_below(r, VQP_WR_ATOMIC_FETCH_AND_ADD + 1) : rnd_below(r, 9);
	wr->send_flags = rnd_below(r, 8);
	if (wr->opcode != VQP_WR_SEND)
		aim(run, wr);
	if (wr->opcode == VQP_WR_SEND_WITH_IMM || wr->opcode == VQP_WR_RDMA_WRITE_WITH_IMM)
		wr->imm_data = rnd_u32(r);
	if (wr->opcode >= VQP_WR_ATOMIC_CMP_AND_SWP)
		aim_word(r, wr);
	if (rnd_percent(r, 2)) {
		((uint32_t *)wr)[rnd_below(r, sizeof(*wr) / 4)] = (uint32_t)rnd_edge(r);
		run->world->tainted = true;
	}
	if (rnd_percent(r, 25)) {
		wr->send_flags |= VQP_SEND_INLINE;
		wr->inline_bytes = rnd_percent(r, 95) ? rnd_below(r, 256) : rnd_below(r, VQP_MAX_INLINE_BYTES + 9);
		payload = take((wr->inline_bytes + 7) & ~7U);
		return payload;
	}
	if (wr->opcode >= VQP_WR_ATOMIC_CMP_AND_SWP && rnd_percent(r, 80))
		return add_word(run, wr);
	wr->num_sge = pick_sge_count(r);
	return add_sges(run, wr->num_sge);
}

static bool add_recv(struct runner *run)
{
	struct vqp_recv_wr *wr = take(sizeof(*wr));

	if (!wr)
		return false;
	wr->wr_id = wr_id(&run->rnd);
	wr->num_sge = pick_sge_count(&run->rnd);
	if (rnd_percent(&run->rnd, 2))
		wr->reserved = rnd_u32(&run->rnd);
	return add_sges(run, wr->num_sge);
}

/* The kernel may then read other bytes of the list than were meant, and take any for a wr_id. */
static void mislead(struct rnd *r, struct vqp_post *arg)
{
	uint64_t edge = rnd_edge(r);

	switch (rnd_below(r, 6)) {
	case 0: arg->wr_count = (uint32_t)edge; break;
	case 1: arg->wrs_bytes = (uint32_t)edge; break;
	case 2: arg->wr_bytes = (uint16_t)edge; break;
	case 3: arg->sge_bytes = (uint16_t)edge; break;
	case 4: arg->flags = (uint32_t)edge; break;
	default: arg->wrs = edge;
	}
}

static void post(struct runner *run, struct object *vqp, unsigned long cmd, uint16_t wr_bytes,
		 bool (*add)(struct runner *run))
{
	struct rnd *r = &run->rnd;
	struct object *context = &run->world->contexts.objects[vqp->context % run->world->contexts.size];
	uint32_t n = rnd_percent(r, 95) ? 1 + rnd_below(r, 6) : 1 + rnd_below(r, 300);
	struct vqp_post arg = {
		.qp_num = (uint32_t)vqp->a, .wrs = (uintptr_t)list.bytes,
		.wr_bytes = wr_bytes, .sge_bytes = sizeof(struct vqp_sge),
	};
	int ret;

	list.used = 0;
	list.context = vqp->context;
	while (arg.wr_count < n && add(run))
		arg.wr_count++;
	arg.wrs_bytes = list.used;
	if (rnd_percent(r, 6)) {
		mislead(r, &arg);
		run->world->tainted = true;
	}
	run->world->tainted |= run->call->spoil == SPOIL_FIELD;
	n = arg.wr_count;
	ret = issue(run, object_fd(context), cmd, &arg);
	if (run->call->spoil)
		return;
	if (!ret && arg.posted != n)
		fail(run, "%u of %u requests posted without an error", arg.posted, n);
	if (ret != -EFAULT && arg.posted > n)
		fail(run, "%u of %u requests posted", arg.posted, n);
}

void call_post_send(struct runner *run)
{
	post(run, shelf_pick_fit(&run->world->vqps, &run->rnd, object_in_state, VQP_QP_CONNECTED),
	     VQP_IOC_POST_SEND, sizeof(struct vqp_send_wr), add_send);
}

void call_post_recv(struct runner *run)
{
	post(run, shelf_pick_fit(&run->world->vqps, &run->rnd, object_in_state, VQP_QP_BOUND),
	     VQP_IOC_POST_RECV, sizeof(struct vqp_recv_wr), add_recv);
}
