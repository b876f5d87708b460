// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../vqpt/vqpt.h"
#include "soak.h"

#define SERVE_FLOWS	256		/* remembered */
#define SERVE_SLOTS	32		/* pieces of memory that can be lent */
#define SERVE_ANSWERS	8		/* under way to one sender; more are not given */
#define SERVE_DEPTH_MAX	64
#define SERVE_FORGET_NS	(10ULL * 1000000000)	/* a flow that is over, so that what comes late is seen */
#define SERVE_SILENT_NS	(240ULL * 1000000000)	/* nobody waits that long and lives */

struct serve_flow {
	struct soak_inbox inbox;	/* inbox.life 0: free */
	uint32_t node, worker;
	struct ibv_qp *reply;		/* NULL: none at present */
	uint64_t via;
	uint32_t number, under_way;	/* answers */
	char *lent;			/* or NULL */
	bool over, broken;		/* it said so; its reply failed */
	uint64_t forget_ns;
	struct soak_trace trace;
};

/* One life of a bound VQP. */
struct serve {
	struct soak_worker *worker;
	uint64_t random, life, vias;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
	struct soak_memory recvs, lent;
	uint32_t depth, recv_bytes, slot_bytes;
	bool posted[SERVE_DEPTH_MAX];
	uint32_t lost, lost_ever;	/* messages that could be no known flow's */
	struct serve_flow flows[SERVE_FLOWS];
};

/* A call failed: because the namespace goes, or it must not. */
static bool serve_ends(const struct serve *s, int err, const char *call)
{
	if (!soak_worker_doomed(s->worker))
		soak_wrong("%s: %s", call, strerror(abs(err)));
	return false;
}

static __attribute__((noreturn)) void serve_wrong(const struct serve_flow *flow, uint32_t seq, const char *what,
						  uint64_t expected, uint64_t got)
{
	soak_trace_print(&flow->trace);
	soak_wrong("flow %u of node %u worker %u life %016" PRIx64 ", message %u: %s: expected %" PRIu64 ", got %" PRIu64,
		   flow->inbox.flow, flow->node, flow->worker, flow->inbox.life, seq, what, expected, got);
}

/* ---- Beginning and end ---- */

static bool serve_post(struct serve *s, uint32_t index)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->recvs.at + (uint64_t)index * s->recv_bytes,
		.length = s->recv_bytes, .lkey = s->recvs.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = index, .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(s->qp, &wr, &bad);

	s->posted[index] = !err;
	return !err || serve_ends(s, err, "post_recv");
}

static bool serve_make_qp(struct serve *s)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = SERVE_ANSWERS, .max_recv_wr = s->depth, .max_send_sge = 1, .max_recv_sge = 1,
			.max_inline_data = sizeof(struct soak_answer),
		},
		.qp_type = VQP_QPT_VQP,
	};

	s->send_cq = attr.send_cq = vqp_create_cq(s->worker->context, SERVE_FLOWS * SERVE_ANSWERS, NULL);
	if (!s->send_cq)
		return serve_ends(s, errno, "create_cq");
	s->recv_cq = attr.recv_cq = vqp_create_cq(s->worker->context, (int)s->depth, NULL);
	if (!s->recv_cq)
		return serve_ends(s, errno, "create_cq");
	s->qp = vqp_create_qp(vqp_pd(s->worker->context), &attr);
	return s->qp || serve_ends(s, errno, "create_qp");
}

static bool serve_begin(struct serve *s)
{
	static const uint32_t depths[] = { 4, 16, 64 }, recv_bytes[] = { 1 << 20, 64 << 10, 8192 };
	bool arena = soak_below(&s->random, 2);
	uint32_t i = soak_below(&s->random, 3);
	int port;

	s->life = soak_random(&s->random) | 1;
	s->depth = depths[i];
	s->recv_bytes = recv_bytes[i];
	s->slot_bytes = 16384U << 2 * soak_below(&s->random, arena ? 2 : 4);
	soak_count(SOAK_N_BIND);
	if (!serve_make_qp(s) ||
	    !soak_memory_get(s->worker, &s->recvs, (size_t)s->depth * s->recv_bytes, soak_below(&s->random, 2)) ||
	    !soak_memory_get(s->worker, &s->lent, (size_t)SERVE_SLOTS * s->slot_bytes, arena))
		return false;
	for (i = 0; i < s->depth; i++)
		if (!serve_post(s, i))
			return false;
	port = vqp_bind(s->qp, SOAK_PORT);
	return port == SOAK_PORT || serve_ends(s, port, "bind");
}

