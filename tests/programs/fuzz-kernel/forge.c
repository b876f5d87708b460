// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include "forge.h"

#define FLOW_FIRST	0x40000000U	/* far from what kernels count up from */
#define STRANGER_FLOOD	400U		/* initiators; a lane has room for more than twice as many */
#define PAYLOAD_MOST	3900U
#define READ_BYTES	8U	/* of a READ in a kernel's name */
#define EPOCH_AT	8	/* src_epoch in a packet, and the flow */
#define FLOW_AT		16
#define FLOW_END	20
#define FORGE_GIDS	8U	/* that frames come from */

const char *const forge_names[FORGE_KINDS] = { "valid", "mutated", "replayed", "answers", "flood" };

static u32 pick(struct forge *forge, u32 n)
{
	return rnd_below(&forge->rnd, n);
}

static bool percent(struct forge *forge, u32 n)
{
	return rnd_percent(&forge->rnd, n);
}

static const struct tapped *recent(struct forge *forge, bool outgoing)
{
	return tap_recent(forge->tap, outgoing, pick(forge, 64));
}

/* ---- Own flows ---- */

void forge_init(struct forge *forge)
{
	u32 i, psn;

	for (i = 0; i < FORGE_FLOWS; i++) {
		psn = rnd_u32(&forge->rnd);
		forge->flows[i] = (struct forge_flow) { .number = FLOW_FIRST + i, .psn = psn, .acked = psn };
	}
}

static void fill_base(struct forge *forge, struct vqp_pkt *pkt, u32 flow, u32 psn)
{
	const struct vqp_pkt *known = &tap_recent(forge->tap, true, 0)->pkt;

	pkt->src_epoch = forge->stranger ? forge->epoch : known->src_epoch;
	pkt->dst_epoch = known->dst_epoch;
	pkt->src_qkey = forge->qkey;
	pkt->flow = flow;
	pkt->psn = psn;
	pkt->turn = (u16)pick(forge, 4);
}

/* The clock is that of this node's kernel, as its packets show it: nobody else's packets may look old by it. */
static void fill_clock(struct forge *forge, struct vqp_pkt *pkt)
{
	const struct tapped *known;
	u32 i;

	for (i = 0; i < 16; i++) {
		known = tap_recent(forge->tap, true, i);
		if (known && (known->pkt.flags & VQP_PKT_OPEN) && (s32)(known->pkt.stamp - forge->stamp) > 0)
			forge->stamp = known->pkt.stamp;
	}
	pkt->stamp = percent(forge, 95) ? forge->stamp : rnd_u32(&forge->rnd);
	pkt->age = percent(forge, 80) ? 0 : (u8)rnd_u32(&forge->rnd);
	pkt->echo = percent(forge, 95) ? forge->echo : rnd_u32(&forge->rnd);
}

/* To the target's VQP, mostly. The ends of a flow follow from who it is: a flow does not change them. */
static void fill_open(struct forge *forge, struct vqp_pkt *pkt, u32 open_psn, u32 identity)
{
	pkt->flags |= VQP_PKT_OPEN;
	pkt->tenant = forge->tenant + (identity % 20 == 19);
	pkt->open_psn = open_psn;
	memset(pkt->src_gid, 0, sizeof(pkt->src_gid));
	memcpy(pkt->src_gid + 10, (u8[]){ 0xff, 0xff, 10, 66, (u8)(identity >> 8), (u8)identity }, 6);
	memcpy(pkt->dst_gid, forge->target->gid, sizeof(pkt->dst_gid));
	pkt->src_qp = 1 + (identity & 0xffff);
	if (identity % 10)
		pkt->dst_port = (u16)forge->target->port;
	else
		pkt->dst_qp = 1 + identity % 20;
	pkt->src_lanes = 1;
	pkt->src_qpn[0] = forge->qpn;
	fill_clock(forge, pkt);
}

static void fill_send(struct forge *forge, struct forge_flow *flow, struct vqp_pkt *pkt)
{
	u32 left;

	pkt->op = VQP_OP_SEND;
	if (!flow->msg_bytes)
		flow->offset = 0;
	if (!flow->msg_bytes && percent(forge, 40))
		flow->msg_bytes = 1 + pick(forge, percent(forge, 80) ? 64 : 20000);
	left = flow->msg_bytes - flow->offset;
	pkt->msg_bytes = flow->msg_bytes;
	pkt->offset = flow->offset;
	pkt->payload_bytes = left < PAYLOAD_MOST ? left : 1 + pick(forge, PAYLOAD_MOST);
	pkt->flags |= (flow->offset ? 0 : VQP_PKT_FIRST) | (pkt->payload_bytes == left ? VQP_PKT_LAST : 0);
	flow->offset += pkt->payload_bytes;
	if (flow->offset == flow->msg_bytes)
		flow->msg_bytes = 0;
}

