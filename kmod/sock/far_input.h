/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The frames that arrive, of which connections are made and told. */
#ifndef VQP_SOCK_FAR_INPUT_H
#define VQP_SOCK_FAR_INPUT_H

#include <linux/types.h>

struct vqp_ns;

/* A message has come to ns from that address: vqp_hub_fn. */
void vqp_far_input(struct vqp_ns *ns, const u8 *gid, const void *msg, u32 bytes);

#endif
