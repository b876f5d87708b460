/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's half of a flow: a responder context. Carries packets out in
 * order, exactly once, answers with ACK, NAK and READ_RESP. What comes behind
 * a gap is held until the gap is filled, as far as there is memory.
 * Contexts come from a fixed table and are reused: nothing at the target grows
 * with the number of initiators. Same rules for calls and callbacks as tx.h.
 *
 * Lifetime (timer based, as in Watson's delta-t: no handshake can be afforded):
 * an OPEN packet of an unknown flow makes a context that expects its open_psn.
 * A context is kept for at least linger_us after its last packet, closed or
 * not, so that a late duplicate finds it and is recognized; after that a closed
 * one may be reused, oldest first. An open one may be reused when it was idle
 * for idle_us (initiators give up long before); if it was in the middle of a message,
 * that is broken off. With no context to be had, a new flow is told NAK_BUSY.
 */
#ifndef VQP_ENGINE_RX_H
#define VQP_ENGINE_RX_H

#include <linux/types.h>
#include <linux/list.h>
#include "wire.h"

#define VQP_RX_ACK_EVERY	16	/* packets, besides those that ask */
#define VQP_RX_RNR_US		500
#define VQP_RX_BUSY_US		2000

struct vqp_rx;

/* A copy of a packet that came too early. */
struct vqp_rx_held {
	struct list_head link;		/* the context's, by PSN */
	struct vqp_pkt pkt;
};

struct vqp_rx_ops {
	/*
	 * An OPEN packet makes the context: resolve (tenant, dst_gid) to a
	 * namespace and keep it in rx->ns. 0 or -ENOENT (NAK_NO_NS). Undone by close().
	 */
	int (*open)(struct vqp_rx *rx, const struct vqp_pkt *pkt);
	void (*close)(struct vqp_rx *rx);
	/* The namespace of an established context still lives. */
	bool (*alive)(struct vqp_rx *rx);
	/*
	 * Take a receive request for a SEND of `bytes`, or for a WRITE with
	 * immediate (bytes 0; its data is already written, and written again
	 * after NAK_RNR), keep it in rx->recv. 0; -EAGAIN (NAK_RNR); -ENOENT,
	 * -EMSGSIZE (NAK_INV_REQ); other: NAK_OP.
	 */
	int (*recv_begin)(struct vqp_rx *rx, u32 bytes);
	/* Put SEND data. Non-zero: NAK_OP. */
	int (*recv_data)(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes);
	/*
	 * The message is complete: `pkt` is its last packet, `bytes` the length of the
	 * message (SEND) or of the write (WRITE with immediate). Or it is broken off:
	 * `ok` is false, `pkt` NULL. Gives rx->recv back.
	 */
	void (*recv_end)(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok);
	/* One-sided write; nothing is checked if bytes is 0. -EACCES and others: NAK_ACCESS. */
	int (*write)(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes);
	/* May [addr, addr+bytes) be read? 0 or NAK_ACCESS. */
	int (*read_check)(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes);
	/*
	 * Carry out the CMP_SWP or FETCH_ADD `pkt`, whose address is aligned; *before is what
	 * was there. -EACCES and others: NAK_ACCESS.
	 */
	int (*atomic)(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before);
	/*
	 * Transmit an answer on `reply_to` (the caller's handle of the packet's sender);
	 * every field is filled in, but that the payload of a READ_RESP without pkt->payload
	 * is the `bytes` bytes at (rkey, addr). rx is NULL when there is no context. Failure
	 * means the answer is lost; the initiator asks again. Non-zero for READ_RESP ends the
	 * chunk.
	 */
	int (*reply)(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx,
		     u32 rkey, u64 addr, u32 bytes);
	/* A copy of pkt with its payload, or NULL: then the initiator sends it again. */
	struct vqp_rx_held *(*hold)(const struct vqp_pkt *pkt);
	void (*drop)(struct vqp_rx_held *held);
};

enum vqp_rx_state { VQP_RX_FREE, VQP_RX_OPEN, VQP_RX_CLOSED, VQP_RX_FAILED };

struct vqp_rx {
	struct list_head hash;		/* in its bucket, unless free */
	struct list_head lru;		/* in the table's `spare` or `live` */
	u8  node_gid[16];		/* key: initiator's node, epoch, flow */
	u32 src_epoch;
	u32 flow;
	u8  state;			/* enum vqp_rx_state */
	u8  nak;			/* FAILED: the NAK to repeat */
	u8  msg_op;			/* SEND, WRITE in progress, or 0 */
	bool gap;			/* a NAK was sent for `psn` */
	bool rnr;			/* with `gap`: it came, and must come again */
	u16 gap_turn;			/* with `gap`: the latest turn of such packets */
	bool receiving;			/* recv_begin() succeeded, recv_end() is due */
	u32 psn;			/* next expected */
	u32 unacked;			/* packets taken since the last ACK */
	u32 msg_bytes;			/* SEND in progress: its length */
	u32 msg_done;			/* SEND, WRITE in progress: bytes so far */
	struct list_head held;		/* unless free: packets behind a gap, by PSN */
	struct vqp_mask held_mask;	/* these of psn and on */
	u32 untold;			/* packets held since the last NAK */
	u8  nfound;			/* what the last atomics found; the latest's is at: */
	u8  found_last;
	struct {
		u32 psn;
		u64 before;
	} found[VQP_READ_CHUNKS];
	u64 last_us;			/* last packet */
	/* from the OPEN header */
	u32 tenant;
	u8  src_gid[16], dst_gid[16];
	u32 src_qp, dst_qp;
	u16 dst_port;
	/* the caller's */
	void *ns;
	void *recv;
};

/* A table of contexts and their configuration; memory is the caller's. */
struct vqp_rxtab {
	const struct vqp_rx_ops *ops;
	struct vqp_rx *slots;
	u32 nslots;
	struct list_head *buckets;
	u32 nbuckets;			/* power of two */
	struct list_head spare;		/* contexts that are free, then closed, oldest first */
	struct list_head live;		/* contexts that are open or failed, oldest first */
	/* per READ_RESP packet; the initiator's packets may be of any size */
	u32 payload_bytes;
	u32 epoch;			/* of this node */
	u64 linger_us, idle_us;
	/* statistics: contexts made; in place of one that was open; refused */
	u64 opened, reused, busy;
};

void vqp_rxtab_init(struct vqp_rxtab *tab, const struct vqp_rx_ops *ops,
		    struct vqp_rx *slots, u32 nslots,
		    struct list_head *buckets, u32 nbuckets,
		    u32 payload_bytes, u32 epoch, u64 linger_us, u64 idle_us);

/*
 * A request or CLOSE packet from the node with GID `node_gid`. Any content is
 * safe. Exactly-once execution; answers go through ops->reply.
 */
void vqp_rxtab_input(struct vqp_rxtab *tab, const u8 *node_gid, void *reply_to,
		     const struct vqp_pkt *pkt, u64 now_us);

/*
 * Let go of contexts that have heard nothing for idle_us: an initiator that
 * lives closes its flow long before. To be called now and then.
 */
void vqp_rxtab_expire(struct vqp_rxtab *tab, u64 now_us);

/* `ns` ends: close each context whose ns it is; NULL: free all. Calls recv_end(false), close(). */
void vqp_rxtab_purge(struct vqp_rxtab *tab, void *ns);

/*
 * Break off each message in progress whose receive `match` claims: recv_end(false)
 * is called, and the rest of the message is refused.
 */
void vqp_rxtab_break(struct vqp_rxtab *tab, bool (*match)(const struct vqp_rx *rx, void *arg),
		     void *arg);

#endif
