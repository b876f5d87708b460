/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * api/ is what every front calls. It may use all carriers, since it attaches VQPs to them and moves
 * VQPs between them. It knows nothing of user space.
 *
 * The users of these functions are the character device, and users inside the kernel. Each has a
 * struct vqp_owner, which it initializes by vqp_owner_init(). Requests are posted by
 * vqp_send_queue() (queue/send.h), and receives by vqp_recv_post() and vqp_recv_wake()
 * (queue/recv.h). All functions here are for process context, and may sleep.
 */
#ifndef VQP_API_API_H
#define VQP_API_API_H

#include <linux/types.h>
#include "ns/owner.h"

struct net;
struct vqp;
struct vqp_cq;
struct vqp_ns_user;
struct vqp_query_qp;
struct vqp_recv;
struct vqp_recv_info;

/*
 * Give an owner, for good, the namespace of a network namespace that has address `gid`, or the
 * oldest one if `gid` is NULL. Returns 0; -ENONET if there is none; -EADDRNOTAVAIL if none has that
 * address; -EPERM if it is the host's own and the caller lacks CAP_NET_ADMIN; -ESHUTDOWN if the
 * namespace is going; or -EISCONN if the owner has a namespace.
 */
int vqp_open(struct vqp_owner *owner, struct net *net, const u8 *gid);

/*
 * Destroy all that the owner has. No other thread uses the owner any more. An owner without a
 * namespace has nothing.
 */
void vqp_close(struct vqp_owner *owner);

/* The attributes of a new VQP. */
struct vqp_init_attr {
	/*
	 * The CQs that completions go to, on which the VQP takes references of its own. Without
	 * them a request completes by its vqp_send.done(), and a receive by on_recv().
	 */
	struct vqp_cq *send_cq, *recv_cq;
	void (*on_recv)(struct vqp_recv *recv, const struct vqp_recv_info *info);
	u32 max_send_wr, max_recv_wr;
	u32 max_send_sge, max_recv_sge;
	u32 flags;			/* VQP_QP_* */
};

/*
 * Make a VQP. Returns it, referenced; or ERR_PTR(): -EINVAL for an attribute out of range, -EDQUOT
 * at the namespace's limit, -ENOSPC without a free number, -ESHUTDOWN if the namespace has gone, or
 * -ENOMEM.
 */
struct vqp *vqp_create(struct vqp_owner *owner, const struct vqp_init_attr *attr);

/*
 * Destroy a VQP: its queues are emptied, its callbacks are over when the function returns, and it
 * completes nothing any more. The caller's reference keeps only the memory. Returns 0; or -ENOENT
 * if another thread has destroyed the VQP, or is doing so.
 */
int vqp_destroy(struct vqp *vqp);

/*
 * Bind vqp to *port, or to a free port if that is 0, and set *port. Returns 0; -EADDRINUSE; -EINVAL
 * if the port is out of range or vqp is not in state INIT; or -ENOMEM.
 */
int vqp_bind(struct vqp *vqp, u32 *port);

/*
 * Connect vqp to the VQP that is bound to `port` at address `gid` of its tenant. Returns 0;
 * -EHOSTUNREACH if no node has the address, or it cannot be reached; -ETIMEDOUT if no meta server
 * answers; -ENETDOWN without a parent; -EISCONN if vqp is connected; -EINVAL if it is bound; or
 * another -errno. Whether a VQP is bound to the port is known only by the first request.
 */
int vqp_connect(struct vqp *vqp, const u8 *gid, u16 port);

/*
 * Make a VQP with the CQs and limits of `vqp`, which is bound, but without room for receives, and
 * connect it to the VQP src_qp at src_gid, from which `vqp` got a message. Returns it, referenced;
 * or ERR_PTR().
 */
struct vqp *vqp_accept(struct vqp *vqp, const u8 *src_gid, u32 src_qp);

/* Query the state of vqp. Any context. */
void vqp_query(struct vqp *vqp, struct vqp_query_qp *q);

/* It fails VQPs and revokes regions of owners whose namespace is killed. */
extern struct vqp_ns_user vqp_owners_ns_user;

#endif
