/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libvqp: virtual RDMA queue pairs (VQPs), ready as soon as a container starts.
 *
 * The objects are those of the verbs: after vqp_connect(), the inline calls of
 * <infiniband/verbs.h> (ibv_post_send, ibv_post_recv, ibv_poll_cq) work on
 * them. libibverbs is not needed, only its headers. Objects of libvqp must not
 * be handed to functions inside libibverbs (ibv_create_*, ibv_destroy_*, ...).
 *
 * Errors: functions that return a pointer return NULL and set errno; functions
 * that return int return 0 or a positive count, or a negative errno value. EDQUOT:
 * the container has reached a limit (VQPs, regions, bytes) that its operator has set.
 *
 * ibv_post_send() and ibv_post_recv() make one system call for a whole list
 * and return 0 or a positive errno value with *bad_wr set: EINVAL, EACCES (lkey,
 * its range or rights), ENOMEM (queue full), ENOTCONN, EMSGSIZE, EFAULT, EIO (VQP
 * in the error state). With IBV_SEND_INLINE the data is copied at once; its sum is at
 * most init_attr.cap.max_inline_data (itself at most 1024). ibv_req_notify_cq()
 * succeeds and does nothing: vqp_cq_fd() is level triggered and needs no arming.
 *
 * Threads: any two objects may be used at once by two threads. One CQ may be
 * polled by one thread at a time; posting to one VQP is safe from any number of threads.
 */
#ifndef VQP_VQP_H
#define VQP_VQP_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* struct ibv_qp_init_attr.qp_type of a VQP (KRCORE, figure 7). */
#define VQP_QPT_VQP ((enum ibv_qp_type)0x4b)

/*
 * Open /dev/vqp and attach to the VQP namespace of this container, or the oldest
 * of several: one for each of its interfaces that has an address for VQPs.
 * ENOENT: no such device; ENONET: this network namespace has no VQP namespace;
 * EPERM: the host's own namespace is for administrators.
 */
struct ibv_context *vqp_open(void);

/*
 * The same with the VQP namespace that has this address, or with the oldest if gid is NULL.
 * EADDRNOTAVAIL: none of the container's VQP namespaces has the address.
 */
struct ibv_context *vqp_open_gid(const union ibv_gid *gid);

/* Close the context and everything made from it. */
int vqp_close(struct ibv_context *context);

/* This namespace's address. */
int vqp_gid(struct ibv_context *context, union ibv_gid *gid);

/* The context's one protection domain; owned by the context. */
struct ibv_pd *vqp_pd(struct ibv_context *context);

/*
 * `bytes` of zeroed memory (rounded up to pages, at most 4 MiB) outside
 * RLIMIT_MEMLOCK, for vqp_reg_mr(). Free with vqp_free() and the same size.
 */
void *vqp_alloc(struct ibv_context *context, size_t bytes);
int vqp_free(void *addr, size_t bytes);

/*
 * Register [addr, addr + bytes) with IBV_ACCESS_* rights. Pages that are not
 * from vqp_alloc() are pinned and count against RLIMIT_MEMLOCK.
 */
struct ibv_mr *vqp_reg_mr(struct ibv_pd *pd, void *addr, size_t bytes, int access);
int vqp_dereg_mr(struct ibv_mr *mr);

/*
 * A completion queue of at least `entries` entries. ibv_poll_cq() makes no
 * system call. The overflow of a CQ moves the VQP that caused it to the error state.
 */
struct ibv_cq *vqp_create_cq(struct ibv_context *context, int entries, void *cq_context);
int vqp_destroy_cq(struct ibv_cq *cq);	/* -EBUSY while VQPs use it */

/* File descriptor for poll/epoll: readable while the CQ holds completions. Owned by the CQ. */
int vqp_cq_fd(struct ibv_cq *cq);

/*
 * Sleep until the CQ holds a completion. 1: it does; 0: timeout_ms passed (-1:
 * never); -EINTR; -EOVERFLOW: the CQ is empty and had overflowed.
 */
int vqp_cq_wait(struct ibv_cq *cq, int timeout_ms);

/* Create a VQP; init_attr.qp_type is VQP_QPT_VQP (or IBV_QPT_RC), no SRQ. */
struct ibv_qp *vqp_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr);
int vqp_destroy_qp(struct ibv_qp *qp);

/*
 * Receive from all VQPs of the tenant that connect to this namespace's address and `port`, or to a
 * free port if that is 0. Returns the port, or -EADDRINUSE.
 */
int vqp_bind(struct ibv_qp *qp, uint16_t port);

/*
 * Connect to (gid, port) of the same tenant, in microseconds: cached metadata,
 * or one-sided READs of the meta server (KRCORE, Algorithm 1). The peer is not
 * involved. -EHOSTUNREACH: no node has this address; -ETIMEDOUT: no meta server
 * answered; -EISCONN; -ENETDOWN: this node has no RDMA device now.
 */
int vqp_connect(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t port);

/* The same with a literal IPv4 or IPv6 address; -EINVAL if it is none. */
int vqp_connect_addr(struct ibv_qp *qp, const char *address, uint16_t port);

/* Literal IPv4 or IPv6 address to GID (IPv4 as ::ffff:a.b.c.d); -EINVAL. */
int vqp_parse_gid(const char *address, union ibv_gid *gid);

/*
 * Up to `count` receive completions of a bound VQP, each with a VQP connected
 * to its sender (KRCORE qpop_msgs): src_qp[i] answers wc[i]. One VQP per
 * sender, made at its first message, owned by `qp` and destroyed with it, or
 * before by vqp_destroy_qp(): the sender's next message then makes a new one.
 * src_qp[i] is NULL if the receive failed (wc[i].status) or its sender is gone.
 * Completions of other kinds in the same CQ are left in place; use a receive CQ
 * of its own for a bound VQP. Returns the number of messages, 0 if none; or if
 * no VQP could be made for the first one, -ENOMEM, -EDQUOT or another errno value, and
 * that message stays.
 */
int vqp_pop_msgs(struct ibv_qp *qp, int count, struct ibv_qp **src_qp, struct ibv_wc *wc);

#ifdef __cplusplus
}
#endif

#endif /* VQP_VQP_H */