/* At times memory goes while others still write there. */
static bool serve_end(struct serve *s)
{
	bool memory_first = soak_below(&s->random, 2);
	int err;

	if (memory_first)
		soak_memory_put(s->worker, &s->lent);
	err = vqp_destroy_qp(s->qp);
	if (err)
		return serve_ends(s, err, "destroy_qp");
	err = vqp_destroy_cq(s->send_cq);
	if (!err)
		err = vqp_destroy_cq(s->recv_cq);
	if (err)
		return serve_ends(s, err, "destroy_cq");
	if (!memory_first)
		soak_memory_put(s->worker, &s->lent);
	soak_memory_put(s->worker, &s->recvs);
	return true;
}

/* ---- Flows ---- */

static struct serve_flow *serve_find(struct serve *s, uint64_t life, uint32_t flow)
{
	uint32_t i;

	for (i = 0; i < SERVE_FLOWS; i++)
		if (s->flows[i].inbox.life == life && (!life || s->flows[i].inbox.flow == flow))
			return &s->flows[i];
	return NULL;
}

static char *serve_lend(struct serve *s)
{
	uint32_t i, j;
	char *at;

	for (i = 0; i < SERVE_SLOTS; i++) {
		at = s->lent.at + (size_t)i * s->slot_bytes;
		for (j = 0; j < SERVE_FLOWS && s->flows[j].lent != at; j++)
			;
		if (j == SERVE_FLOWS)
			return memset(at, 0, s->slot_bytes);
	}
	return NULL;
}

/* A worker that has a new life has no flows of an earlier one. */
static void serve_supersede(struct serve *s, const struct soak_message *m, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < SERVE_FLOWS; i++) {
		struct serve_flow *flow = &s->flows[i];

		if (flow->inbox.life && flow->inbox.life != m->life && flow->node == m->node &&
		    flow->worker == m->worker && flow->forget_ns > now + SERVE_FORGET_NS)
			flow->forget_ns = now + SERVE_FORGET_NS;
	}
}

static struct serve_flow *serve_flow_begin(struct serve *s, const struct soak_message *m)
{
	struct serve_flow *flow = serve_find(s, 0, 0);

	if (!flow)
		return NULL;
	*flow = (struct serve_flow) {
		.inbox = { .life = m->life, .flow = m->flow }, .node = m->node, .worker = m->worker,
		.lent = serve_lend(s),
	};
	serve_supersede(s, m, soak_now_ns());
	return flow;
}

/* A reply answers the VQP with a certain address and number, which may have a new life. */
static void serve_tie(struct serve *s, struct serve_flow *flow, struct ibv_qp *reply)
{
	struct serve_flow *before = reply->qp_context;

	if (before == flow)
		return;
	if (before && before->inbox.life == flow->inbox.life)
		soak_wrong("messages of the flows %u and %u of life %016" PRIx64 " have one source", before->inbox.flow,
			   flow->inbox.flow, flow->inbox.life);
	if (flow->reply)
		serve_wrong(flow, flow->inbox.next, "VQP it comes from", flow->reply->qp_num, reply->qp_num);
	if (before)
		before->reply = NULL;
	reply->qp_context = flow;
	flow->reply = reply;
	flow->via = ++s->vias;
	flow->number = 0;
	flow->under_way = before ? before->under_way : 0;
	flow->broken = false;
}

static void serve_forget(struct serve *s, struct serve_flow *flow)
{
	int err;

	if (flow->reply) {
		err = vqp_destroy_qp(flow->reply);
		if (err)
			serve_ends(s, err, "destroy_qp of a reply");
		flow->reply = NULL;
		flow->under_way = 0;
		flow->broken = false;
	}
	if (soak_now_ns() >= flow->forget_ns)
		flow->inbox.life = 0;
}

/* Replies that failed or have nothing to answer go; after a while, so does all that is known of their flows. */
static void serve_tidy(struct serve *s)
{
	uint64_t now = soak_now_ns();
	uint32_t i;

	for (i = 0; i < SERVE_FLOWS; i++) {
		struct serve_flow *flow = &s->flows[i];

		if (!flow->inbox.life)
			continue;
		if (flow->broken || (flow->over && !flow->under_way) || now >= flow->forget_ns)
			serve_forget(s, flow);
		if (!flow->inbox.life)
			flow->lent = NULL;
	}
}

/* ---- Answers ---- */

