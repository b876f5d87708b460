// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vqp.h>
#include "api/api.h"
#include "base/counters.h"
#include "dev/context.h"
#include "dev/cq_file.h"
#include "dev/post.h"
#include "device/parent.h"
#include "mem/arena.h"
#include "mem/mr.h"
#include "ns/namespace.h"
#include "queue/cq.h"
#include "queue/vqp.h"

/* ABI version 1: what user space compiled against, for good. */
static_assert(sizeof(struct vqp_query) == 56);
static_assert(sizeof(struct vqp_reg_mr) == 24);
static_assert(sizeof(struct vqp_dereg_mr) == 8);
static_assert(sizeof(struct vqp_create_cq) == 16);
static_assert(sizeof(struct vqp_create_qp) == 32);
static_assert(sizeof(struct vqp_destroy_qp) == 8);
static_assert(sizeof(struct vqp_bind) == 8);
static_assert(sizeof(struct vqp_connect) == 24);
static_assert(sizeof(struct vqp_accept) == 32);
static_assert(sizeof(struct vqp_post) == 24);
static_assert(sizeof(struct vqp_query_qp) == 48);
static_assert(sizeof(struct vqp_attach) == 16);
static_assert(sizeof(struct vqp_send_wr) == 64);
static_assert(sizeof(struct vqp_recv_wr) == 16);
static_assert(sizeof(struct vqp_sge) == 16);

union context_arg {
	struct vqp_query query;
	struct vqp_reg_mr reg_mr;
	struct vqp_dereg_mr dereg_mr;
	struct vqp_create_cq create_cq;
	struct vqp_create_qp create_qp;
	struct vqp_destroy_qp destroy_qp;
	struct vqp_bind bind;
	struct vqp_connect connect;
	struct vqp_accept accept;
	struct vqp_post post;
	struct vqp_query_qp query_qp;
	struct vqp_attach attach;
};

static int context_query(struct vqp_owner *owner, union context_arg *a)
{
	struct vqp_query *q = &a->query;

	if (q->reserved)
		return -EINVAL;
	*q = (struct vqp_query) {
		.abi_version = VQP_ABI_VERSION,
		.tenant = owner->ns->tenant,
		.max_wr = VQP_MAX_WR,
		.max_sge = VQP_MAX_SGE,
		.max_cqe = VQP_MAX_CQE,
		.max_inline_bytes = VQP_MAX_INLINE_BYTES,
		.max_msg_bytes = VQP_MAX_MSG_BYTES,
		.parent_up = vqp_parent_is_up(),
	};
	memcpy(q->gid, owner->ns->gid, VQP_GID_BYTES);
	return 0;
}

/* It is bound by now: as asked, if this was its first call. */
static int context_attach(struct vqp_owner *owner, union context_arg *a)
{
	return memcmp(owner->ns->gid, a->attach.gid, VQP_GID_BYTES) ? -EISCONN : 0;
}

static int context_reg_mr(struct vqp_owner *owner, union context_arg *a)
{
	return vqp_mr_reg(owner, &a->reg_mr);
}

static int context_dereg_mr(struct vqp_owner *owner, union context_arg *a)
{
	return a->dereg_mr.reserved ? -EINVAL : vqp_mr_dereg(owner, a->dereg_mr.key);
}

static int context_create_qp(struct vqp_owner *owner, union context_arg *a)
{
	struct vqp_create_qp *arg = &a->create_qp;
	struct vqp_init_attr attr = {
		.max_send_wr = arg->max_send_wr,
		.max_recv_wr = arg->max_recv_wr,
		.max_send_sge = arg->max_send_sge,
		.max_recv_sge = arg->max_recv_sge,
		.flags = arg->flags,
	};
	struct vqp *vqp;
	int ret;

	attr.send_cq = vqp_cq_file_get(owner, arg->send_cq_fd);
	if (IS_ERR(attr.send_cq))
		return PTR_ERR(attr.send_cq);
	attr.recv_cq = vqp_cq_file_get(owner, arg->recv_cq_fd);
	if (IS_ERR(attr.recv_cq)) {
		ret = PTR_ERR(attr.recv_cq);
		goto put_send_cq;
	}
	vqp = vqp_create(owner, &attr);
	ret = PTR_ERR_OR_ZERO(vqp);
	if (!ret) {
		arg->qp_num = vqp->qp_num;
		vqp_put(vqp);
	}
	vqp_cq_put(attr.recv_cq);
put_send_cq:
	vqp_cq_put(attr.send_cq);
	return ret;
}

