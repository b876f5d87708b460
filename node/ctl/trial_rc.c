/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RC queue pairs as the module's links use them (kmod/rc/qp.c, kmod/rc/segment.c), and beyond that.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pair.h"
#include "trial.h"

#define DEPTH		256	/* VQP_LINK_DEPTH */
#define PIECES_MAX	30U	/* VQP_LINK_SGES */
#define PAGE		4096U
#define CHAIN		8U	/* SEGMENT_CHAIN */
#define CHAINS		4U
#define IMMEDIATE	0x76717021U
#define RNR_WAIT_MS	20
#define SILENCE_MS	5000
#define PSN_MASK	0xffffffU

struct rc {
	const struct ctl_device *device;
	struct ctl_finding *finding;
	struct ctl_pair pair;
	struct ctl_memory memory;
	uint8_t *local, *remote;	/* in the memory; every second page of `local` is used */
	uint32_t pieces, bytes;		/* the SGEs and bytes of a request */
	uint32_t packets;		/* the packets that have been received */
	uint64_t posted;		/* the requests that have been posted */
};

static uint32_t packets_of(const struct rc *rc, uint32_t bytes)
{
	uint32_t mtu = 128U << rc->device->port.active_mtu;

	return bytes ? (bytes + mtu - 1) / mtu : 1;
}

static uint32_t fewer(uint32_t one, uint32_t other)
{
	return other && other < one ? other : one;
}

/* ---- Making ---- */

static int open_memory(struct rc *rc, struct ctl_trial *trial)
{
	const struct ibv_device_attr *attr = &rc->device->attr;
	int ret;

	rc->pieces = fewer(fewer(PIECES_MAX, attr->max_sge), attr->max_sge_rd);
	rc->bytes = rc->pieces * PAGE - 5;	/* The last packet's length is odd. */
	ret = ctl_memory_open(&rc->memory, rc->device, (size_t)3 * PIECES_MAX * PAGE, trial);
	rc->local = rc->memory.at;
	rc->remote = rc->local + (size_t)2 * PIECES_MAX * PAGE;
	return ret;
}

static int open_all(struct rc *rc, struct ctl_trial *trial)
{
	int ret = open_memory(rc, trial);

	if (!ret)
		ret = ctl_pair_open(&rc->pair, rc->device, &(struct ibv_qp_init_attr){
			.qp_type = IBV_QPT_RC,
			.cap = { .max_send_wr = DEPTH + 1, .max_recv_wr = 4, .max_send_sge = rc->pieces, .max_recv_sge = 1 },
		}, trial);
	return ret ? ret : ctl_pair_connect(&rc->pair, trial);
}

/* ---- Requests ---- */

static int post(struct rc *rc, struct ibv_send_wr *wr, struct ctl_trial *trial)
{
	struct ibv_send_wr *bad;
	int ret = ibv_post_send(rc->pair.from, wr, &bad);

	return ret ? ctl_fail_trial(trial, ret, "a request is not taken") : 0;
}

/* Posts a request, and waits for its completion. */
static int run(struct rc *rc, struct ibv_send_wr *wr, uint32_t packets, const char *what, struct ctl_trial *trial)
{
	struct ibv_wc wc;
	int ret;

	wr->wr_id = rc->posted++;
	wr->send_flags |= IBV_SEND_SIGNALED;
	ret = post(rc, wr, trial);
	if (!ret)
		ret = ctl_queue_take(&rc->pair.sends, &wc, what, trial);
	if (ret)
		return ret;
	rc->packets += packets;
	rc->finding->order_checked++;
	rc->finding->order_wrong += wc.wr_id != wr->wr_id;
	return 0;
}

/*
 * Returns the place of a part of a request: every second page, while the remote memory is
 * contiguous.
 */
static uint8_t *piece(const struct rc *rc, uint32_t i)
{
	return rc->local + (size_t)2 * i * PAGE;
}

static uint32_t piece_bytes(const struct rc *rc, uint32_t i)
{
	return i + 1 < rc->pieces ? PAGE : rc->bytes - i * PAGE;
}

