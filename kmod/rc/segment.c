// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "mem/cursor.h"
#include "mem/mr.h"
#include "queue/carrier.h"
#include "queue/send.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "rc/qp.h"
#include "rc/rkey.h"
#include "rc/segment.h"

/*
 * A segment is the part of a request that one work request of the device carries: it lies in one
 * window, and in no more pages than the link's QP takes SGEs. It has references on all memory that
 * the device may touch.
 *
 * Segments of all VQPs of a link are chained. The QP is given the chain when it has SEGMENT_CHAIN
 * segments, when a segment of at least a page joins it, or before a VQP that has chained something
 * releases its lock. Only the last segment of a chain is signaled, and its completion stands for
 * all segments before it. A READ that precedes a WRITE is signaled, too: after a failure an
 * uncompleted READ is carried out again, which must not happen once a later WRITE has been.
 *
 * Soft RoCE may complete a READ with success before any of its bytes has come. A target that could
 * not send the first answer notes that it was sent, and goes on (read_reply() in rxe_resp.c). The
 * initiator takes what comes then for an error: it completes the READ with the status that the READ
 * has, which is success, and fails the QP (COMPST_ERROR in rxe_comp.c). READs of soft RoCE are
 * therefore sealed: random bytes are written where the last bytes of the READ will be, which come
 * last. A READ that completes with its seal has not been carried out, and the link has failed. If
 * the target has the very bytes of a seal, the READ is carried out again in vain.
 */
struct segment {
	struct ib_cqe cqe;
	struct ib_rdma_wr wr;
	struct list_head entry;		/* in link.posted, under link.lock */
	struct vqp_link *link;		/* referenced */
	struct vqp *vqp;		/* referenced */
	struct vqp_send *send;		/* in vqp.unsent or vqp.lent while the segment is posted */
	bool last;			/* The segment is the last of send. */
	u32 psn_begin;			/* the first PSN that the segment uses, ... */
	u32 psn_end;			/* ... and the one behind the last */
	struct page *last_page;		/* where the last bytes of the segment are */
	u32 last_offset;		/* the offset in that page of the last piece */
	u32 last_bytes;			/* the length of that piece */
	u32 seal_bytes;			/* the length of the seal at its end; 0 if there is none */
	u64 seal;
	struct vqp_rkey *rkey;		/* referenced until segment_release() */
	struct vqp_mr **mrs;		/* the local regions, referenced likewise */
	u32 nmrs;			/* the length of mrs */
	u32 nsge;			/* the length of sge, all of it mapped for the device */
	struct ib_sge sge[];
};

#define SEGMENT_CHAIN	8

/* ---- Making ---- */

static enum dma_data_direction segment_direction(const struct vqp_send *send)
{
	return send->msg.op == VQP_OP_READ ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static void segment_release(struct segment *segment)
{
	struct ib_device *dev = segment->link->qp->device;
	u32 i;

	for (i = 0; i < segment->nsge; i++)
		ib_dma_unmap_page(dev, segment->sge[i].addr, segment->sge[i].length,
				  segment_direction(segment->send));
	for (i = 0; i < segment->nmrs; i++)
		vqp_mr_put(segment->mrs[i]);
	if (segment->rkey)
		vqp_rkey_put(segment->rkey);
	segment->nsge = 0;
	segment->nmrs = 0;
	segment->rkey = NULL;
}

static int segment_add_page(struct segment *segment, struct page *page, u32 offset, u32 bytes)
{
	struct ib_device *dev = segment->link->qp->device;
	struct ib_sge *sge = &segment->sge[segment->nsge];

	sge->addr = ib_dma_map_page(dev, page, offset, bytes, segment_direction(segment->send));
	if (ib_dma_mapping_error(dev, sge->addr))
		return -ENOMEM;
	sge->length = bytes;
	sge->lkey = segment->link->qp->pd->local_dma_lkey;
	segment->nsge++;
	segment->last_page = page;
	segment->last_offset = offset;
	segment->last_bytes = bytes;
	return 0;
}

/*
 * Map the next bytes under the cursor for the device, `bytes` at most and in `sges` pages at most.
 * Returns the number of bytes mapped, or -errno; segment_release() unmaps in each case.
 */
static int segment_fill(struct segment *segment, struct vqp_cursor *c, u32 bytes, u32 sges)
{
	struct vqp_mr *mr = NULL;
	u32 offset, done = 0;
	struct page *page;
	int n, ret;

	while (done < bytes && segment->nsge < sges) {
		n = vqp_cursor_page(c, bytes - done, &page, &offset);
		if (n < 0)
			return n;
		if (c->mr && c->mr != mr) {
			mr = c->mr;
			vqp_mr_hold(mr);
			segment->mrs[segment->nmrs++] = mr;
		}
		ret = segment_add_page(segment, page, offset, n);
		if (ret)
			return ret;
		done += n;
	}
	return done ?: -EIO;
}

static struct segment *segment_alloc(struct vqp_link *link, struct vqp_send *send, u32 sges)
{
	/* Each SGE adds a region at most once; one more is to spare for a walk that begins late. */
	const u32 mrs = send->num_sge + 1;
	struct segment *segment;

