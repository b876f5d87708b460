/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * queue/ is the VQP itself: its send queue, its receive queue, its CQs, and what a carrier must
 * offer (carrier.h). It calls no carrier by name, and knows no device.
 *
 * Virtual queue pairs.
 *
 * Lifetime: a VQP is found by number in its namespace, by flow number
 * (dc/dc.c), by bound port, or held by a received message in progress; each of
 * these takes a reference. vqp_destroy() makes it unfindable, silences it and
 * waits for its timer, work and loop runner; memory goes with the last reference
 * after a grace period, in process context.
 *
 * Locks, outermost first: vqp_owner.lock; vqp_responder.lock; vqp.rq_lock;
 * vqp.lock; a link's lock (rc/link.h), a lane's tx_lock, a namespace's throttle or queue/recv.c's
 * lock of waiters; vqp_cq.lock. All but the first are taken with bottom halves off.
 */
#ifndef VQP_QUEUE_VQP_H
#define VQP_QUEUE_VQP_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/vqp.h>
#include "base/wait.h"
#include "engine/tx.h"
#include "ns/namespace.h"
#include "ns/throttle.h"

struct vqp_carrier_ops;
struct vqp_cq;
struct vqp_ns;
struct vqp_owner;
struct vqp_peer;
struct vqp_link;
struct vqp_recv;
struct vqp_recv_info;

/* What a VQP's work item has to do. */
enum vqp_todo {
	VQP_TODO_FLUSH,			/* it failed: flush its queues */
	VQP_TODO_REROUTE,		/* its target is not where it was */
	VQP_TODO_SUSPECT,		/* its target is silent: is it still where it was? */
};

/* The dc carrier's part of a VQP, under vqp.lock. */
struct vqp_dc_part {
	struct vqp_tx tx;		/* the flow */
	struct vqp_peer *peer;		/* the node of the target; referenced */
	struct vqp_dct dct;		/* where the target is */
	u32 flow;			/* the number of the flow on this node; 0: none */
	u16 cpu;			/* It sends on the lane of this processor. */
	u32 resent_told;		/* packets sent again that VQP_EV_RESENT knows of */
	struct vqp_wait wait;		/* for a send slot of its lane; under lane.tx_lock */
	struct timer_list timer;
};

/* The loop carrier's. */
struct vqp_loop_part {
	struct vqp_ns *ns;		/* the namespace of the target; referenced */
	struct list_head msgs;		/* requests that were taken, in order */
	bool running;			/* A thread is carrying out the first of them. */
	struct vqp_wait wait;		/* for a receive of the target */
	struct work_struct work;	/* It copies, and so has a workqueue of its own. */
};

/* The rc carrier's; it holds the VQP once for each segment that is under way. */
struct vqp_rc_part {
	struct vqp_link *link;		/* It has the segments, which hold it. */
	struct vqp_wait wait;		/* for room on a link; under that link's lock */
	u32 offset;			/* This much of the first of unsent has been posted. */
	u8 rest;			/* This many one-sided requests stay with dc. */
};

/* The zero-copy send's part. */
struct vqp_zcopy_part {
	bool under_way;			/* The target's node fetches all of vqp.lent. */
	unsigned long at;		/* jiffies: nothing is to be sent that way before */
};

struct vqp {
	struct kref ref;
	u32 qp_num;
	struct vqp_ns *ns;		/* referenced */
	struct vqp_owner *owner;	/* outlives the time in which the VQP can be found */
	/*
	 * Requests name this one's regions: the owner's or, where the kernel fetches messages
	 * (zcopy/recv.h), those of the owner it fetches for. For comparison only.
	 */
	const struct vqp_owner *memory;
	struct list_head owner_link;	/* under owner->lock */
	/* referenced; NULL: vqp_send.done() and on_recv() instead */
	struct vqp_cq *send_cq, *recv_cq;
	u32 max_send_wr, max_recv_wr;
	u16 max_send_sge, max_recv_sge;
	u32 flags;			/* VQP_QP_* */

