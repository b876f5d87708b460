// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stddef.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "model.h"

/* ---- Requests ---- */

static struct soak_request *ledger_at(const struct soak_ledger *ledger, uint64_t id)
{
	return (struct soak_request *)&ledger->requests[id % SOAK_DEPTH];
}

void soak_ledger_init(struct soak_ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->head = ledger->tail = 1;
}

uint32_t soak_ledger_pending(const struct soak_ledger *ledger)
{
	return (uint32_t)(ledger->tail - ledger->head);
}

struct soak_request *soak_ledger_add(struct soak_ledger *ledger)
{
	struct soak_request *request = ledger_at(ledger, ledger->tail);

	*request = (struct soak_request) { .id = ledger->tail++ };
	return request;
}

void soak_ledger_retract(struct soak_ledger *ledger, uint32_t count)
{
	ledger->tail -= count;
}

static int ledger_wc_opcode(int opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	}
	return IBV_WC_SEND;
}

const char *soak_ledger_check(const struct soak_ledger *ledger, uint64_t id, uint32_t status, int wc_opcode)
{
	uint64_t i;

	if (id < ledger->head)
		return "a request completed twice";
	if (id >= ledger->tail)
		return "a request completed that was never posted";
	if (status == IBV_WC_SUCCESS && !ledger_at(ledger, id)->signaled)
		return "an unsignaled request completed";
	if (status == IBV_WC_SUCCESS && wc_opcode != ledger_wc_opcode(ledger_at(ledger, id)->opcode))
		return "a completion has another request's opcode";
	for (i = ledger->head; i < id; i++)
		if (ledger_at(ledger, i)->signaled || ledger->failed)
			return "a request completed before an earlier one";
	if (ledger->failed && status != IBV_WC_WR_FLUSH_ERR)
		return "after a failure a request was not flushed";
	return NULL;
}

struct soak_request *soak_ledger_take(struct soak_ledger *ledger, uint64_t completed_id, uint32_t status)
{
	if (ledger->head > completed_id)
		return NULL;
	if (ledger->head == completed_id && !ledger->failed)
		ledger->failed = status;
	return ledger_at(ledger, ledger->head++);
}

/* ---- Messages ---- */

const char *soak_inbox_take(struct soak_inbox *inbox, uint32_t seq, uint32_t *lost)
{
	uint32_t gap;

	if (!inbox->next)
		inbox->next = seq;
	if (seq < inbox->next)
		return "a message came twice, or late";
	gap = seq - inbox->next;
	if (gap > *lost)
		return "a message is missing";
	*lost -= gap;
	inbox->next = seq + 1;
	return NULL;
}

/* ---- Failures ---- */

const char *soak_judge_failure(uint32_t status, uint32_t wanted, const struct soak_facts *facts)
{
	if (status == wanted)
		return NULL;
	switch (status) {
	case IBV_WC_SUCCESS:
		if (wanted && facts->life_then && facts->life_then == facts->life_now)
			return "the target did what it had to refuse";
		return NULL;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_OP_ERR:
		if (facts->life_then && facts->life_then == facts->life_now)
			return "the target refused, although it is what it was";
		return NULL;
	case IBV_WC_RETRY_EXC_ERR:
		/* Where a process was killed, its node goes on to answer. */
		if (facts->life_then && facts->boxes_then == facts->boxes_now && !facts->storming &&
		    facts->storms_then == facts->storms_now)
			return "a target was given up, although nothing disturbed the way to it";
		return NULL;
	}
	return "a request failed with a status that nothing explains";
}

const char *soak_judge_audit(uint32_t next, uint32_t completed, uint32_t posted)
{
	if (next < completed)
		return "a message that completed has not arrived";
	if (next > posted)
		return "a message arrived that was not sent";
	return NULL;
}
