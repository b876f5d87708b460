// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../vqpt/vqpt.h"
#include "flow.h"

#define FLOW_SMALL_BYTES	4096	/* of a message while the receiver's size is not known */
#define FLOW_ASK_AGAIN_NS	(1ULL * 1000000000)

void soak_flow_wrong(const struct soak_flow *flow, uint32_t seq, const char *what, uint64_t expected, uint64_t got)
{
	soak_trace_print(&flow->trace);
	soak_wrong("flow %u (VQP %u) to node %u worker %u life %016" PRIx64 ", %u: %s: expected %" PRIu64 ", got %" PRIu64,
		   flow->id, flow->qp_num, flow->target->node, flow->target->worker, flow->life, seq,
		   what, expected, got);
}

static __attribute__((noreturn)) void flow_late(const struct soak_flow *flow, const char *what, uint64_t number)
{
	soak_trace_print(&flow->trace);
	soak_late("flow %u (VQP %u) to node %u worker %u life %016" PRIx64 ": %s: %" PRIu64,
		  flow->id, flow->qp_num, flow->target->node, flow->target->worker, flow->life, what, number);
}

/* ---- Memory ---- */

static struct soak_answer *flow_answer(const struct soak_flow *flow, uint32_t index)
{
	return (struct soak_answer *)(flow->memory.at + FLOW_RING_BYTES) + index;
}

/* A piece of the ring that is in one, or NULL. */
static char *flow_ring(struct soak_flow *flow, uint32_t bytes)
{
	uint64_t at = flow->ring_head, offset = at % FLOW_RING_BYTES, room = ((uint64_t)bytes + 64) & ~63ULL;

	if (offset + room > FLOW_RING_BYTES)
		at += FLOW_RING_BYTES - offset;
	if (at + room - flow->ring_tail > FLOW_RING_BYTES)
		return NULL;
	flow->ring_head = at + room;
	return flow->memory.at + at % FLOW_RING_BYTES;
}

/* Many small ones, some around the size of a packet, few as large as can be. */
static uint32_t flow_bytes(struct soak_flow *flow, uint32_t max)
{
	static const uint32_t below[] = { 1, 64, 1024, 4096, 4096, 16384, 65536, UINT32_MAX };
	uint32_t i = soak_below(&flow->random, 9), bytes;

	if (i == 8)
		bytes = 3900 + soak_below(&flow->random, 240);
	else
		bytes = soak_below(&flow->random, below[i] > max ? max + 1 : below[i]);
	return bytes < max ? bytes : max;
}

/* ---- Requests ---- */

