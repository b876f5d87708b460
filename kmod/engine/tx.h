/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The initiator's half of a flow takes messages, transmits their packets within a congestion
 * window, retransmits what is lost, and completes each message once and in posting order.
 *
 * Calls and callbacks: the caller passes in events and the time (monotonic, in microseconds), and
 * every effect goes through struct vqp_tx_ops. The caller serializes all calls for one flow; in
 * the kernel the VQP's lock does. Callbacks are made under that serialization and must not call
 * into the same flow. The caller hands in only answers from the node that is the present target.
 *
 * PSNs: a SEND or a WRITE takes one PSN per packet of cfg.payload_bytes, and at least one. A READ
 * takes one PSN per chunk of VQP_READ_CHUNK_PACKETS packets, and an atomic takes one. A packet
 * gets its PSN when it is first sent. PSNs are compared modulo 2^32.
 *
 * Reliability: the target carries out packets in order. It answers a gap with NAK_SEQ, which says
 * which of the packets behind the gap it holds. The initiator sends the packets again that the
 * target must have missed, or all of them if the target holds none. A READ chunk is idempotent:
 * when the end of its response or of a later response arrives, the initiator requests what is
 * missing again. An atomic is carried out once: the
 * target remembers the results of the last VQP_READ_CHUNKS atomics, and no more atomics than
 * that are outstanding.
 *
 * Turns: each return to an earlier PSN and each READ request begins a new turn, and every answer
 * repeats the turn of the packet that it answers. An answer to an earlier turn is therefore never
 * taken for news, and a round trip can be measured however often a packet is sent.
 *
 * Window: congestion.h says how many packets may be in flight. Responses that READs have asked for
 * count: a READ asks for no more than the window leaves, and for the rest of its chunk later. RNR
 * and BUSY set the window to one packet. If an answer's turn shows that a packet was late and not
 * lost, the cut is undone.
 *
 * Failure: every message fails with RETRY_EXC_ERR after giveup_us without progress, if meanwhile
 * the target's node has answered no flow at all. A node that answers has not died, but it may be
 * slow, full, or behind a lossy link, and so the messages fail only after patience_us without
 * progress. RNR counts as progress; BUSY and waiting for room at the carrier do not. The time does
 * not run for a flow that is throttled, nor while its timer is late, except towards forget_us. A
 * request that the target refuses fails when all messages before it are finished. A target that has
 * forgotten the flow may have carried out packets that it has not acknowledged: the flow then fails
 * rather than send anything again that could be seen twice.
 */
#ifndef VQP_ENGINE_TX_H
#define VQP_ENGINE_TX_H

#include <linux/types.h>
#include <linux/list.h>
#include "congestion.h"
#include "wire.h"

#define VQP_TX_PAUSE_DOUBLINGS	6	/* The pause that a target asks for doubles so often. */
#define VQP_TX_ASK_EVERY	16	/* Of so many packets one asks for an ACK. */

/* One work request. It belongs to the engine from vqp_tx_post() until complete(). */
struct vqp_msg {
	struct list_head link;		/* in vqp_tx.msgs while posted, else the caller's */
	u8  op;				/* VQP_OP_SEND, _WRITE, _READ, _CMP_SWP, _FETCH_ADD */
	u32 flags;			/* VQP_PKT_IMM, VQP_PKT_SOLICITED */
	u32 imm;			/* in wire order, with VQP_PKT_IMM */
	/* The message is not sent until the data of all earlier READs and atomics has arrived. */
	bool fence;
	u32 bytes;			/* 0 to VQP_WIRE_MSG_MAX; VQP_ATOMIC_BYTES for an atomic */
	u64 remote_addr;
	u32 rkey;
	u64 compare_add, swap;		/* of an atomic, as in struct vqp_pkt */

	/* The engine's own. */
	u32 psn;			/* the first packet's or chunk's, if assigned */
	u32 psns;			/* the number of PSNs that the message takes */
	bool assigned;			/* The message has its PSNs. */
};

struct vqp_tx;

