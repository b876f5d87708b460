// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "wire.h"

struct vqp_wire_base {
	u8 version;
	u8 op;
	u8 marks;
	u8 flags;
	__be16 payload_bytes;
	__be16 turn;
	__be32 src_epoch;
	__be32 dst_epoch;
	__be32 flow;
	__be32 psn;
	__be32 src_qkey;
};

struct vqp_wire_open {
	__be32 tenant;
	__be32 open_psn;
	u8 src_gid[16];
	u8 dst_gid[16];
	__be32 src_qp;
	__be32 dst_qp;
	__be16 dst_port;
	u8 src_lanes;
	u8 age;
	u8 src_qpn[VQP_WIRE_LANES_MAX][3];
	__be32 stamp;
	__be32 echo;
};

struct vqp_wire_send {
	__be32 msg_bytes;
	__be32 offset;
	u32 imm;
};

struct vqp_wire_write {
	__be64 addr;
	__be32 rkey;
	u32 imm;
};

struct vqp_wire_read {
	__be64 addr;
	__be32 rkey;
	__be32 msg_bytes;
	__be32 offset;
	__be32 reserved;
};

struct vqp_wire_atomic {
	__be64 addr;
	__be32 rkey;
	__be32 reserved;
	__be64 compare_add;
	__be64 swap;
};

struct vqp_wire_read_resp {
	__be32 offset;
};

struct vqp_wire_ack {
	__be32 ack_psn;
};

struct vqp_wire_nak {
	__be32 ack_psn;
	__be32 value;			/* STALE: echo; else rnr_us */
	u8 nak;
	u8 reserved[3];
	__be32 held[VQP_MASK_BITS / 32];
};

union vqp_wire_op {
	struct vqp_wire_send send;
	struct vqp_wire_write write;
	struct vqp_wire_read read;
	struct vqp_wire_atomic atomic;
	struct vqp_wire_read_resp read_resp;
	struct vqp_wire_ack ack;
	struct vqp_wire_nak nak;
};

static_assert(sizeof(struct vqp_wire_base) == 28);
static_assert(sizeof(struct vqp_wire_open) == 84);
static_assert(sizeof(struct vqp_wire_send) == 12);
static_assert(sizeof(struct vqp_wire_write) == 16);
static_assert(sizeof(struct vqp_wire_atomic) == 32);
static_assert(sizeof(struct vqp_wire_nak) == 28);
static_assert(sizeof(union vqp_wire_op) == 32);
static_assert(sizeof(struct vqp_wire_base) + sizeof(struct vqp_wire_open) +
	      sizeof(union vqp_wire_op) <= VQP_WIRE_HEADER_MAX);

static const struct {
	u8 bytes;			/* the length of the op header */
	u8 flags;			/* the flags that are allowed */
	bool payload;			/* A payload is allowed. */
} vqp_wire_ops[VQP_OP_MAX + 1] = {
	[VQP_OP_SEND]	   = { sizeof(struct vqp_wire_send), VQP_PKT_FLAGS_ALL, true },
	[VQP_OP_WRITE]	   = { sizeof(struct vqp_wire_write), VQP_PKT_FLAGS_ALL, true },
	[VQP_OP_READ]	   = { sizeof(struct vqp_wire_read), VQP_PKT_OPEN, false },
	[VQP_OP_READ_RESP] = { sizeof(struct vqp_wire_read_resp), 0, true },
	[VQP_OP_ACK]	   = { sizeof(struct vqp_wire_ack), 0, false },
	[VQP_OP_NAK]	   = { sizeof(struct vqp_wire_nak), 0, false },
	[VQP_OP_CLOSE]	   = { 0, 0, false },
	[VQP_OP_CMP_SWP]   = { sizeof(struct vqp_wire_atomic), VQP_PKT_OPEN, false },
	[VQP_OP_FETCH_ADD] = { sizeof(struct vqp_wire_atomic), VQP_PKT_OPEN, false },
};

static u32 vqp_wire_qpn(const u8 *qpn)
{
	return (u32)qpn[0] << 16 | (u32)qpn[1] << 8 | qpn[2];
}

static void vqp_wire_put_qpn(u8 *at, u32 qpn)
{
	at[0] = qpn >> 16;
	at[1] = qpn >> 8;
	at[2] = qpn;
}

