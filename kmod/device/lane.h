/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A lane: one UD QP of the pool with its buffers, for one processor. A flow sends
 * on one lane of its node while anything of it is under way, and to one lane of its
 * target, so its packets stay in order.
 *
 * A packet to send is built in a slot: a page that stays mapped. Slots form a
 * ring, since UD sends complete in order; every VQP_LANE_SIGNAL_EVERY-th send
 * asks for a completion, which frees that many.
 */
#ifndef VQP_DEVICE_LANE_H
#define VQP_DEVICE_LANE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "engine/wire.h"

struct vqp_cursor;
struct vqp_parent;
struct vqp_wait;

#define VQP_LANE_TX_SLOTS	512
#define VQP_LANE_TX_RESERVED	64	/* of them, for answers only */
#define VQP_LANE_RX_SLOTS	1024
#define VQP_LANE_SIGNAL_EVERY	16

struct vqp_lane_buf {
	struct ib_cqe cqe;		/* receives only */
	struct page *page;
	u64 dma;
};

struct vqp_lane {
	struct vqp_parent *parent;
	u32 index;			/* in its pool */
	struct ib_qp *qp;
	struct ib_cq *send_cq, *recv_cq;
	bool started;			/* the QP takes receives */

	spinlock_t tx_lock;		/* guards the send ring, waiters, failed */
	struct vqp_lane_buf *tx;
	u32 tx_head, tx_tail;		/* sent and freed; free running */
	struct list_head waiters;	/* struct vqp_wait of what waits for a slot */
	struct ib_cqe tx_cqe[2];	/* in turns, for one life of the QP and the next */
	u32 life;			/* written under tx_lock */
	bool failed;			/* nothing can be sent until `revive` has run */
	struct delayed_work revive;
	u32 failures;			/* in a row */
	unsigned long failed_at;	/* jiffies */

	struct vqp_lane_buf *rx;
	void *grh;			/* VQP_LANE_RX_SLOTS GRHs */
	u64 grh_dma;
};

/* Where a packet goes. */
struct vqp_lane_dest {
	struct ib_ah *ah;
	u32 qpn;
	u32 qkey;
};

/* Process context. When it is destroyed, nobody sends on it any more. */
struct vqp_lane *vqp_lane_create(struct vqp_parent *parent, u32 index);
void vqp_lane_destroy(struct vqp_lane *lane);
u64 vqp_lane_bytes(void);

/*
 * Build and send a packet whose payload is the next `bytes` bytes of the walk
 * `c` (NULL and 0: none). -EAGAIN: there is no slot, and `wait` is queued until there is
 * one; other errors are the walk's, or the device's. Without `wait` (NULL) the packet is an
 * answer, for which some slots are reserved. Any context.
 */
int __must_check vqp_lane_send(struct vqp_lane *lane, const struct vqp_lane_dest *dest,
			       const struct vqp_pkt *pkt, struct vqp_cursor *c, u32 bytes,
			       struct vqp_wait *wait);

/* Take it off the waiting list. True: it was there, and the list's reference is the caller's. */
bool vqp_lane_unwait(struct vqp_lane *lane, struct vqp_wait *wait);

#endif
