// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <rdma/ib_verbs.h>
#include "base/counters.h"
#include "mem/mr.h"
#include "meta/rpc.h"
#include "ns/namespace.h"
#include "rc/target.h"
#include "rc/window.h"

#define WINDOW_MAX		1024	/* the most windows of the node */
#define WINDOW_NS_MAX		256	/* the most windows of one VQP namespace */
#define WINDOW_REVOKE_MS	1000	/* the time that an initiator has to answer */

struct vqp_window {
	struct list_head target_link;	/* in vqp_rc_target.windows, under window_mutex */
	struct list_head mr_link;	/* in vqp_mr.windows, under window_mutex */
	struct vqp_rc_target *target;	/* referenced */
	struct vqp_ns *ns;		/* the region's; the region is revoked before it goes */
	u32 index;			/* addr >> VQP_WINDOW_SHIFT */
	struct ib_device *dev;
	struct ib_mr *ib_mr;		/* registered with dev */
	struct sg_table sgt;		/* mapped for dev */
	u64 addr;			/* the first address, as functions name it */
	u64 bytes;
};

/* Guards the lists of windows, window_count and vqp_ns.windows. Inside vqp_rc_target.lock. */
static DEFINE_MUTEX(window_mutex);
static u32 window_count;		/* the windows in lists */
static atomic_t window_made;		/* the windows that the device knows */

/* ---- At the device ---- */

struct window_reg {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

static void window_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct window_reg *reg = container_of(wc->wr_cqe, struct window_reg, cqe);

	reg->status = wc->status;
	complete(&reg->done);
}

/*
 * The device's access rights of a window. REMOTE_READ is always among them, because the peer's
 * kernel READs a zero-copy message from any region that a function sends from. The rkey carries the
 * region's own rights, and the initiating kernel checks requests of functions against those.
 */
static int window_access(const struct vqp_mr *mr)
{
	int access = IB_ACCESS_REMOTE_READ;

	if (mr->access & VQP_ACCESS_REMOTE_WRITE)
		access |= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	return access;
}

static int window_register(struct vqp_window *window, struct ib_qp *qp, int access)
{
	struct window_reg reg = { .cqe.done = window_registered };
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &reg.cqe,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = window->ib_mr,
		.key = window->ib_mr->rkey,
		.access = access,
	};
	int ret;

	init_completion(&reg.done);
	ret = ib_post_send(qp, &wr.wr, NULL);
	if (ret)
		return ret;
	/* The completion comes in any case: a QP that fails flushes the registration. */
	wait_for_completion(&reg.done);
	return reg.status == IB_WC_SUCCESS ? 0 : -EIO;
}

static int window_map(struct vqp_window *window, const struct vqp_mr *mr)
{
	const u64 from = window->addr - mr->addr + mr->first_offset;
	const u32 npages = PAGE_ALIGN(offset_in_page(from) + window->bytes) >> PAGE_SHIFT;
	int nents, ret;

	ret = sg_alloc_table_from_pages_segment(&window->sgt, mr->pages + (from >> PAGE_SHIFT),
						npages, offset_in_page(from), window->bytes,
						ib_dma_max_seg_size(window->dev), GFP_KERNEL);
	if (ret)
		return ret;
	nents = ib_dma_map_sg(window->dev, window->sgt.sgl, window->sgt.orig_nents,
			      DMA_BIDIRECTIONAL);
	if (!nents) {
		sg_free_table(&window->sgt);
		return -EIO;
	}
	window->sgt.nents = nents;
	return 0;
}

static void window_unmap(struct vqp_window *window)
{
	ib_dma_unmap_sg(window->dev, window->sgt.sgl, window->sgt.orig_nents, DMA_BIDIRECTIONAL);
	sg_free_table(&window->sgt);
}

