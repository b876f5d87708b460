// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READs: chunks, answers, and those that are lost. */
#include "tx_flow.h"

static void a_read_asks_for_chunks(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, CHUNK + 10);
	const struct sent *sent;

	(void)state;
	post(&msg);
	sent = next_sent();
	assert_int_equal(sent->pkt.op, VQP_OP_READ);
	assert_int_equal(sent->pkt.psn, PSN(0));
	assert_int_equal(sent->pkt.addr, 0x10000);
	assert_int_equal(sent->pkt.msg_bytes, CHUNK);
	assert_int_equal(sent->bytes, 0);
	sent = next_sent();
	assert_int_equal(sent->pkt.psn, PSN(1));
	assert_int_equal(sent->pkt.addr, 0x10000 + CHUNK);
	assert_int_equal(sent->pkt.msg_bytes, 10);
	expect_silence();
}

static void a_read_completes_with_its_last_byte(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * PAYLOAD + 50);

	(void)state;
	post(&msg);
	respond(PSN(0), 0, PAYLOAD);
	respond(PSN(0), 2 * PAYLOAD, 50);
	assert_int_equal(env.ndone, 0);
	respond(PSN(0), PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	for (u32 i = 0; i < 250; i++)
		assert_int_equal(env.memory[i], (u8)(PSN(0) + i / PAYLOAD));
}

static void an_empty_read_completes_with_its_answer(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 0);

	(void)state;
	post(&msg);
	ack(PSN(1));
	assert_int_equal(env.ndone, 0);
	respond(PSN(0), 0, 0);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	assert_int_equal(env.nplaced, 0);
}

static void a_read_asks_for_no_more_than_the_window(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, CHUNK);

	(void)state;
	set_window(4);
	post(&msg);
	assert_int_equal(next_sent()->pkt.msg_bytes, 4 * PAYLOAD);
	expect_silence();
	respond(PSN(0), 0, PAYLOAD);
	assert_int_equal(env.sent[env.seen].pkt.offset, 4 * PAYLOAD);
	assert_int_equal(env.sent[env.seen].pkt.msg_bytes, PAYLOAD);
	expect_psn(PSN(0));
	expect_silence();
}

static void a_marked_answer_cuts_the_window(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, CHUNK);

	(void)state;
	post(&msg);
	input((struct vqp_pkt) {
		.op = VQP_OP_READ_RESP, .psn = PSN(0), .payload = env.source, .payload_bytes = PAYLOAD,
		.ce = true,
	});
	assert_int_equal(window(), 16);
}

static void at_most_four_chunks_are_outstanding(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 6 * CHUNK);

	(void)state;
	set_window(VQP_READ_CHUNKS * VQP_READ_CHUNK_PACKETS);
	post(&msg);
	assert_int_equal(env.nsent, VQP_READ_CHUNKS);
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	assert_int_equal(env.nsent, VQP_READ_CHUNKS + 1);
}

static void an_answer_acknowledges_what_was_before(void **state)
{
	struct vqp_msg write = message(VQP_OP_WRITE, 1), read = message(VQP_OP_READ, 2 * PAYLOAD);

	(void)state;
	post(&write);
	post(&read);
	respond(PSN(1), 0, PAYLOAD);
	expect_done(0, &write, VQP_WC_SUCCESS);
	assert_int_equal(env.ndone, 1);
}

static void what_follows_a_read_waits_for_it(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	ack(PSN(2));
	assert_int_equal(env.ndone, 0);
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &read, VQP_WC_SUCCESS);
	expect_done(1, &send, VQP_WC_SUCCESS);
}

static void a_wrong_answer_is_not_placed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * PAYLOAD + 50);

	(void)state;
	post(&msg);
	respond(PSN(1), 0, PAYLOAD);			/* no such chunk */
	respond(PSN(0), 1, PAYLOAD);			/* between packets */
	respond(PSN(0), 0, PAYLOAD - 1);		/* short */
	respond(PSN(0), 2 * PAYLOAD, PAYLOAD);		/* long */
	respond(PSN(0), 3 * PAYLOAD, 0);		/* beyond the end */
	respond(PSN(0), 16 * PAYLOAD, PAYLOAD);		/* beyond the chunk */
	respond(PSN(0), 0x80000000U, PAYLOAD);
	assert_int_equal(env.nplaced, 0);
	assert_int_equal(env.tx.psn_acked, FIRST_PSN);
}

static void a_second_answer_is_not_placed_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	respond(PSN(0), 0, PAYLOAD);
	respond(PSN(0), 0, PAYLOAD);
	assert_int_equal(env.nplaced, 1);
}