static bool flow_is_atomic(int opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool flow_fetches(int opcode)
{
	return opcode == IBV_WR_RDMA_READ || flow_is_atomic(opcode);
}

/* The next request of the batch, with `bytes` of memory; NULL: no room. */
static struct soak_request *flow_add(struct soak_flow *flow, int opcode, uint32_t bytes, char **at)
{
	struct ibv_send_wr *wr = &flow->wrs[flow->nwrs];
	struct soak_request *request;

	if (flow->nwrs == FLOW_BATCH || soak_ledger_pending(&flow->ledger) == SOAK_DEPTH)
		return NULL;
	*at = flow_ring(flow, bytes);
	if (!*at)
		return NULL;
	request = soak_ledger_add(&flow->ledger);
	request->opcode = opcode;
	request->bytes = bytes;
	request->ring_end = flow->ring_head;
	*wr = (struct ibv_send_wr) { .wr_id = request->id, .opcode = opcode, .sg_list = flow->sges[flow->nwrs] };
	wr->num_sge = vqpt_sge_cut(wr->sg_list, 1 + soak_below(&flow->random, VQP_MAX_SGE), *at, bytes,
				   flow->memory.mr->lkey);
	if (soak_below(&flow->random, 2))
		wr->send_flags |= IBV_SEND_SIGNALED;
	if (!flow_fetches(opcode) && bytes <= VQP_MAX_INLINE_BYTES && soak_below(&flow->random, 2))
		wr->send_flags |= IBV_SEND_INLINE;
	request->signaled = wr->send_flags & IBV_SEND_SIGNALED;
	flow->nwrs++;
	return request;
}

static struct ibv_send_wr *flow_last(struct soak_flow *flow)
{
	return &flow->wrs[flow->nwrs - 1];
}

/* It takes a receive, and has a number. */
static void flow_number(struct soak_flow *flow, struct soak_request *request)
{
	request->message = true;
	request->seq = flow->seq++;
}

static void flow_ask(struct soak_flow *flow, uint32_t seq)
{
	uint64_t now = soak_now_ns();

	if (!flow->asked)
		flow->asked_ns = now;
	flow->asked = seq;
	flow->ask_again_ns = now + FLOW_ASK_AGAIN_NS;
}

static void flow_imm(struct soak_flow *flow, uint32_t imm)
{
	struct ibv_send_wr *wr = flow_last(flow);

	wr->opcode = wr->opcode == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM : IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->imm_data = imm;
	soak_count(SOAK_N_IMM);
}

/* A message with a header and `bytes` more. */
static struct soak_message *flow_say(struct soak_flow *flow, enum soak_kind kind, uint32_t bytes, bool ask)
{
	struct soak_request *request;
	struct soak_message *m;
	char *at;

	bytes += sizeof(*m);
	request = flow_add(flow, IBV_WR_SEND, bytes, &at);
	if (!request)
		return NULL;
	flow_number(flow, request);
	m = (struct soak_message *)at;
	*m = (struct soak_message) {
		.magic = SOAK_MAGIC, .kind = kind, .ask = ask, .life = flow->worker->life,
		.node = soak_options.node, .worker = flow->worker->index,
		.flow = flow->id, .seq = request->seq, .bytes = bytes,
	};
	vqpt_pattern_fill(m + 1, bytes - sizeof(*m), soak_seed_message(m->life, m->flow, m->seq));
	if (ask)
		flow_ask(flow, request->seq);
	/* The receiver lends the memory to others then: see flow_one_sided(). */
	if (kind == SOAK_BYE && flow->reads)
		flow_last(flow)->send_flags |= IBV_SEND_FENCE;
	if (!soak_below(&flow->random, 4))
		flow_imm(flow, request->seq);
	soak_count(SOAK_N_SEND);
	return m;
}

/* A message that is too short for a header. */
static bool flow_say_little(struct soak_flow *flow)
{
	uint32_t bytes = soak_below(&flow->random, sizeof(struct soak_message));
	char *at;
	struct soak_request *request = flow_add(flow, IBV_WR_SEND, bytes, &at);

	if (!request)
		return false;
	flow_number(flow, request);
	vqpt_pattern_fill(at, bytes, soak_seed_message(flow->worker->life, flow->id, request->seq));
	if (soak_below(&flow->random, 2))
		flow_imm(flow, request->seq);
	soak_count(SOAK_N_SEND);
	return true;
}

static bool flow_say_something(struct soak_flow *flow)
{
	uint32_t max = flow->recv_bytes ? flow->recv_bytes : FLOW_SMALL_BYTES;
	bool ask = !soak_below(&flow->random, 8);

	return flow_say(flow, ask ? SOAK_HELLO : SOAK_DATA, flow_bytes(flow, max - sizeof(struct soak_message)), ask);
}

/* ---- The lent memory ---- */

static struct soak_request *flow_one_sided(struct soak_flow *flow, int opcode, uint32_t offset, uint32_t bytes,
					   char **at)
{
	struct soak_request *request = flow_add(flow, opcode, bytes, at);
	struct ibv_send_wr *wr;

	if (!request)
		return NULL;
	wr = flow_last(flow);
	if (flow_is_atomic(opcode)) {
		wr->wr.atomic.remote_addr = flow->lent_addr + offset;
		wr->wr.atomic.rkey = flow->lent_key;
	} else {
		wr->wr.rdma.remote_addr = flow->lent_addr + offset;
		wr->wr.rdma.rkey = flow->lent_key;
	}
	soak_trace(&flow->trace, "one-sided: offset, bytes", offset, bytes);
	/* A READ whose answer was lost is carried out again: after this write, if it did not wait. */
	if (opcode != IBV_WR_RDMA_READ && flow->reads)
		wr->send_flags |= IBV_SEND_FENCE;
	return request;
}

/* The receiver looks at what is there. */
static bool flow_is_looked_at(const struct soak_flow *flow, uint32_t offset, uint32_t bytes)
{
	return flow->looked && offset < flow->look_offset + flow->look_bytes && offset + bytes > flow->look_offset;
}

/* Somewhere; false: the receiver looks at what is there, or there is no room. */
static bool flow_write(struct soak_flow *flow, uint32_t *offset, uint32_t *bytes)
{
	char *at;

	*bytes = flow_bytes(flow, flow->lent_bytes);
	*offset = soak_below(&flow->random, flow->lent_bytes - *bytes + 1);
	if (flow_is_looked_at(flow, *offset, *bytes))
		return false;
	if (!flow_one_sided(flow, IBV_WR_RDMA_WRITE, *offset, *bytes, &at))
		return false;
	vqpt_pattern_fill(at, *bytes, soak_seed_write(flow->worker->life, flow->id, ++flow->writes));
	memcpy(flow->lent + *offset, at, *bytes);
	soak_count(SOAK_N_WRITE);
	return true;
}

/* Nothing is written there until the message is answered. */
static void flow_keep(struct soak_flow *flow, uint32_t seq, uint32_t offset, uint32_t bytes)
{
	flow->looked = seq;
	flow->look_offset = offset;
	flow->look_bytes = bytes;
}

/* Write, and have the receiver look at it. */
static bool flow_write_and_look(struct soak_flow *flow)
{
	uint32_t offset, bytes;
	struct soak_message *m;

	if (flow->nwrs + 2 > FLOW_BATCH || !flow_write(flow, &offset, &bytes))
		return false;
	m = flow_say(flow, SOAK_LOOK, 0, true);
	if (!m)
		return false;
	m->look_offset = offset;
	m->look_bytes = bytes;
	m->look_seq = flow->writes;
	m->look_life = (uint32_t)flow->life;
	flow_keep(flow, m->seq, offset, bytes);
	return true;
}

/* Write with immediate data; the receiver looks at it. */
static bool flow_write_imm(struct soak_flow *flow)
{
	struct soak_request *request;
	uint32_t bytes = flow_bytes(flow, flow->lent_bytes);
	char *at;

	if (flow->nwrs + 2 > FLOW_BATCH)
		return false;
	request = flow_one_sided(flow, IBV_WR_RDMA_WRITE, 0, bytes, &at);
	if (!request)
		return false;
	flow_number(flow, request);
	vqpt_pattern_fill(at, bytes, soak_seed_message(flow->worker->life, flow->id, request->seq));
	memcpy(flow->lent, at, bytes);
	flow_imm(flow, request->seq);
	flow_keep(flow, request->seq, 0, bytes);
	soak_count(SOAK_N_WRITE);
	flow_say(flow, SOAK_HELLO, 0, true);
	return true;
}

/* What is lent now is what the request has to bring. */
static void flow_expect(const struct soak_flow *flow, struct soak_request *request, uint32_t offset, char *at)
{
	memset(at, 0xdd, request->bytes);
	request->place = at;
	request->expected = malloc(request->bytes + 1);
	if (!request->expected)
		soak_wrong("no memory");
	memcpy(request->expected, flow->lent + offset, request->bytes);
}

static bool flow_read(struct soak_flow *flow)
{
	uint32_t bytes = flow_bytes(flow, flow->lent_bytes);
	uint32_t offset = soak_below(&flow->random, flow->lent_bytes - bytes + 1);
	struct soak_request *request;
	char *at;

	request = flow_one_sided(flow, IBV_WR_RDMA_READ, offset, bytes, &at);
	if (!request)
		return false;
	flow_expect(flow, request, offset, at);
	flow->reads++;
	soak_count(SOAK_N_READ);
	return true;
}

static bool flow_atomic(struct soak_flow *flow)
{
	int opcode = soak_below(&flow->random, 2) ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
	uint32_t offset = 8 * soak_below(&flow->random, flow->lent_bytes / 8);
	struct soak_request *request;
	uint64_t before, after;
	struct ibv_send_wr *wr;
	char *at;

	if (flow_is_looked_at(flow, offset, sizeof(before)))
		return false;
	request = flow_one_sided(flow, opcode, offset, sizeof(before), &at);
	if (!request)
		return false;
	flow_expect(flow, request, offset, at);
	memcpy(&before, flow->lent + offset, sizeof(before));
	wr = flow_last(flow);
	wr->wr.atomic.compare_add = soak_random(&flow->random);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		after = before + wr->wr.atomic.compare_add;
	} else {
		if (soak_below(&flow->random, 2))
			wr->wr.atomic.compare_add = before;
		wr->wr.atomic.swap = soak_random(&flow->random);
		after = wr->wr.atomic.compare_add == before ? wr->wr.atomic.swap : before;
	}
	memcpy(flow->lent + offset, &after, sizeof(after));
	soak_count(SOAK_N_ATOMIC);
	return true;
}

