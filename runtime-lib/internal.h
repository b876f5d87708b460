/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The objects that contain the verbs structures which libvqp returns. */
#ifndef VQP_INTERNAL_H
#define VQP_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <linux/vqp.h>
#include <vqp/vqp.h>

#define vqp_container(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* A doubly linked ring; an empty one points to itself. */
struct vqp_link {
	struct vqp_link *next, *prev;
};

struct vqp_context {
	struct ibv_context verbs;
	struct vqp_link link;			/* among those of the process, under a lock of theirs */
	struct ibv_pd pd;
	union ibv_gid gid;
	/* The objects that vqp_close() frees, under verbs.mutex. */
	struct vqp_link cqs, qps, mrs;
};

struct vqp_mr {
	struct ibv_mr verbs;
	struct vqp_link link;
	int access;				/* IBV_ACCESS_* */
};

struct vqp_cq {
	struct ibv_cq verbs;
	struct vqp_link link;
	int fd;
	uint32_t users;			/* the VQPs that use the CQ; atomic */
	uint32_t mask;			/* the number of entries - 1 */
	struct vqp_cq_ring *ring;
	const struct vqp_cqe *cqes;
	size_t ring_bytes;
};

struct vqp_qp {
	struct ibv_qp verbs;
	struct vqp_link link;
	uint32_t max_inline;

	/* For a bound VQP: its replies, in a hash table by sender, under verbs.mutex. */
	struct vqp_qp **replies;
	uint32_t nbuckets, nreplies;

	/* For a reply: the bound VQP that owns it, and the sender that it is connected to. */
	struct vqp_qp *bound;
	struct vqp_qp *next_reply;
	uint8_t src_gid[VQP_GID_BYTES];
	uint32_t src_qp;
};

static inline int vqp_ioctl(const struct ibv_context *context, unsigned long request, void *arg)
{
	return ioctl(context->cmd_fd, request, arg) ? -errno : 0;
}

/* Sets errno from a negative errno value, and returns NULL. */
static inline void *vqp_null(int err)
{
	errno = -err;
	return NULL;
}

/* Add an object to one of its context's lists, and remove it. */
void vqp_context_link(struct ibv_context *context, struct vqp_link *list, struct vqp_link *link);
void vqp_context_unlink(struct ibv_context *context, struct vqp_link *link);

/* May the kernel write to all of [addr, addr + bytes), by one region of a context of the process? */
bool vqp_is_registered(const void *addr, size_t bytes);
/* Does one of the context's own regions allow it? Under verbs.mutex. */
bool vqp_mrs_cover(const struct vqp_context *ctx, uintptr_t addr, size_t bytes);

/* The operations of struct ibv_context_ops. */
int vqp_cq_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int vqp_cq_notify(struct ibv_cq *cq, int solicited_only);
int vqp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int vqp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* Returns the oldest completion, which stays in the ring until vqp_cq_pop(); or NULL. */
const struct vqp_cqe *vqp_cq_peek(const struct vqp_cq *cq);
void vqp_cq_pop(struct vqp_cq *cq);
void vqp_cq_translate(const struct vqp_cqe *cqe, struct ibv_wc *wc);

/* Free the user-space part of an object, whose kernel part is gone or goes with the context. */
void vqp_cq_free(struct vqp_cq *cq);
void vqp_qp_free(struct vqp_qp *qp);

/* Make the user-space part of a VQP, and link it once the kernel has made its part. */
struct vqp_qp *vqp_qp_new(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr);
void vqp_qp_link(struct vqp_qp *qp, uint32_t qp_num);

/* Destroy all replies of a bound VQP, and remove one that is being destroyed from the table. */
int vqp_msgs_destroy_replies(struct vqp_qp *bound);
void vqp_msgs_forget(struct vqp_qp *reply);

#endif
