/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What must hold, whatever is killed. No I/O: tests/programs/soak/test_model.c tries it.
 *
 * Functions that judge return NULL, or a text that says what is wrong.
 */
#ifndef SOAK_MODEL_H
#define SOAK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define SOAK_DEPTH	64		/* requests of one VQP under way; a power of two */

/* A send request. */
struct soak_request {
	uint64_t id;			/* wr_id: consecutive for each ledger, from 1 */
	int opcode;			/* enum ibv_wr_opcode */
	bool signaled;
	bool message;			/* takes a receive of the peer's */
	uint32_t seq;			/* message: its number in the flow */
	uint32_t bytes;
	uint64_t ring_end;		/* its memory reaches up to here */
	void *place, *expected;		/* READ: where the bytes arrive; a copy of what they must be */
};

/*
 * The requests of one VQP that are under way, oldest first. Each ends once and
 * in order; with a completion if it is signaled or has failed; after the first
 * failure all that follow are flushed.
 */
struct soak_ledger {
	struct soak_request requests[SOAK_DEPTH];
	uint64_t head, tail;		/* ids: [head, tail) are under way */
	uint32_t failed;		/* status of the first failure, or 0 */
};

void soak_ledger_init(struct soak_ledger *ledger);
uint32_t soak_ledger_pending(const struct soak_ledger *ledger);

/* The next request, with its id filled in; the caller sees to it that there is room. */
struct soak_request *soak_ledger_add(struct soak_ledger *ledger);

/* The last `count` requests were not taken. */
void soak_ledger_retract(struct soak_ledger *ledger, uint32_t count);

/* A completion: requests up to it are over. They are soak_ledger_take()n next. */
const char *soak_ledger_check(const struct soak_ledger *ledger, uint64_t id, uint32_t status, int wc_opcode);

/* Take the oldest request off, the completed one with its status. All before it were successful, or flushed. */
struct soak_request *soak_ledger_take(struct soak_ledger *ledger, uint64_t completed_id, uint32_t status);

/* What a receiver has seen of a flow: consecutive messages, from any one on. */
struct soak_inbox {
	uint64_t life;			/* of the sending process */
	uint32_t flow;
	uint32_t next;			/* the number that comes next; 0: none came so far */
};

/*
 * A message came. `lost` is how many of unknown flows came before, which may
 * have been this one's; what is used of it is taken off.
 */
const char *soak_inbox_take(struct soak_inbox *inbox, uint32_t seq, uint32_t *lost);

/* What a sender knows when it learns more about a target with which a flow failed, or does not answer. */
struct soak_facts {
	uint64_t life_then, life_now;	/* of the target's bound VQP; 0: not known */
	uint32_t boxes_then, boxes_now;	/* network namespaces it has had */
	uint64_t storms_then, storms_now;	/* disturbances of either node that began or ended */
	bool storming;			/* one is going on, or just over */
};

/*
 * May a flow have ended with this status (enum ibv_wc_status; of its first
 * failure)? `wanted` is one that the sender provoked, or 0.
 */
const char *soak_judge_failure(uint32_t status, uint32_t wanted, const struct soak_facts *facts);

/*
 * The target says which message of a flow it expects next. The sender knows
 * that all before `completed` were taken, and has posted those before `posted`.
 */
const char *soak_judge_audit(uint32_t next, uint32_t completed, uint32_t posted);

#endif