static int vqp_wire_parse_open(const void *buf, struct vqp_pkt *pkt)
{
	struct vqp_wire_open open;
	u32 i;

	memcpy(&open, buf, sizeof(open));
	pkt->tenant = be32_to_cpu(open.tenant);
	pkt->open_psn = be32_to_cpu(open.open_psn);
	memcpy(pkt->src_gid, open.src_gid, sizeof(pkt->src_gid));
	memcpy(pkt->dst_gid, open.dst_gid, sizeof(pkt->dst_gid));
	pkt->src_qp = be32_to_cpu(open.src_qp);
	pkt->dst_qp = be32_to_cpu(open.dst_qp);
	pkt->dst_port = be16_to_cpu(open.dst_port);
	pkt->src_lanes = open.src_lanes;
	pkt->age = open.age;
	pkt->stamp = be32_to_cpu(open.stamp);
	pkt->echo = be32_to_cpu(open.echo);
	if (!open.src_lanes || open.src_lanes > VQP_WIRE_LANES_MAX)
		return -EBADMSG;
	for (i = 0; i < VQP_WIRE_LANES_MAX; i++) {
		pkt->src_qpn[i] = vqp_wire_qpn(open.src_qpn[i]);
		if (pkt->src_qpn[i] && i >= open.src_lanes)
			return -EBADMSG;
	}
	return 0;
}

static int vqp_wire_parse_send(const struct vqp_wire_send *send, struct vqp_pkt *pkt)
{
	bool first, last;

	pkt->msg_bytes = be32_to_cpu(send->msg_bytes);
	pkt->offset = be32_to_cpu(send->offset);
	pkt->imm = send->imm;
	if (pkt->msg_bytes > VQP_WIRE_MSG_MAX || pkt->offset > pkt->msg_bytes ||
	    pkt->payload_bytes > pkt->msg_bytes - pkt->offset)
		return -EBADMSG;
	first = pkt->offset == 0;
	last = pkt->payload_bytes == pkt->msg_bytes - pkt->offset;
	if (first != !!(pkt->flags & VQP_PKT_FIRST) || last != !!(pkt->flags & VQP_PKT_LAST))
		return -EBADMSG;
	return 0;
}

static int vqp_wire_parse_read(const struct vqp_wire_read *read, struct vqp_pkt *pkt)
{
	pkt->addr = be64_to_cpu(read->addr);
	pkt->rkey = be32_to_cpu(read->rkey);
	pkt->msg_bytes = be32_to_cpu(read->msg_bytes);
	pkt->offset = be32_to_cpu(read->offset);
	if (pkt->msg_bytes > VQP_WIRE_MSG_MAX || pkt->offset > VQP_WIRE_MSG_MAX || read->reserved)
		return -EBADMSG;
	return 0;
}

static int vqp_wire_parse_atomic(const struct vqp_wire_atomic *atomic, struct vqp_pkt *pkt)
{
	pkt->addr = be64_to_cpu(atomic->addr);
	pkt->rkey = be32_to_cpu(atomic->rkey);
	pkt->compare_add = be64_to_cpu(atomic->compare_add);
	pkt->swap = be64_to_cpu(atomic->swap);
	if (atomic->reserved || (pkt->swap && pkt->op == VQP_OP_FETCH_ADD))
		return -EBADMSG;
	return 0;
}

static int vqp_wire_parse_nak(const struct vqp_wire_nak *nak, struct vqp_pkt *pkt)
{
	u32 i;

	pkt->ack_psn = be32_to_cpu(nak->ack_psn);
	pkt->nak = nak->nak;
	if (nak->nak == VQP_NAK_STALE)
		pkt->echo = be32_to_cpu(nak->value);
	else
		pkt->rnr_us = be32_to_cpu(nak->value);
	for (i = 0; i < VQP_MASK_BITS / 32; i++)
		pkt->held.words[i / 2] |= (u64)be32_to_cpu(nak->held[i]) << i % 2 * 32;
	if (!nak->nak || nak->nak > VQP_NAK_MAX ||
	    nak->reserved[0] || nak->reserved[1] || nak->reserved[2])
		return -EBADMSG;
	if (pkt->rnr_us && nak->nak != VQP_NAK_RNR && nak->nak != VQP_NAK_BUSY)
		return -EBADMSG;
	if (!pkt->echo && nak->nak == VQP_NAK_STALE)
		return -EBADMSG;
	if (vqp_mask_any(&pkt->held) && nak->nak != VQP_NAK_SEQ)
		return -EBADMSG;
	return 0;
}

