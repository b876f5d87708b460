// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A flow's initiator against any answers: messages complete once and in order,
 * with success only if all of them was sent or has arrived; what is sent and placed is
 * within the message; and with nobody answering, timeouts alone bring all to an end.
 */
#include <errno.h>
#include <linux/vqp.h>

#include "fuzz.h"
#include "tx.h"

#define PAYLOAD		64
#define CHUNK		(PAYLOAD * VQP_READ_CHUNK_PACKETS)
#define POSTED_MAX	16
#define UNITS_MAX	(6 * VQP_READ_CHUNK_PACKETS)

struct message {
	struct vqp_msg msg;
	bool bad;			/* its memory is */
	bool seen[UNITS_MAX];		/* packet was sent, or arrived */
};

static const struct vqp_tx_cfg cfgs[] = {
	{ .payload_bytes = PAYLOAD, .window_packets = 8, .rto_min_us = 100, .rto_max_us = 1000,
	  .giveup_us = 5000, .patience_us = 20000, .close_us = 300 },
	{ .payload_bytes = PAYLOAD, .window_packets = 1, .rto_min_us = 100, .rto_max_us = 100,
	  .giveup_us = 1000, .patience_us = 5000 },
};

static struct {
	struct vqp_tx tx;
	struct message *posted[POSTED_MAX];	/* in order */
	u32 nposted;
	u64 now, armed;
	int refusal;			/* of packets: -EAGAIN, -EBUSY or 0 */
	bool run_due;		/* vqp_tx_run() was promised */
	bool aborted;
} env;

static const u8 data[2 * PAYLOAD];

static struct message *message_of(struct vqp_msg *msg)
{
	struct message *m = list_entry(msg, struct message, msg);
	u32 i = 0;

	while (i < env.nposted && env.posted[i] != m)
		i++;
	fuzz_check(i < env.nposted);
	return m;
}

/* ---- Callbacks ---- */

static void check_packet(const struct vqp_pkt *pkt, u32 bytes)
{
	u8 buf[VQP_WIRE_HEADER_MAX + PAYLOAD] = { 0 };
	struct vqp_pkt filled = *pkt, parsed;

	filled.src_lanes = 1;
	fuzz_check(bytes <= PAYLOAD && pkt->payload_bytes == bytes);
	fuzz_check(!vqp_wire_parse(buf, vqp_wire_build(buf, &filled) + bytes, &parsed));
}

static void check_read(const struct vqp_pkt *pkt, const struct vqp_msg *msg)
{
	const u64 offset = pkt->addr - msg->remote_addr;

	fuzz_check(pkt->msg_bytes <= CHUNK - pkt->offset);
	fuzz_check(offset <= msg->bytes && pkt->msg_bytes <= msg->bytes - offset);
	fuzz_check(pkt->msg_bytes || !msg->bytes);
}

/* The target remembers what the last VQP_READ_CHUNKS found: this one may not push out what is awaited. */
static void check_atomic(const struct vqp_pkt *pkt)
{
	const struct vqp_tx_read *own = NULL;

	for (u32 i = 0; i < VQP_READ_CHUNKS; i++)
		if (env.tx.reads[i].msg && env.tx.reads[i].psn == pkt->psn)
			own = &env.tx.reads[i];
	fuzz_check(own);
	for (u32 i = 0; i < VQP_READ_CHUNKS; i++) {
		const struct vqp_tx_read *read = &env.tx.reads[i];

		if (read->msg && vqp_op_is_atomic(read->msg->op) && vqp_psn_before(read->psn, pkt->psn))
			fuzz_check(own->number - read->number < VQP_READ_CHUNKS);
	}
}

/* What is in flight with this packet; the one that the target waits for may always be sent. */
static void check_window(u32 psn)
{
	const struct vqp_tx *tx = &env.tx;
	const u32 ahead = tx->psn_send - tx->psn_acked, absent = tx->held + vqp_mask_count(&tx->lost);
	const u32 cwnd = vqp_congestion_window(&tx->cc);

	fuzz_check(psn - tx->psn_acked < VQP_MASK_BITS);
	fuzz_check(psn == tx->psn_acked || absent >= ahead || ahead - absent <= cwnd);
}

