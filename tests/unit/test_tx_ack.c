// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Acknowledgements: what they complete, and which packets ask for them. */
#include "tx_flow.h"

static void the_last_of_a_burst_asks_for_an_ack(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 33 * PAYLOAD);

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 32; i++)
		assert_int_equal(!!(next_sent()->pkt.flags & VQP_PKT_ACK_REQ), i == 31);
	ack(PSN(32));
	assert_true(next_sent()->pkt.flags & VQP_PKT_ACK_REQ);
}

static void queued_messages_ask_once(void **state)
{
	struct vqp_msg msgs[5];

	(void)state;
	for (u32 i = 0; i < 5; i++) {
		msgs[i] = message(VQP_OP_SEND, 1);
		vqp_tx_queue(&env.tx, &msgs[i]);
	}
	expect_silence();
	vqp_tx_run(&env.tx, env.now);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(!!(next_sent()->pkt.flags & VQP_PKT_ACK_REQ), i == 4);
}

static void messages_complete_in_order(void **state)
{
	struct vqp_msg msgs[3];

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		msgs[i] = message(i == 1 ? VQP_OP_WRITE : VQP_OP_SEND, 150);
		post(&msgs[i]);
	}
	ack(PSN(5));
	assert_int_equal(env.ndone, 2);
	ack(PSN(6));
	for (u32 i = 0; i < 3; i++)
		expect_done(i, &msgs[i], VQP_WC_SUCCESS);
	assert_true(vqp_tx_idle(&env.tx));
}

static void a_message_waits_for_its_last_packet(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(2));
	assert_int_equal(env.ndone, 0);
	ack(PSN(3));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void acks_out_of_range_are_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(0));
	ack(PSN(4));
	ack(PSN(-1));
	ack(PSN(0x80000000));
	assert_int_equal(env.ndone, 0);
	assert_int_equal(env.tx.psn_acked, FIRST_PSN);
	assert_false(env.tx.opened);
}

static void an_ack_of_another_flow_is_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	const struct vqp_pkt pkt = { .op = VQP_OP_ACK, .flow = FLOW + 1, .ack_psn = PSN(1) };

	(void)state;
	post(&msg);
	vqp_tx_input(&env.tx, &pkt, env.now);
	assert_int_equal(env.ndone, 0);
}

static void a_duplicate_ack_changes_nothing(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	ack(PSN(1));
	ack(PSN(1));
	assert_int_equal(env.ndone, 1);
	assert_int_equal(env.nsent, 2);
}

static void requests_are_no_answers(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	input((struct vqp_pkt) { .op = VQP_OP_SEND, .ack_psn = PSN(1) });
	input((struct vqp_pkt) { .op = VQP_OP_CLOSE, .ack_psn = PSN(1) });
	input((struct vqp_pkt) { .op = 200, .ack_psn = PSN(1) });
	assert_int_equal(env.ndone, 0);
}

/* How many of the packets from `first` on asked for an acknowledgement. */
static u32 asked_since(u32 first)
{
	u32 asked = 0;

	for (; first < env.nsent; first++)
		asked += !!(env.sent[first].pkt.flags & VQP_PKT_ACK_REQ);
	return asked;
}

static void a_flow_that_goes_on_asks_now_and_then(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(asked_since(0), 1);
	for (u32 acked = 2; acked < 16; acked += 2)
		ack(PSN(acked));
	assert_int_equal(env.nsent, 32 + 14);
	assert_int_equal(asked_since(32), 0);
	ack(PSN(16));
	assert_int_equal(asked_since(32), 1);
}

static void a_flow_with_a_small_window_asks_each_time(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 20 * PAYLOAD);

	(void)state;
	env.cfg.window_packets = 8;
	vqp_tx_init(&env.tx, &fake_ops, &env.cfg, FLOW, FIRST_PSN);
	post(&msg);
	ack(PSN(1));
	ack(PSN(3));
	assert_int_equal(asked_since(0), 3);
}

static void the_last_packet_of_all_asks(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 33 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(1));
	assert_int_equal(env.nsent, 33);
	assert_int_equal(asked_since(32), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_of_a_burst_asks_for_an_ack),
		TEST(queued_messages_ask_once),
		TEST(messages_complete_in_order),
		TEST(a_message_waits_for_its_last_packet),
		TEST(acks_out_of_range_are_ignored),
		TEST(an_ack_of_another_flow_is_ignored),
		TEST(a_duplicate_ack_changes_nothing),
		TEST(requests_are_no_answers),
		TEST(a_flow_that_goes_on_asks_now_and_then),
		TEST(a_flow_with_a_small_window_asks_each_time),
		TEST(the_last_packet_of_all_asks),
	};

	return cmocka_run_group_tests_name("tx_ack", tests, NULL, NULL);
}
