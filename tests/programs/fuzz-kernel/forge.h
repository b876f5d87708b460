/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that no kernel of this node has sent. Two manners:
 *
 * stranger: from an address of its own, with all keys of the target. What it
 * may do is bounded by what any node may: whoever talks to the target must
 * notice nothing.
 *
 * otherwise: in the name of this node's kernel, into its flows and the
 * target's. Those may break; the target's kernel may not.
 */
#ifndef VQP_FUZZ_FORGE_H
#define VQP_FUZZ_FORGE_H

#include "frames.h"
#include "random.h"
#include "tap.h"
#include "target.h"

#define FORGE_FLOWS	256
#define FORGE_BYTES	4096

enum forge_kind {
	FORGE_VALID,		/* the next packet of a flow of its own */
	FORGE_MUTATED,		/* the same with fields or bytes changed */
	FORGE_REPLAY,		/* a captured packet */
	FORGE_ANSWER,		/* ACK, NAK or READ_RESP to a flow of the target */
	FORGE_FLOOD,		/* another initiator each time */
	FORGE_KINDS
};

/* An initiator that keeps the rules. */
struct forge_flow {
	u32 number, psn, acked;
	bool opened, failed;
	u32 msg_bytes, offset;	/* of the SEND that is under way */
};

struct forge {
	struct rnd rnd;
	const struct tap *tap;
	const struct target *target;
	bool stranger;
	u32 tenant, epoch, qkey, qpn;	/* its own */
	/*
	 * A stream socket listens at that port of the target's address: all packets are well-formed,
	 * and bring frames to the hub there. 0: there is none.
	 */
	u16 listener;
	u8 frame[FRAMES_BYTES];	/* the one that a packet brings */
	u32 flooded;
	u32 stamp, echo;	/* its coarse clock; the target's latest echo */
	struct forge_flow flows[FORGE_FLOWS];
};

struct forged {
	enum forge_kind kind;
	u32 qpn, qkey, bytes;
	u8 buf[FORGE_BYTES];
};

extern const char *const forge_names[FORGE_KINDS];

void forge_init(struct forge *forge);

/* The next packet; at least one to the target was captured. */
void forge_next(struct forge *forge, struct forged *out);

/*
 * A READ of the target's first bytes in flow `flow`, as a VQP of this node's kernel sends it, which
 * has no number. It is of that node unless the forger is a stranger.
 */
void forge_kernel_read(struct forge *forge, u32 flow, struct forged *out);

/* An answer that came. */
void forge_take(struct forge *forge, const struct vqp_pkt *answer);

#endif
