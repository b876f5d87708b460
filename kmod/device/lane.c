// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <rdma/ib_cache.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/wait.h"
#include "device/lane.h"
#include "device/parent.h"
#include "mem/cursor.h"

#define LANE_REVIVE_MS	2U
#define LANE_GRH_BYTES	((u32)sizeof(struct ib_grh))

static_assert(VQP_LANE_TX_SLOTS % VQP_LANE_SIGNAL_EVERY == 0);

u64 vqp_lane_bytes(void)
{
	return sizeof(struct vqp_lane) +
	       (VQP_LANE_TX_SLOTS + VQP_LANE_RX_SLOTS) *
			(PAGE_SIZE + sizeof(struct vqp_lane_buf)) +
	       VQP_LANE_RX_SLOTS * LANE_GRH_BYTES;
}

/* ---- Sending ---- */

static int lane_post(struct vqp_lane *lane, struct vqp_lane_buf *buf,
		     const struct vqp_lane_dest *dest, u32 bytes)
{
	struct ib_sge sge = {
		.addr = buf->dma,
		.length = bytes,
		.lkey = lane->parent->pd->local_dma_lkey,
	};
	struct ib_ud_wr ud = {
		.wr.wr_cqe = &lane->tx_cqe[lane->life & 1],
		.wr.opcode = IB_WR_SEND,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.ah = dest->ah,
		.remote_qpn = dest->qpn,
		.remote_qkey = dest->qkey,
	};
	int ret;

	if ((lane->tx_head + 1) % VQP_LANE_SIGNAL_EVERY == 0)
		ud.wr.send_flags = IB_SEND_SIGNALED;
	ib_dma_sync_single_for_device(lane->parent->dev, buf->dma, bytes, DMA_TO_DEVICE);
	ret = ib_post_send(lane->qp, &ud.wr, NULL);
	if (!ret)
		lane->tx_head++;
	return ret;
}

/* The last VQP_LANE_TX_RESERVED slots are for answers. */
static bool lane_has_room(const struct vqp_lane *lane, bool answer)
{
	const u32 slots = answer ? VQP_LANE_TX_SLOTS : VQP_LANE_TX_SLOTS - VQP_LANE_TX_RESERVED;

	lockdep_assert_held(&lane->tx_lock);
	return !lane->failed && lane->tx_head - lane->tx_tail < slots;
}

int vqp_lane_send(struct vqp_lane *lane, const struct vqp_lane_dest *dest,
		  const struct vqp_pkt *pkt, struct vqp_cursor *c, u32 bytes,
		  struct vqp_wait *wait)
{
	struct vqp_lane_buf *buf;
	u32 header;
	int ret = 0;

	spin_lock_bh(&lane->tx_lock);
	if (!lane_has_room(lane, !wait)) {
		if (wait && vqp_wait_queue(wait, &lane->waiters))
			vqp_count_event(VQP_EV_TX_NO_ROOM);
		spin_unlock_bh(&lane->tx_lock);
		return -EAGAIN;
	}
	buf = &lane->tx[lane->tx_head % VQP_LANE_TX_SLOTS];
	header = vqp_wire_build(page_address(buf->page), pkt);
	if (bytes)
		ret = vqp_cursor_gather(c, page_address(buf->page) + header, bytes);
	/* Without an address handle the packet is lost, as it may be on the network. */
	if (!ret && dest->ah)
		ret = lane_post(lane, buf, dest, header + bytes);
	spin_unlock_bh(&lane->tx_lock);
	if (!ret)
		vqp_count_event(VQP_EV_TX_PACKETS);
	return ret;
}

bool vqp_lane_unwait(struct vqp_lane *lane, struct vqp_wait *wait)
{
	bool waited;

	spin_lock_bh(&lane->tx_lock);
	waited = vqp_wait_unqueue(wait);
	spin_unlock_bh(&lane->tx_lock);
	return waited;
}

