/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * zcopy/ carries large messages without a copy. It is an accelerator of dc that has the target
 * READ by rc, and so stands above both.
 *
 * Large messages without a copy (KRCORE, 4.5): the sender's half. Instead of the messages their
 * target's node is told where they are, and fetches them into the receives that they take, by rc.
 * What it cannot fetch, for want of a link, a window or a receive, goes by dc.
 *
 * A request that nobody answers is asked about until it is known what came of it: a message is
 * neither lost nor received twice, unless the node has gone.
 */
#ifndef VQP_ZCOPY_SEND_H
#define VQP_ZCOPY_SEND_H

#include <linux/types.h>

struct vqp;
struct vqp_carrier_ops;

extern const struct vqp_carrier_ops vqp_zcopy_carrier;

int __init vqp_zcopy_init(void);
void vqp_zcopy_exit(void);

/* Until nobody reads what vqp, which is destroyed, has sent; or its process is killed. */
void vqp_zcopy_wait(struct vqp *vqp);

#endif
