/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One flow: a VQP that is connected to a worker, and what it has done there. send.c's and flow.c's. */
#ifndef SOAK_FLOW_H
#define SOAK_FLOW_H

#include <linux/vqp.h>
#include "soak.h"

#define FLOW_BATCH	16		/* requests of one post */
#define FLOW_ANSWERS	16		/* receives for answers */
#define FLOW_RING_BYTES	(3U << 20)	/* room for what requests send and fetch */

/* A flow that failed or was dropped, until its target can be asked why, and what came of it. */
struct soak_case {
	uint32_t flow;			/* 0: none */
	bool judged;			/* its end had a reason */
	uint32_t status, wanted;
	uint64_t life, storms;
	uint32_t boxes, completed, posted;
	uint64_t ns;
	struct soak_trace trace;
};

#define SOAK_CASES	8

/* A worker that flows go to, as far as it is known. */
struct soak_target {
	uint32_t node, worker;
	char address[32];
	uint64_t unreached_ns;		/* since when connecting fails; or 0 */
	struct soak_case cases[SOAK_CASES];
	uint32_t ncases;
};

enum soak_end {
	SOAK_END_NONE,
	SOAK_END_BYE,			/* say so, and wait for the answer */
	SOAK_END_FAIL,			/* provoke a failure */
	SOAK_END_DROP,			/* destroy it with all that is under way */
};

struct soak_flow {
	struct soak_worker *worker;
	struct soak_target *target;
	uint32_t id;
	uint64_t random;
	struct ibv_qp *qp;
	uint32_t qp_num;		/* remains when the VQP is destroyed */
	struct soak_memory memory;	/* the ring, then the answers */
	uint64_t ring_head, ring_tail;
	struct soak_ledger ledger;
	uint32_t steps;			/* posts until it ends */
	enum soak_end end;
	uint32_t wanted;		/* the status that was provoked, or 0 */
	bool dead_port;			/* nobody is there */
	bool failed, gone;		/* it takes no more requests; it is destroyed */
	uint64_t moved_ns;		/* something completed or was answered, or began to be awaited */

	uint32_t seq, completed;	/* messages: the next one's number; those before have completed */
	uint32_t answers;		/* receives that completed */
	uint64_t via;
	uint32_t number, next;		/* of the last answer */
	uint32_t asked;			/* the last message that wants an answer; 0: all are answered */
	uint64_t asked_ns, ask_again_ns;

	uint64_t life, storms;		/* the target's; both nodes' */
	uint32_t boxes;			/* the target's */
	uint64_t earlier_life;		/* the target has had another life before; or 0 */
	uint32_t recv_bytes;
	uint64_t lent_addr;
	uint32_t lent_key, lent_bytes;
	char *lent;			/* what must be there */
	uint32_t writes, reads;		/* the last one's number; those under way */
	uint32_t looked;		/* until this message is answered, this memory must stay; or 0 */
	uint32_t look_offset, look_bytes;

	struct ibv_send_wr wrs[FLOW_BATCH];
	struct ibv_sge sges[FLOW_BATCH][VQP_MAX_SGE];
	uint32_t nwrs;
	struct soak_trace trace;
};

/* NULL: the target is not to be reached at present, or the worker is doomed. `audit`: a flow to ask about, or 0. */
struct soak_flow *soak_flow_open(struct soak_worker *worker, struct soak_target *target, uint32_t id, uint64_t random,
				 struct ibv_cq *send_cq, struct ibv_cq *recv_cq, uint32_t audit);

/* Post something. False: there is no room, or nothing more to do. */
bool soak_flow_step(struct soak_flow *flow);

/* Post a receive for an answer, or post it anew. False: the VQP has failed. */
bool soak_flow_receive(struct soak_flow *flow, uint32_t index);

/* Completions; soak_flow_answered() gives the answer, or NULL. */
void soak_flow_complete(struct soak_flow *flow, const struct ibv_wc *wc);
const struct soak_answer *soak_flow_answered(struct soak_flow *flow, const struct ibv_wc *wc);

/* It has come to its end, and can be closed. Sees to what takes too long. */
bool soak_flow_over(struct soak_flow *flow);

/* Destroy its VQP: false if the worker is doomed. What it has completed is still to be polled; then it is freed. */
bool soak_flow_destroy(struct soak_flow *flow);
void soak_flow_free(struct soak_flow *flow);

void soak_flow_wrong(const struct soak_flow *flow, uint32_t seq, const char *what, uint64_t expected, uint64_t got)
	__attribute__((noreturn));

#endif
