/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "pair.h"

/* The module's values (kmod/rc/qp.c). */
#define TIMEOUT		13
#define RETRIES		7
#define RNR_TIMER	12
#define READS		32U
#define HOP_LIMIT	64

#define EVENT_MS	100	/* the time after which the queue is polled without an event */

double ctl_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int ctl_fail_trial(struct ctl_trial *trial, int err, const char *what)
{
	err = err < 0 ? -err : err;
	snprintf(trial->error, sizeof(trial->error), "%s: %s", what, strerror(err));
	return -err;
}

/* ---- Completions ---- */

static int queue_open(struct ctl_queue *queue, struct ibv_context *context, uint32_t entries, struct ctl_trial *trial)
{
	queue->channel = ibv_create_comp_channel(context);
	if (!queue->channel)
		return ctl_fail_trial(trial, errno, "no completion channel");
	queue->cq = ibv_create_cq(context, entries, NULL, queue->channel, 0);
	return queue->cq ? 0 : ctl_fail_trial(trial, errno, "no completion queue");
}

static void queue_close(struct ctl_queue *queue)
{
	if (queue->cq)
		ibv_destroy_cq(queue->cq);
	if (queue->channel)
		ibv_destroy_comp_channel(queue->channel);
}

int ctl_queue_arm(struct ctl_queue *queue, struct ctl_trial *trial)
{
	int ret = queue->armed ? 0 : ibv_req_notify_cq(queue->cq, 0);

	queue->armed = !ret;
	return ret ? ctl_fail_trial(trial, ret, "no events of completions") : 0;
}

/* Has an event come within `ms`? */
static bool take_event(struct ctl_queue *queue, int ms)
{
	struct pollfd channel = { .fd = queue->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&channel, 1, ms) <= 0 || ibv_get_cq_event(queue->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	queue->armed = false;
	queue->events++;
	return true;
}

void ctl_queue_check_event(struct ctl_queue *queue, uint32_t events)
{
	if (queue->events == events && !take_event(queue, EVENT_MS))
		queue->events_missed++;
}

int ctl_queue_wait(struct ctl_queue *queue, int ms, struct ibv_wc *wc, struct ctl_trial *trial)
{
	double end = ctl_now_ms() + ms;
	int n, ret;

	while (!(n = ibv_poll_cq(queue->cq, 1, wc)) && ctl_now_ms() < end) {
		ret = ctl_queue_arm(queue, trial);
		if (ret)
			return ret;
		/* No event is due for a completion from before it was asked for. */
		n = ibv_poll_cq(queue->cq, 1, wc);
		if (n)
			break;
		take_event(queue, EVENT_MS);
	}
	if (n < 0)
		return ctl_fail_trial(trial, EIO, "the completion queue cannot be polled");
	return n ? 0 : ctl_fail_trial(trial, ETIMEDOUT, "no completion");
}

int ctl_queue_take(struct ctl_queue *queue, struct ibv_wc *wc, const char *what, struct ctl_trial *trial)
{
	int ret = ctl_queue_wait(queue, CTL_WAIT_MS, wc, trial);

	if (ret)
		return ctl_fail_trial(trial, ret, what);
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	snprintf(trial->error, sizeof(trial->error), "%s: %s", what, ibv_wc_status_str(wc->status));
	return -EIO;
}

/* ---- The queue pairs' states ---- */

static int to_init(const struct ctl_pair *pair, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = pair->device->port_num,
		.qkey = CTL_PAIR_QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};

	if (pair->device->attr.atomic_cap != IBV_ATOMIC_NONE)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					(qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static int to_rtr(const struct ctl_pair *pair, struct ibv_qp *qp)
{
	const struct ctl_device *device = pair->device;
	uint32_t reads = device->attr.max_qp_rd_atom;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = device->port.active_mtu,
		.dest_qp_num = (qp == pair->from ? pair->to : pair->from)->qp_num,
		.rq_psn = CTL_PAIR_PSN,
		.max_dest_rd_atomic = reads < READS ? reads : READS,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = {
			.is_global = 1,
			.port_num = device->port_num,
			.grh = { .dgid = device->gid.gid, .sgid_index = device->gid.gid_index, .hop_limit = HOP_LIMIT },
		},
	};

	if (qp->qp_type == IBV_QPT_UD)
		return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(const struct ctl_pair *pair, struct ibv_qp *qp)
{
	uint32_t reads = pair->device->attr.max_qp_init_rd_atom;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = CTL_PAIR_PSN,
		.timeout = TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = RETRIES,
		.max_rd_atomic = reads < READS ? reads : READS,
	};

	if (qp->qp_type == IBV_QPT_UD)
		return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int start(struct ctl_pair *pair, struct ibv_qp *qp, struct ctl_trial *trial)
{
	static int (*const steps[])(const struct ctl_pair *, struct ibv_qp *) = { to_init, to_rtr, to_rts };
	static const char *const names[] = { "to INIT", "to RTR", "to RTS" };

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int ret = steps[i](pair, qp);

		if (ret)
			return ctl_fail_trial(trial, ret, names[i]);
	}
	return 0;
}

int ctl_pair_connect(struct ctl_pair *pair, struct ctl_trial *trial)
{
	int ret = start(pair, pair->to, trial);

	return ret ? ret : start(pair, pair->from, trial);
}

int ctl_pair_stop(struct ibv_qp *qp, struct ctl_trial *trial)
{
	int ret = ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, IBV_QP_STATE);

	return ret ? ctl_fail_trial(trial, ret, "to the error state") : 0;
}

