/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The initiator's half of a flow: takes messages, transmits their packets
 * within a window, retransmits, completes messages once and in order.
 * Driven by events; time (microseconds, monotonic) is passed in; all effects
 * go through struct vqp_tx_ops. The caller serializes calls for one flow (in
 * the kernel: the VQP's lock). Callbacks are made under that serialization and
 * must not call back into the same flow.
 *
 * PSNs: a SEND or WRITE takes one per packet of cfg.payload_bytes (at least
 * one); a READ takes one per chunk of VQP_READ_CHUNK_PACKETS packets. PSNs are
 * given out when a packet is first sent, and compared modulo 2^32.
 *
 * Reliability: the target carries packets out in order, and answers a gap with
 * NAK_SEQ, which says what it holds of those behind it: the others that it must
 * have missed are sent again; all of them, if it holds none. READ chunks are idempotent: what is
 * missing of a response is requested again, from the first to the last missing
 * packet, as soon as the end of that response or of a later one arrives. Atomics are carried out
 * once: the target remembers what the last VQP_READ_CHUNKS found, and no more are sent than that.
 * Each time the flow goes back, and each READ request, is a new turn; answers
 * repeat the turn, so that an answer to an earlier one is never taken for news,
 * and round trips are measured however often a packet is sent.
 * The window is cut by what is lost, but to no less than half in a round trip, and is one
 * packet after a timeout, RNR or BUSY. It grows by what is acknowledged, and
 * by VQP_TX_GROWTH packets in a round trip from where it was when packets were lost.
 * Turns also tell what came late and was not lost: then the cut is undone.
 * After giveup_us without progress every message fails with RETRY_EXC_ERR;
 * RNR and BUSY count as progress, waiting for room at the carrier does not. While the flow is
 * throttled the time stands still for it, and while its timer is late, but for forget_us.
 * What the target refuses fails once all messages before it are finished.
 * A target that has forgotten the flow may have carried out what it has not
 * acknowledged: nothing that could be seen twice is sent again, the flow fails.
 *
 * The caller hands in only answers from the node that is the present target.
 */
#ifndef VQP_ENGINE_TX_H
#define VQP_ENGINE_TX_H

#include <linux/types.h>
#include <linux/list.h>
#include "wire.h"

#define VQP_TX_PAUSE_DOUBLINGS	6	/* of the pause that a target asks for */
#define VQP_TX_GROWTH		4
#define VQP_TX_ASK_EVERY	16	/* packets, of a flow that goes on */

/* One work request of the initiator. The caller's before vqp_tx_post() and after complete(). */
struct vqp_msg {
	struct list_head link;		/* engine's while posted */
	u8  op;				/* VQP_OP_SEND, _WRITE, _READ, _CMP_SWP, _FETCH_ADD */
	u32 flags;			/* VQP_PKT_IMM, VQP_PKT_SOLICITED */
	u32 imm;
	bool fence;			/* not before what earlier ones fetch has arrived */
	u32 bytes;			/* at most 1 GiB; 0 is fine; VQP_ATOMIC_BYTES of atomics */
	u64 remote_addr;
	u32 rkey;
	u64 compare_add, swap;		/* atomics, as in struct vqp_pkt */
	/* engine's */
	u32 psn;			/* of the first packet or chunk, once assigned */
	u32 psns;			/* how many */
	bool assigned;
};

struct vqp_tx;

struct vqp_tx_ops {
	/*
	 * Transmit a packet: `pkt` is filled but for the node-level fields
	 * (epochs, and with VQP_PKT_OPEN the open header save open_psn); its payload is
	 * bytes [offset, offset + bytes) of msg's local memory (msg is NULL and
	 * bytes 0 for CLOSE). 0; -EAGAIN: no room, -EBUSY: the flow is throttled, it may not send
	 * now; the caller will call vqp_tx_run() when there is, or it may; other: the local memory
	 * is bad, msg fails with LOC_PROT_ERR and the flow aborts. A flow that may soon be
	 * throttled should have VQP_PKT_ACK_REQ added.
	 */
	int (*xmit)(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		    u32 offset, u32 bytes);
	/*
	 * Put READ data, or what an atomic found, at `offset` of msg's local memory. Non-zero:
	 * LOC_PROT_ERR, abort.
	 */
	int (*place)(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data,
		     u32 bytes);
	/* msg is finished (enum vqp_wc_status) and the caller's again. In posting order. */
	void (*complete)(struct vqp_tx *tx, struct vqp_msg *msg, u32 status);
	/*
	 * Call vqp_tx_timeout() at or after `at_us`. One deadline per flow, the newest call holds;
	 * never disarmed.
	 */
	void (*arm)(struct vqp_tx *tx, u64 at_us);
	/*
	 * The target says its metadata is stale (NAK_NO_NS, NAK_EPOCH). The flow is
	 * stopped; the caller looks up again, then calls vqp_tx_retarget() or vqp_tx_abort().
	 */
	void (*stale)(struct vqp_tx *tx);
};

struct vqp_tx_cfg {
	u32 payload_bytes;		/* per packet */
	u32 window_packets;		/* PSNs in flight at most */
	/* retransmission timeout, doubling; the first is rto_min_us */
	u32 rto_min_us, rto_max_us;
	u32 giveup_us;			/* without any progress */
	/* the target may forget what it heard longer ago; 0: it never does */
	u32 forget_us;
	/* idle for so long: let the target's context go; 0: never */
	u32 close_us;
};

/* A READ chunk, or an atomic, that is outstanding. */
struct vqp_tx_read {
	struct vqp_msg *msg;		/* NULL: free */
	u32 psn;
	u32 number;			/* of the flow's atomics */
	u32 offset;			/* of the chunk in msg */
	u32 bytes;
	u32 missing;			/* bit i: packet i of the chunk has not arrived */
	u32 last;			/* last packet of the latest request */
	u16 turn;			/* of the latest request */
	u64 wait_us;			/* the retransmission timeout runs from here */
	bool again;			/* to be requested again */
};

struct vqp_tx {
	const struct vqp_tx_ops *ops;
	const struct vqp_tx_cfg *cfg;
	struct list_head msgs;		/* posted and not completed, in order */
	u32 flow;
	u32 psn_next;			/* first PSN never sent */
	u32 psn_send;			/* next to transmit; before psn_next after going back */
	u32 psn_acked;			/* the target has executed all before it */
	u32 psn_resent;			/* from here on each was sent once at most */
	struct vqp_mask lost;		/* these of psn_acked and on are to be sent again */
	u32 held;			/* packets after psn_acked that are known to be there */
	/* message that psn_send belongs to, or the first without PSNs; NULL: nothing to send */
	struct vqp_msg *next;
	struct vqp_tx_read reads[VQP_READ_CHUNKS];
	u32 atomics;			/* sent */
	u32 cwnd;			/* packets in flight, at present */
	u32 ssthresh;			/* from here on it grows slowly: */
	u32 cwnd_growth;		/* so many parts of the window of a packet */
	u32 cwnd_least;			/* to which it is cut before cut_turn */
	u32 cwnd_before;		/* the cuts, which may be undone; or 0 */
	u32 cap;			/* the caller's: the window is no greater; 0: no cap */
	u32 psn_asked;			/* after the latest that asked for an answer */
	u16 turn;
	u16 cut_turn;			/* the first since the window was cut */
	u16 undo_turn;			/* answers to earlier ones undo it */
	u16 back_turn;			/* the first since what was lost was sent again */
	u64 progress_us;		/* last time anything advanced, or became outstanding */
	u64 heard_us;			/* last answer, or since something is outstanding */
	u64 wait_us;			/* the retransmission timeout of psn_acked runs from here */
	u64 pause_us;			/* RNR, BUSY: send nothing before; or 0 */
	u64 throttled_us;		/* throttled; the time up to here is made good; or 0 */
	u64 deadline_us;		/* armed, or 0 */
	u64 rtt_sent_us;		/* send time of rtt_psn in rtt_turn, or 0 */
	u32 rtt_psn;
	u16 rtt_turn;
	u32 srtt_us, rttvar_us, rto_us;
	u32 fail_psn;			/* with `fail`: the packet that cannot be carried out */
	/* its message's status, once all before it are finished; or 0 */
	u32 fail;
	/* some answer arrived since (re)targeting: OPEN no longer needed */
	bool opened;
	bool touched;			/* the target may have a context */
	u32 pauses;			/* in a row, at most VQP_TX_PAUSE_DOUBLINGS */
	bool stopped;			/* stale target: waiting for the caller */
	bool blocked;			/* nothing is outstanding, and the carrier has no room */
	bool dead;			/* aborted or closed */
	u64 packets_sent, packets_resent;
};

void vqp_tx_init(struct vqp_tx *tx, const struct vqp_tx_ops *ops,
		 const struct vqp_tx_cfg *cfg, u32 flow, u32 first_psn);

/* Append a message and send what the window allows. On a dead flow: WR_FLUSH_ERR at once. */
void vqp_tx_post(struct vqp_tx *tx, struct vqp_msg *msg, u64 now_us);

/*
 * Send what the window allows (after -EAGAIN or -EBUSY, or several posts queued by
 * vqp_tx_queue()).
 */
void vqp_tx_queue(struct vqp_tx *tx, struct vqp_msg *msg);
void vqp_tx_run(struct vqp_tx *tx, u64 now_us);

/* ACK, NAK or READ_RESP of this flow; any content is safe. `pkt->payload` stays valid meanwhile. */
void vqp_tx_input(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us);

void vqp_tx_timeout(struct vqp_tx *tx, u64 now_us);

/* Fail everything: the oldest message with `status`, the others with WR_FLUSH_ERR. */
void vqp_tx_abort(struct vqp_tx *tx, u32 status);

/*
 * Start over with a new target, from the oldest PSN not acknowledged, or for a
 * SEND or WRITE the first of its message.
 */
void vqp_tx_retarget(struct vqp_tx *tx, u64 now_us);

/*
 * Tell the target to let go of its context, if it has one. Best effort. The
 * flow is dead from here on: what is still posted ends with WR_FLUSH_ERR.
 */
void vqp_tx_close(struct vqp_tx *tx);

/* Nothing but `cap` keeps the flow from sending. */
bool vqp_tx_is_capped(struct vqp_tx *tx);

static inline bool vqp_tx_idle(const struct vqp_tx *tx)
{
	return list_empty(&tx->msgs);
}

#endif
