/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is constant from one load of the module to the next. */
#ifndef VQP_BASE_NODE_H
#define VQP_BASE_NODE_H

#include <linux/types.h>

/* `lanes` is how many lanes each parent gets. Call this before anything else of the module. */
void __init vqp_node_init(u32 lanes);

/*
 * The epoch tells one load of the module from the next. All metadata of this node carries it, and
 * a packet for another epoch is refused. It is not 0.
 */
u32 vqp_node_epoch(void);

/* How many lanes each parent has: a flow's context must be found under the next parent, too. */
u32 vqp_node_lanes(void);

/* The coarse clock that stamps packets (engine/clock.h). It begins anywhere. Any context. */
u32 vqp_node_stamp(void);

#endif
