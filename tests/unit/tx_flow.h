/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One flow of the initiator whose wire, memory, clock and user are the test: what the flow does is kept in `env`, and
 * the functions below say what the target answers and look at what was sent. Each test begins with a new flow.
 */
#ifndef VQP_TESTS_UNIT_TX_FLOW_H
#define VQP_TESTS_UNIT_TX_FLOW_H

#include "unit.h"
#include <linux/vqp.h>
#include "tx.h"

#define FLOW		77
#define FIRST_PSN	0xfffffffeU	/* so that every test sees the wrap */
#define PAYLOAD		100
#define CHUNK		(PAYLOAD * VQP_READ_CHUNK_PACKETS)
#define PSN(n)		(FIRST_PSN + (n))
#define RTO		1000
#define GIVEUP		100000
#define PATIENCE	(5 * GIVEUP)

struct sent {
	struct vqp_pkt pkt;
	struct vqp_msg *msg;
	u32 offset, bytes;
};

static struct {
	struct vqp_tx tx;
	struct vqp_tx_cfg cfg;
	u64 now;
	struct sent sent[4096];
	u32 nsent, seen;		/* `seen`: looked at by the test */
	struct vqp_msg *done[64];
	u32 status[64];
	u32 ndone;
	u64 armed;
	u32 narmed, nstale, nplaced;
	u32 room;			/* packets until -EAGAIN */
	u32 allowed;			/* packets until -EBUSY */
	struct vqp_msg *bad;		/* its local memory is bad */
	bool bad_place;
	u32 clock;			/* that of the node */
	u8 memory[64 * 1024];		/* where READs go */
	u8 source[PAYLOAD];
} env;

static inline int fake_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes)
{
	assert_ptr_equal(tx, &env.tx);
	if (!env.room)
		return -EAGAIN;
	if (!env.allowed && !tx->challenged)
		return -EBUSY;
	if (msg && msg == env.bad)
		return -EFAULT;
	env.room--;
	env.allowed -= env.allowed ? 1 : 0;
	assert_true(env.nsent < ARRAY_SIZE(env.sent));
	assert_int_equal(pkt->flow, FLOW);
	assert_int_equal(pkt->payload_bytes, bytes);
	if (msg)
		assert_true(offset + bytes <= msg->bytes);
	env.sent[env.nsent++] = (struct sent) { *pkt, msg, offset, bytes };
	return 0;
}

static inline int fake_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data, u32 bytes)
{
	(void)tx;
	assert_true(offset + bytes <= msg->bytes && offset + bytes <= sizeof(env.memory));
	if (env.bad_place)
		return -EFAULT;
	memcpy(env.memory + offset, data, bytes);
	env.nplaced++;
	return 0;
}

/* The message is the test's again: make sure that the engine does not look at it. */
static inline void fake_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	(void)tx;
	assert_true(env.ndone < ARRAY_SIZE(env.done));
	for (u32 i = 0; i < env.ndone; i++)
		assert_ptr_not_equal(env.done[i], msg);
	env.done[env.ndone] = msg;
	env.status[env.ndone++] = status;
	memset(msg, 0xee, sizeof(*msg));
}

static inline void fake_arm(struct vqp_tx *tx, u64 at_us)
{
	(void)tx;
	env.armed = at_us;
	env.narmed++;
}

static inline void fake_stale(struct vqp_tx *tx)
{
	assert_true(tx->stopped);
	env.nstale++;
}

static inline u32 fake_stamp(struct vqp_tx *tx)
{
	(void)tx;
	return env.clock;
}

static const struct vqp_tx_ops fake_ops = {
	.xmit = fake_xmit, .place = fake_place, .complete = fake_complete, .arm = fake_arm, .stale = fake_stale,
	.stamp = fake_stamp,
};

static inline u32 window(void)
{
	return vqp_congestion_window(&env.tx.cc);
}

/* The window is so many packets, and grows no further. */
static inline void set_window(u32 packets)
{
	env.tx.cc.most = packets * VQP_CWND_ONE;
	env.tx.cc.cwnd = env.tx.cc.most;
	env.tx.cc.ssthresh = env.tx.cc.most;
}