static int window_make(struct vqp_window *window, const struct vqp_mr *mr, struct ib_qp *qp)
{
	int ret;

	ret = window_map(window, mr);
	if (ret)
		return ret;
	window->ib_mr = ib_alloc_mr(qp->pd, IB_MR_TYPE_MEM_REG, VQP_WINDOW_BYTES >> PAGE_SHIFT);
	if (IS_ERR(window->ib_mr)) {
		ret = PTR_ERR(window->ib_mr);
		goto unmap;
	}
	ret = ib_map_mr_sg(window->ib_mr, window->sgt.sgl, window->sgt.nents, NULL, PAGE_SIZE);
	if (ret == window->sgt.nents)
		ret = window_register(window, qp, window_access(mr));
	else
		ret = ret < 0 ? ret : -EINVAL;
	if (!ret)
		return 0;
	ib_dereg_mr(window->ib_mr);
unmap:
	window_unmap(window);
	return ret;
}

/* ---- Opening ---- */

static struct vqp_window *window_find(const struct vqp_mr *mr, const struct vqp_rc_target *target,
				      u32 index)
{
	struct vqp_window *window;

	lockdep_assert_held(&window_mutex);
	list_for_each_entry(window, &mr->windows, mr_link)
		if (window->target == target && window->index == index)
			return window;
	return NULL;
}

/*
 * Set the window's range to the part of mr between index * VQP_WINDOW_BYTES and the next multiple.
 * Returns false if there is no such part.
 */
static bool window_set_range(struct vqp_window *window, const struct vqp_mr *mr, u32 index)
{
	const u64 start = (u64)index << VQP_WINDOW_SHIFT;
	const u64 from = max(start, mr->addr);
	const u64 to = min(start + VQP_WINDOW_BYTES, mr->addr + mr->length);

	window->index = index;
	window->addr = from;
	window->bytes = to - from;
	return from < to;
}

static struct vqp_window *window_create(struct vqp_mr *mr, struct vqp_rc_target *target, u32 index)
{
	struct vqp_window *window;
	int ret = -EACCES;

	lockdep_assert_held(&window_mutex);
	if (window_count >= WINDOW_MAX || mr->ns->windows >= WINDOW_NS_MAX)
		return ERR_PTR(-EDQUOT);
	window = kzalloc(sizeof(*window), GFP_KERNEL);
	if (!window)
		return ERR_PTR(-ENOMEM);
	window->target = target;
	window->ns = mr->ns;
	window->dev = target->qp->device;
	if (window_set_range(window, mr, index))
		ret = window_make(window, mr, target->qp);
	if (ret) {
		kfree(window);
		return ERR_PTR(ret);
	}
	vqp_rc_target_hold(target);
	list_add(&window->target_link, &target->windows);
	list_add(&window->mr_link, &mr->windows);
	window_count++;
	mr->ns->windows++;
	atomic_inc(&window_made);
	vqp_count_made(VQP_OBJ_WINDOW);
	return window;
}

static void window_answer(const struct vqp_window *window, const struct vqp_mr *mr,
			  struct vqp_rpc_msg *msg)
{
	msg->rkey = cpu_to_be32(window->ib_mr->rkey);
	msg->access = cpu_to_be32(mr->access);
	msg->iova = cpu_to_be64(window->ib_mr->iova);
	msg->addr = cpu_to_be64(window->addr);
	msg->bytes = cpu_to_be64(window->bytes);
}

static int window_open(struct vqp_rc_target *target, struct vqp_ns *ns, struct vqp_rpc_msg *msg)
{
	struct vqp_mr *mr = vqp_mr_find(ns, be32_to_cpu(msg->key));
	u32 index = be32_to_cpu(msg->index);
	struct vqp_window *window;
	int ret = 0;

	if (!mr)
		return -ENOENT;
	mutex_lock(&window_mutex);
	window = window_find(mr, target, index);
	/* A namespace that goes revokes its windows. None may be made behind its back. */
	if (!vqp_ns_alive(ns))
		window = ERR_PTR(-ENOENT);
	else if (!window)
		window = window_create(mr, target, index);
	if (IS_ERR(window))
		ret = PTR_ERR(window);
	else
		window_answer(window, mr, msg);
	mutex_unlock(&window_mutex);
	vqp_mr_put(mr);
	return ret;
}

