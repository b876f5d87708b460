/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* UD queue pairs as the module's lanes use them (kmod/device/lane.c). */
#include <errno.h>
#include <string.h>

#include "pair.h"
#include "trial.h"

/* VQP_LANE_TX_SLOTS; VQP_LANE_RX_SLOTS and one to drain the queue; VQP_LANE_SIGNAL_EVERY. */
#define SEND_WRS	512
#define RECV_WRS	1025
#define SIGNAL_EVERY	16
#define ROUNDS		4
#define MESSAGES	(ROUNDS * SIGNAL_EVERY)
#define FLUSHED		8	/* the receives that are posted, and then flushed */
#define INLINE_MAX	512	/* Soft RoCE writes to the kernel log if it is asked for more. */

struct ud {
	const struct ctl_device *device;
	struct ctl_finding *finding;
	struct ctl_pair pair;
	struct ctl_memory memory;
	uint8_t *out, *in, *grh;	/* in the memory, of MESSAGES slots each */
	uint32_t slot;			/* the bytes of a slot */
	struct ibv_ah *ah;
};

/* Returns the length of a message: short, odd, or that of a full packet. */
static uint32_t message_bytes(const struct ud *ud, uint32_t i)
{
	const uint32_t sizes[] = { ud->slot, 1, ud->slot / 2 + 1, ud->slot };

	return sizes[i % (sizeof(sizes) / sizeof(*sizes))];
}

static int make_ah(struct ud *ud, struct ctl_trial *trial)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = ud->device->port_num,
		.grh = { .dgid = ud->device->gid.gid, .sgid_index = ud->device->gid.gid_index, .hop_limit = 64 },
	};

	ud->ah = ibv_create_ah(ud->device->pd, &attr);
	return ud->ah ? 0 : ctl_fail_trial(trial, errno, "no address handle of its own address");
}

static int open_memory(struct ud *ud, struct ctl_trial *trial)
{
	int ret;

	ud->slot = 128U << ud->device->port.active_mtu;
	ret = ctl_memory_open(&ud->memory, ud->device, (size_t)MESSAGES * (2 * ud->slot + CTL_GRH_BYTES), trial);
	ud->out = ud->memory.at;
	ud->in = ud->out + (size_t)MESSAGES * ud->slot;
	ud->grh = ud->in + (size_t)MESSAGES * ud->slot;
	return ret;
}

static int open_pair(struct ud *ud, struct ctl_trial *trial)
{
	return ctl_pair_open(&ud->pair, ud->device, &(struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = SEND_WRS, .max_recv_wr = RECV_WRS, .max_send_sge = 1, .max_recv_sge = 2 },
	}, trial);
}

static int post_receive(struct ud *ud, uint32_t i, struct ctl_trial *trial)
{
	struct ibv_sge sges[] = {
		{ .addr = (uintptr_t)ud->grh + i * CTL_GRH_BYTES, .length = CTL_GRH_BYTES, .lkey = ud->memory.mr->lkey },
		{ .addr = (uintptr_t)ud->in + i * ud->slot, .length = ud->slot, .lkey = ud->memory.mr->lkey },
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = sges, .num_sge = 2 }, *bad;
	int ret = ibv_post_recv(ud->pair.to, &wr, &bad);

	return ret ? ctl_fail_trial(trial, ret, "a receive is not taken") : 0;
}

static int post_send(struct ud *ud, uint32_t i, struct ctl_trial *trial)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)ud->out + i * ud->slot, .length = message_bytes(ud, i), .lkey = ud->memory.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = (i + 1) % SIGNAL_EVERY ? 0 : IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ud->ah, .remote_qpn = ud->pair.to->qp_num, .remote_qkey = CTL_PAIR_QKEY },
	}, *bad;
	int ret;

	ctl_memory_fill(ud->out + (size_t)i * ud->slot, sge.length, 0, i);
	ret = ibv_post_send(ud->pair.from, &wr, &bad);
	return ret ? ctl_fail_trial(trial, ret, "a send is not taken") : 0;
}

static void check_order(struct ctl_finding *finding, const struct ibv_wc *wc, uint64_t expected)
{
	finding->order_checked++;
	finding->order_wrong += wc->wr_id != expected;
}

static void check_message(struct ud *ud, uint32_t i, const struct ibv_wc *wc)
{
	const uint8_t *grh = ud->grh + (size_t)i * CTL_GRH_BYTES;
	uint32_t bytes = message_bytes(ud, i);
	bool ipv4 = ud->device->gid_rate == CTL_GID_IPV4;
	uint8_t gid[16];

	ud->finding->ud_messages++;
	ud->finding->ud_damaged += wc->byte_len != CTL_GRH_BYTES + bytes ||
				   !ctl_memory_holds(ud->in + (size_t)i * ud->slot, bytes, 0, i);
	ud->finding->ud_strangers += wc->src_qp != ud->pair.from->qp_num || !(wc->wc_flags & IBV_WC_GRH) ||
				     ctl_gid_source(grh, ipv4, gid) ||
				     memcmp(gid, ud->device->gid.gid.raw, sizeof(gid)) != 0;
}