/*
 * Slots have been freed: let the waiting flows go on, in order, while there is room. Those that
 * have nothing to send any more take none, however many they are: after VQP_WAIT_BUDGET flows a
 * work goes on.
 */
static void lane_kick(struct vqp_lane *lane)
{
	u32 budget = VQP_WAIT_BUDGET;
	struct vqp_wait *wait;

	spin_lock_bh(&lane->tx_lock);
	while (!list_empty(&lane->waiters) && lane_has_room(lane, false)) {
		if (!budget--) {
			queue_work(system_dfl_wq, &lane->kick);
			break;
		}
		wait = vqp_wait_take(&lane->waiters);
		spin_unlock_bh(&lane->tx_lock);
		vqp_wait_go(wait);
		spin_lock_bh(&lane->tx_lock);
	}
	spin_unlock_bh(&lane->tx_lock);
}

static void lane_kick_work(struct work_struct *work)
{
	lane_kick(container_of(work, struct vqp_lane, kick));
}

/*
 * The QP is in the error state and neither sends nor receives any more. Soft RoCE fails a QP for
 * want of a route or of memory; Linux 6.12 also when the interface's queue is full, which it
 * reports as a flush. The packets that the QP held are lost, as packets on the network may be. Have
 * the QP revived, unless the parent is going anyway.
 */
static void lane_fail(struct vqp_lane *lane, const char *reason)
{
	lockdep_assert_held(&lane->tx_lock);
	if (lane->failed || READ_ONCE(lane->parent->broken))
		return;
	lane->failed = true;
	pr_warn_ratelimited("a lane of %s failed: %s\n",
			    dev_name(&lane->parent->dev->dev), reason);
	vqp_count_event(VQP_EV_LANE_FAILURES);
	/* The pause is short, because the lane sends no answers either until it is revived. */
	lane->failures = time_before(jiffies, lane->failed_at + HZ) ? lane->failures + 1 : 0;
	lane->failed_at = jiffies;
	queue_delayed_work(system_dfl_wq, &lane->revive,
			   msecs_to_jiffies(LANE_REVIVE_MS << min(lane->failures, 3U)));
}

static void lane_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vqp_lane *lane = cq->cq_context;
	bool waiting = false;

	spin_lock_bh(&lane->tx_lock);
	if (unlikely(wc->wr_cqe != &lane->tx_cqe[lane->life & 1])) {
		/* The completion is of the QP's previous life. */
	} else if (unlikely(wc->status != IB_WC_SUCCESS)) {
		lane_fail(lane, ib_wc_status_msg(wc->status));
	} else {
		lane->tx_tail += VQP_LANE_SIGNAL_EVERY;
		waiting = !list_empty(&lane->waiters);
	}
	spin_unlock_bh(&lane->tx_lock);
	if (waiting)
		lane_kick(lane);
}

static void lane_event_work(struct work_struct *work)
{
	struct vqp_lane *lane = container_of(work, struct vqp_lane, event);

	spin_lock_bh(&lane->tx_lock);
	lane_fail(lane, "its device reported an error");
	spin_unlock_bh(&lane->tx_lock);
}

/*
 * A device may tell of an error by an event instead of completions, or long before them. The event
 * may come in a hard interrupt, where tx_lock cannot be taken. The work is not queued any more when
 * the flag `broken` has been set and a grace period has passed.
 */
static void lane_event(struct ib_event *event, void *context)
{
	struct vqp_lane *lane = context;

	if (!vqp_is_qp_failure(event))
		return;
	rcu_read_lock();
	if (!READ_ONCE(lane->parent->broken))
		queue_work(system_dfl_wq, &lane->event);
	rcu_read_unlock();
}

/* ---- Receiving ---- */

static int lane_post_recv(struct vqp_lane *lane, u32 i)
{
	struct vqp_lane_buf *buf = &lane->rx[i];
	struct ib_sge sge[2] = {
		{
			.addr = lane->grh_dma + i * LANE_GRH_BYTES,
			.length = LANE_GRH_BYTES,
			.lkey = lane->parent->pd->local_dma_lkey,
		}, {
			.addr = buf->dma,
			.length = PAGE_SIZE,
			.lkey = lane->parent->pd->local_dma_lkey,
		},
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &buf->cqe,
		.sg_list = sge,
		.num_sge = 2,
	};

	return ib_post_recv(lane->qp, &wr, NULL);
}