int vqp_window_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_rc_target *target = vqp_rc_target_get(gid, msg);
	struct vqp_ns *ns;
	int ret = -ENOENT;

	if (!target)
		return ret;
	ns = vqp_ns_find(be32_to_cpu(msg->tenant), msg->gid);
	mutex_lock(&target->lock);
	if (ns && target->qp)
		ret = window_open(target, ns, msg);
	mutex_unlock(&target->lock);
	if (ns)
		vqp_ns_put(ns);
	vqp_rc_target_put(target);
	return ret;
}

/* ---- Closing ---- */

/* Take the window out of its lists; the caller frees it. */
static void window_take(struct vqp_window *window)
{
	lockdep_assert_held(&window_mutex);
	list_del(&window->target_link);
	list_del(&window->mr_link);
	window_count--;
	window->ns->windows--;
}

/*
 * Deregister and free a window. No request may be using the window any more: ib_dereg_mr() waits
 * for requests only for a while, and then the pages would be unmapped under them.
 */
static void window_free(struct vqp_window *window)
{
	ib_dereg_mr(window->ib_mr);
	window_unmap(window);
	if (atomic_dec_and_test(&window_made))
		wake_up_var(&window_made);
	vqp_rc_target_put(window->target);
	kfree(window);
	vqp_count_freed(VQP_OBJ_WINDOW);
}

void vqp_window_wait(void)
{
	wait_var_event(&window_made, !atomic_read(&window_made));
}

void vqp_window_close_all(struct list_head *windows)
{
	struct vqp_window *window, *next;

	/* Under the mutex throughout: a region without windows in its list may be freed. */
	mutex_lock(&window_mutex);
	list_for_each_entry_safe(window, next, windows, target_link) {
		window_take(window);
		window_free(window);
	}
	mutex_unlock(&window_mutex);
}

/*
 * Revoke the windows of mr that one link may use. The initiator answers when none of its requests
 * uses them. If it does not answer, the function stops the target, and closes all windows of the
 * link: only then is it sure that no request is under way.
 */
static void window_revoke_of(struct vqp_mr *mr, struct vqp_rc_target *target)
{
	struct vqp_rpc_msg msg = {
		.kind = VQP_RPC_REVOKE,
		.link = cpu_to_be32(target->link),
		.tenant = cpu_to_be32(mr->ns->tenant),
		.key = cpu_to_be32(mr->key),
	};
	struct vqp_window *window, *next;
	LIST_HEAD(taken);

	memcpy(msg.gid, mr->ns->gid, VQP_GID_BYTES);
	if (vqp_rpc(target->gid, &msg, WINDOW_REVOKE_MS)) {
		vqp_rc_target_stop(target);
		return;
	}
	mutex_lock(&window_mutex);
	list_for_each_entry_safe(window, next, &mr->windows, mr_link) {
		if (window->target != target)
			continue;
		window_take(window);
		list_add(&window->mr_link, &taken);
	}
	mutex_unlock(&window_mutex);
	list_for_each_entry_safe(window, next, &taken, mr_link)
		window_free(window);
}

void vqp_window_revoke(struct vqp_mr *mr)
{
	struct vqp_window *window;
	struct vqp_rc_target *target;

	for (;;) {
		mutex_lock(&window_mutex);
		window = list_first_entry_or_null(&mr->windows, struct vqp_window, mr_link);
		target = window ? window->target : NULL;
		if (target)
			vqp_rc_target_hold(target);
		mutex_unlock(&window_mutex);
		if (!target)
			return;
		window_revoke_of(mr, target);
		vqp_rc_target_put(target);
	}
}
