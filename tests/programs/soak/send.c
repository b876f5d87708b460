// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "flow.h"

#define SEND_FLOWS	6		/* at once */
#define SEND_CASE_NS	(100ULL * 1000000000)	/* a receiver remembers a flow at least this long */

struct sender {
	struct soak_worker *worker;
	uint64_t random;
	struct ibv_cq *send_cq, *recv_cq;
	struct soak_flow *flows[SEND_FLOWS];
	uint32_t nflows, want, last_id;
	struct soak_target *targets;	/* the first is nobody's address */
	uint32_t ntargets;
};

/* ---- Targets ---- */

static void send_list_targets(struct sender *s)
{
	uint32_t node, worker;

	s->targets = calloc(1 + soak_options.nodes * soak_options.workers, sizeof(*s->targets));
	if (!s->targets)
		soak_wrong("no memory");
	soak_box_address(s->targets[0].address, sizeof(s->targets[0].address), 1, 0);
	s->ntargets = 1;
	for (node = 1; node <= soak_options.nodes; node++) {
		for (worker = 1; worker <= soak_options.workers; worker++) {
			struct soak_target *target = &s->targets[s->ntargets++];

			target->node = node;
			target->worker = worker;
			soak_box_address(target->address, sizeof(target->address), node, worker);
		}
	}
}

static void send_drop_case(struct soak_target *target, uint32_t i)
{
	memmove(&target->cases[i], &target->cases[i + 1], (--target->ncases - i) * sizeof(target->cases[0]));
}

/* A flow's end has to be accounted for as soon as its target is heard of. */
static void send_open_case(const struct soak_flow *flow)
{
	struct soak_target *target = flow->target;
	struct soak_case *c;

	if (target->ncases == SOAK_CASES)
		send_drop_case(target, 0);
	c = &target->cases[target->ncases++];
	*c = (struct soak_case) {
		.flow = flow->id, .status = flow->ledger.failed, .wanted = flow->wanted,
		.life = flow->earlier_life || flow->dead_port ? 0 : flow->life, .storms = flow->storms,
		.boxes = flow->boxes, .completed = flow->completed, .posted = flow->seq,
		.ns = soak_now_ns(), .trace = flow->trace,
	};
	/* Its receives were flushed, or a post was refused, with nothing under way. */
	if (!c->status && flow->failed)
		c->status = IBV_WC_RETRY_EXC_ERR;
	if (flow->end == SOAK_END_DROP)
		c->wanted = c->status;
}

static void send_case_wrong(const struct soak_target *target, const struct soak_case *c, const char *wrong,
			    uint32_t next)
{
	soak_trace_print(&c->trace);
	soak_wrong("flow %u to node %u worker %u life %016" PRIx64 ": %s: status %u, %u provoked, messages before %u completed, "
		   "before %u posted, before %u arrived", c->flow, target->node, target->worker, c->life, wrong, c->status,
		   c->wanted, c->completed, c->posted, next);
}

static void send_case_late(const struct soak_target *target, const struct soak_case *c, const char *late)
{
	soak_trace_print(&c->trace);
	soak_late("flow %u to node %u worker %u life %016" PRIx64 ": %s", c->flow, target->node, target->worker, c->life, late);
}

static void send_judge(const struct soak_target *target, struct soak_case *c, const struct soak_answer *a)
{
	struct soak_facts facts = {
		.life_then = c->life, .life_now = a->life,
		.boxes_then = c->boxes, .boxes_now = a->boxes,
		.storms_then = c->storms, .storms_now = a->storms + soak_shared->storms,
		.storming = a->storming || soak_storming(),
	};
	const char *wrong = soak_judge_failure(c->status, c->wanted, &facts);

	/* One who is slow to answer is given up, too. */
	if (wrong && c->status == IBV_WC_RETRY_EXC_ERR)
		send_case_late(target, c, wrong);
	if (wrong)
		send_case_wrong(target, c, wrong, 0);
	c->judged = true;
}

/* True: nothing more is to be learned. */
static bool send_audit(const struct soak_target *target, const struct soak_case *c, const struct soak_answer *a)
{
	const char *wrong;

	if (c->life != a->life || soak_now_ns() - c->ns > SEND_CASE_NS)
		return true;
	if (a->audit_flow != c->flow)
		return false;
	if (a->audit_next || !a->unnamed) {
		wrong = soak_judge_audit(a->audit_next ? a->audit_next : 1, c->completed, c->posted);
		if (wrong)
			send_case_wrong(target, c, wrong, a->audit_next);
		soak_count(SOAK_N_AUDIT);
	}
	return true;
}

static void send_heard(struct soak_target *target, const struct soak_answer *a)
{
	uint32_t i;

	for (i = target->ncases; i-- > 0; ) {
		if (!target->cases[i].judged)
			send_judge(target, &target->cases[i], a);
		if (send_audit(target, &target->cases[i], a))
			send_drop_case(target, i);
	}
}

/* ---- Completions ---- */

/* NULL: of a VQP that was flushed while it was being connected. */
static struct soak_flow *send_flow_of(const struct sender *s, const struct ibv_wc *wc)
{
	uint32_t i;

	for (i = 0; i < s->nflows; i++)
		if (s->flows[i]->qp_num == wc->qp_num)
			return s->flows[i];
	if (!soak_worker_doomed(s->worker))
		soak_wrong("a completion of VQP %u, which is gone: request %" PRIu64 ", status %d, opcode %d", wc->qp_num,
			   wc->wr_id, wc->status, wc->opcode);
	return NULL;
}