static bool flow_something(struct soak_flow *flow)
{
	uint32_t offset, bytes, dice = soak_below(&flow->random, 100);

	if (dice < 35 || !flow->lent_bytes)
		return dice % 5 ? flow_say_something(flow) : flow_say_little(flow);
	if (dice < 55)
		return flow_read(flow);
	if (dice < 65)
		return flow_atomic(flow);
	if (dice < 85 || flow->looked)
		return flow_write(flow, &offset, &bytes);
	if (dice < 93)
		return flow_write_and_look(flow);
	return flow_write_imm(flow);
}

/* ---- Posting ---- */

static void flow_posted(struct soak_flow *flow, uint32_t posted, uint32_t pending_before)
{
	uint32_t i;

	if (!pending_before)
		flow->moved_ns = soak_now_ns();
	for (i = 0; i < posted; i++) {
		struct ibv_send_wr *wr = &flow->wrs[i];

		soak_trace(&flow->trace, "posted: request, opcode and flags", wr->wr_id,
			   (uint64_t)wr->opcode * 100 + (uint64_t)wr->send_flags);
		/* What is sent inline was copied: it may change at once. */
		if (wr->send_flags & IBV_SEND_INLINE) {
			soak_count(SOAK_N_INLINE);
			if (wr->num_sge)
				memset((void *)(uintptr_t)wr->sg_list[0].addr, 0xee, wr->sg_list[0].length);
		}
	}
	soak_count(SOAK_N_POST);
}