/* Transfers all bytes of a request. */
static int transfer(struct rc *rc, enum ibv_wr_opcode opcode, const char *what, struct ctl_trial *trial)
{
	struct ibv_sge sges[PIECES_MAX];
	struct ibv_send_wr wr = {
		.sg_list = sges, .num_sge = (int)rc->pieces, .opcode = opcode, .imm_data = htonl(IMMEDIATE),
		.wr.rdma = { .remote_addr = (uintptr_t)rc->remote, .rkey = rc->memory.mr->rkey },
	};

	for (uint32_t i = 0; i < rc->pieces; i++)
		sges[i] = (struct ibv_sge){
			.addr = (uintptr_t)piece(rc, i), .length = piece_bytes(rc, i),
			.lkey = rc->memory.mr->lkey,
		};
	return run(rc, &wr, packets_of(rc, rc->bytes), what, trial);
}

static int post_receive(struct rc *rc, struct ctl_trial *trial)
{
	struct ibv_sge sge = { .addr = (uintptr_t)rc->remote, .length = PAGE, .lkey = rc->memory.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int ret = ibv_post_recv(rc->pair.to, &wr, &bad);

	return ret ? ctl_fail_trial(trial, ret, "a receive is not taken") : 0;
}

/* ---- Data ---- */

static void fill_local(struct rc *rc, uint32_t seed)
{
	for (uint32_t i = 0; i < rc->pieces; i++)
		ctl_memory_fill(piece(rc, i), piece_bytes(rc, i), (size_t)i * PAGE, seed);
}

static bool local_holds(const struct rc *rc, uint32_t seed)
{
	for (uint32_t i = 0; i < rc->pieces; i++)
		if (!ctl_memory_holds(piece(rc, i), piece_bytes(rc, i), (size_t)i * PAGE, seed))
			return false;
	return true;
}

static int try_write(struct rc *rc, struct ctl_trial *trial)
{
	int ret;

	fill_local(rc, 1);
	ret = transfer(rc, IBV_WR_RDMA_WRITE, "WRITE", trial);
	if (!ret && !ctl_memory_holds(rc->remote, rc->bytes, 0, 1))
		rc->finding->rc_damaged = "WRITE";
	return ret;
}

static int try_read(struct rc *rc, struct ctl_trial *trial)
{
	int ret;

	memset(rc->local, 0, (size_t)2 * PIECES_MAX * PAGE);
	ctl_memory_fill(rc->remote, rc->bytes, 0, 2);
	ret = transfer(rc, IBV_WR_RDMA_READ, "READ", trial);
	if (!ret && !local_holds(rc, 2))
		rc->finding->rc_damaged = "READ";
	return ret;
}

static int try_write_with_imm(struct rc *rc, struct ctl_trial *trial)
{
	struct ibv_wc wc;
	int ret = post_receive(rc, trial);

	fill_local(rc, 3);
	if (!ret)
		ret = transfer(rc, IBV_WR_RDMA_WRITE_WITH_IMM, "WRITE_WITH_IMM", trial);
	if (!ret)
		ret = ctl_queue_take(&rc->pair.receives, &wc, "receiving immediate data", trial);
	if (!ret && (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || !(wc.wc_flags & IBV_WC_WITH_IMM) ||
		     wc.imm_data != htonl(IMMEDIATE) || wc.byte_len != rc->bytes ||
		     !ctl_memory_holds(rc->remote, rc->bytes, 0, 3)))
		rc->finding->rc_damaged = "WRITE_WITH_IMM";
	return ret;
}

/* Posts chains whose last request asks for a completion, as links do. */
static int try_chains(struct rc *rc, struct ctl_trial *trial)
{
	struct ibv_sge sge = { .addr = (uintptr_t)rc->local, .length = 8, .lkey = rc->memory.mr->lkey };
	struct ibv_send_wr wrs[CHAIN];
	struct ibv_wc wc;
	int ret = 0;

	for (uint32_t i = 0; i < CHAIN; i++)
		wrs[i] = (struct ibv_send_wr){
			.next = i + 1 < CHAIN ? &wrs[i + 1] : NULL, .sg_list = &sge, .num_sge = 1,
			.opcode = i % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
			.send_flags = i + 1 < CHAIN ? 0 : IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = (uintptr_t)rc->remote, .rkey = rc->memory.mr->rkey },
		};
	for (uint32_t chain = 0; !ret && chain < CHAINS; chain++) {
		wrs[CHAIN - 1].wr_id = chain;
		ret = post(rc, wrs, trial);
	}
	for (uint32_t chain = 0; !ret && chain < CHAINS; chain++) {
		ret = ctl_queue_take(&rc->pair.sends, &wc, "chains of requests", trial);
		if (ret)
			break;
		rc->packets += CHAIN;
		rc->finding->order_checked++;
		rc->finding->order_wrong += wc.wr_id != chain;
	}
	return ret;
}

