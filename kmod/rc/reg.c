// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/mm.h>
#include <rdma/ib_verbs.h>
#include "rc/reg.h"
#include "rc/window.h"

struct reg_wait {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct reg_wait *wait = container_of(wc->wr_cqe, struct reg_wait, cqe);

	wait->status = wc->status;
	complete(&wait->done);
}

static int reg_post(struct ib_mr *ib_mr, struct ib_qp *qp, int access)
{
	struct reg_wait wait = { .cqe.done = reg_done };
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &wait.cqe,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = ib_mr,
		.key = ib_mr->rkey,
		.access = access,
	};
	int ret;

	init_completion(&wait.done);
	ret = ib_post_send(qp, &wr.wr, NULL);
	if (ret)
		return ret;
	/* The completion comes in any case: a QP that fails flushes the registration. */
	wait_for_completion(&wait.done);
	return wait.status == IB_WC_SUCCESS ? 0 : -EIO;
}

static int reg_map(struct vqp_reg *reg, struct ib_device *dev, struct page **pages, u32 offset,
		   u64 bytes)
{
	const u32 npages = PAGE_ALIGN(offset + bytes) >> PAGE_SHIFT;
	int nents, ret;

	ret = sg_alloc_table_from_pages_segment(&reg->sgt, pages, npages, offset, bytes,
						ib_dma_max_seg_size(dev), GFP_KERNEL);
	if (ret)
		return ret;
	nents = ib_dma_map_sg(dev, reg->sgt.sgl, reg->sgt.orig_nents, DMA_BIDIRECTIONAL);
	if (!nents) {
		sg_free_table(&reg->sgt);
		return -EIO;
	}
	reg->sgt.nents = nents;
	return 0;
}

static void reg_unmap(struct vqp_reg *reg, struct ib_device *dev)
{
	ib_dma_unmap_sg(dev, reg->sgt.sgl, reg->sgt.orig_nents, DMA_BIDIRECTIONAL);
	sg_free_table(&reg->sgt);
}

int vqp_reg_make(struct vqp_reg *reg, struct ib_qp *qp, struct page **pages, u32 offset, u64 bytes,
		 int access)
{
	struct ib_mr *ib_mr;
	int ret;

	ret = reg_map(reg, qp->device, pages, offset, bytes);
	if (ret)
		return ret;
	ib_mr = ib_alloc_mr(qp->pd, IB_MR_TYPE_MEM_REG, VQP_WINDOW_BYTES >> PAGE_SHIFT);
	if (IS_ERR(ib_mr)) {
		ret = PTR_ERR(ib_mr);
		goto unmap;
	}
	ret = ib_map_mr_sg(ib_mr, reg->sgt.sgl, reg->sgt.nents, NULL, PAGE_SIZE);
	if (ret == reg->sgt.nents)
		ret = reg_post(ib_mr, qp, access);
	else
		ret = ret < 0 ? ret : -EINVAL;
	if (ret)
		goto dereg;
	reg->ib_mr = ib_mr;
	return 0;

dereg:
	ib_dereg_mr(ib_mr);
unmap:
	reg_unmap(reg, qp->device);
	return ret;
}

void vqp_reg_free(struct vqp_reg *reg)
{
	struct ib_mr *ib_mr = reg->ib_mr;
	struct ib_device *dev;

	if (!ib_mr)
		return;
	dev = ib_mr->device;
	ib_dereg_mr(ib_mr);
	reg_unmap(reg, dev);
	reg->ib_mr = NULL;
}