/* The VQP has failed and takes no more. */
static void flow_retract(struct soak_flow *flow, uint32_t count)
{
	uint64_t i;

	for (i = flow->ledger.tail - count; i < flow->ledger.tail; i++)
		free(flow->ledger.requests[i % SOAK_DEPTH].expected);
	soak_ledger_retract(&flow->ledger, count);
	flow->failed = true;
}

static void flow_post(struct soak_flow *flow)
{
	uint32_t pending = soak_ledger_pending(&flow->ledger) - flow->nwrs, posted, i;
	struct ibv_send_wr *bad = NULL;
	int err;

	if (!flow->nwrs)
		return;
	for (i = 0; i + 1 < flow->nwrs; i++)
		flow->wrs[i].next = &flow->wrs[i + 1];
	/* The last one tells of all before. */
	flow_last(flow)->send_flags |= IBV_SEND_SIGNALED;
	flow->ledger.requests[(flow->ledger.tail - 1) % SOAK_DEPTH].signaled = true;
	err = ibv_post_send(flow->qp, flow->wrs, &bad);
	posted = err ? (uint32_t)(bad - flow->wrs) : flow->nwrs;
	flow_posted(flow, posted, pending);
	if (err && err != EIO && !soak_worker_doomed(flow->worker))
		soak_flow_wrong(flow, posted, "errno of post_send", 0, (uint64_t)err);
	if (err)
		flow_retract(flow, flow->nwrs - posted);
	flow->nwrs = 0;
}

/* ---- Its end ---- */

/* A request that the target must refuse. */
static void flow_provoke(struct soak_flow *flow)
{
	uint32_t dice = soak_below(&flow->random, 3), bytes = 1 + flow_bytes(flow, 100000);
	char *at;

	flow->end = SOAK_END_FAIL;
	if (dice && flow->lent_bytes) {
		if (!flow_one_sided(flow, dice == 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 0, bytes, &at))
			return;
		memset(at, 0xbb, bytes);
		if (soak_below(&flow->random, 2))
			flow_last(flow)->wr.rdma.rkey ^= 1;
		else
			flow_last(flow)->wr.rdma.remote_addr = 4096;
		flow->wanted = IBV_WC_REM_ACCESS_ERR;
	} else {
		/* Well formed: a receiver that is another by now may take it. */
		if (!flow_say(flow, SOAK_DATA, flow->recv_bytes + 1 - (uint32_t)sizeof(struct soak_message), false))
			return;
		flow->wanted = IBV_WC_REM_INV_REQ_ERR;
	}
	soak_trace(&flow->trace, "provoked: request, status", flow_last(flow)->wr_id, flow->wanted);
}

