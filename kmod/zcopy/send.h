/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * zcopy/ carries large messages without a copy. It is an accelerator of dc that has the target
 * READ by rc, and so stands above both.
 *
 * Large messages without a copy (KRCORE, 4.5): the sender's half. The sender tells the target's
 * node where the messages are in its memory. The target's node READs them by rc into the receives
 * that they take. A message that it cannot READ, for want of a link, a window or a receive, goes by
 * dc.
 *
 * If a request is not answered, the sender asks for its outcome until it knows: no message is lost
 * or received twice, unless the target's node has gone.
 */
#ifndef VQP_ZCOPY_SEND_H
#define VQP_ZCOPY_SEND_H

#include <linux/types.h>

struct vqp;
struct vqp_carrier_ops;

extern const struct vqp_carrier_ops vqp_zcopy_carrier;

int __init vqp_zcopy_init(void);
void vqp_zcopy_exit(void);

#endif