/* To the hub, which is at port 0, from a kernel's VQP, which has no number. Few addresses: each is a trunk there. */
static void fill_frame(struct forge *forge, const struct forge_flow *flow, struct vqp_pkt *pkt)
{
	pkt->op = VQP_OP_SEND;
	pkt->payload = forge->frame;
	pkt->payload_bytes = frames_next(&forge->rnd, forge->tap, forge->listener, forge->frame);
	pkt->msg_bytes = pkt->payload_bytes;
	pkt->flags |= VQP_PKT_FIRST | VQP_PKT_LAST;
	if (flow->opened)
		return;
	fill_open(forge, pkt, flow->acked, flow->number % FORGE_GIDS);
	pkt->tenant = forge->tenant;
	pkt->src_qp = 0;
	pkt->dst_qp = 0;
	pkt->dst_port = 0;
}

static void fill_atomic(struct forge *forge, struct vqp_pkt *pkt)
{
	if (percent(forge, 90))
		pkt->addr &= ~7ULL;
	pkt->op = percent(forge, 50) ? VQP_OP_FETCH_ADD : VQP_OP_CMP_SWP;
	pkt->compare_add = percent(forge, 50) ? 0 : rnd_edge(&forge->rnd);
	if (pkt->op == VQP_OP_CMP_SWP)
		pkt->swap = rnd_u32(&forge->rnd);
}

static void fill_one_sided(struct forge *forge, struct vqp_pkt *pkt)
{
	u64 from = pick(forge, (u32)forge->target->bytes);

	pkt->addr = forge->target->addr + (percent(forge, 95) ? from : rnd_edge(&forge->rnd));
	pkt->rkey = percent(forge, 95) ? forge->target->key : rnd_u32(&forge->rnd);
	if (percent(forge, 50)) {
		pkt->op = VQP_OP_READ;
		pkt->msg_bytes = pick(forge, 16 * PAYLOAD_MOST);
		if (percent(forge, 90) && pkt->msg_bytes > forge->target->bytes - from)
			pkt->msg_bytes = (u32)(forge->target->bytes - from);
		pkt->offset = percent(forge, 90) ? 0 : (u32)rnd_edge(&forge->rnd);
		return;
	}
	if (percent(forge, 40)) {
		fill_atomic(forge, pkt);
		return;
	}
	pkt->op = VQP_OP_WRITE;
	pkt->payload_bytes = pick(forge, PAYLOAD_MOST);
	pkt->flags |= VQP_PKT_FIRST | VQP_PKT_LAST;
}

static void fill_own(struct forge *forge, struct vqp_pkt *pkt)
{
	struct forge_flow *flow = &forge->flows[pick(forge, FORGE_FLOWS)];

	memset(pkt, 0, sizeof(*pkt));
	fill_base(forge, pkt, flow->number, flow->psn);
	/* After a failure, or when it likes: what comes then opens the flow again. */
	if (flow->failed || percent(forge, 3)) {
		pkt->op = VQP_OP_CLOSE;
		flow->opened = flow->failed = false;
		flow->acked = flow->psn;
		flow->msg_bytes = 0;
		return;
	}
	if (forge->listener)
		fill_frame(forge, flow, pkt);
	else if (flow->msg_bytes || percent(forge, 50))
		fill_send(forge, flow, pkt);
	else
		fill_one_sided(forge, pkt);
	if (!flow->opened && !forge->listener)
		fill_open(forge, pkt, flow->acked, flow->number);
	if (!vqp_op_returns_data(pkt->op) && percent(forge, 50))
		pkt->flags |= VQP_PKT_ACK_REQ;
	if ((pkt->flags & VQP_PKT_LAST) && percent(forge, 10) && !forge->listener)
		pkt->flags |= VQP_PKT_IMM;
	flow->psn++;
}