static void flow_begin_end(struct soak_flow *flow)
{
	uint32_t dice = soak_below(&flow->random, 10);

	if (!soak_shared->ending && !flow->dead_port && flow->recv_bytes) {
		if (dice < 2) {
			flow_provoke(flow);
			return;
		}
		if (dice < 4) {
			flow->end = SOAK_END_DROP;
			return;
		}
	}
	if (flow_say(flow, SOAK_BYE, 0, true))
		flow->end = SOAK_END_BYE;
}

bool soak_flow_step(struct soak_flow *flow)
{
	uint32_t n = 1 + soak_below(&flow->random, FLOW_BATCH);

	if (flow->failed || flow->end == SOAK_END_DROP || (flow->end == SOAK_END_FAIL && flow->wanted))
		return false;
	if (flow->asked && soak_now_ns() >= flow->ask_again_ns) {
		flow_say(flow, flow->end == SOAK_END_BYE ? SOAK_BYE : SOAK_HELLO, 0, true);
	} else if (flow->end == SOAK_END_FAIL) {
		flow_provoke(flow);
	} else if (flow->end == SOAK_END_BYE) {
		return false;
	} else if (soak_shared->ending || !flow->steps) {
		flow_begin_end(flow);
	} else {
		while (n-- && flow_something(flow))
			;
		flow->steps -= flow->nwrs > 0;
	}
	n = flow->nwrs;
	flow_post(flow);
	return n;
}

bool soak_flow_over(struct soak_flow *flow)
{
	if (flow->end == SOAK_END_DROP)
		return true;
	if (!soak_ledger_pending(&flow->ledger)) {
		if (flow->failed || flow->end == SOAK_END_FAIL || (flow->end == SOAK_END_BYE && !flow->asked))
			return true;
	} else if (soak_patience_over(flow->moved_ns)) {
		flow_late(flow, "request that never completes", flow->ledger.head);
	}
	if (flow->asked && !flow->failed && soak_patience_over(flow->asked_ns))
		flow_late(flow, "no answer; messages that arrived before", flow->next);
	return false;
}

/* ---- Completions ---- */

static void flow_check_fetched(struct soak_flow *flow, struct soak_request *request)
{
	const char *place = request->place, *expected = request->expected;
	uint32_t first, end = request->bytes;

	if (!memcmp(place, expected, request->bytes))
		return;
	for (first = 0; place[first] == expected[first]; first++)
		;
	while (place[end - 1] == expected[end - 1])
		end--;
	soak_trace(&flow->trace, "fetched wrong: request, bytes", request->id, request->bytes);
	soak_trace(&flow->trace, "fetched wrong: from byte, before byte", first, end);
	soak_flow_wrong(flow, first, "byte that was fetched", (uint8_t)expected[first], (uint8_t)place[first]);
}

static void flow_finish(struct soak_flow *flow, struct soak_request *request)
{
	bool ok = !flow->ledger.failed;

	flow->ring_tail = request->ring_end;
	if (ok && flow->dead_port)
		soak_flow_wrong(flow, request->seq, "success where nobody is", 0, 0);
	if (ok && request->message)
		flow->completed = request->seq + 1;
	if (request->expected) {
		if (ok && !flow->wanted)
			flow_check_fetched(flow, request);
		flow->reads -= request->opcode == IBV_WR_RDMA_READ;
		free(request->expected);
		request->expected = NULL;
	}
	if (ok)
		atomic_fetch_add_explicit(&soak_shared->bytes, request->bytes, memory_order_relaxed);
}

void soak_flow_complete(struct soak_flow *flow, const struct ibv_wc *wc)
{
	struct soak_request *request;
	const char *wrong;

	if (flow->gone)
		return;
	soak_trace(&flow->trace, "completed: request, status", wc->wr_id, wc->status);
	soak_count(SOAK_N_COMPLETION);
	wrong = soak_ledger_check(&flow->ledger, wc->wr_id, wc->status, wc->opcode);
	if (wrong)
		soak_flow_wrong(flow, flow->completed, wrong, flow->ledger.head, wc->wr_id);
	while ((request = soak_ledger_take(&flow->ledger, wc->wr_id, wc->status)))
		flow_finish(flow, request);
	flow->moved_ns = soak_now_ns();
	if (wc->status != IBV_WC_SUCCESS) {
		flow->failed = true;
		atomic_fetch_add(&soak_shared->failures[wc->status % SOAK_STATUSES], 1);
	}
}

