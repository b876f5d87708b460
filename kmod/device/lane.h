/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A lane is one UD QP of the pool with its buffers, for one processor. While packets of a flow are
 * under way, the flow sends from one lane of its node to one lane of its target, so that its
 * packets stay in order.
 *
 * A packet to send is built in a slot, which is a page that stays mapped for the device. The slots
 * are a ring, since UD sends complete in order. Every VQP_LANE_SIGNAL_EVERY-th send asks for a
 * completion, which frees that many slots.
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
#define VQP_LANE_TX_RESERVED	64	/* Only answers take the last free slots. */
#define VQP_LANE_RX_SLOTS	1024
#define VQP_LANE_SIGNAL_EVERY	16

struct vqp_lane_buf {
	struct ib_cqe cqe;		/* of a receive */
	struct page *page;
	u64 dma;
};

struct vqp_lane {
	struct vqp_parent *parent;
	u32 index;			/* in its pool */
	struct ib_qp *qp;
	struct ib_cq *send_cq, *recv_cq;
	bool started;			/* The QP takes receives, and may have some. */

	spinlock_t tx_lock;		/* guards the send ring, waiters, failed */
	struct vqp_lane_buf *tx;
	u32 tx_head, tx_tail;		/* slots used and freed, both modulo 2^32 */
	struct list_head waiters;	/* the struct vqp_wait of flows that wait for a slot */
	/* The lives of the QP use these in turn, so that a completion tells which life it is of. */
	struct ib_cqe tx_cqe[2];
	u32 life;			/* of the QP: grows when it is revived, under tx_lock */
	bool failed;			/* Nothing can be sent until `revive` has run. */
	struct delayed_work revive;
	struct work_struct kick;	/* It lets more of `waiters` go on. */
	struct work_struct event;	/* It fails the lane after an event of its QP. */
	u32 failures;			/* in a row */
	unsigned long failed_at;	/* jiffies */

	struct vqp_lane_buf *rx;
	void *grh;			/* VQP_LANE_RX_SLOTS GRHs */
	u64 grh_dma;
};

/* The UD QP that a packet goes to. */
struct vqp_lane_dest {
	struct ib_ah *ah;		/* or NULL, which loses the packet */
	u32 qpn;
	u32 qkey;
};

/*
 * Make and destroy a lane of the parent; ERR_PTR() on failure. When a lane is destroyed, its parent
 * has been broken for an RCU grace period, and no packet is sent on it. Process context.
 */
struct vqp_lane *vqp_lane_create(struct vqp_parent *parent, u32 index);
void vqp_lane_destroy(struct vqp_lane *lane);
/* The memory that a lane takes, in bytes. */
u64 vqp_lane_bytes(void);

/*
 * Build and send a packet whose payload is the next `bytes` bytes of the walk `c`, or nothing (NULL
 * and 0). -EAGAIN: no slot is free, and `wait` is queued until one is; other errors are those of
 * the walk or of the device. If `wait` is NULL, the packet is an answer, which may use the reserved
 * slots. Any context.
 */
int __must_check vqp_lane_send(struct vqp_lane *lane, const struct vqp_lane_dest *dest,
			       const struct vqp_pkt *pkt, struct vqp_cursor *c, u32 bytes,
			       struct vqp_wait *wait);

/*
 * Take `wait` off the lane's list. True: it was queued, and the list's reference is the caller's.
 * Any context.
 */
bool vqp_lane_unwait(struct vqp_lane *lane, struct vqp_wait *wait);

#endif