	segment = kmalloc(struct_size(segment, sge, sges) + mrs * sizeof(*segment->mrs),
			  GFP_ATOMIC | __GFP_NOWARN);
	if (!segment)
		return NULL;
	segment->link = link;
	segment->send = send;
	segment->mrs = (struct vqp_mr **)&segment->sge[sges];
	segment->nmrs = 0;
	segment->nsge = 0;
	segment->seal_bytes = 0;
	return segment;
}

/* ---- Seals ---- */

static void *segment_map_seal(const struct segment *segment)
{
	return kmap_local_page(segment->last_page) + segment->last_offset + segment->last_bytes -
	       segment->seal_bytes;
}

static void segment_seal(struct segment *segment)
{
	void *at;

	segment->seal = get_random_u64();
	segment->seal_bytes = min_t(u32, segment->last_bytes, sizeof(segment->seal));
	at = segment_map_seal(segment);
	memcpy(at, &segment->seal, segment->seal_bytes);
	kunmap_local(at);
}

static bool segment_is_sealed(const struct segment *segment)
{
	bool sealed;
	void *at;

	if (!segment->seal_bytes)
		return false;
	at = segment_map_seal(segment);
	sealed = !memcmp(at, &segment->seal, segment->seal_bytes);
	kunmap_local(at);
	return sealed;
}

/*
 * If one of the segments is sealed, put it and those behind it back in front of link.posted, and
 * return true.
 */
static bool segments_return_sealed(struct vqp_link *link, struct list_head *done)
{
	struct segment *segment;
	LIST_HEAD(good);

	lockdep_assert_held(&link->lock);
	list_for_each_entry(segment, done, entry) {
		if (!segment_is_sealed(segment))
			continue;
		list_cut_before(&good, done, &segment->entry);
		list_splice_init(done, &link->posted);
		list_splice(&good, done);
		return true;
	}
	return false;
}

/* ---- Posting ---- */

static void segment_done(struct ib_cq *cq, struct ib_wc *wc);

/*
 * Give the QP the chain. If the QP refuses it, in whole or in part, the segments stay in
 * link.posted like those that it took, and the caller fails the link once it has released the lock.
 */
static int __must_check link_chain_post(struct vqp_link *link)
{
	struct ib_send_wr *chain = link->chain;

	lockdep_assert_held(&link->lock);
	link->chain_last->send_flags |= IB_SEND_SIGNALED;
	link->chain = NULL;
	link->nchained = 0;
	link->psn_given = link->psn;
	return ib_post_send(link->qp, chain, NULL);
}

static int link_chain_add(struct vqp_link *link, struct ib_send_wr *wr, u32 bytes)
{
	lockdep_assert_held(&link->lock);
	if (!link->chain) {
		link->chain = wr;
	} else {
		link->chain_last->next = wr;
		if (wr->opcode != IB_WR_RDMA_READ && link->chain_last->opcode == IB_WR_RDMA_READ)
			link->chain_last->send_flags |= IB_SEND_SIGNALED;
	}
	link->chain_last = wr;
	link->nchained++;
	return link->nchained == SEGMENT_CHAIN || bytes >= PAGE_SIZE ? link_chain_post(link) : 0;
}

static int segment_queue(struct segment *segment, struct vqp *vqp, u32 bytes, u64 iova)
{
	const struct vqp_send *send = segment->send;
	struct vqp_link *link = segment->link;
	const u32 psns = vqp_rc_psns(bytes, link->mtu);
	int ret = -ENOTCONN, broken = 0;

	segment->wr = (struct ib_rdma_wr) {
		.wr.wr_cqe = &segment->cqe,
		.wr.sg_list = segment->sge,
		.wr.num_sge = segment->nsge,
		.wr.opcode = send->msg.op == VQP_OP_READ ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
		.wr.send_flags = send->msg.fence ? IB_SEND_FENCE : 0,
		.remote_addr = iova,
		.rkey = segment->rkey->device_rkey,
	};
	segment->cqe.done = segment_done;
	segment->vqp = vqp;
	if (link->seals_reads && send->msg.op == VQP_OP_READ)
		segment_seal(segment);
	spin_lock(&link->lock);
	/* link_end() walks link.posted without the lock, once the link is down. */
	if (link->up) {
		ret = 0;
		kref_get(&link->ref);
		kref_get(&vqp->ref);
		segment->psn_begin = link->psn;
		link->psn = (link->psn + psns) & VQP_PSN_MASK;
		segment->psn_end = link->psn;
		list_add_tail(&segment->entry, &link->posted);
		broken = link_chain_add(link, &segment->wr.wr, bytes);
		WRITE_ONCE(link->used_at, jiffies);
	}
	spin_unlock(&link->lock);
	if (broken)
		vqp_link_fail(link);
	return ret;
}

void vqp_segments_flush(struct vqp *vqp)
{
	struct vqp_link *link = vqp->rc.link;
	int broken = 0;

	lockdep_assert_held(&vqp->lock);
	/* Without the lock this sees at least the segments that this VQP has chained. */
	if (!READ_ONCE(link->chain))
		return;
	spin_lock(&link->lock);
	if (link->chain && link->up)
		broken = link_chain_post(link);
	spin_unlock(&link->lock);
	if (broken)
		vqp_link_fail(link);
}

int vqp_segment_post(struct vqp_link *link, struct vqp *vqp, struct vqp_send *send)
{
	const struct vqp_msg *msg = &send->msg;
	const bool read = msg->op == VQP_OP_READ;
	const u64 remote = msg->remote_addr + vqp->rc.offset;
	const u32 most = vqp_link_window_part(remote, msg->bytes - vqp->rc.offset);
	const u32 sges = min_t(u32, link->sges, most / PAGE_SIZE + 2 + send->num_sge);
	struct segment *segment;
	struct vqp_cursor c;
	int bytes, ret;

	segment = segment_alloc(link, send, sges);
	if (!segment)
		return -ENOMEM;
	segment->rkey = vqp_rkey_get(link, vqp, msg->rkey, remote, most, vqp_link_access(vqp, msg));
	bytes = -EACCES;
	if (segment->rkey) {
		vqp_send_cursor(&c, vqp, send, read ? VQP_ACCESS_LOCAL_WRITE : 0);
		vqp_cursor_skip(&c, vqp->rc.offset);
		bytes = segment_fill(segment, &c, most, sges);
		vqp_cursor_end(&c);
	}
	ret = bytes;
	if (bytes > 0) {
		segment->last = vqp->rc.offset + bytes == msg->bytes;
		ret = segment_queue(segment, vqp, bytes,
				    segment->rkey->iova + (remote - segment->rkey->addr));
	}
	if (ret) {
		segment_release(segment);
		kfree(segment);
		return ret;
	}
	return bytes;
}

/* ---- Completing ---- */

static void segment_free(struct segment *segment)
{
	vqp_put(segment->vqp);
	vqp_link_put(segment->link);
	kfree(segment);
}

/*
 * Complete the segments at the head of `done` that belong to the same VQP, and free them. The
 * caller goes on until the list is empty.
 */
static void segments_complete(struct list_head *done)
{
	struct vqp *vqp = list_first_entry(done, struct segment, entry)->vqp;
	struct segment *segment, *next;
	struct vqp_msg *msg;
	LIST_HEAD(over);

	spin_lock_bh(&vqp->lock);
	list_for_each_entry_safe(segment, next, done, entry) {
		if (segment->vqp != vqp)
			break;
		list_move_tail(&segment->entry, &over);
		vqp_carrier_unhold(vqp);
		if (segment->last) {
			msg = list_first_entry(&vqp->lent, struct vqp_msg, link);
			list_del(&msg->link);
			vqp_send_complete(vqp, vqp_send_of(msg), VQP_WC_SUCCESS);
		}
	}
	vqp_send_resume(vqp);
	spin_unlock_bh(&vqp->lock);
	list_for_each_entry_safe(segment, next, &over, entry)
		segment_free(segment);
}

/*
 * The completion of a signaled segment, in softirq. The device ends segments in order, so that a
 * success stands for all segments before it, unless one of them is still sealed. The first failure
 * does, too, but leaves itself and all segments behind it in link.posted: vqp_segments_settle()
 * decides about them.
 */
static void segment_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct segment *segment = container_of(wc->wr_cqe, struct segment, cqe);
	bool failed = wc->status != IB_WC_SUCCESS;
	struct vqp_link *link = cq->cq_context;
	bool waited_for;
	LIST_HEAD(done);