int ctl_pair_restart(struct ctl_pair *pair, struct ibv_qp *qp, struct ctl_trial *trial)
{
	int ret = ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, IBV_QP_STATE);

	return ret ? ctl_fail_trial(trial, ret, "to RESET") : start(pair, qp, trial);
}

/* ---- Making ---- */

int ctl_pair_open(struct ctl_pair *pair, const struct ctl_device *device, const struct ibv_qp_init_attr *init,
		  struct ctl_trial *trial)
{
	struct ibv_qp **const qps[] = { &pair->from, &pair->to };
	int ret;

	pair->device = device;
	/* The queues have room for two lives of a QP, as the module's have. */
	ret = queue_open(&pair->sends, device->context, 2 * init->cap.max_send_wr, trial);
	if (!ret)
		ret = queue_open(&pair->receives, device->context, 2 * init->cap.max_recv_wr, trial);
	for (unsigned int i = 0; !ret && i < sizeof(qps) / sizeof(*qps); i++) {
		struct ibv_qp_init_attr attr = *init;

		attr.send_cq = pair->sends.cq;
		attr.recv_cq = pair->receives.cq;
		*qps[i] = ibv_create_qp(device->pd, &attr);
		if (!*qps[i])
			ret = ctl_fail_trial(trial, errno, "no queue pair");
	}
	return ret;
}

void ctl_pair_close(struct ctl_pair *pair, struct ctl_finding *finding)
{
	finding->events += pair->sends.events + pair->receives.events;
	finding->events_missed += pair->sends.events_missed + pair->receives.events_missed;
	if (pair->from)
		ibv_destroy_qp(pair->from);
	if (pair->to)
		ibv_destroy_qp(pair->to);
	queue_close(&pair->sends);
	queue_close(&pair->receives);
}

/* ---- Memory ---- */

int ctl_memory_open(struct ctl_memory *memory, const struct ctl_device *device, size_t bytes, struct ctl_trial *trial)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	if (device->attr.atomic_cap != IBV_ATOMIC_NONE)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	memory->bytes = bytes;
	memory->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory->at == MAP_FAILED) {
		memory->at = NULL;
		return ctl_fail_trial(trial, errno, "no memory");
	}
	memory->mr = ibv_reg_mr(device->pd, memory->at, bytes, access);
	return memory->mr ? 0 : ctl_fail_trial(trial, errno, "memory cannot be registered");
}

void ctl_memory_close(struct ctl_memory *memory)
{
	if (memory->mr)
		ibv_dereg_mr(memory->mr);
	if (memory->at)
		munmap(memory->at, memory->bytes);
}

static uint8_t pattern(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)i * 2654435761U + seed * 40503U;

	return x >> 24 ^ x >> 16;
}

void ctl_memory_fill(uint8_t *at, size_t bytes, size_t offset, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = pattern(offset + i, seed);
}

bool ctl_memory_holds(const uint8_t *at, size_t bytes, size_t offset, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != pattern(offset + i, seed))
			return false;
	return true;
}