bool soak_flow_receive(struct soak_flow *flow, uint32_t index)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)flow_answer(flow, index), .length = sizeof(struct soak_answer),
		.lkey = flow->memory.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = index, .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(flow->qp, &wr, &bad);

	if (err == EIO)
		flow->failed = true;
	else if (err && !soak_worker_doomed(flow->worker))
		soak_flow_wrong(flow, index, "errno of post_recv", 0, (uint64_t)err);
	return !err;
}

static void flow_learn(struct soak_flow *flow, const struct soak_answer *a)
{
	if (flow->life && flow->life != a->life) {
		/* What it has lent went with its earlier life. */
		flow->earlier_life = flow->life;
		flow->lent_bytes = 0;
		flow->looked = 0;
		flow->recv_bytes = a->recv_bytes;
	} else if (!flow->life) {
		flow->recv_bytes = a->recv_bytes;
		flow->lent_addr = a->lent_addr;
		flow->lent_key = a->lent_key;
		flow->lent_bytes = a->lent_bytes;
		soak_trace(&flow->trace, "lent: address, bytes", a->lent_addr, a->lent_bytes);
		flow->lent = calloc(1, a->lent_bytes + 1);
		if (!flow->lent)
			soak_wrong("no memory");
	}
	flow->life = a->life;
	flow->storms = a->storms + soak_shared->storms;
	flow->boxes = a->boxes;
	flow->via = a->via;
	flow->number = a->number;
	flow->next = a->next;
	if (a->next > flow->looked)
		flow->looked = 0;
	if (a->next > flow->asked)
		flow->asked = 0;
}

/* Consecutive for each VQP that answers; never of what was not said, nor less than before. */
static void flow_check_answer(struct soak_flow *flow, const struct ibv_wc *wc, const struct soak_answer *a)
{
	bool same = flow->life == a->life && flow->via == a->via;
	uint32_t number = same ? flow->number + 1 : 1;

	if (wc->opcode != IBV_WC_RECV || wc->wc_flags || wc->byte_len != sizeof(*a) || a->magic != SOAK_MAGIC)
		soak_flow_wrong(flow, a->magic, "bytes of an answer", sizeof(*a), wc->byte_len);
	if (wc->wr_id != flow->answers % FLOW_ANSWERS)
		soak_flow_wrong(flow, 0, "receive in its turn", flow->answers % FLOW_ANSWERS, wc->wr_id);
	if (a->flow != flow->id)
		soak_flow_wrong(flow, a->next, "answer to the flow", flow->id, a->flow);
	if (a->number != number)
		soak_flow_wrong(flow, a->next, "number of an answer", number, a->number);
	if (a->next > flow->seq || (flow->life == a->life && a->next < flow->next))
		soak_flow_wrong(flow, a->next, "messages that arrived", flow->seq, a->next);
}

const struct soak_answer *soak_flow_answered(struct soak_flow *flow, const struct ibv_wc *wc)
{
	const struct soak_answer *a = flow_answer(flow, wc->wr_id % FLOW_ANSWERS);

	if (flow->gone)
		return NULL;
	if (wc->status != IBV_WC_SUCCESS) {
		soak_trace(&flow->trace, "receive failed: index, status", wc->wr_id, wc->status);
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			soak_flow_wrong(flow, 0, "status of a receive", IBV_WC_WR_FLUSH_ERR, wc->status);
		flow->failed = true;
		return NULL;
	}
	soak_trace(&flow->trace, "answer: number, next", a->number, a->next);
	/* What an earlier life said may come late. */
	if (a->life != flow->earlier_life) {
		flow_check_answer(flow, wc, a);
		flow_learn(flow, a);
	}
	flow->answers++;
	flow->moved_ns = soak_now_ns();
	return a;
}

/* ---- Beginning and end ---- */