/* Has the network marked the packet? `type` is that of its header (RFC 3168). */
static bool lane_is_marked(const void *header, enum rdma_network_type type)
{
	const union rdma_network_hdr *hdr = header;

	if (type == RDMA_NETWORK_IPV4)
		return INET_ECN_is_ce(hdr->roce4grh.tos);
	return INET_ECN_is_ce(be32_to_cpu(hdr->ibgrh.version_tclass_flow) >> 20);
}

/* The GID of the sending node, and the mark, from the GRH or from the IPv4 header in its place. */
static int lane_source(const struct ib_wc *wc, const void *grh, union ib_gid *sgid, bool *ce)
{
	enum rdma_network_type type = RDMA_NETWORK_IPV6;
	union ib_gid dgid;

	if (!(wc->wc_flags & IB_WC_GRH))
		return -EINVAL;
	if (wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		type = wc->network_hdr_type;
	else if (ib_get_rdma_header_version(grh) == 4)
		type = RDMA_NETWORK_IPV4;
	*ce = lane_is_marked(grh, type);
	return ib_get_gids_from_rdma_hdr(grh, type, sgid, &dgid);
}

static void lane_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vqp_lane_buf *buf = container_of(wc->wr_cqe, struct vqp_lane_buf, cqe);
	struct vqp_lane *lane = cq->cq_context;
	u32 i = buf - lane->rx;
	union ib_gid sgid;
	bool ce;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		/* A lane that sends nothing would learn of it in no other way. */
		spin_lock_bh(&lane->tx_lock);
		lane_fail(lane, ib_wc_status_msg(wc->status));
		spin_unlock_bh(&lane->tx_lock);
		return;
	}
	vqp_count_event(VQP_EV_RX_PACKETS);
	ib_dma_sync_single_for_cpu(lane->parent->dev, lane->grh_dma + i * LANE_GRH_BYTES,
				   LANE_GRH_BYTES, DMA_FROM_DEVICE);
	ib_dma_sync_single_for_cpu(lane->parent->dev, buf->dma, PAGE_SIZE, DMA_FROM_DEVICE);
	if (wc->byte_len <= LANE_GRH_BYTES || wc->byte_len > LANE_GRH_BYTES + PAGE_SIZE ||
	    lane_source(wc, lane->grh + i * LANE_GRH_BYTES, &sgid, &ce))
		vqp_count_event(VQP_EV_RX_MALFORMED);
	else
		lane->parent->input(lane, sgid.raw, wc->src_qp, page_address(buf->page),
				    wc->byte_len - LANE_GRH_BYTES, ce);
	ib_dma_sync_single_for_device(lane->parent->dev, buf->dma, PAGE_SIZE, DMA_FROM_DEVICE);
	/* A failed post costs the lane one receive. It fails only when the device is going. */
	if (unlikely(lane_post_recv(lane, i)))
		vqp_count_event(VQP_EV_RX_DROPPED);
}

/* ---- Making and destroying ---- */

static void lane_free_bufs(struct vqp_lane *lane, struct vqp_lane_buf *bufs, u32 n,
			   enum dma_data_direction dir)
{
	u32 i;

	for (i = 0; bufs && i < n; i++) {
		if (bufs[i].dma)
			ib_dma_unmap_page(lane->parent->dev, bufs[i].dma, PAGE_SIZE, dir);
		if (bufs[i].page)
			__free_page(bufs[i].page);
	}
	kvfree(bufs);
}

static struct vqp_lane_buf *lane_alloc_bufs(struct vqp_lane *lane, u32 n,
					    enum dma_data_direction dir)
{
	struct vqp_lane_buf *bufs = kvcalloc(n, sizeof(*bufs), GFP_KERNEL);
	u32 i;

