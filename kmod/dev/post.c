// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vqp.h>
#include "dev/post.h"
#include "mem/mr.h"
#include "ns/namespace.h"
#include "queue/carrier.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/vqp.h"

#define POST_STACK_BYTES	256	/* A list of this size needs no allocation. */

#define SEND_FLAGS_ALL	(VQP_SEND_FENCE | VQP_SEND_SIGNALED | \
			 VQP_SEND_SOLICITED | VQP_SEND_INLINE)

/* A list of requests in kernel memory, and the place up to which it has been parsed. */
struct post_list {
	void *at;			/* the next byte */
	u32 left;			/* the bytes from there on */
	u16 wr_bytes;			/* the stride of requests */
	u16 sge_bytes;			/* the stride of SGEs */
	void *heap;			/* the memory of a list that exceeds stack, or NULL */
	u64 stack[POST_STACK_BYTES / sizeof(u64)];
};

static bool post_stride_ok(u16 bytes, size_t first_bytes)
{
	return bytes >= first_bytes && bytes % sizeof(u64) == 0;
}

/*
 * Copy a list of requests from user space; wr_bytes is the size of a request in the first version.
 * On success the caller frees list->heap.
 */
static int post_list_copy(struct post_list *list, const struct vqp_post *arg, size_t wr_bytes)
{
	u32 bytes = arg->wrs_bytes;

	if (arg->flags || !post_stride_ok(arg->wr_bytes, wr_bytes) ||
	    !post_stride_ok(arg->sge_bytes, sizeof(struct vqp_sge)))
		return -EINVAL;
	if (!arg->wr_count || arg->wr_count > VQP_MAX_WR ||
	    !bytes || bytes > VQP_MAX_POST_BYTES || bytes % sizeof(u64))
		return -EINVAL;
	list->heap = NULL;
	list->at = list->stack;
	list->left = bytes;
	list->wr_bytes = arg->wr_bytes;
	list->sge_bytes = arg->sge_bytes;
	if (bytes > sizeof(list->stack)) {
		list->heap = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
		if (!list->heap)
			return -ENOMEM;
		list->at = list->heap;
	}
	if (copy_from_user(list->at, u64_to_user_ptr(arg->wrs), bytes)) {
		kvfree(list->heap);
		return -EFAULT;
	}
	return 0;
}

/* The next `bytes` bytes, or NULL if the list is not that long. */
static const void *post_list_take(struct post_list *list, size_t bytes)
{
	const void *at = list->at;

	if (bytes > list->left)
		return NULL;
	list->at += bytes;
	list->left -= bytes;
	return at;
}

/*
 * The next struct, of `bytes` bytes in the list, of which this version knows the first `known`;
 * ERR_PTR(-EINVAL): the list ends before; ERR_PTR(-E2BIG): what is not known is not zero.
 */
static const void *post_list_take_struct(struct post_list *list, size_t bytes, size_t known)
{
	const void *at = post_list_take(list, bytes);

	if (!at)
		return ERR_PTR(-EINVAL);
	if (bytes > known && memchr_inv(at + known, 0, bytes - known))
		return ERR_PTR(-E2BIG);
	return at;
}

/*
 * The next n SGEs as an array, or ERR_PTR(). SGEs with a greater stride are moved together inside
 * the list.
 */
static const struct vqp_sge *post_list_take_sges(struct post_list *list, u32 n)
{
	struct vqp_sge *sges = list->at;
	const struct vqp_sge *sge;
	u32 i;

	if (likely(list->sge_bytes == sizeof(*sges)))
		return post_list_take(list, n * sizeof(*sges)) ?: ERR_PTR(-EINVAL);
	for (i = 0; i < n; i++) {
		sge = post_list_take_struct(list, list->sge_bytes, sizeof(*sge));
		if (IS_ERR(sge))
			return sge;
		sges[i] = *sge;
	}
	return sges;
}

/* Check SGEs against the regions of vqp's owner. Returns the sum of their lengths, or -errno. */
static s64 post_check_sges(struct vqp *vqp, const struct vqp_sge *sge, u32 n, u32 access)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (sge[i].length &&
		    !vqp_mr_valid(vqp->ns, sge[i].lkey, sge[i].addr,
				  sge[i].length, access, vqp->owner))
			return -EACCES;
		sum += sge[i].length;
	}
	return sum > VQP_MAX_MSG_BYTES ? -EMSGSIZE : sum;
}

