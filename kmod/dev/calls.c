// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vqp.h>
#include "api/api.h"
#include "dev/calls.h"
#include "dev/context.h"
#include "dev/cq_file.h"
#include "dev/post.h"
#include "device/parent.h"
#include "mem/mr.h"
#include "ns/namespace.h"
#include "queue/cq.h"
#include "queue/vqp.h"

/* The sizes of the first version, which programs have been compiled against (docs/abi.md). */
static_assert(sizeof(struct vqp_query) == 56);
static_assert(sizeof(struct vqp_reg_mr) == 24);
static_assert(sizeof(struct vqp_dereg_mr) == 8);
static_assert(sizeof(struct vqp_create_cq) == 32);
static_assert(sizeof(struct vqp_create_qp) == 32);
static_assert(sizeof(struct vqp_destroy_qp) == 8);
static_assert(sizeof(struct vqp_bind) == 8);
static_assert(sizeof(struct vqp_connect) == 24);
static_assert(sizeof(struct vqp_accept) == 32);
static_assert(sizeof(struct vqp_post) == 32);
static_assert(sizeof(struct vqp_query_qp) == 48);
static_assert(sizeof(struct vqp_attach) == 24);
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

	*q = (struct vqp_query) {
		.max_msg_bytes = VQP_MAX_MSG_BYTES,
		.flags = vqp_parent_is_up() ? VQP_QUERY_PARENT_UP : 0,
		.max_wr = VQP_MAX_WR,
		.max_sge = VQP_MAX_SGE,
		.max_cqe = VQP_MAX_CQE,
		.max_inline_bytes = VQP_MAX_INLINE_BYTES,
	};
	if (!vqp_owner_is_bound(owner))
		return 0;
	q->flags |= VQP_QUERY_ATTACHED;
	q->tenant = owner->ns->tenant;
	memcpy(q->gid, owner->ns->gid, VQP_GID_BYTES);
	return 0;
}

static int context_attach(struct vqp_owner *owner, union context_arg *a)
{
	struct vqp_context *ctx = container_of(owner, struct vqp_context, owner);
	const bool any = !memchr_inv(a->attach.gid, 0, VQP_GID_BYTES);
	int ret;

	if (a->attach.flags)
		return -EINVAL;
	ret = vqp_context_attach(ctx, any ? NULL : a->attach.gid);
	if (!ret)
		memcpy(a->attach.gid, owner->ns->gid, VQP_GID_BYTES);
	return ret;
}

static int context_reg_mr(struct vqp_owner *owner, union context_arg *a)
{
	return vqp_mr_reg(owner, &a->reg_mr);
}

static int context_dereg_mr(struct vqp_owner *owner, union context_arg *a)
{
	return vqp_mr_dereg(owner, a->dereg_mr.key);
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
	return vqp_destroy(vqp);
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
	struct vqp *reply = vqp_accept(vqp, arg->src_gid, arg->src_qp);

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

/* Define a call about a VQP, which runs with a reference on it. */
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

static const struct context_call {
	int (*call)(struct vqp_owner *owner, union context_arg *arg);
	size_t in_bytes;	/* Fields from here on are for the answer, or reserved. */
	size_t first_bytes;	/* the size of the first version, the least that is accepted */
	size_t bytes;		/* the size of this version */
	unsigned int flags;	/* CALL_* */
} context_calls[] = {
#define CALL_MAKES	BIT(0)	/* The call makes an object that only its answer names. */
#define CALL_EARLY	BIT(1)	/* The call is allowed before the context is attached. */
#define CALL(name, fn, type, in, flags)							\
	[_IOC_NR(VQP_IOC_##name)] = { fn, in, sizeof(type), sizeof(type), flags }
#define UP_TO(type, last)	offsetofend(type, last)
	CALL(QUERY, context_query, struct vqp_query, 0, CALL_EARLY),
	CALL(REG_MR, context_reg_mr, struct vqp_reg_mr,
	     UP_TO(struct vqp_reg_mr, access), CALL_MAKES),
	CALL(DEREG_MR, context_dereg_mr, struct vqp_dereg_mr,
	     UP_TO(struct vqp_dereg_mr, key), 0),
	CALL(CREATE_CQ, NULL, struct vqp_create_cq,
	     UP_TO(struct vqp_create_cq, flags), 0),
	CALL(CREATE_QP, context_create_qp, struct vqp_create_qp,
	     UP_TO(struct vqp_create_qp, flags), CALL_MAKES),
	CALL(DESTROY_QP, qp_destroy, struct vqp_destroy_qp,
	     UP_TO(struct vqp_destroy_qp, qp_num), 0),
	CALL(BIND, qp_bind, struct vqp_bind,
	     UP_TO(struct vqp_bind, port), CALL_MAKES),
	CALL(CONNECT, qp_connect, struct vqp_connect,
	     UP_TO(struct vqp_connect, gid), 0),
	CALL(ACCEPT, qp_accept, struct vqp_accept,
	     UP_TO(struct vqp_accept, src_gid), CALL_MAKES),
	CALL(POST_SEND, qp_post_send, struct vqp_post,
	     UP_TO(struct vqp_post, wrs_bytes), 0),
	CALL(POST_RECV, qp_post_recv, struct vqp_post,
	     UP_TO(struct vqp_post, wrs_bytes), 0),
	CALL(QUERY_QP, qp_query, struct vqp_query_qp,
	     UP_TO(struct vqp_query_qp, qp_num), 0),
	CALL(ATTACH, context_attach, struct vqp_attach,
	     UP_TO(struct vqp_attach, flags), CALL_EARLY),
#undef UP_TO
#undef CALL
};

/* Copy the argument from user space, and check what must be zero. */
static int context_copy_arg(const struct context_call *call, union context_arg *arg,
			    const void __user *uarg, size_t ubytes)
{
	int ret;

	if (ubytes < call->first_bytes)
		return -EINVAL;
	ret = copy_struct_from_user(arg, call->bytes, uarg, ubytes);
	if (ret)
		return ret;
	if (memchr_inv((u8 *)arg + call->in_bytes, 0, call->first_bytes - call->in_bytes))
		return -EINVAL;
	return 0;
}

long vqp_call(struct vqp_context *ctx, unsigned int cmd, void __user *uarg)
{
	const size_t ubytes = _IOC_SIZE(cmd);
	const struct context_call *call;
	union context_arg arg;
	int ret;

	if (_IOC_TYPE(cmd) != VQP_IOC_MAGIC || _IOC_NR(cmd) >= ARRAY_SIZE(context_calls) ||
	    _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE))
		return -ENOTTY;
	call = &context_calls[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(context_calls))];
	ret = context_copy_arg(call, &arg, uarg, ubytes);
	if (ret)
		return ret;
	ret = vqp_context_ready(ctx);
	if (ret && !(ret == -EUNATCH && call->flags & CALL_EARLY))
		return ret;
	if (_IOC_NR(cmd) == _IOC_NR(VQP_IOC_CREATE_CQ))
		return vqp_cq_file_create(&ctx->owner, &arg.create_cq, uarg, ubytes);
	/*
	 * If the answer cannot be written, the call must not make an object. After this copy only
	 * another thread of the caller can make the memory inaccessible.
	 */
	if (call->flags & CALL_MAKES && copy_to_user(uarg, &arg, min(call->bytes, ubytes)))
		return -EFAULT;
	ret = call->call(&ctx->owner, &arg);
	if (copy_to_user(uarg, &arg, min(call->bytes, ubytes)))
		return -EFAULT;
	return ret;
}
