// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "internal.h"

_Static_assert(sizeof(union ibv_gid) == VQP_GID_BYTES, "a GID is 16 bytes");

/* The contexts of the process. Outside verbs.mutex of each. */
static pthread_mutex_t contexts_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct vqp_link contexts = { &contexts, &contexts };

static void link_add(pthread_mutex_t *mutex, struct vqp_link *list, struct vqp_link *link)
{
	pthread_mutex_lock(mutex);
	link->next = list->next;
	link->prev = list;
	list->next->prev = link;
	list->next = link;
	pthread_mutex_unlock(mutex);
}

static void link_remove(pthread_mutex_t *mutex, struct vqp_link *link)
{
	pthread_mutex_lock(mutex);
	link->prev->next = link->next;
	link->next->prev = link->prev;
	pthread_mutex_unlock(mutex);
}

void vqp_context_link(struct ibv_context *context, struct vqp_link *list, struct vqp_link *link)
{
	link_add(&context->mutex, list, link);
}

void vqp_context_unlink(struct ibv_context *context, struct vqp_link *link)
{
	link_remove(&context->mutex, link);
}

bool vqp_is_registered(const void *addr, size_t bytes)
{
	struct vqp_context *ctx;
	struct vqp_link *link;
	bool found = false;

	pthread_mutex_lock(&contexts_mutex);
	for (link = contexts.next; link != &contexts && !found; link = link->next) {
		ctx = vqp_container(link, struct vqp_context, link);
		pthread_mutex_lock(&ctx->verbs.mutex);
		found = vqp_mrs_cover(ctx, (uintptr_t)addr, bytes);
		pthread_mutex_unlock(&ctx->verbs.mutex);
	}
	pthread_mutex_unlock(&contexts_mutex);
	return found;
}

static void context_init(struct vqp_context *ctx, int fd, const struct vqp_attach *attached)
{
	ctx->verbs.cmd_fd = fd;
	ctx->verbs.async_fd = -1;
	ctx->verbs.num_comp_vectors = 1;
	ctx->verbs.ops.poll_cq = vqp_cq_poll;
	ctx->verbs.ops.req_notify_cq = vqp_cq_notify;
	ctx->verbs.ops.post_send = vqp_post_send;
	ctx->verbs.ops.post_recv = vqp_post_recv;
	pthread_mutex_init(&ctx->verbs.mutex, NULL);
	ctx->pd.context = &ctx->verbs;
	memcpy(ctx->gid.raw, attached->gid, sizeof(ctx->gid.raw));
	ctx->cqs.next = ctx->cqs.prev = &ctx->cqs;
	ctx->qps.next = ctx->qps.prev = &ctx->qps;
	ctx->mrs.next = ctx->mrs.prev = &ctx->mrs;
}

struct ibv_context *vqp_open_gid(const union ibv_gid *gid)
{
	struct vqp_attach attach = { 0 };
	struct vqp_context *ctx;
	int fd, err;

	fd = open(VQP_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (gid)
		memcpy(attach.gid, gid->raw, sizeof(attach.gid));
	err = ioctl(fd, VQP_IOC_ATTACH, &attach) ? -errno : 0;
	ctx = err ? NULL : calloc(1, sizeof(*ctx));
	if (!ctx) {
		close(fd);
		return vqp_null(err ? err : -ENOMEM);
	}
	context_init(ctx, fd, &attach);
	link_add(&contexts_mutex, &contexts, &ctx->link);
	return &ctx->verbs;
}

struct ibv_context *vqp_open(void)
{
	return vqp_open_gid(NULL);
}

int vqp_close(struct ibv_context *context)
{
	struct vqp_context *ctx = vqp_container(context, struct vqp_context, verbs);
	struct vqp_link *link, *next;
	int err;

	link_remove(&contexts_mutex, &ctx->link);
	/* The kernel's parts of VQPs and MRs go with the file. */
	for (link = ctx->qps.next; link != &ctx->qps; link = next) {
		next = link->next;
		vqp_qp_free(vqp_container(link, struct vqp_qp, link));
	}
	for (link = ctx->mrs.next; link != &ctx->mrs; link = next) {
		next = link->next;
		free(vqp_container(link, struct vqp_mr, link));
	}
	for (link = ctx->cqs.next; link != &ctx->cqs; link = next) {
		next = link->next;
		vqp_cq_free(vqp_container(link, struct vqp_cq, link));
	}
	err = close(context->cmd_fd) ? -errno : 0;
	pthread_mutex_destroy(&context->mutex);
	free(ctx);
	return err;
}

int vqp_gid(struct ibv_context *context, union ibv_gid *gid)
{
	*gid = vqp_container(context, struct vqp_context, verbs)->gid;
	return 0;
}

struct ibv_pd *vqp_pd(struct ibv_context *context)
{
	return &vqp_container(context, struct vqp_context, verbs)->pd;
}