	spin_lock_bh(&link->lock);
	if (!link->broken) {
		if (failed)
			list_cut_before(&done, &link->posted, &segment->entry);
		else
			list_cut_position(&done, &link->posted, &segment->entry);
		failed |= segments_return_sealed(link, &done);
		link->broken = failed;
	}
	list_for_each_entry(segment, &done, entry)
		link->nposted--;
	waited_for = !list_empty(&link->waiters);
	spin_unlock_bh(&link->lock);
	if (unlikely(failed))
		vqp_link_fail(link);
	list_for_each_entry(segment, &done, entry)
		segment_release(segment);
	while (!list_empty(&done))
		segments_complete(&done);
	if (waited_for)
		vqp_link_kick(link);
}

/* ---- After a failure. Only these functions change link.posted then, and need no lock. ---- */

struct vqp *vqp_segments_first_vqp(struct vqp_link *link)
{
	struct segment *segment = list_first_entry_or_null(&link->posted, struct segment, entry);

	if (!segment)
		return NULL;
	kref_get(&segment->vqp->ref);
	return segment->vqp;
}

void vqp_segments_release(struct vqp_link *link)
{
	struct segment *segment;

	list_for_each_entry(segment, &link->posted, entry)
		segment_release(segment);
}

static bool psn_reached(u32 psn, u32 psn_end)
{
	return ((psn - psn_end) & VQP_PSN_MASK) <= VQP_PSN_MASK / 2;
}

