/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What travels between two nodes: one packet of software DC (DC's semantics
 * over UD). All fields are big-endian on the wire; struct vqp_pkt is a packet in CPU order.
 *
 *   base     28 bytes  every packet
 *   open     84 bytes  VQP_PKT_OPEN: all a target needs to take part; sent in
 *                      every packet until the flow's first acknowledgement
 *   op        0 to 32  by opcode
 *   payload            SEND, WRITE, READ_RESP
 *
 * Which packets of a message are its FIRST and LAST follows from offset and
 * lengths, and must agree with them; only a message of no bytes has a packet
 * of no bytes. IMM and SOLICITED are in the LAST packet only.
 *
 * A flow is one VQP's requests to its peer; flow numbers are the initiating
 * node's. ACK, NAK and READ_RESP travel towards the initiator and name the
 * same flow. The sender's node is known by the GRH, not by the packet.
 */
#ifndef VQP_ENGINE_WIRE_H
#define VQP_ENGINE_WIRE_H

#include <linux/types.h>
#include <linux/compiler.h>
#include "mask.h"

#define VQP_WIRE_VERSION	2
#define VQP_WIRE_HEADER_MAX	144	/* base + open + op, rounded up */
#define VQP_WIRE_LANES_MAX	8
#define VQP_WIRE_MSG_MAX	(1U << 30)	/* bytes of a message */
/*
 * READ packets and atomics of a flow that are outstanding at most, and how many
 * atomics' results targets remember: all nodes must agree.
 */
#define VQP_READ_CHUNKS		4
#define VQP_READ_CHUNK_PACKETS	16		/* of responses to one READ packet, at most */

enum vqp_op {
	VQP_OP_SEND	= 1,	/* two-sided data */
	VQP_OP_WRITE	= 2,	/* one-sided data */
	VQP_OP_READ	= 3,	/* request for up to VQP_READ_CHUNK_PACKETS of responses */
	VQP_OP_READ_RESP = 4,
	VQP_OP_ACK	= 5,
	VQP_OP_NAK	= 6,
	VQP_OP_CLOSE	= 7,	/* the initiator will send nothing more on this flow */
	VQP_OP_CMP_SWP	= 8,	/* answered with READ_RESP: what was there, in network order */
	VQP_OP_FETCH_ADD = 9,
	VQP_OP_MAX	= VQP_OP_FETCH_ADD,
};

#define VQP_ATOMIC_BYTES	8U

#define VQP_PKT_FIRST		(1U << 0)	/* of a message */
#define VQP_PKT_LAST		(1U << 1)
#define VQP_PKT_OPEN		(1U << 2)	/* requests only */
#define VQP_PKT_IMM		(1U << 3)	/* SEND, WRITE: the message consumes a receive */
#define VQP_PKT_ACK_REQ		(1U << 4)
#define VQP_PKT_SOLICITED	(1U << 5)
#define VQP_PKT_FLAGS_ALL	((1U << 6) - 1)

enum vqp_nak {
	VQP_NAK_SEQ		= 1,	/* a gap at ack_psn; `held` of what follows is here */
	VQP_NAK_RNR		= 2,	/* no receive posted: wait rnr_us, go on at ack_psn */
	VQP_NAK_INV_REQ		= 3,	/* no such port or VQP, or longer than the receive */
	VQP_NAK_ACCESS		= 4,	/* bad rkey, range or access */
	VQP_NAK_OP		= 5,	/* the target could not carry it out */
	VQP_NAK_NO_NS		= 6,	/* not, or no longer, here: metadata is stale */
	VQP_NAK_NO_FLOW		= 7,	/* packet without OPEN for an unknown flow: open again */
	VQP_NAK_BUSY		= 8,	/* no responder context free: wait rnr_us */
	VQP_NAK_EPOCH		= 9,	/* dst_epoch is not this node's: it started anew */
	VQP_NAK_CLOSED		= 10,	/* the same for a flow closed at ack_psn */
	VQP_NAK_MAX		= VQP_NAK_CLOSED,
};

/* DCT metadata: what a node must know to talk to another. */
struct vqp_dct {
	u8  node_gid[16];
	u32 epoch;
	u32 qkey;
	u32 lanes;			/* 1 .. VQP_WIRE_LANES_MAX */
	u32 qpn[VQP_WIRE_LANES_MAX];	/* 24 bits each */
};

struct vqp_pkt {
	/* base */
	u8  op;				/* enum vqp_op */
	u32 flags;			/* VQP_PKT_* */
	u32 src_epoch;			/* of the sending node */
	u32 dst_epoch;			/* of the receiving node, as the sender knows it */
	u32 flow;
	u32 psn;
	u16 turn;			/* the initiator's round of sending; answers repeat it */
	u32 src_qkey;			/* the receiver can answer without knowing more */

	/* open */
	u32 tenant;
	/* a target without a context takes the flow up here: nothing earlier is missing */
	u32 open_psn;
	u8  src_gid[16];		/* container addresses */
	u8  dst_gid[16];
	u32 src_qp;			/* initiator's VQP number, in its namespace */
	u32 dst_qp;			/* target VQP number, or 0: by dst_port */
	u16 dst_port;
	u32 src_lanes;			/* lanes of the initiator's node */
	u32 src_qpn[VQP_WIRE_LANES_MAX];

	/* op */
	u64 addr;			/* of the first byte; READ: of the first wanted */
	u32 rkey;			/* all that is one-sided */
	u64 compare_add;		/* CMP_SWP: swap if this is there; FETCH_ADD: what to add */
	u64 swap;			/* CMP_SWP */
	u32 msg_bytes;			/* SEND: whole message; READ: bytes wanted */
	/* SEND: of this packet in the message; READ, READ_RESP: of the first byte in the chunk */
	u32 offset;
	u32 imm;			/* with VQP_PKT_IMM; opaque, in wire order as given */
	u32 ack_psn;			/* ACK, NAK: next PSN the target expects */
	u8  nak;			/* NAK: enum vqp_nak */
	u32 rnr_us;			/* NAK_RNR, NAK_BUSY */
	struct vqp_mask held;		/* NAK_SEQ: the target holds these of ack_psn and on */

	/* payload: at most 65535 bytes; its length is in the headers */
	const void *payload;		/* into the parsed buffer; or what is to be sent */
	u32 payload_bytes;
};

static inline bool vqp_op_is_atomic(u8 op)
{
	return op == VQP_OP_CMP_SWP || op == VQP_OP_FETCH_ADD;
}

/* Answered with data. */
static inline bool vqp_op_returns_data(u8 op)
{
	return op == VQP_OP_READ || vqp_op_is_atomic(op);
}

/* PSNs are compared modulo 2^32. */
static inline bool vqp_psn_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/*
 * Parse `bytes` bytes. Everything is validated that can be without state:
 * version, opcode, flags allowed for it, lengths, lane counts, reserved fields.
 * 0 or -EBADMSG.
 */
int __must_check vqp_wire_parse(const void *buf, u32 bytes, struct vqp_pkt *pkt);

/*
 * Write the headers of `pkt`, a valid packet, to `buf`, which has
 * VQP_WIRE_HEADER_MAX bytes. Returns their length; pkt->payload_bytes bytes of
 * payload must follow them.
 */
u32 vqp_wire_build(void *buf, const struct vqp_pkt *pkt);

#endif