/* The flow goes on where the target says it is. */
void forge_take(struct forge *forge, const struct vqp_pkt *answer)
{
	struct forge_flow *flow = &forge->flows[answer->flow % FORGE_FLOWS];

	if (answer->op == VQP_OP_NAK && answer->nak == VQP_NAK_STALE)
		forge->echo = answer->echo;
	if (answer->flow != flow->number)
		return;
	if (answer->op == VQP_OP_READ_RESP) {
		flow->opened = true;
		flow->acked = answer->psn + 1;
		return;
	}
	if (answer->op == VQP_OP_ACK || answer->nak <= VQP_NAK_OP) {
		flow->opened = true;
		flow->acked = answer->ack_psn;
	}
	if (answer->op == VQP_OP_ACK)
		return;
	flow->failed = answer->nak > VQP_NAK_RNR && answer->nak <= VQP_NAK_OP;
	if (!flow->failed)
		flow->psn = flow->acked;
	if (answer->nak > VQP_NAK_OP)
		flow->opened = false;
	flow->msg_bytes = 0;
}

/* ---- Everything else ---- */

/* Answers to the target's requests, whose flow and place the wire tells. */
static bool fill_answer(struct forge *forge, struct vqp_pkt *pkt)
{
	const struct tapped *asked = recent(forge, false);

	if (!asked)
		return false;
	memset(pkt, 0, sizeof(*pkt));
	fill_base(forge, pkt, asked->pkt.flow, asked->pkt.psn + pick(forge, 3) - 1);
	pkt->turn = (u16)(asked->pkt.turn + pick(forge, 3) - 1);
	pkt->op = (u8)(VQP_OP_READ_RESP + pick(forge, 3));
	pkt->ack_psn = percent(forge, 90) ? pkt->psn + pick(forge, 8) - 2 : rnd_u32(&forge->rnd);
	if (pkt->op == VQP_OP_NAK) {
		pkt->nak = (u8)(1 + pick(forge, VQP_NAK_MAX));
		if (pkt->nak == VQP_NAK_RNR || pkt->nak == VQP_NAK_BUSY)
			pkt->rnr_us = percent(forge, 80) ? pick(forge, 100000) : (u32)rnd_edge(&forge->rnd);
		if (pkt->nak == VQP_NAK_STALE)
			pkt->echo = 1 + rnd_u32(&forge->rnd) / 2;
	}
	if (pkt->op == VQP_OP_READ_RESP) {
		pkt->ack_psn = 0;
		pkt->payload_bytes = percent(forge, 50) ? 3952 : pick(forge, 3953);
		pkt->offset = percent(forge, 80) ? 3952 * pick(forge, 18) : (u32)rnd_edge(&forge->rnd) >> 2;
		if (vqp_op_is_atomic(asked->pkt.op) && percent(forge, 80)) {
			pkt->payload_bytes = VQP_ATOMIC_BYTES;
			pkt->offset = 0;
		}
	}
	if (pkt->op == VQP_OP_NAK && percent(forge, 10))
		pkt->src_epoch = rnd_u32(&forge->rnd);
	return true;
}

static void fill_flood(struct forge *forge, struct vqp_pkt *pkt)
{
	u32 identity = forge->flooded++, i;

	if (forge->stranger)
		identity %= STRANGER_FLOOD;
	memset(pkt, 0, sizeof(*pkt));
	fill_base(forge, pkt, FLOW_FIRST * 2 + identity, identity);
	if (!forge->stranger && percent(forge, 30))
		pkt->src_epoch = rnd_u32(&forge->rnd);
	pkt->src_qkey = percent(forge, 50) ? forge->qkey : rnd_u32(&forge->rnd);
	pkt->op = VQP_OP_WRITE;
	pkt->flags = VQP_PKT_FIRST | VQP_PKT_LAST | VQP_PKT_ACK_REQ;
	fill_open(forge, pkt, pkt->psn, identity);
	pkt->src_lanes = 1 + pick(forge, VQP_WIRE_LANES_MAX);
	for (i = 1; i < pkt->src_lanes; i++)
		pkt->src_qpn[i] = pick(forge, 1 << 24);
}

static void build(struct forge *forge, struct forged *out, const struct vqp_pkt *pkt)
{
	u32 header = vqp_wire_build(out->buf, pkt), i;

	out->bytes = header + pkt->payload_bytes;
	if (pkt->payload) {
		memcpy(out->buf + header, pkt->payload, pkt->payload_bytes);
		return;
	}
	for (i = 0; i < pkt->payload_bytes; i += 8) {
		u64 noise = rnd_u64(&forge->rnd);

		memcpy(out->buf + header + i, &noise,
		       pkt->payload_bytes - i < 8 ? pkt->payload_bytes - i : 8);
	}
}