	spinlock_t lock;		/* guards all down to rq_lock */
	u8 state;			/* enum vqp_qp_state */
	/* being destroyed: nothing reaches user space; also under rq_lock */
	bool silent;
	bool rerouted;			/* since the last message that got through */
	u8 suspicions;			/* likewise */
	u8 shown_carrier;		/* enum vqp_carrier that had the latest request */
	u8 object;			/* enum vqp_object that it counts as; constant */
	u8 fail_status;			/* The oldest ends with it, when held is 0; or 0. */
	u16 port, remote_port;
	u32 remote_qp;
	u8 remote_gid[VQP_GID_BYTES];	/* constant once connected */
	u32 sends;			/* requests that are posted and not completed */
	struct list_head unsent;	/* those that no carrier has taken, in order */
	struct list_head lent;		/* those that an accelerator has; unsent ones come after */
	const struct vqp_carrier_ops *carrier;	/* attached to; NULL: not connected yet */
	const struct vqp_carrier_ops *holder;	/* has parts of requests under way, if held; */
	u32 held;			/* this many */
	/* since then one carrier waits for another, in the low bits of a clock; or 0 */
	u32 pause_us;
	u64 tx_msgs;
	struct vqp_throttle_turn turn;	/* under ns->throttle's lock */
	struct vqp_dc_part dc;
	struct vqp_loop_part loop;
	struct vqp_rc_part rc;
	struct vqp_zcopy_part zcopy;

	spinlock_t rq_lock;		/* guards down to on_recv */
	u32 recvs;
	struct list_head rq;
	u64 rx_msgs;
	atomic_t receiving;		/* messages in progress that took a receive */
	/* what waits for a receive of this VQP; under queue/recv.c's lock of waiters */
	struct list_head recv_waiters;
	/*
	 * A receive is over, and its memory is the owner's again. With the message that it took, or
	 * (NULL) without. NULL: the receives are freed. Called with bottom halves off.
	 */
	void (*on_recv)(struct vqp_recv *recv, const struct vqp_recv_info *info);

	unsigned long todo;		/* bits: enum vqp_todo */
	struct workqueue_struct *wq;	/* for work */
	union {
		struct work_struct work;
		struct rcu_head rcu;	/* when the last reference has gone */
	};
};

int __init vqp_init(void);
void vqp_exit(void);

/*
 * An empty VQP, charged to the owner's namespace unless the owner is the kernel. It has one
 * reference, which vqp_teardown() takes; or ERR_PTR. The caller initializes vqp.work with what
 * carries out vqp.todo, and drops the reference that it was queued with. Process context.
 */
struct vqp *vqp_alloc(struct vqp_owner *owner);
/* Completions go to these, of which references are taken; NULL: see struct vqp. */
void vqp_set_cqs(struct vqp *vqp, struct vqp_cq *send_cq, struct vqp_cq *recv_cq);
/* It never becomes findable: it costs its namespace nothing. */
void vqp_uncharge(struct vqp *vqp);
/* Give it a number under which it is found. On failure its charge is consumed, too. */
int __must_check vqp_publish(struct vqp *vqp);
/* Let it end. Nobody binds or connects it any more. Process context. */
void vqp_teardown(struct vqp *vqp);

/* Of this owner, referenced, or NULL. */
struct vqp *vqp_get(struct vqp_owner *owner, u32 qp_num);
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

/* Have vqp.work do it. Any context. */
void vqp_do_later(struct vqp *vqp, enum vqp_todo todo);

/* Its target is not where it was, and it has no other yet. */
bool vqp_is_lost(struct vqp *vqp);

/* Is it the kernel's own? Then it is charged to nobody. */
static inline bool vqp_is_kernels(const struct vqp *vqp)
{
	return vqp->owner == &vqp->ns->kernel;
}

/* The kernel's own, which fetches messages (zcopy/recv.h)? */
static inline bool vqp_is_zcopy(const struct vqp *vqp)
{
	return vqp->memory != vqp->owner;
}

static inline struct vqp *vqp_of_tx(struct vqp_tx *tx)
{
	return container_of(tx, struct vqp, dc.tx);
}

#endif