static int vqp_wire_parse_op(const union vqp_wire_op *op, struct vqp_pkt *pkt)
{
	switch (pkt->op) {
	case VQP_OP_SEND:
		return vqp_wire_parse_send(&op->send, pkt);
	case VQP_OP_WRITE:
		pkt->addr = be64_to_cpu(op->write.addr);
		pkt->rkey = be32_to_cpu(op->write.rkey);
		pkt->imm = op->write.imm;
		return 0;
	case VQP_OP_READ:
		return vqp_wire_parse_read(&op->read, pkt);
	case VQP_OP_READ_RESP:
		pkt->offset = be32_to_cpu(op->read_resp.offset);
		return pkt->offset > VQP_WIRE_MSG_MAX ? -EBADMSG : 0;
	case VQP_OP_ACK:
		pkt->ack_psn = be32_to_cpu(op->ack.ack_psn);
		return 0;
	case VQP_OP_NAK:
		return vqp_wire_parse_nak(&op->nak, pkt);
	case VQP_OP_CMP_SWP:
	case VQP_OP_FETCH_ADD:
		return vqp_wire_parse_atomic(&op->atomic, pkt);
	}
	return 0;
}

/* The checks that SEND and WRITE have in common. */
static int vqp_wire_check_data(const struct vqp_pkt *pkt)
{
	const u32 whole = VQP_PKT_FIRST | VQP_PKT_LAST;

	if (!pkt->payload_bytes && (pkt->flags & whole) != whole)
		return -EBADMSG;
	if (!(pkt->flags & VQP_PKT_LAST) && (pkt->flags & (VQP_PKT_IMM | VQP_PKT_SOLICITED)))
		return -EBADMSG;
	if (!(pkt->flags & VQP_PKT_IMM) && pkt->imm)
		return -EBADMSG;
	return 0;
}

int vqp_wire_parse(const void *buf, u32 bytes, struct vqp_pkt *pkt)
{
	struct vqp_wire_base base;
	union vqp_wire_op op;
	const u8 *at = buf;
	u32 header = sizeof(base);

	memset(pkt, 0, sizeof(*pkt));
	if (bytes < sizeof(base))
		return -EBADMSG;
	memcpy(&base, at, sizeof(base));
	if (base.version != VQP_WIRE_VERSION || !base.op || base.op > VQP_OP_MAX)
		return -EBADMSG;
	pkt->op = base.op;
	pkt->marks = base.marks;
	pkt->flags = base.flags;
	pkt->payload_bytes = be16_to_cpu(base.payload_bytes);
	pkt->src_epoch = be32_to_cpu(base.src_epoch);
	pkt->dst_epoch = be32_to_cpu(base.dst_epoch);
	pkt->flow = be32_to_cpu(base.flow);
	pkt->psn = be32_to_cpu(base.psn);
	pkt->turn = be16_to_cpu(base.turn);
	pkt->src_qkey = be32_to_cpu(base.src_qkey);
	if ((pkt->flags & ~(u32)vqp_wire_ops[pkt->op].flags) ||
	    (pkt->payload_bytes && !vqp_wire_ops[pkt->op].payload) ||
	    (pkt->marks && !vqp_op_is_answer(pkt->op)))
		return -EBADMSG;

	if (pkt->flags & VQP_PKT_OPEN)
		header += sizeof(struct vqp_wire_open);
	header += vqp_wire_ops[pkt->op].bytes;
	if (bytes != header + pkt->payload_bytes)
		return -EBADMSG;
	pkt->payload = at + header;

	at += sizeof(base);
	if (pkt->flags & VQP_PKT_OPEN) {
		if (vqp_wire_parse_open(at, pkt))
			return -EBADMSG;
		at += sizeof(struct vqp_wire_open);
	}
	memcpy(&op, at, vqp_wire_ops[pkt->op].bytes);
	if (vqp_wire_parse_op(&op, pkt))
		return -EBADMSG;
	if (pkt->op == VQP_OP_SEND || pkt->op == VQP_OP_WRITE)
		return vqp_wire_check_data(pkt);
	return 0;
}