struct vqp_tx_ops {
	/*
	 * Transmit a packet. The engine has filled `pkt` except for the fields of the node: the
	 * epochs and, with VQP_PKT_OPEN, of the open header all but open_psn, stamp, age and echo.
	 * The payload is bytes [offset, offset + bytes) of msg's local memory; for a CLOSE msg is
	 * NULL and bytes 0. Returns 0; -EAGAIN if the carrier has no room, or -EBUSY if the flow is
	 * throttled: the caller calls vqp_tx_run() when the flow may go on; another error if the
	 * local memory is bad: msg then fails with LOC_PROT_ERR and the flow aborts. The callee
	 * adds VQP_PKT_ACK_REQ if the flow may soon be throttled. With tx->challenged a packet goes
	 * though the flow is throttled: its echo might not be valid any more when its turn comes,
	 * and so at no turn.
	 */
	int (*xmit)(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		    u32 offset, u32 bytes);
	/*
	 * Copy the data of a READ, or the previous value that an atomic returns, to `offset` of
	 * msg's local memory. On a non-zero result msg fails with LOC_PROT_ERR and the flow
	 * aborts.
	 */
	int (*place)(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data,
		     u32 bytes);
	/*
	 * msg is finished with this enum vqp_wc_status and belongs to the caller again. Messages
	 * complete in posting order.
	 */
	void (*complete)(struct vqp_tx *tx, struct vqp_msg *msg, u32 status);
	/*
	 * Have vqp_tx_timeout() called at or after `at_us`. A flow has one deadline, which the
	 * latest call sets; it is never disarmed.
	 */
	void (*arm)(struct vqp_tx *tx, u64 at_us);
	/*
	 * The target says that its metadata is stale (NAK_NO_NS, NAK_EPOCH). The flow is
	 * stopped until the caller, which looks the target up again, calls vqp_tx_retarget() or
	 * vqp_tx_abort().
	 */
	void (*stale)(struct vqp_tx *tx);
	/* The coarse clock of this node, which stamps packets with VQP_PKT_OPEN; see clock.h. */
	u32 (*stamp)(struct vqp_tx *tx);
};

struct vqp_tx_cfg {
	u32 payload_bytes;		/* the payload of a full packet */
	u32 window_packets;		/* the most PSNs that are in flight */
	/* The retransmission timeout begins at rto_min_us, and doubles up to rto_max_us. */
	u32 rto_min_us, rto_max_us;
	/*
	 * The flow fails after giveup_us without progress if the target's node has answered no flow
	 * for as long, and in any case after patience_us without progress.
	 */
	u32 giveup_us, patience_us;
	/*
	 * The target may have forgotten a flow of which no context has answered for so long; 0: it
	 * never does.
	 */
	u32 forget_us;
	/* A flow that is idle for so long lets the target's context go; 0: it never does. */
	u32 close_us;
};

/* A READ chunk, or an atomic, that is outstanding. */
struct vqp_tx_read {
	struct vqp_msg *msg;		/* NULL: the slot is free. */
	u32 psn;
	u32 number;			/* an atomic's place among the atomics of the flow */
	u32 offset;			/* of the chunk in msg, in bytes */
	u32 bytes;			/* of the chunk */
	u32 missing;			/* Bit i is set until packet i of the chunk arrives. */
	u32 asked;			/* Bit i is set while packet i is asked for. */
	u32 last;			/* the last packet that the latest request asks for */
	u16 turn;			/* of the latest request */
	u64 wait_us;			/* The retransmission timeout runs from this time on. */
};

struct vqp_tx {
	const struct vqp_tx_ops *ops;
	const struct vqp_tx_cfg *cfg;
	struct list_head msgs;		/* posted and not completed, in posting order */
	u32 nmsgs;			/* the length of msgs */
	u32 flow;			/* the number of the flow at the initiating node */

	u32 psn_next;			/* the first PSN that was never sent */
	u32 psn_send;			/* the next PSN to send; below psn_next after a return */
	u32 psn_acked;			/* The target has carried out all PSNs below it. */
	u32 psn_resent;			/* Each PSN from it on was sent at most once. */
	struct vqp_mask lost;		/* the PSNs from psn_acked on that are to be sent again */
	/* the number of PSNs above psn_acked that the target holds */
	u32 held;
	/* The message of psn_send, or the first one without PSNs; NULL: nothing is to be sent. */
	struct vqp_msg *next;
	struct vqp_tx_read reads[VQP_READ_CHUNKS];
	u32 atomics;			/* the number of atomics that were sent */

