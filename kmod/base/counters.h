/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * base/ is what everything uses and what uses nothing but the protocol core's types: counters,
 * numbers, limits, waiting, the cache of DCT metadata, differences of kernels.
 *
 * What was made and what was freed, and how often things happened. Per CPU, any context.
 */
#ifndef VQP_BASE_COUNTERS_H
#define VQP_BASE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

enum vqp_object {
	VQP_OBJ_NS,
	VQP_OBJ_CONTEXT,
	VQP_OBJ_CQ,
	VQP_OBJ_VQP,
	VQP_OBJ_KERNEL_VQP,
	VQP_OBJ_MR,
	VQP_OBJ_ARENA,
	VQP_OBJ_SEND,
	VQP_OBJ_RECV,
	VQP_OBJ_PEER,
	VQP_OBJ_CACHE,
	VQP_OBJ_META,
	VQP_OBJ_DEFERRED,
	VQP_OBJ_HELD,
	VQP_OBJ_LINK,
	VQP_OBJ_RC_TARGET,
	VQP_OBJ_RKEY,
	VQP_OBJ_WINDOW,
	VQP_OBJ_MAX,
};

enum vqp_event {
	VQP_EV_TX_PACKETS,
	VQP_EV_RX_PACKETS,
	VQP_EV_TX_NO_ROOM,	/* a flow waited for a send slot */
	VQP_EV_FOLLOWED,	/* a VQP took the lane of the processor its thread is on */
	VQP_EV_REPLY_LOST,	/* an answer found no send slot */
	VQP_EV_RX_MALFORMED,
	VQP_EV_RX_FOREIGN,	/* for no flow of ours, or from the wrong node */
	VQP_EV_RX_DROPPED,	/* no memory, or too many packets of unknown nodes */
	VQP_EV_TIMEOUTS,	/* that made a flow send again */
	VQP_EV_RESENT,		/* packets that were sent again, told with the flow's next one */
	VQP_EV_LOOKUPS,		/* connects that missed the cache */
	VQP_EV_LOOKUP_READS,	/* one-sided READs they took */
	VQP_EV_STALE,		/* cached metadata refused by its target */
	VQP_EV_CQ_OVERFLOWS,
	VQP_EV_LANE_FAILURES,
	VQP_EV_RC_REQUESTS,	/* that went from NIC to NIC */
	VQP_EV_RC_SWITCHES,	/* of a VQP between dc and rc */
	VQP_EV_RC_PAUSE_US,	/* that its requests waited for them, altogether */
	VQP_EV_RC_FAILURES,	/* of links */
	VQP_EV_ZCOPY_MESSAGES,	/* messages that their target's node fetched */
	VQP_EV_THROTTLED,	/* a VQP waited for its turn, since its namespace has a rate */
	VQP_EV_YIELDED,		/* one waited for room, since a higher priority sends */
	VQP_EV_MAX,
};

struct vqp_counters {
	u64 made[VQP_OBJ_MAX];
	u64 freed[VQP_OBJ_MAX];
	u64 events[VQP_EV_MAX];
};

DECLARE_PER_CPU(struct vqp_counters, vqp_counters);
extern const char *const vqp_object_names[VQP_OBJ_MAX];
extern const char *const vqp_event_names[VQP_EV_MAX];

static inline void vqp_count_made(enum vqp_object obj)
{
	this_cpu_inc(vqp_counters.made[obj]);
}

static inline void vqp_count_freed(enum vqp_object obj)
{
	this_cpu_inc(vqp_counters.freed[obj]);
}

static inline void vqp_count_event(enum vqp_event ev)
{
	this_cpu_inc(vqp_counters.events[ev]);
}

static inline void vqp_count_events(enum vqp_event ev, u32 n)
{
	this_cpu_add(vqp_counters.events[ev], n);
}

void vqp_counters_sum(struct vqp_counters *sum);

#endif