static bool flow_make_qp(struct soak_flow *flow, struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = send_cq, .recv_cq = recv_cq,
		.cap = {
			.max_send_wr = SOAK_DEPTH, .max_recv_wr = FLOW_ANSWERS,
			.max_send_sge = VQP_MAX_SGE, .max_recv_sge = 1, .max_inline_data = VQP_MAX_INLINE_BYTES,
		},
		.qp_type = VQP_QPT_VQP,
	};
	uint32_t i;

	flow->qp = vqp_create_qp(vqp_pd(flow->worker->context), &attr);
	if (!flow->qp) {
		if (!soak_worker_doomed(flow->worker))
			soak_flow_wrong(flow, 0, "errno of create_qp", 0, (uint64_t)errno);
		return false;
	}
	flow->qp_num = flow->qp->qp_num;
	for (i = 0; i < FLOW_ANSWERS; i++)
		if (!soak_flow_receive(flow, i))
			return false;
	return true;
}

/* What cannot be reached must be reachable before long, unless nobody is there. */
static bool flow_connect(struct soak_flow *flow)
{
	struct soak_target *target = flow->target;
	uint16_t port = flow->dead_port ? SOAK_DEAD_PORT : SOAK_PORT;
	int err = vqp_connect_addr(flow->qp, target->address, port);

	soak_trace(&flow->trace, "connected: errno, port", (uint64_t)-err, port);
	if (!err) {
		if (!target->worker)
			soak_flow_wrong(flow, 0, "connected to nobody", EHOSTUNREACH, 0);
		target->unreached_ns = 0;
		return true;
	}
	if (soak_worker_doomed(flow->worker))
		return false;
	soak_count(SOAK_N_UNREACHED);
	if (err != -EHOSTUNREACH && err != -ETIMEDOUT && err != -ENETDOWN)
		soak_flow_wrong(flow, 0, "errno of connect", 0, (uint64_t)-err);
	if (!target->unreached_ns)
		target->unreached_ns = soak_now_ns();
	if (target->worker && soak_patience_over(target->unreached_ns))
		flow_late(flow, "never reached; errno of connect", (uint64_t)-err);
	return false;
}

struct soak_flow *soak_flow_open(struct soak_worker *worker, struct soak_target *target, uint32_t id, uint64_t random,
				 struct ibv_cq *send_cq, struct ibv_cq *recv_cq, uint32_t audit)
{
	struct soak_flow *flow = calloc(1, sizeof(*flow));
	struct soak_message *hello;

	if (!flow)
		soak_wrong("no memory");
	flow->worker = worker;
	flow->target = target;
	flow->id = id;
	flow->random = random;
	flow->seq = flow->completed = 1;
	flow->steps = 1 + soak_below(&flow->random, 60);
	flow->dead_port = target->worker && !soak_below(&flow->random, 25);
	if (flow->dead_port)
		flow->wanted = IBV_WC_REM_INV_REQ_ERR;
	soak_ledger_init(&flow->ledger);
	if (soak_memory_get(worker, &flow->memory, FLOW_RING_BYTES + FLOW_ANSWERS * sizeof(struct soak_answer),
			    soak_below(&flow->random, 2)) &&
	    flow_make_qp(flow, send_cq, recv_cq) && flow_connect(flow)) {
		hello = flow_say(flow, SOAK_HELLO, 0, true);
		if (!hello)
			soak_wrong("no room for a flow's first message");
		hello->audit_flow = audit;
		flow_post(flow);
		soak_count(SOAK_N_FLOW);
		return flow;
	}
	soak_flow_destroy(flow);
	soak_flow_free(flow);
	return NULL;
}

bool soak_flow_destroy(struct soak_flow *flow)
{
	int err = flow->qp ? vqp_destroy_qp(flow->qp) : 0;

	flow->gone = true;
	if (err && !soak_worker_doomed(flow->worker))
		soak_flow_wrong(flow, 0, "errno of destroy_qp", 0, (uint64_t)-err);
	return !err;
}

void soak_flow_free(struct soak_flow *flow)
{
	uint64_t i;

	for (i = flow->ledger.head; i < flow->ledger.tail; i++)
		free(flow->ledger.requests[i % SOAK_DEPTH].expected);
	soak_memory_put(flow->worker, &flow->memory);
	free(flow->lent);
	free(flow);
}
