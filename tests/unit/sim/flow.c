// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <linux/vqp.h>
#include "../random.h"
#include "clock.h"
#include "flow.h"
#include "host.h"
#include "memory.h"
#include "network.h"

#define GIVEUP_US	4000000U	/* the default of the module's parameter giveup_ms */
#define RKEY		1

static struct flow *flow_of(struct vqp_tx *tx)
{
	return list_entry(tx, struct flow, tx);
}

static u64 flow_now_us(const struct flow *flow)
{
	return flow->network->events.now_ns / 1000;
}

void flow_progress(struct flow *flow, u32 bytes)
{
	meter_add(&flow->meter, bytes, flow->network->events.now_ns);
}

/* ---- What the engine asks for ---- */

static void flow_wait(struct flow *flow)
{
	if (!flow->waits)
		list_add_tail(&flow->waiting, &flow->from->waiting);
	flow->waits = true;
}

static int flow_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset,
		     u32 bytes)
{
	struct flow *flow = flow_of(tx);

	(void)offset;
	(void)bytes;
	if (!host_has_slot(flow->from, false)) {
		if (msg)
			flow_wait(flow);
		return -EAGAIN;
	}
	pkt->src_epoch = NETWORK_EPOCH;
	pkt->dst_epoch = NETWORK_EPOCH;
	if (pkt->flags & VQP_PKT_OPEN) {
		pkt->tenant = 1;
		pkt->src_lanes = 1;
		target_gid(flow->from->index, pkt->src_gid);
		target_gid(flow->to, pkt->dst_gid);
	}
	host_send_vqp(flow->from, flow->to, pkt);
	return 0;
}

static int flow_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data,
		      u32 bytes)
{
	(void)msg;
	(void)offset;
	(void)data;
	flow_progress(flow_of(tx), bytes);
	return 0;
}

static void flow_post(void *who, void *what);

/* The next message follows outside of the engine's call. */
static void flow_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	struct flow_msg *done = list_entry(msg, struct flow_msg, msg);
	struct flow *flow = flow_of(tx);
	struct events *events = &flow->network->events;
	u64 pause_ns = flow->cfg->pause_ns;

	if (!tx->nmsgs)
		meter_rest(&flow->meter);
	if (status != VQP_WC_SUCCESS) {
		flow->failed++;
		return;
	}
	flow->completed++;
	if (done->posted_ns >= flow->network->from_ns)
		samples_add(flow->took, events->now_ns - done->posted_ns);
	if (pause_ns)
		pause_ns = unit_random(&flow->network->random) % pause_ns;
	events_in(events, pause_ns, flow_post, flow, done);
}

static void flow_timeout(void *who, void *what)
{
	struct flow *flow = who;
	const u64 resent = flow->tx.packets_resent;

	(void)what;
	/* The newest deadline holds. */
	if (!flow->armed_us || flow->armed_us > flow_now_us(flow))
		return;
	flow->armed_us = 0;
	vqp_tx_timeout(&flow->tx, flow_now_us(flow));
	flow->timeouts += flow->tx.packets_resent != resent;
}

static void flow_arm(struct vqp_tx *tx, u64 at_us)
{
	struct flow *flow = flow_of(tx);

	flow->armed_us = at_us;
	events_at(&flow->network->events, host_tick(flow->from, at_us * 1000), flow_timeout, flow,
		  NULL);
}

static void flow_stale(struct vqp_tx *tx)
{
	/* No host ever starts anew. */
	(void)tx;
	abort();
}

static u32 flow_stamp(struct vqp_tx *tx)
{
	return vqp_clock_stamp(0, flow_now_us(flow_of(tx)));
}

static const struct vqp_tx_ops flow_ops = {
	.xmit = flow_xmit, .place = flow_place, .complete = flow_complete, .arm = flow_arm,
	.stale = flow_stale, .stamp = flow_stamp,
};

/* ---- Life ---- */

void flow_init(struct flow *flow, struct network *network, const struct flow_cfg *cfg, u32 number,
	       u32 from, u32 to, struct samples *took)
{
	flow->cfg = cfg;
	flow->network = network;
	flow->from = &network->hosts[from];
	flow->to = to;
	flow->took = took;
	flow->tx_cfg = (struct vqp_tx_cfg) {
		.payload_bytes = network->payload_bytes, .window_packets = PARENT_WINDOW_PACKETS,
		.rto_min_us = PARENT_RTO_MIN_US, .rto_max_us = PARENT_RTO_MAX_US,
		.giveup_us = GIVEUP_US, .patience_us = VQP_FORGET_US,
		.forget_us = VQP_FORGET_US, .close_us = PARENT_CLOSE_US,
	};
	vqp_tx_init(&flow->tx, &flow_ops, &flow->tx_cfg, number,
		    (u32)unit_random(&network->random));
	flow->msgs = memory_take(cfg->depth, sizeof(*flow->msgs));
}

void flow_end(struct flow *flow)
{
	free(flow->msgs);
}

static void flow_post(void *who, void *what)
{
	struct flow *flow = who;
	struct flow_msg *msg = what;
	const u64 now_ns = flow->network->events.now_ns;

	if (now_ns >= flow->network->until_ns ||
	    (flow->cfg->messages && flow->posted == flow->cfg->messages))
		return;
	flow->posted++;
	msg->posted_ns = now_ns;
	msg->msg = (struct vqp_msg) { .op = flow->cfg->op, .bytes = flow->cfg->bytes, .rkey = RKEY };
	meter_wait(&flow->meter, now_ns);
	vqp_tx_post(&flow->tx, &msg->msg, flow_now_us(flow));
}

void flow_start(struct flow *flow, u64 at_ns)
{
	for (u32 i = 0; i < flow->cfg->depth; i++)
		events_at(&flow->network->events, at_ns, flow_post, flow, &flow->msgs[i]);
}

void flow_take(struct flow *flow, const struct vqp_pkt *pkt)
{
	vqp_tx_input(&flow->tx, pkt, flow_now_us(flow));
}

void flow_go_on(struct flow *flow)
{
	list_del(&flow->waiting);
	flow->waits = false;
	vqp_tx_run(&flow->tx, flow_now_us(flow));
}
