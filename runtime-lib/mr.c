// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "internal.h"

_Static_assert(VQP_ACCESS_LOCAL_WRITE == IBV_ACCESS_LOCAL_WRITE &&
	       VQP_ACCESS_REMOTE_WRITE == IBV_ACCESS_REMOTE_WRITE &&
	       VQP_ACCESS_REMOTE_READ == IBV_ACCESS_REMOTE_READ &&
	       VQP_ACCESS_REMOTE_ATOMIC == IBV_ACCESS_REMOTE_ATOMIC, "access flags are the verbs' own");

static size_t round_to_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

void *vqp_alloc(struct ibv_context *context, size_t bytes)
{
	void *addr;

	if (!bytes || bytes > VQP_MAX_ARENA_BYTES)
		return vqp_null(-EINVAL);
	addr = mmap(NULL, round_to_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, context->cmd_fd, 0);
	return addr == MAP_FAILED ? NULL : addr;
}

int vqp_free(void *addr, size_t bytes)
{
	return munmap(addr, round_to_pages(bytes)) ? -errno : 0;
}

struct ibv_mr *vqp_reg_mr(struct ibv_pd *pd, void *addr, size_t bytes, int access)
{
	struct vqp_context *ctx = vqp_container(pd, struct vqp_context, pd);
	struct vqp_reg_mr reg = {
		.addr = (uintptr_t)addr,
		.length = bytes,
		.access = (uint32_t)access,
	};
	struct vqp_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = vqp_ioctl(pd->context, VQP_IOC_REG_MR, &reg);
	if (err) {
		free(mr);
		return vqp_null(err);
	}
	mr->verbs.context = pd->context;
	mr->verbs.pd = pd;
	mr->verbs.addr = addr;
	mr->verbs.length = bytes;
	mr->verbs.lkey = reg.key;
	mr->verbs.rkey = reg.key;
	mr->access = access;
	vqp_context_link(pd->context, &ctx->mrs, &mr->link);
	return &mr->verbs;
}

int vqp_dereg_mr(struct ibv_mr *ibmr)
{
	struct vqp_mr *mr = vqp_container(ibmr, struct vqp_mr, verbs);
	struct vqp_dereg_mr dereg = { .key = ibmr->lkey };
	int err;

	err = vqp_ioctl(ibmr->context, VQP_IOC_DEREG_MR, &dereg);
	if (err)
		return err;
	vqp_context_unlink(ibmr->context, &mr->link);
	free(mr);
	return 0;
}

bool vqp_mrs_cover(const struct vqp_context *ctx, uintptr_t addr, size_t bytes)
{
	const struct vqp_link *link;

	for (link = ctx->mrs.next; link != &ctx->mrs; link = link->next) {
		const struct vqp_mr *mr = vqp_container(link, struct vqp_mr, link);
		const uintptr_t start = (uintptr_t)mr->verbs.addr;

		if (mr->access & IBV_ACCESS_LOCAL_WRITE && addr >= start && bytes <= mr->verbs.length &&
		    addr - start <= mr->verbs.length - bytes)
			return true;
	}
	return false;
}
