/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * base/ is what everything uses and what uses nothing but the protocol core's types: counters,
 * numbers, limits, waiting, the cache of DCT metadata, differences of kernels.
 *
 * Counters, per CPU: the objects that were made and freed, and events. Any context.
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
	VQP_OBJ_SOCK,
	VQP_OBJ_STREAM,		/* a connection of sockets within the node, or an end of another */
	VQP_OBJ_CHUNK,		/* a page of what is unread there */
	VQP_OBJ_TRUNK,		/* what leads to an address on another node, for sockets */
	VQP_OBJ_MAX,
};

enum vqp_event {
	VQP_EV_TX_PACKETS,
	VQP_EV_RX_PACKETS,
	VQP_EV_TX_NO_ROOM,	/* A flow waited for a send slot. */
	VQP_EV_FOLLOWED,	/* A VQP moved to the lane of its thread's processor. */
	VQP_EV_REPLY_LOST,	/* An answer found no send slot. */
	VQP_EV_RX_MALFORMED,
	VQP_EV_RX_FOREIGN,	/* A packet was for no flow of this node, or from a wrong node. */
	VQP_EV_RX_DROPPED,	/* No memory, or too many packets of unknown nodes. */
	VQP_EV_CHALLENGED,	/* An OPEN may have been a late copy: its sender was challenged. */
	VQP_EV_TIMEOUTS,	/* A timeout made a flow send packets again. */
	VQP_EV_RESENT,		/* packets sent again, counted when the flow next sends */
	VQP_EV_LOOKUPS,		/* A connect missed the cache. */
	VQP_EV_LOOKUP_READS,	/* one-sided READs of lookups */
	VQP_EV_STALE,		/* A target refused metadata from the cache. */
	VQP_EV_CQ_OVERFLOWS,
	VQP_EV_LANE_FAILURES,
	VQP_EV_RC_REQUESTS,	/* requests that went from NIC to NIC */
	VQP_EV_RC_SWITCHES,	/* A VQP changed between dc and rc. */
	VQP_EV_RC_PAUSE_US,	/* the time that requests waited for such changes */
	VQP_EV_RC_FAILURES,	/* A link failed. */
	VQP_EV_ZCOPY_MESSAGES,	/* messages that the target's node READ */
	VQP_EV_THROTTLED,	/* A VQP waited for its turn at its namespace's rate. */
	VQP_EV_YIELDED,		/* A VQP waited, since a higher priority sends. */
	VQP_EV_SOCK_NEAR,	/* A socket has a connection within the node. */
	VQP_EV_SOCK_FAR,	/* A socket has a connection to another node by vqp. */
	VQP_EV_SOCK_TCP,	/* A socket connects by TCP, or has accepted what did. */
	VQP_EV_SOCK_SPUN,	/* A receive spun until bytes came. */
	VQP_EV_SOCK_SPUN_IN_VAIN, /* It spun, and sleeps. */
	VQP_EV_SOCK_POLLED,	/* A thread has ended a busy poll by epoll. */
	VQP_EV_SOCK_PARCELS,	/* parcels that were sent, for other nodes to READ */
	VQP_EV_SOCK_FETCHED,	/* parcels of other nodes that were READ */
	VQP_EV_SOCK_DECLINED,	/* times that a connection's parcels were not, and came in DATA */
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