static void what_is_missing_is_asked_for_when_the_end_arrives(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 10 * PAYLOAD);
	const struct sent *sent;

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	env.now += 100;
	for (u32 i = 0; i < 10; i++)
		if (i != 3 && i != 5)
			respond(PSN(0), i * PAYLOAD, PAYLOAD);
	sent = next_sent();
	assert_int_equal(sent->pkt.psn, PSN(0));
	assert_int_equal(sent->pkt.offset, 3 * PAYLOAD);
	assert_int_equal(sent->pkt.addr, 0x10000 + 3 * PAYLOAD);
	assert_int_equal(sent->pkt.msg_bytes, PAYLOAD);
	sent = next_sent();
	expect_silence();
	assert_int_equal(sent->pkt.offset, 5 * PAYLOAD);
	assert_int_equal(sent->pkt.msg_bytes, PAYLOAD);
	respond(PSN(0), 3 * PAYLOAD, PAYLOAD);
	respond(PSN(0), 5 * PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void the_end_of_an_older_answer_shows_nothing(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 3 * PAYLOAD);
	struct vqp_pkt end = {
		.op = VQP_OP_READ_RESP, .flow = FLOW, .psn = PSN(0), .offset = 2 * PAYLOAD,
		.payload = env.source, .payload_bytes = PAYLOAD,
	};

	(void)state;
	post(&msg);
	end.turn = env.sent[0].pkt.turn;
	respond(PSN(0), 0, PAYLOAD);
	wait_for_packet();
	env.seen = env.nsent;
	vqp_tx_input(&env.tx, &end, env.now);
	expect_silence();
	respond(PSN(0), PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void the_end_of_a_later_chunk_shows_a_loss_too(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, CHUNK + PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	env.now += 100;
	for (u32 i = 0; i < 15; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	expect_silence();
	respond(PSN(1), 0, PAYLOAD);
	assert_int_equal(env.sent[env.seen].pkt.offset, 15 * PAYLOAD);
	expect_psn(PSN(0));
	expect_silence();
}

static void a_lost_end_is_asked_for_after_the_timeout(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 10 * PAYLOAD);

	(void)state;
	post(&msg);
	env.now += 100;
	for (u32 i = 0; i < 9; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(env.sent[env.seen].pkt.offset, 9 * PAYLOAD);
	expect_psn(PSN(0));
	expect_silence();
}

static void sends_do_not_keep_a_read_waiting(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), sends[40];
	bool asked = false;

	(void)state;
	post(&read);
	for (u32 i = 0; i < 40; i++) {
		sends[i] = message(VQP_OP_SEND, 1);
		post(&sends[i]);
		env.now += RTO / 10;
		ack(PSN(i + 2));
		if (env.armed <= env.now)
			vqp_tx_timeout(&env.tx, env.now);
	}
	for (u32 i = 1; i < env.nsent; i++)
		asked |= env.sent[i].pkt.psn == PSN(0);
	assert_true(asked);
}

static void a_lost_read_request_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * CHUNK);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	nak(VQP_NAK_SEQ, PSN(0));
	/* The window is one chunk now. */
	expect_psn(PSN(0));
	expect_silence();
	respond(PSN(0), 0, PAYLOAD);
	expect_psn(PSN(1));
	expect_silence();
}

static void a_read_from_a_new_target_goes_on(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	respond(PSN(0), 0, PAYLOAD);
	ack(PSN(2));
	post(&(struct vqp_msg) { .op = VQP_OP_SEND });
	env.seen = env.nsent;
	nak(VQP_NAK_NO_FLOW, PSN(0));
	/* The chunk is older than where the flow is taken up: the target answers it as a duplicate. */
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(2));
	assert_int_equal(env.sent[env.seen].pkt.offset, PAYLOAD);
	expect_psn(PSN(0));
	expect_psn(PSN(2));
	vqp_tx_abort(&env.tx, VQP_WC_WR_FLUSH_ERR);
}

/* The target may know of no more than that chunk: what follows opens the flow until its own answer comes. */
static void the_answer_to_an_earlier_chunk_opens_nothing(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * CHUNK), msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(1), i * PAYLOAD, PAYLOAD);
	vqp_tx_retarget(&env.tx, env.now);
	set_window(VQP_READ_CHUNK_PACKETS);
	env.seen = env.nsent;
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	expect_done(0, &read, VQP_WC_SUCCESS);
	env.seen = env.nsent;
	post(&msg);
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(2));
	expect_psn(PSN(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_asks_for_chunks),
		TEST(a_read_completes_with_its_last_byte),
		TEST(an_empty_read_completes_with_its_answer),
		TEST(a_read_asks_for_no_more_than_the_window),
		TEST(a_marked_answer_cuts_the_window),
		TEST(at_most_four_chunks_are_outstanding),
		TEST(an_answer_acknowledges_what_was_before),
		TEST(what_follows_a_read_waits_for_it),
		TEST(a_wrong_answer_is_not_placed),
		TEST(a_second_answer_is_not_placed_again),
		TEST(what_is_missing_is_asked_for_when_the_end_arrives),
		TEST(the_end_of_an_older_answer_shows_nothing),
		TEST(the_end_of_a_later_chunk_shows_a_loss_too),
		TEST(a_lost_end_is_asked_for_after_the_timeout),
		TEST(sends_do_not_keep_a_read_waiting),
		TEST(a_lost_read_request_is_sent_again),
		TEST(a_read_from_a_new_target_goes_on),
		TEST(the_answer_to_an_earlier_chunk_opens_nothing),
	};

	return cmocka_run_group_tests_name("tx_read", tests, NULL, NULL);
}