/* Sends messages from number `first` on, until all have arrived. */
static int run_round(struct ud *ud, uint32_t first, struct ctl_trial *trial)
{
	uint32_t events = ud->pair.receives.events;
	struct ibv_wc wc;
	int ret = ctl_queue_arm(&ud->pair.receives, trial);

	for (uint32_t i = first; !ret && i < first + SIGNAL_EVERY; i++)
		ret = post_receive(ud, i, trial);
	for (uint32_t i = first; !ret && i < first + SIGNAL_EVERY; i++)
		ret = post_send(ud, i, trial);
	if (!ret)
		ret = ctl_queue_take(&ud->pair.sends, &wc, "sending", trial);
	if (!ret)
		check_order(ud->finding, &wc, first + SIGNAL_EVERY - 1);
	for (uint32_t i = first; !ret && i < first + SIGNAL_EVERY; i++) {
		ret = ctl_queue_take(&ud->pair.receives, &wc, "receiving what was sent", trial);
		if (ret)
			break;
		check_order(ud->finding, &wc, i);
		check_message(ud, i, &wc);
	}
	if (!ret)
		ctl_queue_check_event(&ud->pair.receives, events);
	return ret;
}

/* Flushes the queue pair and starts it again with its number, as the module revives a lane. */
static int restart(struct ud *ud, struct ctl_trial *trial)
{
	struct ibv_wc wc;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < FLUSHED; i++)
		ret = post_receive(ud, i, trial);
	if (!ret)
		ret = ctl_pair_stop(ud->pair.to, trial);
	for (uint32_t i = 0; !ret && i < FLUSHED; i++) {
		ret = ctl_queue_wait(&ud->pair.receives, CTL_WAIT_MS, &wc, trial);
		if (!ret && wc.status != IBV_WC_WR_FLUSH_ERR)
			ret = ctl_fail_trial(trial, EPROTO, "receives are not flushed");
	}
	if (!ret)
		ret = ctl_pair_restart(&ud->pair, ud->pair.to, trial);
	return ret ? ret : run_round(ud, 0, trial);
}

static int send_all(struct ud *ud, struct ctl_trial *trial)
{
	int ret = 0;

	ud->finding->ud_bytes = ud->slot;
	for (uint32_t round = 0; !ret && round < ROUNDS; round++)
		ret = run_round(ud, round * SIGNAL_EVERY, trial);
	return ret;
}

/*
 * Finds the most inline data. A driver that is asked for more than it has refuses, or gives what it
 * has.
 */
static void find_inline(struct ud *ud)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD, .send_cq = ud->pair.sends.cq, .recv_cq = ud->pair.receives.cq,
	};

	for (uint32_t bytes = INLINE_MAX; bytes && !ud->finding->inline_bytes; bytes /= 2) {
		struct ibv_qp *qp;

		init.cap = (struct ibv_qp_cap){ .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
						.max_inline_data = bytes };
		qp = ibv_create_qp(ud->device->pd, &init);
		if (!qp)
			continue;
		ud->finding->inline_bytes = init.cap.max_inline_data;
		ibv_destroy_qp(qp);
	}
}

void ctl_trial_pool(const struct ctl_device *device, struct ctl_finding *finding)
{
	struct ud ud = { .device = device, .finding = finding };

	finding->pool.done = !open_pair(&ud, &finding->pool);
	if (finding->pool.done)
		find_inline(&ud);
	ctl_pair_close(&ud.pair, finding);
}

void ctl_trial_ud(const struct ctl_device *device, struct ctl_finding *finding)
{
	struct ud ud = { .device = device, .finding = finding };
	struct ctl_trial *trial = &finding->ud;
	int ret = open_pair(&ud, trial);

	if (!ret)
		ret = ctl_pair_connect(&ud.pair, trial);
	if (!ret)
		ret = open_memory(&ud, trial);
	if (!ret)
		ret = make_ah(&ud, trial);
	if (!ret)
		ret = send_all(&ud, trial);
	trial->done = !ret;
	finding->restart.done = !ret && !restart(&ud, &finding->restart);
	if (ud.ah)
		ibv_destroy_ah(ud.ah);
	ctl_pair_close(&ud.pair, finding);
	ctl_memory_close(&ud.memory);
}
