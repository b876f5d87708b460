/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * queue/ is the VQP itself: its send queue, its receive queue, its CQs, and what a carrier must
 * offer (carrier.h). It calls no carrier by name, and knows no device.
 *
 * Lifetime: a VQP is found by its number in the namespace, by the number of its flow (dc/dc.c) or
 * by its bound port, and a message in progress holds the VQP whose receive it took; each of these
 * takes a reference. vqp_teardown() makes the VQP unfindable, silences it, and waits for its timer,
 * its work and the thread of the loop carrier. When the last reference is dropped, a work item
 * releases what the VQP refers to, and the memory follows after an RCU grace period.
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
	VQP_TODO_WAKE,			/* Senders on this node wait for its receives. */
	VQP_TODO_FLUSH,			/* The VQP has failed, and its queues are to be flushed. */
	VQP_TODO_REROUTE,		/* The target is not where it was. */
	VQP_TODO_SUSPECT,		/* The target is silent, and may not be where it was. */
};

/* The dc carrier's part of a VQP, under vqp.lock. */
struct vqp_dc_part {
	struct vqp_tx tx;		/* the flow in the protocol core */
	struct vqp_peer *peer;		/* the target's node, referenced; or NULL */
	struct vqp_dct dct;		/* DCT metadata of that node */
	u32 flow;			/* the number of the flow on this node, or 0 */
	u16 cpu;			/* The flow sends on the lane of this processor. */
	u32 resent_told;		/* packets sent again that VQP_EV_RESENT has counted */
	struct vqp_wait wait;		/* for a slot of the lane; under lane.tx_lock */
	struct timer_list timer;	/* calls vqp_tx_timeout() at tx.deadline_us */
};

/* The loop carrier's part of a VQP, under vqp.lock. */
struct vqp_loop_part {
	struct vqp_ns *ns;		/* the target's namespace, referenced; or NULL */
	struct list_head msgs;		/* requests that the carrier has taken, in order */
	u32 nmsgs;			/* the length of msgs */
	bool running;			/* A thread is carrying out the first of msgs, unlocked. */
	struct vqp_wait wait;		/* The first of msgs waits for a receive of the target. */
	struct work_struct work;	/* carries out msgs where no posting thread does */
};

/* The rc carrier's part, under vqp.lock. Each segment under way counts once in vqp.held. */
struct vqp_rc_part {
	struct vqp_link *link;		/* The VQP's segments are on this link, and hold it. */
	struct vqp_wait wait;		/* The VQP waits for room on a link; under link.lock. */
	u32 offset;			/* bytes of the first of vqp.unsent that have been posted */
	u8 rest;			/* one-sided requests that are still to go by dc */
	u32 round;			/* the vqp.round that `lookups` belongs to */
	u32 lookups;			/* windows that were looked up in it (rc/link.c) */
};

/* The zero-copy send's part, under vqp.lock. */
struct vqp_zcopy_part {
	unsigned long at;		/* No zero-copy send begins before this time, in jiffies. */
};

struct vqp {
	struct kref ref;
	u32 qp_num;			/* The kernel's own have none, which is 0. */
	struct vqp_ns *ns;		/* referenced */
	/* The owner is there for as long as the VQP can be found; afterwards, only to compare. */
	struct vqp_owner *owner;
	/*
	 * Requests name regions of this owner: the VQP's or, if the kernel receives a message by
	 * zero-copy (zcopy/recv.h), the receiver's. NULL: they name none, as those of a kernel's
	 * VQP that fetches parcels (sock/fetch.h). It is compared, and never dereferenced.
	 */
	const struct vqp_owner *memory;
	struct list_head owner_link;	/* in owner->vqps, or empty; under owner->lock */
	/* Both are referenced. NULL: completions go to vqp_send.done() and on_recv(). */
	struct vqp_cq *send_cq, *recv_cq;
	u32 max_send_wr, max_recv_wr;
	u16 max_send_sge, max_recv_sge;
	u32 flags;			/* VQP_QP_* */

