/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets of software DC: DC's semantics over UD. All fields are big-endian on the wire; struct
 * vqp_pkt is a packet in CPU order.
 *
 *   base     28 bytes  in every packet
 *   open     84 bytes  with VQP_PKT_OPEN: all that a target needs to take part. It is in every
 *                      packet of a flow until the flow's first acknowledgement arrives.
 *   op       0 to 32   depends on the opcode
 *   payload            of SEND, WRITE and READ_RESP
 *
 * Whether a packet is the FIRST or the LAST of its message follows from offset and lengths, and
 * the flags must agree with them. Only a message of no bytes has a packet of no bytes. IMM and
 * SOLICITED are set in the LAST packet only.
 *
 * A flow is the requests of one VQP to its peer. The initiating node numbers its flows. ACK, NAK
 * and READ_RESP travel towards the initiator and carry the number of the same flow. The GRH, and
 * not the packet, says which node the sender is.
 */
#ifndef VQP_ENGINE_WIRE_H
#define VQP_ENGINE_WIRE_H

#include <linux/types.h>
#include <linux/compiler.h>
#include "mask.h"

#define VQP_WIRE_VERSION	4
#define VQP_WIRE_HEADER_MAX	144	/* base + open + op, rounded up */
#define VQP_WIRE_LANES_MAX	8
#define VQP_WIRE_MSG_MAX	(1U << 30)	/* bytes of a message */
/*
 * The most READ packets and atomics of a flow that are outstanding, and the number of atomics whose
 * results a target remembers. All nodes must agree on it.
 */
#define VQP_READ_CHUNKS		4
#define VQP_READ_CHUNK_PACKETS	16		/* the most responses to one READ packet */

enum vqp_op {
	VQP_OP_SEND	= 1,	/* two-sided data */
	VQP_OP_WRITE	= 2,	/* one-sided data */
	VQP_OP_READ	= 3,	/* It asks for up to VQP_READ_CHUNK_PACKETS responses. */
	VQP_OP_READ_RESP = 4,
	VQP_OP_ACK	= 5,
	VQP_OP_NAK	= 6,
	VQP_OP_CLOSE	= 7,	/* The initiator sends nothing more on this flow. */
	/* A READ_RESP brings the previous value of either, in network order. */
	VQP_OP_CMP_SWP	= 8,
	VQP_OP_FETCH_ADD = 9,
	VQP_OP_MAX	= VQP_OP_FETCH_ADD,
};

#define VQP_ATOMIC_BYTES	8U

#define VQP_PKT_FIRST		(1U << 0)	/* the message begins */
#define VQP_PKT_LAST		(1U << 1)
#define VQP_PKT_OPEN		(1U << 2)	/* requests only */
#define VQP_PKT_IMM		(1U << 3)	/* SEND, WRITE: the message consumes a receive */
#define VQP_PKT_ACK_REQ		(1U << 4)
#define VQP_PKT_SOLICITED	(1U << 5)
#define VQP_PKT_FLAGS_ALL	((1U << 6) - 1)

#define VQP_PKT_AGE_MAX		255	/* of vqp_pkt.age: so many ticks, or more */
#define VQP_PKT_MARKS_MAX	255	/* of vqp_pkt.marks: so many packets, or more */

enum vqp_nak {
	/* There is a gap at ack_psn; the target holds `held` of the packets behind it. */
	VQP_NAK_SEQ		= 1,
	/* No receive is posted: wait rnr_us, and go on at ack_psn. */
	VQP_NAK_RNR		= 2,
	/* There is no such port or VQP, or the message is longer than the receive. */
	VQP_NAK_INV_REQ		= 3,
	/* The rkey, the range or the access is not valid. */
	VQP_NAK_ACCESS		= 4,
	/* The target could not carry out the request. */
	VQP_NAK_OP		= 5,
	/* The namespace is not at this node, or not any more: the metadata is stale. */
	VQP_NAK_NO_NS		= 6,
	/* A packet without OPEN belongs to an unknown flow: send with OPEN again. */
	VQP_NAK_NO_FLOW		= 7,
	/* No responder context is free: wait rnr_us. */
	VQP_NAK_BUSY		= 8,
	/* dst_epoch is not this node's, which has started anew. */
	VQP_NAK_EPOCH		= 9,
	/* A packet without OPEN belongs to a flow that was closed at ack_psn. */
	VQP_NAK_CLOSED		= 10,
	/* A packet with OPEN may be one that was carried out before: send it again with `echo`. */
	VQP_NAK_STALE		= 11,
	VQP_NAK_MAX		= VQP_NAK_STALE,
};