static int context_destroy(struct vqp *vqp, struct vqp_destroy_qp *arg)
{
	return arg->reserved ? -EINVAL : vqp_destroy(vqp);
}

static int context_bind(struct vqp *vqp, struct vqp_bind *arg)
{
	return vqp_bind(vqp, &arg->port);
}

static int context_connect(struct vqp *vqp, struct vqp_connect *arg)
{
	return arg->port <= U16_MAX ? vqp_connect(vqp, arg->gid, arg->port) : -EINVAL;
}

static int context_accept(struct vqp *vqp, struct vqp_accept *arg)
{
	struct vqp *reply;

	if (arg->reserved)
		return -EINVAL;
	reply = vqp_accept(vqp, arg->src_gid, arg->src_qp);
	if (IS_ERR(reply))
		return PTR_ERR(reply);
	arg->new_qp_num = reply->qp_num;
	vqp_put(reply);
	return 0;
}

static int context_query_qp(struct vqp *vqp, struct vqp_query_qp *arg)
{
	vqp_query(vqp, arg);
	return 0;
}

/* Take a reference on the VQP a call is about, make the call, drop it. */
#define CONTEXT_QP_CALL(name, field, call)					\
static int name(struct vqp_owner *owner, union context_arg *a)			\
{										\
	struct vqp *vqp = vqp_get(owner, a->field.qp_num);			\
	int ret;								\
										\
	if (!vqp)								\
		return -ENOENT;							\
	ret = call(vqp, &a->field);						\
	vqp_put(vqp);								\
	return ret;								\
}

CONTEXT_QP_CALL(qp_destroy, destroy_qp, context_destroy)
CONTEXT_QP_CALL(qp_bind, bind, context_bind)
CONTEXT_QP_CALL(qp_connect, connect, context_connect)
CONTEXT_QP_CALL(qp_accept, accept, context_accept)
CONTEXT_QP_CALL(qp_post_send, post, vqp_post_send)
CONTEXT_QP_CALL(qp_post_recv, post, vqp_post_recv)
CONTEXT_QP_CALL(qp_query, query_qp, context_query_qp)

static const struct {
	int (*call)(struct vqp_owner *owner, union context_arg *arg);
	size_t first_size;	/* of version 1: the least that is accepted */
	size_t size;
	bool makes;		/* what the caller must be told of, or it is lost */
} context_calls[] = {
#define CALL(fn, type)	{ .call = fn, .first_size = sizeof(type), .size = sizeof(type) }
#define MAKE(fn, type)	{ .call = fn, .first_size = sizeof(type), .size = sizeof(type),	\
			  .makes = true }
	[_IOC_NR(VQP_IOC_QUERY)] = CALL(context_query, struct vqp_query),
	[_IOC_NR(VQP_IOC_REG_MR)] = MAKE(context_reg_mr, struct vqp_reg_mr),
	[_IOC_NR(VQP_IOC_DEREG_MR)] = CALL(context_dereg_mr, struct vqp_dereg_mr),
	[_IOC_NR(VQP_IOC_CREATE_CQ)] = CALL(NULL, struct vqp_create_cq),
	[_IOC_NR(VQP_IOC_CREATE_QP)] = MAKE(context_create_qp, struct vqp_create_qp),
	[_IOC_NR(VQP_IOC_DESTROY_QP)] = CALL(qp_destroy, struct vqp_destroy_qp),
	[_IOC_NR(VQP_IOC_BIND)] = MAKE(qp_bind, struct vqp_bind),
	[_IOC_NR(VQP_IOC_CONNECT)] = CALL(qp_connect, struct vqp_connect),
	[_IOC_NR(VQP_IOC_ACCEPT)] = MAKE(qp_accept, struct vqp_accept),
	[_IOC_NR(VQP_IOC_POST_SEND)] = CALL(qp_post_send, struct vqp_post),
	[_IOC_NR(VQP_IOC_POST_RECV)] = CALL(qp_post_recv, struct vqp_post),
	[_IOC_NR(VQP_IOC_QUERY_QP)] = CALL(qp_query, struct vqp_query_qp),
	[_IOC_NR(VQP_IOC_ATTACH)] = CALL(context_attach, struct vqp_attach),