static inline int setup(void **state)
{
	(void)state;
	memset(&env, 0, sizeof(env));
	env.cfg = (struct vqp_tx_cfg) {
		.payload_bytes = PAYLOAD, .window_packets = 32, .rto_min_us = RTO, .rto_max_us = 16 * RTO,
		.giveup_us = GIVEUP, .patience_us = PATIENCE,
	};
	env.room = ~0U;
	env.allowed = ~0U;
	env.now = 1000000;
	env.clock = 0xfffffffdU;
	vqp_tx_init(&env.tx, &fake_ops, &env.cfg, FLOW, FIRST_PSN);
	/* It has found out already that so many packets find room. */
	set_window(env.cfg.window_packets);
	/* The path has a short queue. */
	env.tx.cc.last_rtt_us = 10;
	return 0;
}

static inline struct vqp_msg message(u8 op, u32 bytes)
{
	return (struct vqp_msg) { .op = op, .bytes = bytes, .remote_addr = 0x10000, .rkey = 5 };
}

static inline void post(struct vqp_msg *msg)
{
	vqp_tx_post(&env.tx, msg, env.now);
}

/* An answer to the latest packet. */
static inline void input(struct vqp_pkt pkt)
{
	pkt.flow = FLOW;
	if (env.nsent) {
		pkt.turn = env.sent[env.nsent - 1].pkt.turn;
		if (pkt.op != VQP_OP_READ_RESP)
			pkt.psn = env.sent[env.nsent - 1].pkt.psn;
	}
	vqp_tx_input(&env.tx, &pkt, env.now);
}

static inline void ack(u32 psn)
{
	input((struct vqp_pkt) { .op = VQP_OP_ACK, .ack_psn = psn });
}

static inline void nak(u8 code, u32 psn)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_NAK, .nak = code, .ack_psn = psn,
		.rnr_us = code == VQP_NAK_RNR || code == VQP_NAK_BUSY ? 500 : 0,
	});
}

static inline void respond(u32 psn, u32 offset, u32 bytes)
{
	memset(env.source, psn + offset / PAYLOAD, sizeof(env.source));
	input((struct vqp_pkt) {
		.op = VQP_OP_READ_RESP, .psn = psn, .offset = offset, .payload = env.source, .payload_bytes = bytes,
	});
}

/* Go on to the armed deadline. */
static inline void timeout(void)
{
	assert_true(env.armed >= env.now);
	env.now = env.armed;
	vqp_tx_timeout(&env.tx, env.now);
}

/* Go on to when the flow does something by itself. */
static inline void wait_for_packet(void)
{
	const u32 before = env.nsent, done = env.ndone;

	for (u32 i = 0; i < 100 && env.nsent == before && env.ndone == done; i++)
		timeout();
}

static inline const struct sent *next_sent(void)
{
	assert_true(env.seen < env.nsent);
	return &env.sent[env.seen++];
}

static inline void expect_psn(u32 psn)
{
	assert_int_equal(next_sent()->pkt.psn, psn);
}

static inline void expect_silence(void)
{
	assert_int_equal(env.seen, env.nsent);
}

static inline void expect_done(u32 index, const struct vqp_msg *msg, u32 status)
{
	assert_true(index < env.ndone);
	assert_ptr_equal(env.done[index], msg);
	assert_int_equal(env.status[index], status);
}

/* What an atomic found. */
static inline void found(u32 psn, u64 before)
{
	for (u32 i = 0; i < VQP_ATOMIC_BYTES; i++)
		env.source[i] = before >> (8 * (VQP_ATOMIC_BYTES - 1 - i));
	input((struct vqp_pkt) {
		.op = VQP_OP_READ_RESP, .psn = psn, .payload = env.source, .payload_bytes = VQP_ATOMIC_BYTES,
	});
}

static inline struct vqp_msg fetch_add(void)
{
	struct vqp_msg msg = message(VQP_OP_FETCH_ADD, VQP_ATOMIC_BYTES);

	msg.compare_add = 7;
	return msg;
}

/* The packet `psn` came; the target waits for `gap`, and holds gap + n of each bit n of `held`. */
static inline void gap_at(u32 gap, u64 held, u32 psn, u16 turn)
{
	vqp_tx_input(&env.tx, &(struct vqp_pkt) {
		.op = VQP_OP_NAK, .nak = VQP_NAK_SEQ, .flow = FLOW, .ack_psn = gap, .psn = psn, .turn = turn,
		.held.words[0] = held,
	}, env.now);
}

/* An acknowledgement that answers a packet of `turn`. */
static inline void ack_to(u32 psn, u16 turn)
{
	const struct vqp_pkt pkt = { .op = VQP_OP_ACK, .flow = FLOW, .ack_psn = psn, .psn = psn - 1, .turn = turn };

	vqp_tx_input(&env.tx, &pkt, env.now);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

#endif
