// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "base/counters.h"
#include "base/ids.h"
#include "ns/namespace.h"
#include "ns/owner.h"
#include "queue/cq.h"

static_assert(sizeof(struct vqp_cqe) == 64);
static_assert(sizeof(struct vqp_cq_ring) == VQP_CQ_CQE_OFFSET);

size_t vqp_cq_ring_bytes(u32 entries)
{
	return PAGE_ALIGN(VQP_CQ_CQE_OFFSET + entries * sizeof(struct vqp_cqe));
}

static void cq_release(struct kref *ref)
{
	struct vqp_cq *cq = container_of(ref, struct vqp_cq, ref);

	if (cq->number)
		xa_erase(&cq->ns->cqs, cq->number);
	vfree(cq->ring);
	vqp_ns_put(cq->ns);
	kfree(cq);
	vqp_count_freed(VQP_OBJ_CQ);
}

void vqp_cq_put(struct vqp_cq *cq)
{
	kref_put(&cq->ref, cq_release);
}

int vqp_cq_push(struct vqp_cq *cq, const struct vqp_cqe *cqe)
{
	unsigned long flags;
	int ret = 0;
	bool wake;

	spin_lock_irqsave(&cq->lock, flags);
	/* User space can write the head. A head that is out of range reads as a full CQ. */
	if (cq->overflowed || cq->tail - READ_ONCE(cq->ring->head) >= cq->entries) {
		cq->overflowed = true;
		WRITE_ONCE(cq->ring->overflow, 1);
		ret = -ENOSPC;
	} else {
		cq->cqes[cq->tail & (cq->entries - 1)] = *cqe;
		/* Pairs with the acquire of the tail in user space. */
		smp_store_release(&cq->ring->tail, ++cq->tail);
	}
	/*
	 * Wake up once after each call of poll(2), which sets looked_at. A thread that polled
	 * before another CQE cleared looked_at is woken for that CQE, and polls again. There is no
	 * key, because a waiter that the key does not concern would not poll again, nor does a
	 * multishot poll of io_uring, which takes the key for the result.
	 */
	wake = cq->looked_at;
	cq->looked_at = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (ret)
		vqp_count_event(VQP_EV_CQ_OVERFLOWS);
	if (wake)
		wake_up(&cq->wait);
	return ret;
}

struct vqp_cq *vqp_cq_create(const struct vqp_owner *owner, u32 cqe)
{
	const u32 entries = roundup_pow_of_two(cqe);
	struct vqp_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->ring = __vmalloc(vqp_cq_ring_bytes(entries), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!cq->ring) {
		kfree(cq);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&cq->ref);
	spin_lock_init(&cq->lock);
	init_waitqueue_head(&cq->wait);
	cq->cqes = (void *)cq->ring + VQP_CQ_CQE_OFFSET;
	cq->entries = entries;
	cq->ring->entries = entries;
	cq->owner = owner;
	cq->ns = owner->ns;
	vqp_ns_get(cq->ns);
	vqp_count_made(VQP_OBJ_CQ);
	ret = vqp_id_take(&cq->ns->cqs, VQP_CQ_NUMBER_MAX, &cq->ns->next_cq, cq, &cq->number);
	if (ret) {
		vqp_cq_put(cq);
		return ERR_PTR(ret == -EBUSY ? -ENOSPC : ret);
	}
	return cq;
}

struct vqp_cq *vqp_cq_get(const struct vqp_owner *owner, u32 number)
{
	struct xarray *cqs = &owner->ns->cqs;
	struct vqp_cq *cq;

	xa_lock(cqs);
	cq = xa_load(cqs, number);
	if (cq && (cq->owner != owner || !kref_get_unless_zero(&cq->ref)))
		cq = NULL;
	xa_unlock(cqs);
	return cq;
}