static int fake_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes)
{
	struct message *m = msg ? message_of(msg) : NULL;

	fuzz_check(tx == &env.tx && (msg || (pkt->op == VQP_OP_CLOSE && !bytes)));
	check_packet(pkt, bytes);
	if (m) {
		fuzz_check(pkt->op == msg->op && !tx->stopped && !tx->dead && !tx->pause_us);
		fuzz_check(pkt->psn - msg->psn < msg->psns);
		fuzz_check(offset <= msg->bytes && bytes <= msg->bytes - offset);
		if (msg->op == VQP_OP_READ)
			check_read(pkt, msg);
		else if (vqp_op_is_atomic(msg->op))
			check_atomic(pkt);
		else
			check_window(pkt->psn);
		if (m->bad)
			return -EFAULT;
	}
	if (env.refusal) {
		env.run_due |= msg != NULL;
		return env.refusal;
	}
	if (m && !vqp_op_returns_data(msg->op))
		m->seen[pkt->psn - msg->psn] = true;
	return 0;
}

static int fake_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *from, u32 bytes)
{
	struct message *m = message_of(msg);

	fuzz_check(tx == &env.tx && vqp_op_returns_data(msg->op) && (from == data || vqp_op_is_atomic(msg->op)));
	fuzz_check(bytes && offset % PAYLOAD == 0 && offset < msg->bytes);
	fuzz_check(bytes == (msg->bytes - offset < PAYLOAD ? msg->bytes - offset : PAYLOAD));
	fuzz_check(!m->seen[offset / PAYLOAD]);
	m->seen[offset / PAYLOAD] = true;
	return m->bad ? -EFAULT : 0;
}

static void check_success(const struct message *m)
{
	const u32 units = m->msg.bytes ? (m->msg.bytes - 1) / PAYLOAD + 1 : m->msg.op != VQP_OP_READ;

	for (u32 i = 0; i < units; i++)
		fuzz_check(m->seen[i]);
}

static void fake_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	struct message *m = list_entry(msg, struct message, msg);

	/* one that is posted to a dead flow comes back at once, others are gone by then */
	fuzz_check(tx == &env.tx && env.nposted && env.posted[0] == m);
	if (status == VQP_WC_SUCCESS) {
		fuzz_check(!tx->dead);
		check_success(m);
	} else {
		fuzz_check(tx->dead);
	}
	memmove(env.posted, env.posted + 1, --env.nposted * sizeof(env.posted[0]));
	free(m);
}

static void fake_arm(struct vqp_tx *tx, u64 at_us)
{
	fuzz_check(tx == &env.tx && at_us && !tx->dead);
	env.armed = at_us;
}

static void fake_stale(struct vqp_tx *tx)
{
	fuzz_check(tx->stopped && !tx->dead);
}

static u32 fake_stamp(struct vqp_tx *tx)
{
	fuzz_check(tx == &env.tx);
	return env.now >> 6;
}

static const struct vqp_tx_ops fake_ops = {
	.xmit = fake_xmit, .place = fake_place, .complete = fake_complete, .arm = fake_arm, .stale = fake_stale,
	.stamp = fake_stamp,
};

/* ---- What must hold between two events ---- */

