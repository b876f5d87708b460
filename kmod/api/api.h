/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * api/ is what every front calls. It may use all carriers, since it attaches VQPs to them and
 * moves VQPs between them; it knows nothing of user space.
 *
 * What every user of VQPs calls: the character device, and users inside the kernel. Each has a
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
 * Give an owner the namespace with that address of a network namespace, or its oldest (NULL), for
 * good. -ENONET: there is none; -EADDRNOTAVAIL: none has that address; -EPERM: it is the host's
 * own, and the caller lacks CAP_NET_ADMIN; -ESHUTDOWN: it is going; -EISCONN: the owner has one.
 */
int vqp_open(struct vqp_owner *owner, struct net *net, const u8 *gid);

/*
 * Destroy all that the owner has, which nobody else can reach any more. It may have no namespace.
 */
void vqp_close(struct vqp_owner *owner);

/* What a VQP is made with. */
struct vqp_init_attr {
	/*
	 * Completions go to these, of which the VQP takes references of its own. NULL: a request's
	 * to its vqp_send.done(), a receive's to on_recv().
	 */
	struct vqp_cq *send_cq, *recv_cq;
	void (*on_recv)(struct vqp_recv *recv, const struct vqp_recv_info *info);
	u32 max_send_wr, max_recv_wr;
	u16 max_send_sge, max_recv_sge;
	u32 flags;			/* VQP_QP_* */
};

/* Make a VQP, referenced; or ERR_PTR: -EDQUOT, -ENOMEM, -ENOSPC, -ESHUTDOWN (no namespace). */
struct vqp *vqp_create(struct vqp_owner *owner, const struct vqp_init_attr *attr);

/*
 * Let it end: nothing of it completes any more, and what its queues hold goes back. Another
 * reference keeps but its memory. -ENOENT: another thread does so, or has.
 */
int vqp_destroy(struct vqp *vqp);

/* Take messages for *port, or (0) for a free one, which is then told. -EADDRINUSE; -EINVAL. */
int vqp_bind(struct vqp *vqp, u32 *port);

/*
 * Connect it to what is bound to that port of that address of its tenant. -EHOSTUNREACH: nobody
 * has the address; -ETIMEDOUT: no meta server answers; -ENETDOWN; -EISCONN; -EINVAL: it is bound.
 */
int vqp_connect(struct vqp *vqp, const u8 *gid, u16 port);

/*
 * A new VQP with the CQs and limits of `vqp`, which is bound, but without receives: connected to
 * the VQP src_qp at src_gid, from which `vqp` got a message. Referenced; or ERR_PTR.
 */
struct vqp *vqp_accept(struct vqp *vqp, const u8 *src_gid, u32 src_qp);

/* Any context. */
void vqp_query(struct vqp *vqp, struct vqp_query_qp *q);

/* What owners have ends with their namespace. */
extern struct vqp_ns_user vqp_owners_ns_user;

#endif
