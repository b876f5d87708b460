// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "internal.h"

_Static_assert((int)VQP_WC_SUCCESS == (int)IBV_WC_SUCCESS &&
	       (int)VQP_WC_WR_FLUSH_ERR == (int)IBV_WC_WR_FLUSH_ERR &&
	       (int)VQP_WC_REM_INV_REQ_ERR == (int)IBV_WC_REM_INV_REQ_ERR &&
	       (int)VQP_WC_RETRY_EXC_ERR == (int)IBV_WC_RETRY_EXC_ERR &&
	       (int)VQP_WC_RNR_RETRY_EXC_ERR == (int)IBV_WC_RNR_RETRY_EXC_ERR, "statuses are the verbs' own");
_Static_assert((int)VQP_WC_SEND == (int)IBV_WC_SEND &&
	       (int)VQP_WC_RDMA_WRITE == (int)IBV_WC_RDMA_WRITE &&
	       (int)VQP_WC_RDMA_READ == (int)IBV_WC_RDMA_READ &&
	       (int)VQP_WC_RECV == (int)IBV_WC_RECV &&
	       (int)VQP_WC_RECV_RDMA_WITH_IMM == (int)IBV_WC_RECV_RDMA_WITH_IMM &&
	       (int)VQP_WC_WITH_IMM == (int)IBV_WC_WITH_IMM, "opcodes and flags are the verbs' own");

/* The offsets of rings are up to 2^44. */
_Static_assert(sizeof(off_t) == sizeof(uint64_t), "a 32-bit program, too, can map a ring");

struct ibv_cq *vqp_create_cq(struct ibv_context *context, int entries, void *cq_context)
{
	struct vqp_context *ctx = vqp_container(context, struct vqp_context, verbs);
	struct vqp_create_cq create = { .cqe = (uint32_t)entries };
	struct vqp_cq *cq;
	int err;

	if (entries <= 0)
		return vqp_null(-EINVAL);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	err = vqp_ioctl(context, VQP_IOC_CREATE_CQ, &create);
	if (err) {
		free(cq);
		return vqp_null(err);
	}
	cq->ring = mmap(NULL, create.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, context->cmd_fd,
			(off_t)create.ring_offset);
	if (cq->ring == MAP_FAILED) {
		err = -errno;
		close(create.fd);
		free(cq);
		return vqp_null(err);
	}
	cq->fd = create.fd;
	cq->mask = create.cqe - 1;
	cq->ring_bytes = create.ring_bytes;
	cq->cqes = (const struct vqp_cqe *)((const char *)cq->ring + VQP_CQ_CQE_OFFSET);
	cq->verbs.context = context;
	cq->verbs.cq_context = cq_context;
	cq->verbs.cqe = (int)create.cqe;
	vqp_context_link(context, &ctx->cqs, &cq->link);
	return &cq->verbs;
}

void vqp_cq_free(struct vqp_cq *cq)
{
	munmap(cq->ring, cq->ring_bytes);
	close(cq->fd);
	free(cq);
}

int vqp_destroy_cq(struct ibv_cq *ibcq)
{
	struct vqp_cq *cq = vqp_container(ibcq, struct vqp_cq, verbs);

	if (__atomic_load_n(&cq->users, __ATOMIC_ACQUIRE))
		return -EBUSY;
	vqp_context_unlink(ibcq->context, &cq->link);
	vqp_cq_free(cq);
	return 0;
}

int vqp_cq_fd(struct ibv_cq *cq)
{
	return vqp_container(cq, struct vqp_cq, verbs)->fd;
}

/*
 * Returns the number of completions in the ring. Loads tail with acquire semantics, after which the
 * CQEs before it can be read. Only this thread, the CQ's one poller, writes head.
 */
static uint32_t cq_pending(const struct vqp_cq *cq)
{
	return __atomic_load_n(&cq->ring->tail, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&cq->ring->head, __ATOMIC_RELAXED);
}

/* Stores head with release semantics: the kernel may overwrite the CQEs before it. */
static void cq_advance(struct vqp_cq *cq, uint32_t count)
{
	uint32_t head = __atomic_load_n(&cq->ring->head, __ATOMIC_RELAXED);

	__atomic_store_n(&cq->ring->head, head + count, __ATOMIC_RELEASE);
}

const struct vqp_cqe *vqp_cq_peek(const struct vqp_cq *cq)
{
	uint32_t head = __atomic_load_n(&cq->ring->head, __ATOMIC_RELAXED);

	return cq_pending(cq) ? &cq->cqes[head & cq->mask] : NULL;
}

void vqp_cq_pop(struct vqp_cq *cq)
{
	cq_advance(cq, 1);
}

void vqp_cq_translate(const struct vqp_cqe *cqe, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc) {
		.wr_id = cqe->wr_id,
		.status = (enum ibv_wc_status)cqe->status,
		.opcode = (enum ibv_wc_opcode)cqe->opcode,
		.byte_len = cqe->byte_len,
		.imm_data = cqe->imm_data,
		.qp_num = cqe->qp_num,
		.src_qp = cqe->src_qp,
		.wc_flags = cqe->flags,
	};
}

int vqp_cq_poll(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct vqp_cq *cq = vqp_container(ibcq, struct vqp_cq, verbs);
	uint32_t head = __atomic_load_n(&cq->ring->head, __ATOMIC_RELAXED);
	uint32_t pending = cq_pending(cq);
	int i;

	for (i = 0; i < count && (uint32_t)i < pending; i++)
		vqp_cq_translate(&cq->cqes[(head + (uint32_t)i) & cq->mask], &wc[i]);
	if (i)
		cq_advance(cq, (uint32_t)i);
	return i;
}

/* There is nothing to arm: the CQ's file is readable as long as the ring has a completion. */
int vqp_cq_notify(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return 0;
}

int vqp_cq_wait(struct ibv_cq *ibcq, int timeout_ms)
{
	struct vqp_cq *cq = vqp_container(ibcq, struct vqp_cq, verbs);
	struct pollfd pfd = { .fd = cq->fd, .events = POLLIN };
	int n;

	if (cq_pending(cq))
		return 1;
	n = poll(&pfd, 1, timeout_ms);
	if (n < 0)
		return -errno;
	if (n && !(pfd.revents & POLLIN))
		return -EOVERFLOW;
	return n;
}
