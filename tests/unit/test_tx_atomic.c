// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomics: each counts once, whatever is lost. */
#include "tx_flow.h"

static void an_atomic_is_one_packet(void **state)
{
	struct vqp_msg msg = message(VQP_OP_CMP_SWP, VQP_ATOMIC_BYTES);
	const struct sent *sent;

	(void)state;
	msg.compare_add = 1;
	msg.swap = 2;
	post(&msg);
	sent = next_sent();
	assert_int_equal(sent->pkt.op, VQP_OP_CMP_SWP);
	assert_int_equal(sent->pkt.psn, PSN(0));
	assert_int_equal(sent->pkt.addr, 0x10000);
	assert_int_equal(sent->pkt.rkey, 5);
	assert_int_equal(sent->pkt.compare_add, 1);
	assert_int_equal(sent->pkt.swap, 2);
	assert_int_equal(sent->bytes, 0);
	expect_silence();
}

static void an_atomic_completes_with_what_was_there(void **state)
{
	struct vqp_msg msg = fetch_add();
	const u64 before = 0x0102030405060708;

	(void)state;
	post(&msg);
	ack(PSN(1));
	assert_int_equal(env.ndone, 0);
	found(PSN(0), before);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	assert_memory_equal(env.memory, &before, sizeof(before));
}

static void an_atomic_whose_answer_is_lost_is_asked_for_again(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	post(&next);
	ack(PSN(2));
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_FETCH_ADD);
	assert_int_equal(env.sent[env.seen].pkt.compare_add, 7);
	expect_psn(PSN(0));
	found(PSN(0), 1);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	expect_done(1, &next, VQP_WC_SUCCESS);
}

/* The target remembers what the last few found: another may only push out what is known here. */
static void atomics_wait_for_the_oldest_answer(void **state)
{
	struct vqp_msg msgs[VQP_READ_CHUNKS + 2];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		msgs[i] = fetch_add();
		post(&msgs[i]);
	}
	assert_int_equal(env.nsent, VQP_READ_CHUNKS);
	for (u32 i = 1; i < VQP_READ_CHUNKS; i++)
		found(PSN(i), i);
	for (u32 i = VQP_READ_CHUNKS; i < env.nsent; i++)
		assert_int_equal(env.sent[i].pkt.psn, PSN(0));
	env.seen = env.nsent;
	found(PSN(0), 0);
	expect_psn(PSN(VQP_READ_CHUNKS));
	expect_psn(PSN(VQP_READ_CHUNKS + 1));
	expect_silence();
	assert_int_equal(env.ndone, VQP_READ_CHUNKS);
}

static void atomics_that_are_sent_again_do_not_wait_for_themselves(void **state)
{
	struct vqp_msg msgs[VQP_READ_CHUNKS];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		msgs[i] = fetch_add();
		post(&msgs[i]);
	}
	env.seen = env.nsent;
	wait_for_packet();
	env.seen = env.nsent;
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(env.nsent, env.seen + VQP_READ_CHUNKS);
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++)
		found(PSN(i), i);
	assert_int_equal(env.ndone, VQP_READ_CHUNKS);
}

static void atomics_without_room_count_once(void **state)
{
	struct vqp_msg msgs[VQP_READ_CHUNKS];

	(void)state;
	env.room = 0;
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		msgs[i] = fetch_add();
		post(&msgs[i]);
		vqp_tx_run(&env.tx, env.now);
	}
	env.room = ~0U;
	vqp_tx_run(&env.tx, env.now);
	assert_int_equal(env.nsent, VQP_READ_CHUNKS);
}

/* What it found only the old target knows. */
static void an_atomic_whose_target_has_changed_fails(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	ack(PSN(1));
	post(&next);
	env.seen = env.nsent;
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(next_sent()->pkt.op, VQP_OP_FETCH_ADD);
	ack(PSN(2));
	nak(VQP_NAK_OP, PSN(0));
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &next, VQP_WC_WR_FLUSH_ERR);
}

static void a_late_refusal_of_a_finished_atomic_is_ignored(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	found(PSN(0), 0);
	post(&next);
	nak(VQP_NAK_OP, PSN(0));
	ack(PSN(2));
	expect_done(1, &next, VQP_WC_SUCCESS);
}

static void a_forgotten_flow_does_not_repeat_an_atomic(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	ack(PSN(1));			/* it was carried out; what it found is lost */
	post(&next);
	nak(VQP_NAK_NO_FLOW, 0);
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &next, VQP_WC_WR_FLUSH_ERR);
}

static void a_refused_atomic_fails(void **state)
{
	struct vqp_msg msg = fetch_add();

	(void)state;
	post(&msg);
	nak(VQP_NAK_INV_REQ, PSN(0));
	expect_done(0, &msg, VQP_WC_REM_INV_REQ_ERR);
}

static void what_an_atomic_found_has_eight_bytes(void **state)
{
	struct vqp_msg msg = fetch_add();

	(void)state;
	post(&msg);
	respond(PSN(0), 0, 4);
	respond(PSN(0), 0, 16);
	respond(PSN(0), PAYLOAD, VQP_ATOMIC_BYTES);
	assert_int_equal(env.nplaced, 0);
	found(PSN(0), 0);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_fence_waits_for_earlier_atomics(void **state)
{
	struct vqp_msg atomic = fetch_add(), send = message(VQP_OP_SEND, 10);

	(void)state;
	send.fence = true;
	post(&atomic);
	post(&send);
	ack(PSN(1));
	assert_int_equal(env.nsent, 1);
	found(PSN(0), 0);
	assert_int_equal(env.nsent, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_atomic_is_one_packet),
		TEST(an_atomic_completes_with_what_was_there),
		TEST(an_atomic_whose_answer_is_lost_is_asked_for_again),
		TEST(atomics_wait_for_the_oldest_answer),
		TEST(atomics_that_are_sent_again_do_not_wait_for_themselves),
		TEST(atomics_without_room_count_once),
		TEST(an_atomic_whose_target_has_changed_fails),
		TEST(a_late_refusal_of_a_finished_atomic_is_ignored),
		TEST(a_forgotten_flow_does_not_repeat_an_atomic),
		TEST(a_refused_atomic_fails),
		TEST(what_an_atomic_found_has_eight_bytes),
		TEST(a_fence_waits_for_earlier_atomics),
	};

	return cmocka_run_group_tests_name("tx_atomic", tests, NULL, NULL);
}
