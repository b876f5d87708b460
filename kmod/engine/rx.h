/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's half of a flow is a responder context. It carries out packets in order and exactly
 * once, and answers with ACK, NAK and READ_RESP. Packets behind a gap are held until the gap is
 * filled, as far as there is memory. Contexts come from a fixed table and are reused: nothing at
 * the target grows with the number of initiators. Calls and callbacks follow the rules of tx.h.
 *
 * Lifetime: contexts end by timers, as in Watson's delta-t, since a handshake would cost a round
 * trip. An OPEN packet of an unknown flow makes a context that expects the packet's open_psn, if it
 * is fresh: a copy of a packet of a flow that was forgotten is not, see clock.h. A context is kept
 * for linger_us after its last packet, whether closed or not, so that what was under way for less
 * long is fresh. After that a closed context may be reused, the oldest one first. At most max_live
 * contexts are open or failed, so that closed ones, which linger in the rest of the table, take no
 * room from them; where so many flows close that the rest is full of them, they linger for less
 * long. An open context may be reused after it was idle for idle_us, which is long after its
 * initiator gives up; a message in progress is then broken off. A flow that opens while max_live
 * contexts are in use is answered with NAK_BUSY.
 *
 * PSNs from `psn` of a context on were never carried out here: the fresh packet that made the
 * context was born after all that was forgotten, and a flow's PSNs are first sent in order.
 */
#ifndef VQP_ENGINE_RX_H
#define VQP_ENGINE_RX_H

#include <linux/types.h>
#include <linux/list.h>
#include "wire.h"

#define VQP_RX_ACK_EVERY	16	/* So many packets are acknowledged without being asked. */
#define VQP_RX_RNR_US		500
#define VQP_RX_BUSY_US		2000

struct vqp_rx;

/* A copy of a packet that arrived behind a gap. */
struct vqp_rx_held {
	struct list_head link;		/* in vqp_rx.held, ordered by PSN */
	struct vqp_pkt pkt;
};

struct vqp_rx_ops {
	/*
	 * Hash the key of a context. Initiators choose epoch and flow: with a secret they cannot
	 * choose those that share a bucket.
	 */
	u32 (*hash)(const u8 *node_gid, u32 src_epoch, u32 flow);
	/*
	 * Is the OPEN packet fresh? vqp_clock_judge() says so by the clock of the packet's sender:
	 * 0, or the echo to answer with. `seen` is the latest stamp of the flow's context, or NULL
	 * if there is none.
	 */
	u32 (*judge)(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us);
	/* The context is forgotten: tell the clock of its node, if there is one, what it saw. */
	void (*forget)(const struct vqp_rx *rx);
	/*
	 * An OPEN packet makes the context: resolve (tenant, dst_gid) to a namespace and keep it
	 * in rx->ns. Returns 0, which close() undoes, or -ENOENT (NAK_NO_NS).
	 */
	int (*open)(struct vqp_rx *rx, const struct vqp_pkt *pkt);
	void (*close)(struct vqp_rx *rx);
	/* Does the namespace of the context still live? */
	bool (*alive)(struct vqp_rx *rx);
	/*
	 * Take a receive request for a SEND of `bytes` bytes, or for a WRITE with immediate, and
	 * keep it in rx->recv. Of a WRITE `bytes` is 0: its data has been written, and is written
	 * again after NAK_RNR. Returns 0; -EAGAIN (NAK_RNR); -ENOENT or -EMSGSIZE
	 * (NAK_INV_REQ); another error (NAK_OP).
	 */
	int (*recv_begin)(struct vqp_rx *rx, u32 bytes);
	/* Copy data of a SEND to `offset` of the receive. A non-zero result is NAK_OP. */
	int (*recv_data)(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes);
	/*
	 * The message is complete: `pkt` is its last packet, and `bytes` is the length of the SEND
	 * or of the WRITE with immediate. Or the message is broken off: `ok` is false and `pkt`
	 * is NULL. In both cases rx->recv is given back.
	 */
	void (*recv_end)(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok);
	/* Write to a region; 0 bytes are not checked. -EACCES and other errors are NAK_ACCESS. */
	int (*write)(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes);
	/* May [addr, addr + bytes) be read? A non-zero result is NAK_ACCESS. */
	int (*read_check)(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes);
	/*
	 * Carry out the CMP_SWP or FETCH_ADD `pkt`, whose address is aligned, and store the
	 * previous value in *before. -EACCES and other errors are NAK_ACCESS.
	 */
	int (*atomic)(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before);
	/*
	 * Transmit an answer on `reply_to`, which is the caller's handle of the packet's sender.
	 * Every field is filled in. If a READ_RESP has no pkt->payload, its payload is the `bytes`
	 * bytes at (rkey, addr). rx is NULL if there is no context. On an error the answer is
	 * lost, and the initiator asks again; an error of a READ_RESP ends its chunk.
	 */
	int (*reply)(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx,
		     u32 rkey, u64 addr, u32 bytes);
	/* A copy of pkt and of its payload; NULL: the initiator has to send the packet again. */
	struct vqp_rx_held *(*hold)(const struct vqp_pkt *pkt);
	void (*drop)(struct vqp_rx_held *held);
};