static void serve_answer(struct serve *s, struct serve_flow *flow, uint32_t audit_flow)
{
	struct serve_flow *audit = audit_flow ? serve_find(s, flow->inbox.life, audit_flow) : NULL;
	struct soak_answer answer = {
		.magic = SOAK_MAGIC, .number = flow->number + 1, .life = s->life,
		.storms = soak_shared->storms, .storming = soak_storming(), .via = flow->via,
		.boxes = s->worker->seat->boxes,
		.flow = flow->inbox.flow, .next = flow->inbox.next,
		.audit_flow = audit_flow, .audit_next = audit ? audit->inbox.next : 0,
		.unnamed = s->lost_ever, .recv_bytes = s->recv_bytes,
		.lent_addr = (uintptr_t)flow->lent, .lent_key = s->lent.mr->rkey,
		.lent_bytes = flow->lent ? s->slot_bytes : 0,
	};
	struct ibv_sge sge = { .addr = (uintptr_t)&answer, .length = sizeof(answer) };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	}, *bad;
	int err;

	if (!flow->reply || flow->broken || flow->under_way == SERVE_ANSWERS)
		return;			/* they will ask again */
	err = ibv_post_send(flow->reply, &wr, &bad);
	soak_trace(&flow->trace, "answered: number, next", answer.number, answer.next);
	if (err == EIO) {
		flow->broken = true;
		return;
	}
	if (err) {
		serve_ends(s, err, "post_send of an answer");
		return;
	}
	flow->number++;
	flow->under_way++;
	soak_count(SOAK_N_ANSWER);
}

/* Of a reply that has gone meanwhile nothing is known. */
static void serve_answers_done(struct serve *s)
{
	struct ibv_wc wc;
	uint32_t i;

	while (ibv_poll_cq(s->send_cq, 1, &wc) > 0) {
		for (i = 0; i < SERVE_FLOWS; i++)
			if (s->flows[i].reply && s->flows[i].reply->qp_num == wc.qp_num)
				break;
		if (i == SERVE_FLOWS)
			continue;
		s->flows[i].under_way--;
		if (wc.status != IBV_WC_SUCCESS)
			s->flows[i].broken = true;
		if (wc.status == IBV_WC_LOC_PROT_ERR || wc.status >= SOAK_STATUSES)
			soak_wrong("an answer failed with status %d", wc.status);
	}
}

/* ---- Messages ---- */

/* Exit if the bytes are not those of `seed`. */
static void serve_check_bytes(const struct serve_flow *flow, uint32_t seq, const char *what, const void *at,
			      uint64_t bytes, uint64_t seed)
{
	uint64_t good = vqpt_pattern_check(at, bytes, seed);

	if (good != bytes)
		serve_wrong(flow, seq, what, bytes, good);
}

/* The flow of a message with a header, which is checked as far as it goes without. */
static struct serve_flow *serve_flow_of(struct serve *s, const struct soak_message *m, uint32_t bytes)
{
	struct serve_flow *flow;

	if (m->magic != SOAK_MAGIC || !m->life || !m->seq || m->bytes != bytes)
		soak_wrong("a message of %u bytes begins with %08x, says it has %u, number %u of flow %u of node %u worker %u",
			   bytes, m->magic, m->bytes, m->seq, m->flow, m->node, m->worker);
	flow = serve_find(s, m->life, m->flow);
	return flow ? flow : serve_flow_begin(s, m);
}

static void serve_look(const struct serve *s, const struct serve_flow *flow, const struct soak_message *m)
{
	/* A message that waited for a receive goes to whoever binds the port next: what was lent went with that life. */
	if (m->look_life != (uint32_t)s->life)
		return;
	if (!flow->lent || m->look_bytes > s->slot_bytes || m->look_offset > s->slot_bytes - m->look_bytes)
		serve_wrong(flow, m->seq, "what to look at", s->slot_bytes, m->look_offset + m->look_bytes);
	serve_check_bytes(flow, m->seq, "memory that was written, good bytes", flow->lent + m->look_offset, m->look_bytes,
			  soak_seed_write(m->life, m->flow, m->look_seq));
}

/* The bytes of a message, now that its flow and number are known. */
static void serve_check(struct serve *s, const struct serve_flow *flow, uint32_t seq, const struct ibv_wc *wc,
			const struct soak_message *m, const char *at)
{
	uint64_t seed = soak_seed_message(flow->inbox.life, flow->inbox.flow, seq);

	if ((wc->wc_flags & IBV_WC_WITH_IMM) && wc->imm_data != seq)
		serve_wrong(flow, seq, "immediate data", seq, wc->imm_data);
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		if (!flow->lent || wc->byte_len > s->slot_bytes)
			serve_wrong(flow, seq, "bytes written with immediate data", s->slot_bytes, wc->byte_len);
		serve_check_bytes(flow, seq, "memory written with immediate data, good bytes", flow->lent, wc->byte_len, seed);
	} else if (m) {
		serve_check_bytes(flow, seq, "good bytes", m + 1, wc->byte_len - sizeof(*m), seed);
		if (m->kind == SOAK_LOOK)
			serve_look(s, flow, m);
	} else if (!s->lost) {
		serve_check_bytes(flow, seq, "good bytes", at, wc->byte_len, seed);
	}
}