static const u8 post_ops[] = {
	[VQP_WR_RDMA_WRITE]		= VQP_OP_WRITE,
	[VQP_WR_RDMA_WRITE_WITH_IMM]	= VQP_OP_WRITE,
	[VQP_WR_SEND]			= VQP_OP_SEND,
	[VQP_WR_SEND_WITH_IMM]		= VQP_OP_SEND,
	[VQP_WR_RDMA_READ]		= VQP_OP_READ,
	[VQP_WR_ATOMIC_CMP_AND_SWP]	= VQP_OP_CMP_SWP,
	[VQP_WR_ATOMIC_FETCH_AND_ADD]	= VQP_OP_FETCH_ADD,
};

static int post_check_send(const struct vqp *vqp, const struct vqp_send_wr *wr)
{
	bool is_inline = wr->send_flags & VQP_SEND_INLINE;

	if (wr->opcode > VQP_WR_ATOMIC_FETCH_AND_ADD)
		return -EINVAL;
	if (wr->send_flags & ~SEND_FLAGS_ALL || wr->reserved)
		return -EINVAL;
	if (wr->num_sge > vqp->max_send_sge)
		return -EINVAL;
	if (is_inline && (wr->num_sge || vqp_op_returns_data(post_ops[wr->opcode]) ||
			  wr->inline_bytes > VQP_MAX_INLINE_BYTES))
		return -EINVAL;
	if (!is_inline && wr->inline_bytes)
		return -EINVAL;
	return 0;
}

static void post_fill_send(const struct vqp *vqp, const struct vqp_send_wr *wr,
			   struct vqp_send *send)
{
	bool imm = wr->opcode == VQP_WR_RDMA_WRITE_WITH_IMM ||
		   wr->opcode == VQP_WR_SEND_WITH_IMM;

	send->wr_id = wr->wr_id;
	send->opcode = wr->opcode;
	send->send_flags = wr->send_flags;
	if (vqp->flags & VQP_QP_SQ_SIG_ALL)
		send->send_flags |= VQP_SEND_SIGNALED;
	send->num_sge = wr->num_sge;
	send->msg.op = post_ops[wr->opcode];
	send->msg.flags = (imm ? VQP_PKT_IMM : 0) |
			  (wr->send_flags & VQP_SEND_SOLICITED ? VQP_PKT_SOLICITED : 0);
	send->msg.fence = wr->send_flags & VQP_SEND_FENCE;
	send->msg.imm = imm ? (__force u32)wr->imm_data : 0;
	send->msg.remote_addr = wr->remote_addr;
	send->msg.rkey = wr->rkey;
	if (vqp_op_is_atomic(send->msg.op)) {
		send->msg.compare_add = wr->compare_add;
		send->msg.swap = send->msg.op == VQP_OP_CMP_SWP ? wr->swap : 0;
	}
}

/* Parse and check one send request. Returns it, or ERR_PTR() if it is bad or for want of memory. */
static struct vqp_send *post_parse_send(struct vqp *vqp, struct post_list *list)
{
	const struct vqp_send_wr *wr = post_list_take_struct(list, list->wr_bytes, sizeof(*wr));
	size_t tail_bytes;
	const void *tail;
	struct vqp_send *send;
	s64 sum;
	int ret;
	u8 op;

	if (IS_ERR(wr))
		return ERR_CAST(wr);
	ret = post_check_send(vqp, wr);
	if (ret)
		return ERR_PTR(ret);
	op = post_ops[wr->opcode];
	if (wr->send_flags & VQP_SEND_INLINE) {
		tail_bytes = ALIGN(wr->inline_bytes, sizeof(u64));
		tail = post_list_take(list, tail_bytes) ?: ERR_PTR(-EINVAL);
	} else {
		tail_bytes = wr->num_sge * sizeof(struct vqp_sge);
		tail = post_list_take_sges(list, wr->num_sge);
	}
	if (IS_ERR(tail))
		return ERR_CAST(tail);
	sum = wr->inline_bytes;
	if (wr->num_sge)
		sum = post_check_sges(vqp, tail, wr->num_sge,
				      vqp_op_returns_data(op) ? VQP_ACCESS_LOCAL_WRITE : 0);
	if (sum < 0)
		return ERR_PTR(sum);
	if (vqp_op_is_atomic(op) && sum != VQP_ATOMIC_BYTES)
		return ERR_PTR(-EINVAL);
	send = kmalloc(sizeof(*send) + tail_bytes, GFP_KERNEL_ACCOUNT);
	if (!send)
		return ERR_PTR(-ENOMEM);
	memset(send, 0, sizeof(*send));
	memcpy(send->sge, tail, tail_bytes);
	post_fill_send(vqp, wr, send);
	send->msg.bytes = sum;
	if (wr->send_flags & VQP_SEND_INLINE)
		send->kbuf = send->sge;
	return send;
}