/* ---- The receive PSN ---- */

/* Asks query_qp by how much the receive PSN has moved. */
static int ask_psn(struct rc *rc, uint32_t *moved, struct ctl_trial *trial)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret = ibv_query_qp(rc->pair.to, &attr, IBV_QP_RQ_PSN, &init);

	if (ret)
		return ctl_fail_trial(trial, ret, "a queue pair cannot be queried");
	*moved = (attr.rq_psn - CTL_PAIR_PSN) & PSN_MASK;
	return 0;
}

/* ---- Time-outs ---- */

static int try_rnr(struct rc *rc, struct ctl_trial *trial)
{
	struct ibv_sge sge = { .addr = (uintptr_t)rc->local, .length = 8, .lkey = rc->memory.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	double start = ctl_now_ms();
	struct ibv_wc wc;
	int ret = post(rc, &wr, trial);

	if (ret)
		return ret;
	nanosleep(&(struct timespec){ .tv_nsec = RNR_WAIT_MS * 1000000L }, NULL);
	rc->finding->rnr_until_ms = ctl_now_ms() - start;
	ret = post_receive(rc, trial);
	if (!ret)
		ret = ctl_queue_take(&rc->pair.receives, &wc, "receiving late", trial);
	rc->finding->rnr_after_ms = ctl_now_ms() - start;
	if (!ret)
		ret = ctl_queue_take(&rc->pair.sends, &wc, "a message that waited for a receive", trial);
	if (!ret)
		rc->packets++;
	return ret;
}

/* Sends to a queue pair that was stopped, which is as silent as a node that has died. */
static int try_silence(struct rc *rc, struct ctl_trial *trial)
{
	struct ibv_sge sge = { .addr = (uintptr_t)rc->local, .length = 8, .lkey = rc->memory.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)rc->remote, .rkey = rc->memory.mr->rkey },
	};
	double start = ctl_now_ms();
	struct ibv_wc wc;
	int ret = post(rc, &wr, trial);

	if (!ret)
		ret = ctl_queue_wait(&rc->pair.sends, SILENCE_MS, &wc, trial);
	rc->finding->silence_ms = ctl_now_ms() - start;
	if (ret == -ETIMEDOUT)
		snprintf(trial->error, sizeof(trial->error), "not given up within %d ms", SILENCE_MS);
	if (!ret && wc.status == IBV_WC_SUCCESS)
		ret = ctl_fail_trial(trial, EPROTO, "a request to a stopped queue pair succeeds");
	return ret;
}

/* ---- All ---- */

static int try_data(struct rc *rc)
{
	struct ctl_finding *finding = rc->finding;
	int ret = try_write(rc, &finding->rc);

	if (!ret)
		ret = try_read(rc, &finding->rc);
	if (!ret)
		ret = try_write_with_imm(rc, &finding->rc);
	if (!ret)
		ret = try_chains(rc, &finding->rc);
	finding->rc_bytes = rc->bytes;
	finding->rc_pieces = rc->pieces;
	finding->rc.done = !ret;
	return ret;
}

/*
 * The module stops a target's QP before it asks for the PSN. This comes last, since a stopped QP is
 * of no more use.
 */
static void try_end(struct rc *rc)
{
	struct ctl_finding *finding = rc->finding;

	finding->psn_packets = rc->packets;
	if (ask_psn(rc, &finding->psn_moved, &finding->psn))
		return;
	finding->rnr.done = !try_rnr(rc, &finding->rnr);
	if (ctl_pair_stop(rc->pair.to, &finding->psn))
		return;
	finding->psn_stopped_packets = rc->packets;
	finding->psn.done = !ask_psn(rc, &finding->psn_stopped_moved, &finding->psn);
	finding->silence.done = finding->rnr.done && !try_silence(rc, &finding->silence);
}

void ctl_trial_rc(const struct ctl_device *device, struct ctl_finding *finding)
{
	struct rc rc = { .device = device, .finding = finding };
	int ret = open_all(&rc, &finding->rc);

	if (!ret)
		ret = try_data(&rc);
	if (!ret)
		try_end(&rc);
	ctl_pair_close(&rc.pair, finding);
	ctl_memory_close(&rc.memory);
}