static bool send_poll(struct sender *s)
{
	const struct soak_answer *answer;
	struct soak_flow *flow;
	struct ibv_wc wc;
	bool any = false;

	while (ibv_poll_cq(s->send_cq, 1, &wc) > 0) {
		flow = send_flow_of(s, &wc);
		if (flow)
			soak_flow_complete(flow, &wc);
		any = true;
	}
	while (ibv_poll_cq(s->recv_cq, 1, &wc) > 0) {
		flow = send_flow_of(s, &wc);
		answer = flow ? soak_flow_answered(flow, &wc) : NULL;
		if (answer && !soak_worker_doomed(s->worker)) {
			send_heard(flow->target, answer);
			soak_flow_receive(flow, (uint32_t)wc.wr_id);
		}
		any = true;
	}
	return any;
}

/* ---- Flows ---- */

static void send_open(struct sender *s)
{
	struct soak_target *target = &s->targets[soak_below(&s->random, s->ntargets)];
	struct soak_flow *flow;

	flow = soak_flow_open(s->worker, target, ++s->last_id, soak_random(&s->random), s->send_cq, s->recv_cq,
			      target->ncases ? target->cases[0].flow : 0);
	if (flow)
		s->flows[s->nflows++] = flow;
}

/* What completed before it was destroyed may still be found; then nothing more. */
static bool send_close(struct sender *s, uint32_t i)
{
	struct soak_flow *flow = s->flows[i];

	if (flow->end != SOAK_END_BYE || flow->failed)
		send_open_case(flow);
	if (!soak_flow_destroy(flow))
		return false;
	send_poll(s);
	s->flows[i] = s->flows[--s->nflows];
	soak_flow_free(flow);
	return true;
}

static bool send_close_those_over(struct sender *s)
{
	uint32_t i;

	for (i = s->nflows; i-- > 0; )
		if (soak_flow_over(s->flows[i]) && !send_close(s, i))
			return false;
	return true;
}

/* Objects that come and go, in a context of their own: some are closed, some left to the end of the process. */
static void send_churn(struct sender *s)
{
	struct soak_worker other = *s->worker;
	struct soak_memory memory;
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 64 }, .qp_type = VQP_QPT_VQP };
	struct ibv_qp *qp;

	other.context = vqp_open();
	if (!other.context) {
		if (!soak_worker_doomed(s->worker))
			soak_wrong("vqp_open: %s", strerror(errno));
		return;
	}
	soak_count(SOAK_N_CHURN);
	attr.send_cq = attr.recv_cq = vqp_create_cq(other.context, 1 + (int)soak_below(&s->random, 1000), NULL);
	qp = attr.send_cq ? vqp_create_qp(vqp_pd(other.context), &attr) : NULL;
	if (!qp || !soak_memory_get(&other, &memory, 1 + soak_below(&s->random, 1 << 20), soak_below(&s->random, 2))) {
		if (!soak_worker_doomed(s->worker))
			soak_wrong("creating objects: %s", strerror(errno));
		return;
	}
	if (soak_below(&s->random, 2))
		vqp_connect_addr(qp, s->targets[soak_below(&s->random, s->ntargets)].address, SOAK_PORT);
	else if (soak_below(&s->random, 2))
		vqp_bind(qp, 0);
	if (soak_below(&s->random, 8)) {
		vqp_close(other.context);
		soak_memory_unmap(&memory);
	}
}

static void send_wait(const struct sender *s)
{
	struct pollfd fds[2] = {
		{ .fd = vqp_cq_fd(s->send_cq), .events = POLLIN },
		{ .fd = vqp_cq_fd(s->recv_cq), .events = POLLIN },
	};

	poll(fds, 2, 20);
}

/* One round; false: the worker is doomed. */
static bool send_go_on(struct sender *s)
{
	bool moved = false;

	if (soak_worker_doomed(s->worker))
		return false;
	if (!soak_shared->ending && s->nflows < s->want) {
		send_open(s);
		if (!soak_below(&s->random, 20))
			s->want = 1 + soak_below(&s->random, SEND_FLOWS);
	}
	if (s->nflows)
		moved = soak_flow_step(s->flows[soak_below(&s->random, s->nflows)]);
	moved |= send_poll(s);
	if (!send_close_those_over(s))
		return false;
	if (!soak_below(&s->random, 1000))
		send_churn(s);
	if (!moved)
		send_wait(s);
	return true;
}

void *soak_send(void *worker)
{
	struct sender s = { .worker = worker, .want = 1 };
	uint32_t i;

	s.random = soak_mix(s.worker->random, 2);
	send_list_targets(&s);
	s.send_cq = vqp_create_cq(s.worker->context, SEND_FLOWS * SOAK_DEPTH, NULL);
	s.recv_cq = vqp_create_cq(s.worker->context, SEND_FLOWS * 16, NULL);
	if (!s.send_cq || !s.recv_cq) {
		if (!soak_worker_doomed(s.worker))
			soak_wrong("create_cq: %s", strerror(errno));
		return NULL;
	}
	while (!soak_shared->ending || s.nflows)
		if (!send_go_on(&s))
			return NULL;
	atomic_fetch_add(&soak_shared->idle, 1);
	for (i = 0; i < s.ntargets; i++)
		s.targets[i].ncases = 0;
	free(s.targets);
	return NULL;
}