static void serve_take(struct serve *s, struct ibv_qp *reply, const struct ibv_wc *wc)
{
	const char *at = s->recvs.at + wc->wr_id * s->recv_bytes, *wrong;
	bool headed = wc->opcode == IBV_WC_RECV && wc->byte_len >= sizeof(struct soak_message);
	const struct soak_message *m = headed ? (const void *)at : NULL;
	struct serve_flow *flow = m ? serve_flow_of(s, m, wc->byte_len) : reply ? reply->qp_context : NULL;
	uint32_t seq;

	if (!flow) {
		s->lost++;
		s->lost_ever++;
		soak_count(SOAK_N_LOST);
		return;
	}
	if (reply)
		serve_tie(s, flow, reply);
	seq = m ? m->seq : wc->wc_flags & IBV_WC_WITH_IMM ? wc->imm_data : flow->inbox.next;
	soak_trace(&flow->trace, "message: number, bytes", seq, wc->byte_len);
	if (flow->over && !(m && m->kind == SOAK_BYE))
		serve_wrong(flow, seq, "a message after the last", flow->inbox.next, seq);
	wrong = soak_inbox_take(&flow->inbox, seq, &s->lost);
	if (wrong)
		serve_wrong(flow, seq, wrong, flow->inbox.next, seq);
	serve_check(s, flow, seq, wc, m, at);
	flow->forget_ns = soak_now_ns() + SERVE_SILENT_NS;
	if (m && m->kind == SOAK_BYE) {
		flow->over = true;
		flow->lent = NULL;
		flow->forget_ns = soak_now_ns() + SERVE_FORGET_NS;
	}
	if (m && m->ask)
		serve_answer(s, flow, m->audit_flow);
	soak_count(SOAK_N_MESSAGE);
}

static bool serve_pop(struct serve *s)
{
	struct ibv_qp *reply;
	struct ibv_wc wc;
	int n;

	while ((n = vqp_pop_msgs(s->qp, 1, &reply, &wc)) > 0) {
		if (wc.wr_id >= s->depth || !s->posted[wc.wr_id])
			soak_wrong("receive %" PRIu64 " completed, which was not posted", wc.wr_id);
		s->posted[wc.wr_id] = false;
		if (wc.status != IBV_WC_SUCCESS) {
			if (!soak_worker_doomed(s->worker))
				soak_wrong("receive %" PRIu64 " completed with status %d", wc.wr_id, wc.status);
			return false;
		}
		serve_take(s, reply, &wc);
		if (!serve_post(s, (uint32_t)wc.wr_id))
			return false;
	}
	/* No way back to the sender at present: its message waits. */
	if (n == -ETIMEDOUT || n == -ENETDOWN)
		soak_count(SOAK_N_UNREACHED);
	else if (n < 0)
		return serve_ends(s, n, "pop_msgs");
	return true;
}

/* One life; false: it was the last. */
static bool serve_live(struct serve *s)
{
	uint64_t end_ns = soak_now_ns() + (1 + soak_below(&s->random, 60)) * 1000000000ULL;
	int n;

	if (!serve_begin(s))
		return false;
	while (soak_shared->ending || soak_now_ns() < end_ns) {
		if (!serve_pop(s))
			return false;
		serve_answers_done(s);
		serve_tidy(s);
		if (soak_shared->over)
			return serve_end(s) && false;
		n = vqp_cq_wait(s->recv_cq, 50);
		if (n < 0 && n != -EINTR)
			return serve_ends(s, n, "cq_wait");
		if (soak_worker_doomed(s->worker))
			return false;
	}
	return serve_end(s);
}

void *soak_serve(void *worker)
{
	struct serve *s = calloc(1, sizeof(*s));
	uint64_t random = soak_mix(((struct soak_worker *)worker)->random, 1);

	if (!s)
		soak_wrong("no memory");
	do {
		memset(s, 0, sizeof(*s));
		s->worker = worker;
		s->random = soak_random(&random);
	} while (serve_live(s));
	free(s);
	return NULL;
}
