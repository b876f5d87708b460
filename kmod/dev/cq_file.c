// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <linux/vqp.h>
#include "dev/cq_file.h"
#include "dev/ring.h"
#include "ns/owner.h"
#include "queue/cq.h"

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

static int cq_file_release(struct inode *inode, struct file *file)
{
	vqp_cq_put(file->private_data);
	return 0;
}

static const struct file_operations cq_fops = {
	.owner = THIS_MODULE,
	.poll = cq_poll,
	.release = cq_file_release,
};

int vqp_cq_file_create(struct vqp_owner *owner, struct vqp_create_cq *arg,
		       void __user *uarg, size_t usize)
{
	struct vqp_cq *cq;
	struct file *file;
	int fd, ret;

	if (!arg->cqe || arg->cqe > VQP_MAX_CQE || arg->flags)
		return -EINVAL;
	cq = vqp_cq_create(owner, arg->cqe);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
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
	arg->ring_offset = vqp_ring_offset(cq);
	arg->ring_bytes = vqp_cq_ring_bytes(cq->entries);
	/* The file is installed last, since it could not be taken back if this copy failed. */
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

struct vqp_cq *vqp_cq_file_get(const struct vqp_owner *owner, int fd)
{
	struct file *file = fget(fd);
	struct vqp_cq *cq;

	if (!file)
		return ERR_PTR(-EBADF);
	cq = file->private_data;
	if (file->f_op != &cq_fops || cq->owner != owner || cq->ns != owner->ns)
		cq = ERR_PTR(-EINVAL);
	else
		kref_get(&cq->ref);
	fput(file);
	return cq;
}
