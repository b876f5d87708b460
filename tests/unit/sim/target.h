/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's half of the engine (engine/rx.h) on a host: it carries out requests that write to
 * memory of no interest, or read it, and answers by the host's lane. Hosts know one another's
 * clocks, so that no packet is challenged.
 */
#ifndef VQP_SIM_TARGET_H
#define VQP_SIM_TARGET_H

#include "packet.h"
#include "rx.h"

#define TARGET_BUCKETS	256

struct host;

struct target {
	struct host *host;
	struct vqp_rxtab tab;
	struct vqp_rx *slots;
	struct list_head buckets[TARGET_BUCKETS];
	u32 held;			/* packets of all flows that wait behind gaps */
};

/* The target has room for the contexts of so many flows. */
void target_init(struct target *target, struct host *host, u32 contexts);
void target_end(struct target *target);

/* A request has arrived. */
void target_take(struct target *target, const struct packet *packet);

/* The GID of a host. */
void target_gid(u32 host, u8 gid[16]);

#endif
