// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/string.h>
#include "base/counters.h"

DEFINE_PER_CPU(struct vqp_counters, vqp_counters);

const char *const vqp_object_names[VQP_OBJ_MAX] = {
	[VQP_OBJ_NS]		= "ns",
	[VQP_OBJ_CONTEXT]	= "context",
	[VQP_OBJ_CQ]		= "cq",
	[VQP_OBJ_VQP]		= "vqp",
	[VQP_OBJ_KERNEL_VQP]	= "kernel_vqp",
	[VQP_OBJ_MR]		= "mr",
	[VQP_OBJ_ARENA]		= "arena",
	[VQP_OBJ_SEND]		= "send",
	[VQP_OBJ_RECV]		= "recv",
	[VQP_OBJ_PEER]		= "peer",
	[VQP_OBJ_CACHE]		= "cache",
	[VQP_OBJ_META]		= "meta",
	[VQP_OBJ_DEFERRED]	= "deferred",
	[VQP_OBJ_HELD]		= "held",
	[VQP_OBJ_LINK]		= "link",
	[VQP_OBJ_RC_TARGET]	= "rc_target",
	[VQP_OBJ_RKEY]		= "rkey",
	[VQP_OBJ_WINDOW]	= "window",
	[VQP_OBJ_SOCK]		= "sock",
	[VQP_OBJ_STREAM]	= "stream",
	[VQP_OBJ_CHUNK]		= "chunk",
	[VQP_OBJ_TRUNK]		= "trunk",
};

const char *const vqp_event_names[VQP_EV_MAX] = {
	[VQP_EV_TX_PACKETS]	= "tx_packets",
	[VQP_EV_RX_PACKETS]	= "rx_packets",
	[VQP_EV_TX_NO_ROOM]	= "tx_no_room",
	[VQP_EV_FOLLOWED]	= "followed",
	[VQP_EV_REPLY_LOST]	= "reply_lost",
	[VQP_EV_RX_MALFORMED]	= "rx_malformed",
	[VQP_EV_RX_FOREIGN]	= "rx_foreign",
	[VQP_EV_RX_DROPPED]	= "rx_dropped",
	[VQP_EV_CHALLENGED]	= "challenged",
	[VQP_EV_TIMEOUTS]	= "timeouts",
	[VQP_EV_RESENT]		= "resent",
	[VQP_EV_LOOKUPS]	= "lookups",
	[VQP_EV_LOOKUP_READS]	= "lookup_reads",
	[VQP_EV_STALE]		= "stale",
	[VQP_EV_CQ_OVERFLOWS]	= "cq_overflows",
	[VQP_EV_LANE_FAILURES]	= "lane_failures",
	[VQP_EV_RC_REQUESTS]	= "rc_requests",
	[VQP_EV_RC_SWITCHES]	= "rc_switches",
	[VQP_EV_RC_PAUSE_US]	= "rc_pause_us",
	[VQP_EV_RC_FAILURES]	= "rc_failures",
	[VQP_EV_ZCOPY_MESSAGES]	= "zcopy_messages",
	[VQP_EV_THROTTLED]	= "throttled",
	[VQP_EV_YIELDED]	= "yielded",
	[VQP_EV_SOCK_NEAR]	= "sock_near",
	[VQP_EV_SOCK_FAR]	= "sock_far",
	[VQP_EV_SOCK_TCP]	= "sock_tcp",
	[VQP_EV_SOCK_SPUN]	= "sock_spun",
	[VQP_EV_SOCK_SPUN_IN_VAIN] = "sock_spun_in_vain",
	[VQP_EV_SOCK_POLLED]	= "sock_polled",
	[VQP_EV_SOCK_PARCELS]	= "sock_parcels",
	[VQP_EV_SOCK_FETCHED]	= "sock_fetched",
	[VQP_EV_SOCK_DECLINED]	= "sock_declined",
};

void vqp_counters_sum(struct vqp_counters *sum)
{
	u64 *to = (u64 *)sum;
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const u64 *from = (u64 *)per_cpu_ptr(&vqp_counters, cpu);

		for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			to[i] += READ_ONCE(from[i]);
	}
}
