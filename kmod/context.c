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
#include "arena.h"
#include "context.h"
#include "counters.h"
#include "cq.h"
#include "mr.h"
#include "ns.h"
#include "parent.h"
#include "post.h"
#include "qp.h"

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

static int context_query(struct vqp_context *ctx, union context_arg *a)
{
	struct vqp_query *q = &a->query;

	if (q->reserved)
		return -EINVAL;
	*q = (struct vqp_query) {
		.abi_version = VQP_ABI_VERSION,
		.tenant = ctx->ns->tenant,
		.max_wr = VQP_MAX_WR,
		.max_sge = VQP_MAX_SGE,
		.max_cqe = VQP_MAX_CQE,
		.max_inline_bytes = VQP_MAX_INLINE_BYTES,
		.max_msg_bytes = VQP_MAX_MSG_BYTES,
		.parent_up = vqp_parent_is_up(),
	};
	memcpy(q->gid, ctx->ns->gid, VQP_GID_BYTES);
	return 0;
}

/* It is bound by now: as asked, if this was its first call. */
static int context_attach(struct vqp_context *ctx, union context_arg *a)
{
	return memcmp(ctx->ns->gid, a->attach.gid, VQP_GID_BYTES) ? -EISCONN : 0;
}

static int context_reg_mr(struct vqp_context *ctx, union context_arg *a)
{
	return vqp_mr_reg(ctx, &a->reg_mr);
}

static int context_dereg_mr(struct vqp_context *ctx, union context_arg *a)
{
	return a->dereg_mr.reserved ? -EINVAL : vqp_mr_dereg(ctx, a->dereg_mr.key);
}

static int context_create_qp(struct vqp_context *ctx, union context_arg *a)
{
	return vqp_create(ctx, &a->create_qp);
}

/* Take a reference on the VQP a call is about, make the call, drop it. */
#define CONTEXT_QP_CALL(name, field, call)					\
static int name(struct vqp_context *ctx, union context_arg *a)			\
{										\
	struct vqp *vqp = vqp_get(ctx, a->field.qp_num);			\
	int ret;								\
										\
	if (!vqp)								\
		return -ENOENT;							\
	ret = call(vqp, &a->field);						\
	vqp_put(vqp);								\
	return ret;								\
}

CONTEXT_QP_CALL(context_destroy_qp, destroy_qp, vqp_destroy)
CONTEXT_QP_CALL(context_bind, bind, vqp_bind)
CONTEXT_QP_CALL(context_connect, connect, vqp_connect)
CONTEXT_QP_CALL(context_accept, accept, vqp_accept)
CONTEXT_QP_CALL(context_post_send, post, vqp_post_send)
CONTEXT_QP_CALL(context_post_recv, post, vqp_post_recv)
CONTEXT_QP_CALL(context_query_qp, query_qp, vqp_query)

static const struct {
	int (*call)(struct vqp_context *ctx, union context_arg *arg);
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
	[_IOC_NR(VQP_IOC_DESTROY_QP)] = CALL(context_destroy_qp, struct vqp_destroy_qp),
	[_IOC_NR(VQP_IOC_BIND)] = MAKE(context_bind, struct vqp_bind),
	[_IOC_NR(VQP_IOC_CONNECT)] = CALL(context_connect, struct vqp_connect),
	[_IOC_NR(VQP_IOC_ACCEPT)] = MAKE(context_accept, struct vqp_accept),
	[_IOC_NR(VQP_IOC_POST_SEND)] = CALL(context_post_send, struct vqp_post),
	[_IOC_NR(VQP_IOC_POST_RECV)] = CALL(context_post_recv, struct vqp_post),
	[_IOC_NR(VQP_IOC_QUERY_QP)] = CALL(context_query_qp, struct vqp_query_qp),
	[_IOC_NR(VQP_IOC_ATTACH)] = CALL(context_attach, struct vqp_attach),
#undef CALL
#undef MAKE
};

