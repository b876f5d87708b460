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

#define VQP_CQ_NUMBER_MAX	((1U << 20) - 1)

struct vqp_cq {
	struct kref ref;		/* of the file, and one per VQP and queue */
	u32 number;			/* It is in ns->cqs, without a reference, at this number. */
	spinlock_t lock;		/* guards tail and the flags; taken last of all */
	/* The kernel trusts these two, and not the ring's, which user space can write. */
	u32 tail;
	u32 entries;			/* a power of two */
	bool overflowed;
	bool looked_at;			/* poll(2) was called since the last CQE was written. */
	struct vqp_cq_ring *ring;
	struct vqp_cqe *cqes;		/* in the ring */
	wait_queue_head_t wait;
	struct vqp_ns *ns;		/* referenced */
	const struct vqp_owner *owner;	/* is compared, and never dereferenced */
};

/*
 * Make a CQ for at least `cqe` CQEs, referenced; ERR_PTR(-ENOMEM), or -ENOSPC: no number is left.
 * Process context.
 */
struct vqp_cq *vqp_cq_create(const struct vqp_owner *owner, u32 cqe);
/* The CQ of owner's with that number, referenced; or NULL. Process context. */
struct vqp_cq *vqp_cq_get(const struct vqp_owner *owner, u32 number);
/* The length of the ring, a multiple of the page size. */
size_t vqp_cq_ring_bytes(u32 entries);

/* Process context. */
void vqp_cq_put(struct vqp_cq *cq);

/* Write a CQE. -ENOSPC: the CQ is full, the CQE is lost, and the ring says so. Any context. */
int __must_check vqp_cq_push(struct vqp_cq *cq, const struct vqp_cqe *cqe);

#endif
