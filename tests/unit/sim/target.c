// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include <errno.h>
#include "flow.h"
#include "host.h"
#include "memory.h"
#include "network.h"
#include "target.h"

/* The packet that a target is dealing with: what the engine passes to reply(). */
struct target_call {
	struct target *target;
	u32 from;
};

/* hold() and drop() are not told whose table it is that calls. */
static struct target *target_at_work;

void target_gid(u32 host, u8 gid[16])
{
	memset(gid, 0, 16);
	memcpy(gid, &host, sizeof(host));
}

static u64 target_now_us(const struct target *target)
{
	return target->host->network->events.now_ns / 1000;
}

/* ---- What the engine asks for ---- */

static u32 target_hash(const u8 *node_gid, u32 src_epoch, u32 flow)
{
	(void)node_gid;
	return src_epoch ^ flow;
}

static u32 target_judge(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us)
{
	(void)reply_to;
	(void)pkt;
	(void)seen;
	(void)now_us;
	return 0;
}

static void target_forget(const struct vqp_rx *rx)
{
	(void)rx;
}

static int target_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	(void)pkt;
	rx->ns = target_at_work;
	return 0;
}

static void target_close(struct vqp_rx *rx)
{
	(void)rx;
}

static bool target_alive(struct vqp_rx *rx)
{
	(void)rx;
	return true;
}

static int target_recv_begin(struct vqp_rx *rx, u32 bytes)
{
	(void)rx;
	(void)bytes;
	return 0;
}

static void target_progress(struct vqp_rx *rx, u32 bytes)
{
	const struct target *target = rx->ns;

	flow_progress(&target->host->network->flows[rx->flow], bytes);
}

static int target_recv_data(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes)
{
	(void)offset;
	(void)data;
	target_progress(rx, bytes);
	return 0;
}

static void target_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
{
	(void)rx;
	(void)pkt;
	(void)bytes;
	(void)ok;
}

static int target_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes)
{
	(void)rkey;
	(void)addr;
	(void)data;
	target_progress(rx, bytes);
	return 0;
}

static int target_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	(void)rx;
	(void)rkey;
	(void)addr;
	(void)bytes;
	return 0;
}

static int target_atomic(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before)
{
	(void)rx;
	(void)pkt;
	*before = 0;
	return 0;
}

static int target_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx, u32 rkey, u64 addr,
			u32 bytes)
{
	const struct target_call *call = reply_to;

	(void)rx;
	(void)rkey;
	(void)addr;
	(void)bytes;
	if (!host_has_slot(call->target->host, true))
		return -EAGAIN;
	host_send_vqp(call->target->host, call->from, pkt);
	return 0;
}

static struct vqp_rx_held *target_hold(const struct vqp_pkt *pkt)
{
	struct vqp_rx_held *held;

	if (target_at_work->held >= RESPONDER_HELD_MAX)
		return NULL;
	target_at_work->held++;
	held = memory_take(1, sizeof(*held));
	held->pkt = *pkt;
	return held;
}

static void target_drop(struct vqp_rx_held *held)
{
	target_at_work->held--;
	free(held);
}

static const struct vqp_rx_ops target_ops = {
	.hash = target_hash, .judge = target_judge, .forget = target_forget, .open = target_open,
	.close = target_close, .alive = target_alive, .recv_begin = target_recv_begin,
	.recv_data = target_recv_data, .recv_end = target_recv_end, .write = target_write,
	.read_check = target_read_check, .atomic = target_atomic, .reply = target_reply,
	.hold = target_hold, .drop = target_drop,
};

/* ---- Life ---- */

void target_init(struct target *target, struct host *host, u32 contexts)
{
	target->host = host;
	target->slots = memory_take(contexts, sizeof(*target->slots));
	vqp_rxtab_init(&target->tab, &target_ops, target->slots, contexts, contexts,
		       target->buckets, TARGET_BUCKETS, host->network->payload_bytes,
		       NETWORK_EPOCH, RESPONDER_LINGER_US, RESPONDER_IDLE_US);
}

void target_end(struct target *target)
{
	target_at_work = target;
	vqp_rxtab_purge(&target->tab, NULL);
	free(target->slots);
}

void target_take(struct target *target, const struct packet *packet)
{
	struct target_call call = { .target = target, .from = packet->from };
	u8 gid[16];

	target_gid(packet->from, gid);
	target_at_work = target;
	vqp_rxtab_input(&target->tab, gid, &call, &packet->vqp, target_now_us(target));
}