	spinlock_t lock;		/* guards all down to rq_lock */
	u8 state;			/* enum vqp_qp_state */
	/* The VQP is being destroyed, and nothing reaches its owner; written also under rq_lock. */
	bool silent;
	bool rerouted;			/* The VQP was rerouted since a request last succeeded. */
	u8 suspicions;			/* lookups of a silent target since then */
	u8 shown_carrier;		/* the enum vqp_carrier that had the latest request */
	u8 object;			/* the enum vqp_object that the VQP counts as; constant */
	/* The oldest request that is left is to end with this status when held is 0; or 0. */
	u8 fail_status;
	u16 port, remote_port;		/* 0: not bound; connected by number, or not connected */
	u32 remote_qp;			/* 0: connected by port, or not connected */
	u8 remote_gid[VQP_GID_BYTES];	/* constant once connected */
	u32 sends;			/* requests that are posted and not completed */
	u32 round;			/* counts how often requests were handed out */
	struct list_head unsent;	/* requests that no carrier has taken, in order */
	struct list_head lent;		/* requests that an accelerator has; they precede unsent */
	const struct vqp_carrier_ops *carrier;	/* NULL: the VQP is not connected yet */
	/* While held is not 0, this carrier has so many parts of requests under way. */
	const struct vqp_carrier_ops *holder;
	u32 held;
	/* Since then one carrier waits for another: microseconds, the low 32 bits; or 0. */
	u32 pause_us;
	u64 tx_msgs;			/* requests that succeeded */
	struct vqp_throttle_turn turn;	/* under ns->throttle.lock */
	struct vqp_dc_part dc;
	struct vqp_loop_part loop;
	struct vqp_rc_part rc;
	struct vqp_zcopy_part zcopy;

	spinlock_t rq_lock;		/* guards down to on_recv */
	u32 recvs;			/* receives in rq */
	struct list_head rq;
	u64 rx_msgs;			/* messages that were received */
	/* messages in progress that took a receive, and threads that flush the receives */
	atomic_t receiving;
	/* struct vqp_wait of VQPs of this node that wait for a receive; under recv_wait_lock */
	struct list_head recv_waiters;
	/*
	 * A receive is over, and its memory is the owner's again. `info` describes the message that
	 * took the receive; NULL: none has. Called with bottom halves off. If the member is NULL,
	 * receives are freed when they are over.
	 */
	void (*on_recv)(struct vqp_recv *recv, const struct vqp_recv_info *info);

	unsigned long todo;		/* bits of enum vqp_todo that work is to do */
	struct workqueue_struct *wq;	/* work runs here */
	/* for one of ns->movers, under their lock; not used by the kernel's own */
	struct vqp_wait move;
	union {
		struct work_struct work;
		struct rcu_head rcu;	/* used when work has released everything */
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
/* Have completions go to these CQs, of which references are taken; NULL: see struct vqp. */
void vqp_set_cqs(struct vqp *vqp, struct vqp_cq *send_cq, struct vqp_cq *recv_cq);
/* Take back the charge of a VQP that vqp_publish() will not be called for. */
void vqp_uncharge(struct vqp *vqp);
/* Give a VQP a number under which it is found. On failure its charge is taken back. */
int __must_check vqp_publish(struct vqp *vqp);
/* End a VQP that no thread binds or connects any more. Consumes a reference. Process context. */
void vqp_teardown(struct vqp *vqp);
/* The first steps of that, which wait for nothing: nothing finds the VQP, and it falls silent. */
void vqp_silence(struct vqp *vqp);

/* The owner's VQP of that number, referenced, or NULL. */
struct vqp *vqp_get(struct vqp_owner *owner, u32 qp_num);
/* A namespace's VQP by number or, if that is 0, by port. Referenced, or NULL. Any context. */
struct vqp *vqp_find(struct vqp_ns *ns, u32 qp_num, u16 port);
/*
 * The VQP that a message from address src_gid is for, found like that: by port any sender's, by
 * number only if the VQP is connected to that address. Referenced, or NULL. Any context.
 */
struct vqp *vqp_find_target(struct vqp_ns *ns, u32 qp_num, u16 port, const u8 *src_gid);
void vqp_put(struct vqp *vqp);	/* any context */

/*
 * Move a VQP to the error state and flush its queues; the oldest send request ends with `status`.
 * Process context.
 */
void vqp_fail(struct vqp *vqp, u32 status);

/* Complete what is left of the send requests of a VQP that has failed. Process context. */
void vqp_flush_sends(struct vqp *vqp);

/* Have vqp.work call vqp_fail() with WR_FLUSH_ERR. Any context. */
void vqp_fail_later(struct vqp *vqp);

/* Have vqp.work do that. Any context. */
void vqp_do_later(struct vqp *vqp, enum vqp_todo todo);

/* The target of the VQP is not where it was, and the VQP has not been rerouted yet. */
bool vqp_is_lost(struct vqp *vqp);

/* The kernel owns the VQP, which is therefore charged to no namespace. */
static inline bool vqp_is_kernels(const struct vqp *vqp)
{
	return vqp->owner == &vqp->ns->kernel;
}

/*
 * The VQP is the kernel's, and READs what pulls name (mem/pull.h): messages into another owner's
 * receives, or parcels into streams.
 */
static inline bool vqp_is_zcopy(const struct vqp *vqp)
{
	return vqp->memory != vqp->owner;
}

static inline struct vqp *vqp_of_tx(struct vqp_tx *tx)
{
	return container_of(tx, struct vqp, dc.tx);
}

#endif