static void vqp_wire_build_open(void *buf, const struct vqp_pkt *pkt)
{
	struct vqp_wire_open open;
	u32 i;

	memset(&open, 0, sizeof(open));
	open.tenant = cpu_to_be32(pkt->tenant);
	open.open_psn = cpu_to_be32(pkt->open_psn);
	memcpy(open.src_gid, pkt->src_gid, sizeof(open.src_gid));
	memcpy(open.dst_gid, pkt->dst_gid, sizeof(open.dst_gid));
	open.src_qp = cpu_to_be32(pkt->src_qp);
	open.dst_qp = cpu_to_be32(pkt->dst_qp);
	open.dst_port = cpu_to_be16(pkt->dst_port);
	open.src_lanes = pkt->src_lanes;
	for (i = 0; i < pkt->src_lanes && i < VQP_WIRE_LANES_MAX; i++)
		vqp_wire_put_qpn(open.src_qpn[i], pkt->src_qpn[i]);
	open.age = pkt->age;
	open.stamp = cpu_to_be32(pkt->stamp);
	open.echo = cpu_to_be32(pkt->echo);
	memcpy(buf, &open, sizeof(open));
}

static void vqp_wire_build_op(void *buf, const struct vqp_pkt *pkt)
{
	union vqp_wire_op op;
	u32 i;

	memset(&op, 0, sizeof(op));
	switch (pkt->op) {
	case VQP_OP_SEND:
		op.send.msg_bytes = cpu_to_be32(pkt->msg_bytes);
		op.send.offset = cpu_to_be32(pkt->offset);
		op.send.imm = pkt->imm;
		break;
	case VQP_OP_WRITE:
		op.write.addr = cpu_to_be64(pkt->addr);
		op.write.rkey = cpu_to_be32(pkt->rkey);
		op.write.imm = pkt->imm;
		break;
	case VQP_OP_READ:
		op.read.addr = cpu_to_be64(pkt->addr);
		op.read.rkey = cpu_to_be32(pkt->rkey);
		op.read.msg_bytes = cpu_to_be32(pkt->msg_bytes);
		op.read.offset = cpu_to_be32(pkt->offset);
		break;
	case VQP_OP_READ_RESP:
		op.read_resp.offset = cpu_to_be32(pkt->offset);
		break;
	case VQP_OP_ACK:
		op.ack.ack_psn = cpu_to_be32(pkt->ack_psn);
		break;
	case VQP_OP_NAK:
		op.nak.ack_psn = cpu_to_be32(pkt->ack_psn);
		op.nak.value = cpu_to_be32(pkt->nak == VQP_NAK_STALE ? pkt->echo : pkt->rnr_us);
		op.nak.nak = pkt->nak;
		for (i = 0; i < VQP_MASK_BITS / 32; i++)
			op.nak.held[i] = cpu_to_be32(pkt->held.words[i / 2] >> i % 2 * 32);
		break;
	case VQP_OP_CMP_SWP:
	case VQP_OP_FETCH_ADD:
		op.atomic.addr = cpu_to_be64(pkt->addr);
		op.atomic.rkey = cpu_to_be32(pkt->rkey);
		op.atomic.compare_add = cpu_to_be64(pkt->compare_add);
		op.atomic.swap = cpu_to_be64(pkt->swap);
		break;
	}
	memcpy(buf, &op, vqp_wire_ops[pkt->op].bytes);
}

u32 vqp_wire_build(void *buf, const struct vqp_pkt *pkt)
{
	struct vqp_wire_base base;
	u8 *at = buf;

	memset(&base, 0, sizeof(base));
	base.version = VQP_WIRE_VERSION;
	base.op = pkt->op;
	base.marks = pkt->marks;
	base.flags = pkt->flags;
	base.payload_bytes = cpu_to_be16(pkt->payload_bytes);
	base.src_epoch = cpu_to_be32(pkt->src_epoch);
	base.dst_epoch = cpu_to_be32(pkt->dst_epoch);
	base.flow = cpu_to_be32(pkt->flow);
	base.psn = cpu_to_be32(pkt->psn);
	base.turn = cpu_to_be16(pkt->turn);
	base.src_qkey = cpu_to_be32(pkt->src_qkey);
	memcpy(at, &base, sizeof(base));
	at += sizeof(base);
	if (pkt->flags & VQP_PKT_OPEN) {
		vqp_wire_build_open(at, pkt);
		at += sizeof(struct vqp_wire_open);
	}
	vqp_wire_build_op(at, pkt);
	return at + vqp_wire_ops[pkt->op].bytes - (u8 *)buf;
}
