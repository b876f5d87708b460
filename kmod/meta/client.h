/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's own VQPs lead to meta servers and to other kernels, and READ messages for zero-copy
 * receives. Their owner is the kernel (vqp_ns.kernel). They have no number and are charged to no
 * namespace. When their target moves, they fail and do not look it up again. All functions are
 * called in process context.
 */
#ifndef VQP_META_CLIENT_H
#define VQP_META_CLIENT_H

#include <linux/init.h>
#include <linux/types.h>

struct vqp;
struct vqp_dct;
struct vqp_ns;
struct vqp_recv;
struct vqp_recv_info;

int __init vqp_client_init(void);
void vqp_client_exit(void);

/* A VQP that is to send requests from ns to the address `gid`, referenced; or ERR_PTR(). */
struct vqp *vqp_client_make(struct vqp_ns *ns, const u8 *gid);

/* The same, connected to the node `dct`. */
struct vqp *vqp_client_connect(struct vqp_ns *ns, const u8 *gid, const struct vqp_dct *dct);

/*
 * A VQP that takes messages to port 0 of ns, which no function can name: referenced; or ERR_PTR().
 * on_recv() is called for each message as api/api.h says.
 */
struct vqp *vqp_client_listen(struct vqp_ns *ns,
			      void (*on_recv)(struct vqp_recv *recv,
					      const struct vqp_recv_info *info),
			      u32 max_recv_wr);

#endif