/* Post the next requests of the list, as many as vqp_send_queue() takes at once. */
static int post_some_sends(struct vqp *vqp, struct post_list *list, struct vqp_post *arg)
{
	const u32 most = min_t(u32, arg->wr_count - arg->posted, VQP_CARRIER_DEPTH);
	struct vqp_send *send, *next;
	LIST_HEAD(sends);
	u32 parsed = 0;
	int ret, bad = 0;

	for (; parsed < most; parsed++) {
		send = post_parse_send(vqp, list);
		if (IS_ERR(send)) {
			bad = PTR_ERR(send);
			break;
		}
		list_add_tail(&send->msg.link, &sends);
	}
	if (parsed) {
		ret = vqp_send_queue(vqp, &sends, parsed);
		if (ret < 0)
			bad = ret;
		else if (ret < parsed)
			bad = -ENOMEM;
		arg->posted += max(ret, 0);
	}
	list_for_each_entry_safe(send, next, &sends, msg.link)
		kfree(send);
	return bad;
}

int vqp_post_send(struct vqp *vqp, struct vqp_post *arg)
{
	struct post_list list;
	int ret;

	arg->posted = 0;
	ret = post_list_copy(&list, arg, sizeof(struct vqp_send_wr));
	if (ret)
		return ret;
	while (!ret && arg->posted < arg->wr_count) {
		ret = post_some_sends(vqp, &list, arg);
		cond_resched();
	}
	kvfree(list.heap);
	return ret ?: list.left ? -EINVAL : 0;
}

static struct vqp_recv *post_parse_recv(struct vqp *vqp, struct post_list *list)
{
	const struct vqp_recv_wr *wr = post_list_take_struct(list, list->wr_bytes, sizeof(*wr));
	const struct vqp_sge *sge;
	struct vqp_recv *recv;
	s64 sum;

	if (IS_ERR(wr))
		return ERR_CAST(wr);
	if (wr->reserved || wr->num_sge > vqp->max_recv_sge)
		return ERR_PTR(-EINVAL);
	sge = post_list_take_sges(list, wr->num_sge);
	if (IS_ERR(sge))
		return ERR_CAST(sge);
	sum = post_check_sges(vqp, sge, wr->num_sge, VQP_ACCESS_LOCAL_WRITE);
	if (sum < 0)
		return ERR_PTR(sum);
	recv = kmalloc(struct_size(recv, sge, wr->num_sge), GFP_KERNEL_ACCOUNT);
	if (!recv)
		return ERR_PTR(-ENOMEM);
	recv->vqp = NULL;
	recv->wr_id = wr->wr_id;
	recv->bytes = sum;
	recv->kbuf = NULL;
	recv->num_sge = wr->num_sge;
	memcpy(recv->sge, sge, wr->num_sge * sizeof(*sge));
	return recv;
}

int vqp_post_recv(struct vqp *vqp, struct vqp_post *arg)
{
	struct post_list list;
	struct vqp_recv *recv;
	int ret;

	arg->posted = 0;
	ret = post_list_copy(&list, arg, sizeof(struct vqp_recv_wr));
	if (ret)
		return ret;
	while (arg->posted < arg->wr_count) {
		recv = post_parse_recv(vqp, &list);
		if (IS_ERR(recv)) {
			ret = PTR_ERR(recv);
			break;
		}
		ret = vqp_recv_post(vqp, recv);
		if (ret) {
			kfree(recv);
			break;
		}
		arg->posted++;
		if (arg->posted % VQP_CARRIER_DEPTH == 0)
			cond_resched();
	}
	kvfree(list.heap);
	if (arg->posted)
		vqp_recv_wake(vqp);
	return ret ?: list.left ? -EINVAL : 0;
}