	struct vqp_congestion cc;
	u32 left;			/* packets that, an answer says, have left the network */
	u32 cwnd_before;		/* cc.cwnd before cuts that may be undone, or 0 */
	/* The caller keeps the window no greater than this; 0: no cap. */
	u32 cap;
	u32 psn_asked;			/* the PSN behind the latest packet with VQP_PKT_ACK_REQ */
	u16 turn;			/* of what is sent now */
	u16 cut_turn;			/* the first turn after the window was cut */
	u16 undo_turn;			/* An answer to a turn before this one undoes the cut. */
	u16 back_turn;			/* the first turn after lost packets were sent again */

	u64 progress_us;		/* when a message last advanced or became outstanding */
	/* the latest answer of a context, or when something became outstanding */
	u64 heard_us;
	u64 node_heard_us;		/* the latest known answer of the node to any flow */
	/* The retransmission timeout of psn_acked runs from here on. */
	u64 wait_us;
	/* After RNR or BUSY nothing is sent before this time; or 0. */
	u64 pause_us;
	/* While the flow is throttled: the time up to which deadlines have been moved; or 0. */
	u64 throttled_us;
	u64 deadline_us;		/* the time given to arm(), or 0 */
	/* when rtt_psn was sent in rtt_turn; 0: nothing is measured */
	u64 rtt_sent_us;
	u32 rtt_psn;
	u16 rtt_turn;
	u32 rto_us;

	/* With `fail`: the PSN of the packet that the target refused. */
	u32 fail_psn;
	/* The status of that packet's message, once all messages before it are finished; or 0. */
	u32 fail;
	/* An answer has arrived since the flow got this target, which needs no OPEN any more. */
	bool opened;
	/*
	 * Unless `opened`: the node's clock when psn_acked, or one before it, was first sent. No
	 * packet with an open header that is not answered yet was sent before that.
	 */
	u32 born;
	u32 echo;			/* unless `opened`: of the latest NAK_STALE; or 0 */
	bool challenged;		/* No packet has repeated `echo` yet. */
	bool touched;			/* The target may have a context of the flow. */
	u32 pauses;			/* in a row, up to VQP_TX_PAUSE_DOUBLINGS */
	bool stopped;			/* The target is stale, and the caller looks it up. */
	bool blocked;			/* Nothing is outstanding, and the carrier has no room. */
	bool dead;			/* It was aborted or closed. */
	u64 packets_sent, packets_resent;
};

void vqp_tx_init(struct vqp_tx *tx, const struct vqp_tx_ops *ops,
		 const struct vqp_tx_cfg *cfg, u32 flow, u32 first_psn);

/*
 * Append a message and send what the window allows. On a dead flow the message completes with
 * WR_FLUSH_ERR at once.
 */
void vqp_tx_post(struct vqp_tx *tx, struct vqp_msg *msg, u64 now_us);

/* Append a message, and send nothing: vqp_tx_run() follows the last of several messages. */
void vqp_tx_queue(struct vqp_tx *tx, struct vqp_msg *msg);

/* Send what the window allows; to be called, too, when xmit() is possible after an error. */
void vqp_tx_run(struct vqp_tx *tx, u64 now_us);

/*
 * An ACK, NAK or READ_RESP of this flow has arrived. Any content of `pkt` is safe. The caller keeps
 * pkt->payload valid until the function returns.
 */
void vqp_tx_input(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us);

/* The target's node has answered some flow at that time. Called before vqp_tx_timeout(). */
void vqp_tx_hear_node(struct vqp_tx *tx, u64 at_us);

/* The time that arm() was given has come, or is near: an early call does no harm. */
void vqp_tx_timeout(struct vqp_tx *tx, u64 now_us);

/* Fail all messages: the oldest one with `status`, the others with WR_FLUSH_ERR. */
void vqp_tx_abort(struct vqp_tx *tx, u32 status);

/*
 * Start over with a new target: from the oldest PSN that is not acknowledged or, if that belongs to
 * a SEND or a WRITE, from the first PSN of its message.
 */
void vqp_tx_retarget(struct vqp_tx *tx, u64 now_us);

/*
 * Tell the target to let go of its context, if it has one; the packet may be lost. The flow is dead
 * afterwards: messages that are still posted complete with WR_FLUSH_ERR.
 */
void vqp_tx_close(struct vqp_tx *tx);

/* Does nothing but `cap` keep the flow from sending? */
bool vqp_tx_is_capped(struct vqp_tx *tx);

static inline bool vqp_tx_idle(const struct vqp_tx *tx)
{
	return list_empty(&tx->msgs);
}

#endif