static void check_flow(void)
{
	const struct vqp_tx *tx = &env.tx;
	const struct list_head *at = tx->msgs.next;
	u32 last = VQP_MASK_BITS;

	while (last && !vqp_mask_has(&tx->lost, last - 1))
		last--;
	fuzz_check(last <= tx->psn_send - tx->psn_acked);
	fuzz_check(!vqp_psn_before(tx->psn_resent, tx->psn_acked) && !vqp_psn_before(tx->psn_next, tx->psn_resent));
	for (u32 i = 0; i < env.nposted; i++, at = at->next) {
		fuzz_check(at == &env.posted[i]->msg.link);
		fuzz_check(i == 0 || !env.posted[i]->msg.assigned || env.posted[i - 1]->msg.assigned);
	}
	fuzz_check(at == &tx->msgs);
	fuzz_check(!vqp_psn_before(tx->psn_send, tx->psn_acked) && !vqp_psn_before(tx->psn_next, tx->psn_send));
	fuzz_check(tx->cc.cwnd >= VQP_CWND_ONE && tx->cc.cwnd <= tx->cc.most);
	fuzz_check(tx->rto_us >= tx->cfg->rto_min_us && tx->rto_us <= tx->cfg->rto_max_us);
	if (tx->next)
		message_of(tx->next);
	for (u32 i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg)
			fuzz_check(vqp_op_returns_data(message_of(tx->reads[i].msg)->msg.op) && tx->reads[i].missing);
	fuzz_check(tx->deadline_us == env.armed);
	/* never stuck: there is always somebody who will call */
	fuzz_check(vqp_tx_idle(tx) || tx->stopped || env.run_due || env.armed);
	fuzz_check(!tx->dead || vqp_tx_idle(tx));
	fuzz_check(!tx->opened || !tx->echo);
}

/* ---- Events ---- */

static u32 read_bytes(struct fuzz *in, u8 op)
{
	static const u32 sizes[] = { 0, 1, PAYLOAD, PAYLOAD + 1, 5 * PAYLOAD - 1, 16 * PAYLOAD, 16 * PAYLOAD + 1,
				     6 * 16 * PAYLOAD };
	const u32 bytes = sizes[fuzz_below(in, 8)];

	return op == VQP_OP_READ || bytes <= 16 * PAYLOAD ? bytes : 3 * PAYLOAD;
}

static void post(struct fuzz *in, u8 how)
{
	static const u8 ops[] = { VQP_OP_SEND, VQP_OP_WRITE, VQP_OP_READ, VQP_OP_READ };
	struct message *m;

	if (env.nposted == POSTED_MAX)
		return;
	m = calloc(1, sizeof(*m));
	fuzz_check(m);
	m->msg.op = ops[how & 3];
	m->msg.bytes = read_bytes(in, m->msg.op);
	m->msg.fence = how & 4;
	if ((how & 3) == 3 && (how & 8)) {
		m->msg.op = how & 0x10 ? VQP_OP_CMP_SWP : VQP_OP_FETCH_ADD;
		m->msg.bytes = VQP_ATOMIC_BYTES;
	}
	m->bad = (how & 0x38) == 0x38;
	if (!vqp_op_returns_data(m->msg.op))
		m->msg.flags = how & 0x18 ? 0 : VQP_PKT_IMM | VQP_PKT_SOLICITED;
	m->msg.imm = how;
	env.posted[env.nposted++] = m;
	if (how & 0x40) {
		vqp_tx_queue(&env.tx, &m->msg);
		env.run_due = !vqp_tx_idle(&env.tx);
	} else {
		env.run_due = false;
		vqp_tx_post(&env.tx, &m->msg, env.now);
	}
}

/* A response to a chunk that is outstanding, in most cases. */
static void read_response(struct fuzz *in, struct vqp_pkt *pkt)
{
	const struct vqp_tx_read *read = &env.tx.reads[fuzz_below(in, VQP_READ_CHUNKS)];
	const u8 how = fuzz_byte(in);

	pkt->offset = (how & 15) * PAYLOAD;
	if (read->msg) {
		pkt->psn = read->psn;
		pkt->turn = read->turn;
		pkt->payload_bytes = pkt->offset > read->bytes ? 0 : read->bytes - pkt->offset;
	}
	if (pkt->payload_bytes > PAYLOAD)
		pkt->payload_bytes = PAYLOAD;
	switch (how >> 5) {
	case 1:
		pkt->offset++;
		break;
	case 2:
		pkt->payload_bytes = fuzz_below(in, sizeof(data));
		break;
	case 3:
		pkt->psn += fuzz_delta(in);
		break;
	case 4:
		pkt->turn -= fuzz_byte(in);
		break;
	case 5:
		pkt->offset = fuzz_number(in, 4);
		break;
	}
}