	if (!bufs)
		return NULL;
	for (i = 0; i < n; i++) {
		bufs[i].cqe.done = lane_recv_done;
		bufs[i].page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!bufs[i].page)
			goto free;
		bufs[i].dma = ib_dma_map_page(lane->parent->dev, bufs[i].page, 0, PAGE_SIZE, dir);
		if (ib_dma_mapping_error(lane->parent->dev, bufs[i].dma)) {
			bufs[i].dma = 0;
			goto free;
		}
	}
	return bufs;
free:
	lane_free_bufs(lane, bufs, n, dir);
	return NULL;
}

static int lane_alloc_memory(struct vqp_lane *lane)
{
	struct ib_device *dev = lane->parent->dev;

	lane->tx = lane_alloc_bufs(lane, VQP_LANE_TX_SLOTS, DMA_TO_DEVICE);
	lane->rx = lane_alloc_bufs(lane, VQP_LANE_RX_SLOTS, DMA_FROM_DEVICE);
	lane->grh = kcalloc(VQP_LANE_RX_SLOTS, LANE_GRH_BYTES, GFP_KERNEL);
	if (!lane->tx || !lane->rx || !lane->grh)
		return -ENOMEM;
	lane->grh_dma = ib_dma_map_single(dev, lane->grh, VQP_LANE_RX_SLOTS * LANE_GRH_BYTES,
					  DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(dev, lane->grh_dma)) {
		lane->grh_dma = 0;
		return -ENOMEM;
	}
	return 0;
}

static void lane_free_memory(struct vqp_lane *lane)
{
	if (lane->grh_dma)
		ib_dma_unmap_single(lane->parent->dev, lane->grh_dma,
				    VQP_LANE_RX_SLOTS * LANE_GRH_BYTES, DMA_FROM_DEVICE);
	kfree(lane->grh);
	lane_free_bufs(lane, lane->rx, VQP_LANE_RX_SLOTS, DMA_FROM_DEVICE);
	lane_free_bufs(lane, lane->tx, VQP_LANE_TX_SLOTS, DMA_TO_DEVICE);
}

/* Move the QP from RESET to RTS. */
static int lane_start_qp(struct vqp_lane *lane)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = lane->parent->gid.port,
		.qkey = lane->parent->dct.qkey,
	};
	int ret;

	lane->started = false;
	ret = ib_modify_qp(lane->qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(lane->qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	ret = ib_modify_qp(lane->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
	lane->started = !ret;
	return ret;
}

static int lane_post_recvs(struct vqp_lane *lane)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < VQP_LANE_RX_SLOTS; i++)
		ret = lane_post_recv(lane, i);
	return ret;
}

/*
 * Revive the QP of a lane that has failed. It keeps the QP number that other nodes know. If the
 * device refuses, the parent is made anew.
 */
static void lane_revive_work(struct work_struct *work)
{
	struct vqp_lane *lane = container_of(to_delayed_work(work), struct vqp_lane, revive);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	int ret;

	/* All receives complete, so that they can be posted again. */
	ib_drain_rq(lane->qp);
	ret = ib_modify_qp(lane->qp, &attr, IB_QP_STATE);
	if (!ret)
		ret = lane_start_qp(lane);
	if (ret) {
		vqp_parent_break(lane->parent);
		return;
	}
	/* An event of the former life fails this one no more, but receives of this one do. */
	cancel_work(&lane->event);
	spin_lock_bh(&lane->tx_lock);
	lane->life++;
	lane->tx_head = 0;
	lane->tx_tail = 0;
	lane->failed = false;
	spin_unlock_bh(&lane->tx_lock);
	if (lane_post_recvs(lane))
		vqp_parent_break(lane->parent);
	lane_kick(lane);
}

