// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The soak's judge: what it must let pass, and that it sees each kind of wrong. */
#include <infiniband/verbs.h>
#include "../../unit/unit.h"
#include "model.h"

static struct soak_ledger posted(const char *signals)
{
	struct soak_ledger ledger;

	soak_ledger_init(&ledger);
	for (; *signals; signals++) {
		struct soak_request *request = soak_ledger_add(&ledger);

		request->opcode = IBV_WR_SEND;
		request->signaled = *signals == 's';
	}
	return ledger;
}

/* A completion, and all it ends taken off; NULL if it is right. */
static const char *complete(struct soak_ledger *ledger, uint64_t id, uint32_t status)
{
	const char *wrong = soak_ledger_check(ledger, id, status, IBV_WC_SEND);

	while (!wrong && soak_ledger_take(ledger, id, status))
		;
	return wrong;
}

static void ledger_in_order(void **state)
{
	struct soak_ledger ledger = posted("susuus");

	(void)state;
	assert_null(complete(&ledger, 1, IBV_WC_SUCCESS));
	assert_null(complete(&ledger, 3, IBV_WC_SUCCESS));
	assert_int_equal(soak_ledger_pending(&ledger), 3);
	assert_null(complete(&ledger, 6, IBV_WC_SUCCESS));
	assert_int_equal(soak_ledger_pending(&ledger), 0);
}

static void ledger_sees_wrong_completions(void **state)
{
	struct soak_ledger ledger = posted("ssus");

	(void)state;
	assert_non_null(complete(&ledger, 2, IBV_WC_SUCCESS));		/* not the oldest */
	assert_null(complete(&ledger, 1, IBV_WC_SUCCESS));
	assert_non_null(complete(&ledger, 1, IBV_WC_SUCCESS));		/* twice */
	assert_null(complete(&ledger, 2, IBV_WC_SUCCESS));
	assert_non_null(complete(&ledger, 3, IBV_WC_SUCCESS));		/* unsignaled */
	assert_non_null(complete(&ledger, 5, IBV_WC_SUCCESS));		/* never posted */
	assert_non_null(soak_ledger_check(&ledger, 4, IBV_WC_SUCCESS, IBV_WC_RDMA_READ));
	assert_non_null(soak_ledger_check(&ledger, 4, IBV_WC_SUCCESS, IBV_WC_FETCH_ADD));
	assert_null(complete(&ledger, 4, IBV_WC_SUCCESS));
}

static void ledger_flushes_after_a_failure(void **state)
{
	struct soak_ledger ledger = posted("uussu");

	(void)state;
	assert_null(complete(&ledger, 2, IBV_WC_RETRY_EXC_ERR));
	assert_int_equal(ledger.failed, IBV_WC_RETRY_EXC_ERR);
	assert_non_null(complete(&ledger, 3, IBV_WC_SUCCESS));
	assert_non_null(complete(&ledger, 4, IBV_WC_WR_FLUSH_ERR));	/* 3 is not yet flushed */
	assert_null(complete(&ledger, 3, IBV_WC_WR_FLUSH_ERR));
	assert_null(complete(&ledger, 4, IBV_WC_WR_FLUSH_ERR));
	assert_null(complete(&ledger, 5, IBV_WC_WR_FLUSH_ERR));
}

static void ledger_retracts(void **state)
{
	struct soak_ledger ledger = posted("sss");

	(void)state;
	soak_ledger_retract(&ledger, 2);
	assert_null(complete(&ledger, 1, IBV_WC_SUCCESS));
	assert_int_equal(soak_ledger_add(&ledger)->id, 2);
}

static void inbox_wants_each_message_once(void **state)
{
	struct soak_inbox inbox = { 0 };
	uint32_t lost = 0;

	(void)state;
	assert_null(soak_inbox_take(&inbox, 7, &lost));			/* a new receiver: from any one on */
	assert_null(soak_inbox_take(&inbox, 8, &lost));
	assert_non_null(soak_inbox_take(&inbox, 8, &lost));
	assert_non_null(soak_inbox_take(&inbox, 5, &lost));
	assert_non_null(soak_inbox_take(&inbox, 10, &lost));
	lost = 3;
	assert_null(soak_inbox_take(&inbox, 10, &lost));
	assert_int_equal(lost, 2);
}

static void failures_need_a_reason(void **state)
{
	const struct soak_facts calm = { 5, 5, 1, 1, 2, 2, false };
	const struct soak_facts other = { 5, 6, 1, 2, 2, 2, false }, killed = { 5, 6, 1, 1, 2, 2, false };
	const struct soak_facts unknown = { 0, 6, 0, 2, 2, 2, false };
	const struct soak_facts storm = { 5, 5, 1, 1, 2, 3, false }, storming = { 5, 5, 1, 1, 2, 2, true };

	(void)state;
	assert_non_null(soak_judge_failure(IBV_WC_RETRY_EXC_ERR, 0, &calm));
	assert_null(soak_judge_failure(IBV_WC_RETRY_EXC_ERR, 0, &other));
	assert_non_null(soak_judge_failure(IBV_WC_RETRY_EXC_ERR, 0, &killed));
	assert_null(soak_judge_failure(IBV_WC_REM_INV_REQ_ERR, 0, &killed));
	assert_null(soak_judge_failure(IBV_WC_RETRY_EXC_ERR, 0, &unknown));
	assert_null(soak_judge_failure(IBV_WC_RETRY_EXC_ERR, 0, &storm));
	assert_null(soak_judge_failure(IBV_WC_RETRY_EXC_ERR, 0, &storming));
	assert_non_null(soak_judge_failure(IBV_WC_REM_ACCESS_ERR, 0, &storming));
	assert_null(soak_judge_failure(IBV_WC_REM_ACCESS_ERR, 0, &other));
	assert_null(soak_judge_failure(IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, &calm));
	assert_non_null(soak_judge_failure(IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, &storm));
	assert_null(soak_judge_failure(IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, &other));
	assert_null(soak_judge_failure(IBV_WC_SUCCESS, 0, &calm));
	assert_non_null(soak_judge_failure(IBV_WC_LOC_PROT_ERR, 0, &other));
	assert_non_null(soak_judge_failure(IBV_WC_WR_FLUSH_ERR, 0, &other));
}

static void audit_bounds(void **state)
{
	(void)state;
	assert_null(soak_judge_audit(4, 4, 9));
	assert_null(soak_judge_audit(9, 4, 9));
	assert_non_null(soak_judge_audit(3, 4, 9));
	assert_non_null(soak_judge_audit(10, 4, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ledger_in_order),
		cmocka_unit_test(ledger_sees_wrong_completions),
		cmocka_unit_test(ledger_flushes_after_a_failure),
		cmocka_unit_test(ledger_retracts),
		cmocka_unit_test(inbox_wants_each_message_once),
		cmocka_unit_test(failures_need_a_reason),
		cmocka_unit_test(audit_bounds),
	};

	return cmocka_run_group_tests_name("soak model", tests, NULL, NULL);
}