/* Bind, once, to that namespace of the caller's network namespace, or its oldest (NULL). */
static int context_bind_ns(struct vqp_context *ctx, const u8 *gid)
{
	struct vqp_ns *ns;

	/* Pairs with the release below. */
	if (likely(smp_load_acquire(&ctx->ns)))
		return vqp_ns_alive(ctx->ns) ? 0 : -ESHUTDOWN;
	ns = vqp_ns_of_net(current->nsproxy->net_ns, gid);
	if (IS_ERR(ns))
		return PTR_ERR(ns);
	mutex_lock(&ns->lock);
	mutex_lock(&ctx->lock);
	if (ctx->ns || !vqp_ns_alive(ns)) {
		/* Another thread was first, or the namespace is going. */
		mutex_unlock(&ctx->lock);
		mutex_unlock(&ns->lock);
		vqp_ns_put(ns);
		return ctx->ns ? 0 : -ESHUTDOWN;
	}
	list_add(&ctx->ns_link, &ns->contexts);
	atomic_inc(&ns->ncontexts);
	/* Pairs with the acquire above: who sees ns sees the context in its list. */
	smp_store_release(&ctx->ns, ns);
	mutex_unlock(&ctx->lock);
	mutex_unlock(&ns->lock);
	return 0;
}

static long context_ioctl(struct file *file, unsigned int cmd, unsigned long uaddr)
{
	struct vqp_context *ctx = file->private_data;
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
	ret = context_bind_ns(ctx, nr == _IOC_NR(VQP_IOC_ATTACH) ? arg.attach.gid : NULL);
	if (ret)
		return ret;
	if (nr == _IOC_NR(VQP_IOC_CREATE_CQ))
		return vqp_cq_create(ctx, &arg.create_cq, uarg, usize);
	/* Later only another thread of the caller's can have taken the memory away. */
	if (context_calls[nr].makes && copy_to_user(uarg, &arg, min(size, usize)))
		return -EFAULT;
	ret = context_calls[nr].call(ctx, &arg);
	if (copy_to_user(uarg, &arg, min(size, usize)))
		return -EFAULT;
	return ret;
}

static int context_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vqp_context *ctx = file->private_data;
	int ret = context_bind_ns(ctx, NULL);

	return ret ?: vqp_arena_mmap(ctx->ns, vma);
}

static int context_open(struct inode *inode, struct file *file)
{
	struct vqp_context *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return -ENOMEM;
	mutex_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->vqps);
	INIT_LIST_HEAD(&ctx->mrs);
	file->private_data = ctx;
	vqp_count_made(VQP_OBJ_CONTEXT);
	return 0;
}

static void context_kill(struct vqp_context *ctx)
{
	struct vqp *vqp;
	struct vqp_mr *mr;

	lockdep_assert_held(&ctx->ns->lock);
	mutex_lock(&ctx->lock);
	ctx->dead = true;
	list_for_each_entry(vqp, &ctx->vqps, ctx_link)
		vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	list_for_each_entry(mr, &ctx->mrs, ctx_link)
		vqp_mr_revoke(mr);
	mutex_unlock(&ctx->lock);
}

/* Every VQP of the namespace moves to the error state, and no region can be reached any more. */
static void context_kill_all(struct vqp_ns *ns)
{
	struct vqp_context *ctx;

	mutex_lock(&ns->lock);
	list_for_each_entry(ctx, &ns->contexts, ns_link)
		context_kill(ctx);
	mutex_unlock(&ns->lock);
}

struct vqp_ns_user vqp_context_ns_user = {
	.kill = context_kill_all,
};

static int context_release(struct inode *inode, struct file *file)
{
	struct vqp_context *ctx = file->private_data;
	struct vqp_ns *ns = ctx->ns;
	struct vqp_mr *mr, *next_mr;

	if (ns) {
		mutex_lock(&ns->lock);
		list_del(&ctx->ns_link);
		mutex_unlock(&ns->lock);
		vqp_destroy_all(ctx);
		mutex_lock(&ctx->lock);
		list_for_each_entry_safe(mr, next_mr, &ctx->mrs, ctx_link)
			vqp_mr_destroy(mr);
		mutex_unlock(&ctx->lock);
		atomic_dec(&ns->ncontexts);
		vqp_ns_put(ns);
	}
	kfree(ctx);
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