/* DCT metadata: what a node must know to send to another node. */
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
	/* ACK, NAK, READ_RESP: packets of the flow that came marked since the answer before it */
	u8  marks;
	u32 src_epoch;			/* of the sending node */
	u32 dst_epoch;			/* of the receiving node, as the sender knows it */
	u32 flow;
	u32 psn;
	u16 turn;			/* of the initiator's sending; an answer repeats it */
	u32 src_qkey;			/* With it the receiver can answer at once. */

	/* open */
	u32 tenant;
	/* A target without a context takes the flow up here: no earlier packet is missing. */
	u32 open_psn;
	u8  src_gid[16];		/* the addresses of the namespaces */
	u8  dst_gid[16];
	u32 src_qp;			/* the initiating VQP's number in its namespace */
	u32 dst_qp;			/* the target VQP's number; 0: dst_port names it */
	u16 dst_port;
	u32 src_lanes;			/* the lanes of the initiator's node */
	u32 src_qpn[VQP_WIRE_LANES_MAX];
	/* By these the target tells the packet from a late copy; see clock.h. */
	u32 stamp;			/* the coarse clock of the initiator's node */
	u8  age;			/* ticks of it since open_psn was first sent */
	/* also of NAK_STALE: a random number, which the initiator repeats; or 0 */
	u32 echo;

	/* op */
	u64 addr;			/* one-sided: of the first byte of this packet */
	u32 rkey;			/* one-sided */
	/* CMP_SWP: the value that must be there; FETCH_ADD: the value that is added */
	u64 compare_add;
	u64 swap;			/* CMP_SWP: the new value */
	u32 msg_bytes;			/* SEND: of the whole message; READ: asked for */
	/* SEND: of this packet in its message; READ, READ_RESP: of the first byte in the chunk */
	u32 offset;
	u32 imm;			/* with VQP_PKT_IMM: opaque, in wire order */
	u32 ack_psn;			/* ACK, NAK: the next PSN that the target expects */
	u8  nak;			/* NAK: enum vqp_nak */
	u32 rnr_us;			/* NAK_RNR, NAK_BUSY */
	struct vqp_mask held;		/* NAK_SEQ: the PSNs from ack_psn on that are held */

	/* not on the wire: the network has marked the packet (Congestion Experienced) */
	bool ce;

	/* Up to 65535 bytes, in the buffer that was parsed, or that is to be sent. */
	const void *payload;
	u32 payload_bytes;
};

static inline bool vqp_op_is_atomic(u8 op)
{
	return op == VQP_OP_CMP_SWP || op == VQP_OP_FETCH_ADD;
}

/* Does the packet travel towards the initiator? */
static inline bool vqp_op_is_answer(u8 op)
{
	return op == VQP_OP_ACK || op == VQP_OP_NAK || op == VQP_OP_READ_RESP;
}

/* Is the operation answered with data? */
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
 * Parse `bytes` bytes of a hostile sender. All is validated that needs no state: version, opcode,
 * the flags that the opcode allows, lengths, the number of lanes, reserved fields. Returns 0 or
 * -EBADMSG. pkt->payload points into buf.
 */
int __must_check vqp_wire_parse(const void *buf, u32 bytes, struct vqp_pkt *pkt);

/*
 * Write the headers of `pkt`, which is valid, to `buf`, which has room for VQP_WIRE_HEADER_MAX
 * bytes. Returns the length of the headers. The caller puts pkt->payload_bytes bytes of payload
 * behind them.
 */
u32 vqp_wire_build(void *buf, const struct vqp_pkt *pkt);

#endif