static int lane_create_qp(struct vqp_lane *lane)
{
	struct ib_qp_init_attr init = {
		.send_cq = lane->send_cq,
		.recv_cq = lane->recv_cq,
		.cap = {
			.max_send_wr = VQP_LANE_TX_SLOTS,
			.max_recv_wr = VQP_LANE_RX_SLOTS + 1,	/* one for ib_drain_rq() */
			.max_send_sge = 1,
			.max_recv_sge = 2,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_UD,
		.event_handler = lane_event,
		.qp_context = lane,
	};
	int ret;

	lane->qp = ib_create_qp(lane->parent->pd, &init);
	if (IS_ERR(lane->qp)) {
		ret = PTR_ERR(lane->qp);
		lane->qp = NULL;
		return ret;
	}
	ret = lane_start_qp(lane);
	return ret ?: lane_post_recvs(lane);
}

static int lane_create_cqs(struct vqp_lane *lane, int vector)
{
	/* The CQs have room for the completions of two lives of the QP. */
	lane->send_cq = ib_alloc_cq(lane->parent->dev, lane, 2 * VQP_LANE_TX_SLOTS, vector,
				    IB_POLL_SOFTIRQ);
	if (IS_ERR(lane->send_cq)) {
		int ret = PTR_ERR(lane->send_cq);

		lane->send_cq = NULL;
		return ret;
	}
	lane->recv_cq = ib_alloc_cq(lane->parent->dev, lane, 2 * VQP_LANE_RX_SLOTS, vector,
				    IB_POLL_SOFTIRQ);
	if (IS_ERR(lane->recv_cq)) {
		int ret = PTR_ERR(lane->recv_cq);

		lane->recv_cq = NULL;
		return ret;
	}
	return 0;
}

struct vqp_lane *vqp_lane_create(struct vqp_parent *parent, u32 index)
{
	int vector = index % max(parent->dev->num_comp_vectors, 1);
	struct vqp_lane *lane = kzalloc(sizeof(*lane), GFP_KERNEL);
	int ret;

	if (!lane)
		return ERR_PTR(-ENOMEM);
	lane->parent = parent;
	lane->index = index;
	spin_lock_init(&lane->tx_lock);
	INIT_LIST_HEAD(&lane->waiters);
	INIT_DELAYED_WORK(&lane->revive, lane_revive_work);
	INIT_WORK(&lane->event, lane_event_work);
	INIT_WORK(&lane->kick, lane_kick_work);
	lane->tx_cqe[0].done = lane_send_done;
	lane->tx_cqe[1].done = lane_send_done;
	ret = lane_alloc_memory(lane);
	if (!ret)
		ret = lane_create_cqs(lane, vector);
	if (!ret)
		ret = lane_create_qp(lane);
	if (ret) {
		/* The parent will not be, and no lane of it is revived any more. */
		WRITE_ONCE(parent->broken, true);
		synchronize_rcu();
		vqp_lane_destroy(lane);
		return ERR_PTR(ret);
	}
	return lane;
}

/*
 * parent->broken has been set for a grace period, so that nothing queues the works any more. The
 * CQs' handlers use the buffers, and therefore the memory goes last.
 */
void vqp_lane_destroy(struct vqp_lane *lane)
{
	struct vqp_wait *wait;

	cancel_work_sync(&lane->event);
	cancel_delayed_work_sync(&lane->revive);
	/* The handler of a received packet posts its buffer again, which needs the whole QP. */
	if (lane->started)
		ib_drain_rq(lane->qp);
	if (lane->qp)
		ib_destroy_qp(lane->qp);
	if (lane->recv_cq)
		vqp_parent_free_cq(lane->recv_cq);
	if (lane->send_cq)
		vqp_parent_free_cq(lane->send_cq);
	/* No completion queues it any more; what it lets go on finds no parent, as those below. */
	cancel_work_sync(&lane->kick);
	/* The flows that still wait go on, and find that the parent is not there any more. */
	while (!list_empty(&lane->waiters)) {
		wait = vqp_wait_take(&lane->waiters);
		vqp_wait_go(wait);
	}
	lane_free_memory(lane);
	kfree(lane);
}
