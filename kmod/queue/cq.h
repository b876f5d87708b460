/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues: a ring that user space polls without system calls. */
#ifndef VQP_QUEUE_CQ_H
#define VQP_QUEUE_CQ_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/vqp.h>

struct vqp_owner;
struct vqp_ns;

struct vqp_cq {
	struct kref ref;		/* of the file, and one per VQP and queue */
	spinlock_t lock;		/* guards tail and the flags; taken last of all */
	/* the kernel's own; user space may scribble over the ring's */
	u32 tail;
	u32 entries;			/* power of two */
	bool overflowed;
	bool looked_at;			/* by poll(2), since a CQE came last */
	struct vqp_cq_ring *ring;
	struct vqp_cqe *cqes;		/* in the ring */
	wait_queue_head_t wait;
	struct vqp_ns *ns;		/* referenced */
	const struct vqp_owner *owner;	/* for comparison only */
};

/* A CQ for at least `cqe` CQEs, referenced; NULL: there is no memory. Process context. */
struct vqp_cq *vqp_cq_create(const struct vqp_owner *owner, u32 cqe);
size_t vqp_cq_ring_bytes(u32 entries);

/* Process context only. */
void vqp_cq_put(struct vqp_cq *cq);

/* Any context. -ENOSPC: full; the CQE is lost and the CQ marked so. */
int __must_check vqp_cq_push(struct vqp_cq *cq, const struct vqp_cqe *cqe);

#endif