/*
 * Headers are what matters: the first bytes are changed most. A stranger stays
 * who it is, for a target has room for so many initiators only.
 */
static void mutate(struct forge *forge, struct forged *out)
{
	u32 n = 1 + pick(forge, 3), at, word;
	u8 base[FLOW_END];

	memcpy(base, out->buf, sizeof(base));
	while (n--) {
		at = pick(forge, out->bytes < 140 ? out->bytes : 140);
		switch (pick(forge, 6)) {
		case 0:
			out->bytes = 1 + pick(forge, out->bytes);
			break;
		case 1:
			out->bytes += pick(forge, FORGE_BYTES - out->bytes + 1);
			break;
		case 2:
			out->buf[at] = (u8)rnd_u32(&forge->rnd);
			break;
		case 3:
			word = (u32)rnd_edge(&forge->rnd);
			memcpy(out->buf + (at & ~3U), &word, sizeof(word));
			break;
		default:
			out->buf[at] ^= (u8)(1U << pick(forge, 8));
		}
	}
	if (forge->stranger) {
		memcpy(out->buf + EPOCH_AT, base + EPOCH_AT, sizeof(u32));
		memcpy(out->buf + FLOW_AT, base + FLOW_AT, sizeof(u32));
	}
}

/*
 * A stranger with an OPEN that is valid in all would take part like anyone
 * else, in the name of who sent it first: it may not claim that tenant.
 */
static void replay(struct forge *forge, struct forged *out)
{
	const struct tapped *seen = recent(forge, true);
	struct vqp_pkt pkt = seen->pkt;
	u32 header;

	if (forge->stranger && (pkt.flags & VQP_PKT_OPEN))
		pkt.tenant ^= 1U << pick(forge, 32);
	header = vqp_wire_build(out->buf, &pkt);
	memcpy(out->buf + header, pkt.payload, pkt.payload_bytes);
	out->bytes = header + pkt.payload_bytes;
	out->qpn = seen->qpn;
}

static enum forge_kind pick_kind(struct forge *forge)
{
	static const u8 upto[FORGE_KINDS] = { 35, 60, 75, 90, 100 };
	u32 at = forge->listener ? 0 : pick(forge, 100), kind = 0;

	while (at >= upto[kind])
		kind++;
	return kind;
}

/* Of the target's lanes that the kernel uses, the lowest or the highest: a flow stays on one. */
static u32 lane_of(const struct forge *forge, u32 flow)
{
	u32 i, qpn, low = ~0U, high = 0;

	for (i = 0; i < 16; i++) {
		qpn = tap_recent(forge->tap, true, i)->qpn;
		low = qpn < low ? qpn : low;
		high = qpn > high ? qpn : high;
	}
	return flow & 1 ? high : low;
}

void forge_next(struct forge *forge, struct forged *out)
{
	const struct tapped *known = tap_recent(forge->tap, true, 0);
	struct vqp_pkt pkt = {};

	out->kind = pick_kind(forge);
	out->qkey = known->qkey;
	if (out->kind == FORGE_ANSWER && fill_answer(forge, &pkt)) {
		build(forge, out, &pkt);
	} else if (out->kind == FORGE_REPLAY) {
		replay(forge, out);
	} else if (out->kind == FORGE_FLOOD) {
		fill_flood(forge, &pkt);
		build(forge, out, &pkt);
	} else {
		fill_own(forge, &pkt);
		build(forge, out, &pkt);
	}
	if (out->kind != FORGE_REPLAY)
		out->qpn = lane_of(forge, pkt.flow);
	/* A replayed packet must stay what it was, or it might become the next one of its flow: of no stranger. */
	if (out->kind == FORGE_MUTATED || (!forge->stranger && !forge->listener && percent(forge, 20)))
		mutate(forge, out);
}

void forge_kernel_read(struct forge *forge, u32 flow, struct forged *out)
{
	struct vqp_pkt pkt = {};

	fill_base(forge, &pkt, flow, flow);
	pkt.op = VQP_OP_READ;
	pkt.addr = forge->target->addr;
	pkt.rkey = forge->target->key;
	pkt.msg_bytes = READ_BYTES;
	fill_open(forge, &pkt, pkt.psn, 1);
	pkt.src_qp = 0;
	pkt.stamp = forge->stamp;
	pkt.age = 0;
	pkt.echo = forge->echo;
	build(forge, out, &pkt);
	out->kind = FORGE_VALID;
	out->qkey = tap_recent(forge->tap, true, 0)->qkey;
	out->qpn = lane_of(forge, flow);
}