#undef CALL
#undef MAKE
};

/* Bind, once, to that namespace of the caller's network namespace, or its oldest (NULL). */
static int context_bind_ns(struct vqp_owner *owner, const u8 *gid)
{
	int ret;

	if (likely(vqp_owner_is_bound(owner)))
		return vqp_ns_alive(owner->ns) ? 0 : -ESHUTDOWN;
	ret = vqp_open(owner, current->nsproxy->net_ns, gid);
	/* Another thread was first. */
	return ret == -EISCONN ? 0 : ret;
}

static long context_ioctl(struct file *file, unsigned int cmd, unsigned long uaddr)
{
	struct vqp_owner *owner = file->private_data;
	void __user *uarg = (void __user *)uaddr;
	unsigned int nr = _IOC_NR(cmd);
	size_t usize = _IOC_SIZE(cmd), size;
	union context_arg arg;
	int ret;

	if (_IOC_TYPE(cmd) != VQP_IOC_MAGIC || nr >= ARRAY_SIZE(context_calls) ||
	    _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE))
		return -ENOTTY;
	nr = array_index_nospec(nr, ARRAY_SIZE(context_calls));
	size = context_calls[nr].size;
	if (usize < context_calls[nr].first_size)
		return -EINVAL;
	ret = copy_struct_from_user(&arg, size, uarg, usize);
	if (ret)
		return ret;
	ret = context_bind_ns(owner, nr == _IOC_NR(VQP_IOC_ATTACH) ? arg.attach.gid : NULL);
	if (ret)
		return ret;
	if (nr == _IOC_NR(VQP_IOC_CREATE_CQ))
		return vqp_cq_file_create(owner, &arg.create_cq, uarg, usize);
	/* Later only another thread of the caller's can have taken the memory away. */
	if (context_calls[nr].makes && copy_to_user(uarg, &arg, min(size, usize)))
		return -EFAULT;
	ret = context_calls[nr].call(owner, &arg);
	if (copy_to_user(uarg, &arg, min(size, usize)))
		return -EFAULT;
	return ret;
}

static int context_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vqp_owner *owner = file->private_data;
	int ret = context_bind_ns(owner, NULL);

	return ret ?: vqp_arena_mmap(owner, vma);
}

static int context_open(struct inode *inode, struct file *file)
{
	struct vqp_owner *owner = kmalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return -ENOMEM;
	vqp_owner_init(owner);
	file->private_data = owner;
	vqp_count_made(VQP_OBJ_CONTEXT);
	return 0;
}

static int context_release(struct inode *inode, struct file *file)
{
	struct vqp_owner *owner = file->private_data;

	vqp_close(owner);
	kfree(owner);
	vqp_count_freed(VQP_OBJ_CONTEXT);
	return 0;
}

static const struct file_operations context_fops = {
	.owner = THIS_MODULE,
	.open = context_open,
	.release = context_release,
	.unlocked_ioctl = context_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = context_mmap,
};

static struct miscdevice context_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = VQP_DEVICE_NAME,
	.mode = 0666,
	.fops = &context_fops,
};

int __init vqp_context_init(void)
{
	return misc_register(&context_device);
}

void vqp_context_exit(void)
{
	misc_deregister(&context_device);
}
