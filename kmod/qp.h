/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Virtual queue pairs.
 *
 * Lifetime: a VQP is found by number in its namespace, by flow number
 * (dc.c), by bound port, or held by a received message in progress; each of
 * these takes a reference. vqp_destroy() makes it unfindable, silences it and
 * waits for its timer, work and loop runner; memory goes with the last reference
 * after a grace period, in process context.
 *
 * Locks, outermost first: vqp_context.lock; vqp_responder.lock; vqp.rq_lock;
 * vqp.lock; a lane's tx_lock; vqp_cq.lock. All but the first are taken with
 * bottom halves off.
 */
#ifndef VQP_QP_H
#define VQP_QP_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/vqp.h>
#include "engine/tx.h"

struct vqp_context;
struct vqp_cq;
struct vqp_cursor;
struct vqp_ns;
struct vqp_peer;

/* What a VQP's work item has to do. */
enum vqp_todo {
	VQP_TODO_FLUSH,			/* it failed: flush its queues */
	VQP_TODO_REROUTE,		/* its target is not where it was */
	VQP_TODO_SUSPECT,		/* its target is silent: is it still where it was? */
};

struct vqp {
	struct kref ref;
	u32 qp_num;
	struct vqp_ns *ns;		/* referenced */
	/* NULL: the kernel's own (meta.c); outlives the VQP's findable life */
	struct vqp_context *ctx;
	struct list_head ctx_link;	/* under ctx->lock */
	struct vqp_cq *send_cq, *recv_cq;	/* referenced; NULL: the kernel's own */
	u32 max_send_wr, max_recv_wr;
	u16 max_send_sge, max_recv_sge;
	u32 flags;			/* VQP_QP_* */

	spinlock_t lock;		/* guards all down to rq_lock */
	u8 state;			/* enum vqp_qp_state */
	u8 carrier;			/* enum vqp_carrier */
	/* being destroyed: nothing reaches user space; also under rq_lock */
	bool silent;
	bool rerouted;			/* since the last message that got through */
	u8 suspicions;			/* likewise */
	bool loop_running;		/* a thread is carrying out the head of tx.msgs */
	u16 port, remote_port;
	u32 remote_qp;
	u8 remote_gid[VQP_GID_BYTES];	/* constant once connected */
	u32 sends;			/* posted, not completed */
	struct vqp_tx tx;		/* its list also feeds the loop carrier */
	u32 resent_told;		/* dc: packets that VQP_EV_RESENT knows of */
	u64 tx_msgs;
	struct vqp_peer *peer;		/* dc: referenced */
	struct vqp_dct dct;		/* dc: where the target is */
	struct vqp_ns *loop_ns;		/* loop: the target's namespace, referenced */
	struct list_head lane_wait;	/* dc: waits for a send slot; under the lane's tx_lock */
	u32 flow;			/* dc: its number on this node; 0: none */
	struct timer_list timer;

	spinlock_t rq_lock;		/* guards down to park_link */
	struct list_head rq;
	u32 recvs;
	u64 rx_msgs;
	atomic_t receiving;		/* messages in progress that took a receive */

	struct list_head parked;	/* VQPs of this node that wait for a receive of this one; */
	/* waits for a receive of parked_on; all three under loop.c's lock */
	struct list_head park_link;
	const struct vqp *parked_on;

	unsigned long todo;		/* bits: enum vqp_todo */
	struct work_struct work;
	struct work_struct loop_work;	/* copies, which take longer: its own queue */
	struct rcu_work free;
};

/* One send request. */
struct vqp_send {
	struct vqp_msg msg;
	u64 wr_id;
	u32 opcode;			/* enum vqp_wr_opcode */
	u32 send_flags;			/* VQP_SEND_* */
	void *kbuf;			/* payload in kernel memory, or NULL: the SGEs */
	/* the kernel's own: instead of a CQE; takes over the memory. Under vqp.lock. */
	void (*done)(struct vqp_send *send, u32 status);
	u32 num_sge;
	struct vqp_sge sge[];		/* or inline data */
};

int __init vqp_init(void);
void vqp_exit(void);

int vqp_create(struct vqp_context *ctx, struct vqp_create_qp *arg);
int vqp_destroy(struct vqp *vqp, struct vqp_destroy_qp *arg);
int vqp_bind(struct vqp *vqp, struct vqp_bind *arg);
int vqp_connect(struct vqp *vqp, struct vqp_connect *arg);
int vqp_accept(struct vqp *vqp, struct vqp_accept *arg);
int vqp_query(struct vqp *vqp, struct vqp_query_qp *arg);

/* A VQP for the kernel's own requests in ns, connected to `dct`; or ERR_PTR. */
struct vqp *vqp_create_kernel(struct vqp_ns *ns, const u8 *gid, const struct vqp_dct *dct);
void vqp_destroy_kernel(struct vqp *vqp);

/* All VQPs of a context that nobody else can reach any more. */
void vqp_destroy_all(struct vqp_context *ctx);

/* Of this context, referenced, or NULL. */
struct vqp *vqp_get(struct vqp_context *ctx, u32 qp_num);
/* Of a namespace: by number, or (0) by bound port. Referenced, or NULL. Any context. */
struct vqp *vqp_find(struct vqp_ns *ns, u32 qp_num, u16 port);
/*
 * The VQP that a message from src_gid is for, likewise: by port anybody's, by
 * number only the one whose peer is there.
 */
struct vqp *vqp_find_target(struct vqp_ns *ns, u32 qp_num, u16 port, const u8 *src_gid);
void vqp_put(struct vqp *vqp);	/* any context */

/* To the error state; queues are flushed (the oldest send with `status`). Process context. */
void vqp_fail(struct vqp *vqp, u32 status);

/* The same from any context, a little later. */
void vqp_fail_later(struct vqp *vqp);

void vqp_do_later(struct vqp *vqp, enum vqp_todo todo);
/* The loop carrier can go on. Any context. */
void vqp_loop_later(struct vqp *vqp);

/* A walk over the local memory of a request of vqp. */
void vqp_send_cursor(struct vqp_cursor *c, struct vqp *vqp, struct vqp_send *send, u32 access);

/* struct vqp_tx_ops.complete; under vqp->lock. */
void vqp_send_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status);

/*
 * Put requests on the send queue and set the carrier going. Takes as many as there is room for;
 * returns how many, or -errno.
 */
int vqp_send_queue(struct vqp *vqp, struct list_head *sends, u32 count);

static inline struct vqp_send *vqp_send_of(struct vqp_msg *msg)
{
	return container_of(msg, struct vqp_send, msg);
}

static inline struct vqp *vqp_of_tx(struct vqp_tx *tx)
{
	return container_of(tx, struct vqp, tx);
}

#endif
