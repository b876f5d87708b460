/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's own VQPs: towards meta servers and other kernels, and those that fetch messages.
 * Their owner is the kernel (vqp_ns.kernel); they have no number, cost no namespace anything, and
 * fail instead of looking their target up again. Process context.
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

/* A VQP for requests in ns, connected to address `gid` on the node `dct`; or ERR_PTR. */
struct vqp *vqp_client_connect(struct vqp_ns *ns, const u8 *gid, const struct vqp_dct *dct);

/* One that takes messages to port 0 of ns, which no function can name; or ERR_PTR. */
struct vqp *vqp_client_listen(struct vqp_ns *ns,
			      void (*on_recv)(struct vqp_recv *recv,
					      const struct vqp_recv_info *info),
			      u32 max_recv_wr);

#endif