/*
 * What becomes of a segment that has not completed. `psn` is the PSN that the target had reached,
 * if that is `known`. A READ is always carried out again: the target's PSN does not tell whether
 * the responses arrived. So is a segment that the QP was never given.
 */
static enum vqp_send_fate segment_fate(const struct segment *segment, bool known, u32 psn)
{
	if (segment->send->msg.op == VQP_OP_READ ||
	    !psn_reached(segment->link->psn_given, segment->psn_end))
		return VQP_SEND_AGAIN;
	if (!known)
		return VQP_SEND_LOST;
	return psn_reached(psn, segment->psn_end) ? VQP_SEND_DONE : VQP_SEND_AGAIN;
}

/*
 * Can the target have reached `psn`? All before the first segment that is left has completed, and
 * the QP was given none behind psn_given. The device has told of the probe that it moved the PSN
 * (rc/link.c), but that was before the target's QP was stopped.
 */
static bool link_may_have_reached(struct vqp_link *link, u32 psn)
{
	const struct segment *first;
	u32 from;

	first = list_first_entry_or_null(&link->posted, struct segment, entry);
	from = first ? first->psn_begin : link->psn_given;
	return ((psn - from) & VQP_PSN_MASK) <= ((link->psn_given - from) & VQP_PSN_MASK);
}

void vqp_segments_settle(struct vqp_link *link, bool known, u32 psn)
{
	struct segment *segment, *next;
	struct vqp *vqp;

	known = known && link_may_have_reached(link, psn);
	list_for_each_entry_safe(segment, next, &link->posted, entry) {
		list_del(&segment->entry);
		vqp = segment->vqp;
		spin_lock_bh(&vqp->lock);
		/* The last segment decides, but a WRITE is lost if any segment may be. */
		if (segment->send->fate != VQP_SEND_LOST && (segment->last || !known))
			segment->send->fate = segment_fate(segment, known, psn);
		vqp_carrier_unhold(vqp);
		if (!vqp->held) {
			vqp->rc.offset = 0;
			vqp_send_take_back(vqp);
		}
		spin_unlock_bh(&vqp->lock);
		segment_free(segment);
	}
}
