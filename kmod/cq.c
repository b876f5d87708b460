// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "compat.h"
#include "context.h"
#include "counters.h"
#include "cq.h"
#include "ns.h"

static_assert(sizeof(struct vqp_cqe) == 64);
static_assert(sizeof(struct vqp_cq_ring) == VQP_CQ_CQE_OFFSET);

static size_t cq_ring_bytes(u32 entries)
{
	return PAGE_ALIGN(VQP_CQ_CQE_OFFSET + entries * sizeof(struct vqp_cqe));
}

static void cq_release(struct kref *ref)
{
	struct vqp_cq *cq = container_of(ref, struct vqp_cq, ref);

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
	/* An absurd head, too, reads as a full queue: only its owner suffers. */
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
	 * Once after each look: who looked before this has been woken, or is about to be by
	 * whoever cleared it, and will look again.
	 */
	wake = cq->looked_at;
	cq->looked_at = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (ret)
		vqp_count_event(VQP_EV_CQ_OVERFLOWS);
	if (wake)
		wake_up_poll(&cq->wait, EPOLLIN | EPOLLRDNORM | (ret ? EPOLLERR : 0));
	return ret;
}

static __poll_t cq_poll(struct file *file, struct poll_table_struct *wait)
{
	struct vqp_cq *cq = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &cq->wait, wait);
	spin_lock_irq(&cq->lock);
	cq->looked_at = true;
	if (cq->tail != READ_ONCE(cq->ring->head))
		events |= EPOLLIN | EPOLLRDNORM;
	if (cq->overflowed)
		events |= EPOLLERR;
	spin_unlock_irq(&cq->lock);
	return events;
}

static int cq_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vqp_cq *cq = file->private_data;
	unsigned long at;
	int ret = 0;

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != cq_ring_bytes(cq->entries) ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/* The ring is charged to its owner, which vmalloc_user() memory would not be. */
	for (at = 0; at < cq_ring_bytes(cq->entries) && !ret; at += PAGE_SIZE)
		ret = vm_insert_page(vma, vma->vm_start + at,
				     vmalloc_to_page((void *)cq->ring + at));
	return ret;
}

static int cq_file_release(struct inode *inode, struct file *file)
{
	vqp_cq_put(file->private_data);
	return 0;
}

static const struct file_operations cq_fops = {
	.owner = THIS_MODULE,
	.poll = cq_poll,
	.mmap = cq_mmap,
	.release = cq_file_release,
};

static struct vqp_cq *cq_alloc(const struct vqp_context *ctx, u32 entries)
{
	struct vqp_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);

	if (!cq)
		return NULL;
	cq->ring = __vmalloc(cq_ring_bytes(entries), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!cq->ring) {
		kfree(cq);
		return NULL;
	}
	kref_init(&cq->ref);
	spin_lock_init(&cq->lock);
	init_waitqueue_head(&cq->wait);
	cq->cqes = (void *)cq->ring + VQP_CQ_CQE_OFFSET;
	cq->entries = entries;
	cq->ring->entries = entries;
	cq->ctx = ctx;
	cq->ns = ctx->ns;
	vqp_ns_get(cq->ns);
	vqp_count_made(VQP_OBJ_CQ);
	return cq;
}

int vqp_cq_create(struct vqp_context *ctx, struct vqp_create_cq *arg,
		  void __user *uarg, size_t usize)
{
	struct vqp_cq *cq;
	struct file *file;
	int fd, ret;

	if (!arg->cqe || arg->cqe > VQP_MAX_CQE)
		return -EINVAL;
	cq = cq_alloc(ctx, roundup_pow_of_two(arg->cqe));
	if (!cq)
		return -ENOMEM;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		ret = fd;
		goto put_cq;
	}
	file = anon_inode_getfile("[vqp-cq]", &cq_fops, cq, O_RDWR | O_CLOEXEC);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto put_fd;
	}
	arg->fd = fd;
	arg->cqe = cq->entries;
	arg->ring_bytes = cq_ring_bytes(cq->entries);
	/* The descriptor becomes visible only when user space has its number. */
	if (copy_to_user(uarg, arg, min(usize, sizeof(*arg)))) {
		put_unused_fd(fd);
		fput(file);
		return -EFAULT;
	}
	fd_install(fd, file);
	return 0;

put_fd:
	put_unused_fd(fd);
put_cq:
	vqp_cq_put(cq);
	return ret;
}

struct vqp_cq *vqp_cq_get_fd(const struct vqp_context *ctx, int fd)
{
	struct file *file = fget(fd);
	struct vqp_cq *cq;

	if (!file)
		return ERR_PTR(-EBADF);
	cq = file->private_data;
	if (file->f_op != &cq_fops || cq->ctx != ctx || cq->ns != ctx->ns)
		cq = ERR_PTR(-EINVAL);
	else
		kref_get(&cq->ref);
	fput(file);
	return cq;
}