static void answer(struct fuzz *in, u8 how)
{
	static const u8 ops[] = { VQP_OP_ACK, VQP_OP_NAK, VQP_OP_READ_RESP };
	const struct vqp_tx *tx = &env.tx;
	struct vqp_pkt pkt = { .flow = tx->flow, .turn = tx->turn, .payload = data };

	pkt.op = ops[how % 3];
	pkt.psn = tx->psn_send - 1;
	pkt.ack_psn = tx->psn_acked + fuzz_below(in, tx->psn_next - tx->psn_acked + 1);
	if (pkt.op == VQP_OP_NAK) {
		pkt.nak = 1 + fuzz_below(in, VQP_NAK_MAX);
		if (pkt.nak == VQP_NAK_RNR || pkt.nak == VQP_NAK_BUSY)
			pkt.rnr_us = fuzz_delta(in);
		if (pkt.nak == VQP_NAK_STALE)
			pkt.echo = 1 + fuzz_below(in, 3);
		if (pkt.nak == VQP_NAK_SEQ) {
			pkt.held.words[0] = fuzz_number(in, 2);
			if (pkt.held.words[0] & 1)
				pkt.held.words[1] = (u64)fuzz_number(in, 4) << 32;
			pkt.psn -= fuzz_below(in, 8);
		}
	}
	if (pkt.op == VQP_OP_READ_RESP)
		read_response(in, &pkt);
	if (how & 0x10) {
		pkt.ack_psn += fuzz_delta(in);
		pkt.psn += fuzz_delta(in);
		pkt.turn += fuzz_delta(in);
		pkt.flow += fuzz_byte(in) == 1;
	}
	vqp_tx_input(&env.tx, &pkt, env.now);
}

/* The timer fires when it is due, never before. */
static void timeout(u32 late_us)
{
	if (!env.armed)
		return;
	if (env.now < env.armed)
		env.now = env.armed;
	env.now += late_us;
	env.armed = 0;
	vqp_tx_timeout(&env.tx, env.now);
}

static void run(void)
{
	env.run_due = false;
	vqp_tx_run(&env.tx, env.now);
}

static void step(struct fuzz *in)
{
	const u8 what = fuzz_byte(in);

	if (what < 0x60) {
		post(in, fuzz_byte(in));
	} else if (what < 0xb0) {
		answer(in, what);
	} else if (what < 0xc0) {
		timeout(what & 1 ? 0 : fuzz_number(in, 2));
	} else if (what < 0xd0) {
		env.now += fuzz_byte(in);
		/* a timer that is due fires before anything else happens */
		if (env.armed && env.armed <= env.now)
			timeout(0);
	} else if (what < 0xe0) {
		env.refusal = what & 1 ? what & 2 ? -EBUSY : -EAGAIN : 0;
		env.tx.cap = what & 4 ? what & 8 ? 3 : 1 : 0;
		run();
	} else if (what < 0xf0) {
		vqp_tx_retarget(&env.tx, env.now);
	} else if (what < 0xf2) {
		vqp_tx_abort(&env.tx, VQP_WC_RETRY_EXC_ERR);
	}
	check_flow();
}

/* Nobody answers any more. */
static void end_flow(void)
{
	env.refusal = 0;
	if (env.tx.stopped)
		vqp_tx_retarget(&env.tx, env.now);
	run();
	for (u32 i = 0; env.armed; i++) {
		fuzz_check(i < 1000);
		timeout(0);
		check_flow();
	}
	fuzz_check(vqp_tx_idle(&env.tx) && !env.nposted);
	vqp_tx_close(&env.tx);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
	struct fuzz in = { input, bytes };
	const u8 how = fuzz_byte(&in);

	memset(&env, 0, sizeof(env));
	env.now = 1000000;
	vqp_tx_init(&env.tx, &fake_ops, &cfgs[how & 1], 5, 0xfffffff8U);
	while (in.left)
		step(&in);
	end_flow();
	return 0;
}