enum vqp_rx_state { VQP_RX_FREE, VQP_RX_OPEN, VQP_RX_CLOSED, VQP_RX_FAILED };

struct vqp_rx {
	struct list_head hash;		/* in a bucket of the table, unless FREE */
	struct list_head lru;		/* in the table's `spare` or `live` */
	/* The initiator's node, its epoch and the flow's number are the key. */
	u8  node_gid[16];
	u32 src_epoch;
	u32 flow;
	u8  state;			/* enum vqp_rx_state */
	u8  nak;			/* FAILED: the NAK that every packet is answered with */
	u8  msg_op;			/* the operation in progress, SEND or WRITE; or 0 */
	bool gap;			/* A NAK was sent for `psn`. */
	/* With `gap`: packet `psn` arrived, found no receive, and must be sent again. */
	bool rnr;
	u16 gap_turn;			/* with `gap`: the latest turn of packets behind it */
	bool receiving;			/* recv_begin() has succeeded, and recv_end() is due. */
	u32 psn;			/* the next that is expected */
	u32 unacked;			/* packets taken since the latest ACK */
	u32 msg_bytes;			/* of the SEND in progress */
	u32 msg_done;			/* bytes of the SEND or WRITE in progress that are there */
	struct list_head held;		/* unless FREE: the packets behind the gap, by PSN */
	struct vqp_mask held_mask;	/* the PSNs from `psn` on that are held */
	u32 untold;			/* packets held since the latest NAK */
	u8 marks;			/* packets that came marked since the latest answer */
	u8  nfound;			/* the number of results in `found` */
	u8  found_last;			/* the place of the latest result in `found` */
	struct {
		u32 psn;
		u64 before;		/* the value before the atomic */
	} found[VQP_READ_CHUNKS];
	u64 last_us;			/* when the latest packet arrived */
	u32 stamp;			/* the latest of OPEN packets */
	u16 turn;			/* unless FREE: the latest, but for duplicates */
	/* These are from the OPEN header. */
	u32 tenant;
	u8  src_gid[16], dst_gid[16];
	u32 src_qp, dst_qp;
	u16 dst_port;
	/* These are the caller's: open() and recv_begin() set them. */
	void *ns;
	void *recv;
};

/* A table of contexts and their configuration. The memory is the caller's. */
struct vqp_rxtab {
	const struct vqp_rx_ops *ops;
	struct vqp_rx *slots;
	u32 nslots;
	u32 max_live;			/* how many contexts may be open or failed */
	u32 nlive;			/* how many are */
	struct list_head *buckets;
	u32 nbuckets;			/* a power of two */
	/* The free contexts are at its head, and behind them the closed ones, oldest first. */
	struct list_head spare;
	struct list_head live;		/* open and failed contexts, oldest first */
	/* the payload of a full READ_RESP; an initiator's packets may have any size */
	u32 payload_bytes;
	u32 epoch;			/* of this node */
	/* The table has the flows whose number modulo nlanes is `lane`; after init it has all. */
	u32 lane, nlanes;
	u64 linger_us, idle_us;		/* as in the head of this file */
	/* Statistics: contexts made, made in place of an open one, and refused; and challenges. */
	u64 opened, reused, busy, stale;
};

void vqp_rxtab_init(struct vqp_rxtab *tab, const struct vqp_rx_ops *ops,
		    struct vqp_rx *slots, u32 nslots, u32 max_live,
		    struct list_head *buckets, u32 nbuckets,
		    u32 payload_bytes, u32 epoch, u64 linger_us, u64 idle_us);

/*
 * A request or a CLOSE has arrived from the node with GID `node_gid`. Any content of `pkt` is safe.
 * A request is carried out exactly once, and answered by ops->reply(). Returns false, and does
 * nothing, if the flow belongs on another lane, because a copy would find no trace here of what
 * that has carried out; or if the packet opens a flow in the name of another node.
 */
bool vqp_rxtab_input(struct vqp_rxtab *tab, const u8 *node_gid, void *reply_to,
		     const struct vqp_pkt *pkt, u64 now_us);

/*
 * Free the contexts that have been idle for idle_us: an initiator that lives closes its flow long
 * before. To be called periodically.
 */
void vqp_rxtab_expire(struct vqp_rxtab *tab, u64 now_us);

/*
 * The namespace `ns` ends: close each context of it. NULL: free all contexts. Messages in progress
 * are broken off by recv_end(false), and close() is called.
 */
void vqp_rxtab_purge(struct vqp_rxtab *tab, void *ns);

/*
 * Break off each message in progress for whose context `match` is true: recv_end(false) is called,
 * and the rest of the message is refused.
 */
void vqp_rxtab_break(struct vqp_rxtab *tab, bool (*match)(const struct vqp_rx *rx, void *arg),
		     void *arg);

#endif
