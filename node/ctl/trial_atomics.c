/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device's atomics, on a queue pair of their own, because one that refuses them fails. */
#include "pair.h"
#include "trial.h"

#define MEMORY_BYTES 4096U

struct atomics {
	struct ctl_pair pair;
	struct ctl_memory memory;
	volatile uint64_t *local, *remote;	/* in the memory */
};

struct step {
	enum ibv_wr_opcode opcode;
	uint64_t compare_add, swap;
	uint64_t was, is;	/* the device's answer, and the value that it leaves */
};

static int post(struct atomics *a, const struct step *step, struct ctl_trial *trial)
{
	struct ibv_sge sge = { .addr = (uintptr_t)a->local, .length = sizeof(*a->local), .lkey = a->memory.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = step->opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = (uintptr_t)a->remote, .rkey = a->memory.mr->rkey,
			.compare_add = step->compare_add, .swap = step->swap,
		},
	}, *bad;
	int ret = ibv_post_send(a->pair.from, &wr, &bad);

	return ret ? ctl_fail_trial(trial, ret, "an atomic is not taken") : 0;
}

static int try_steps(struct atomics *a, struct ctl_finding *finding)
{
	const uint64_t first = 0x0123456789abcdef, second = first + 0x1111, third = 0xfedcba9876543210;
	const struct step steps[] = {
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0x1111, 0, first, second },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, second, third, second, third },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, second, first, third, third },	/* The value differs, and stays. */
	};
	int ret = 0;

	*a->remote = first;
	for (unsigned int i = 0; !ret && i < sizeof(steps) / sizeof(*steps); i++) {
		struct ibv_wc wc;

		ret = post(a, &steps[i], &finding->atomics);
		if (!ret)
			ret = ctl_queue_take(&a->pair.sends, &wc, "an atomic", &finding->atomics);
		finding->atomics_wrong |= *a->local != steps[i].was || *a->remote != steps[i].is;
	}
	return ret;
}

void ctl_trial_atomics(const struct ctl_device *device, struct ctl_finding *finding)
{
	const struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ctl_trial *trial = &finding->atomics;
	struct atomics a = { 0 };
	int ret;

	if (!finding->atomics_claimed)
		return;
	ret = ctl_memory_open(&a.memory, device, MEMORY_BYTES, trial);
	a.local = (void *)a.memory.at;
	a.remote = a.local + 8;
	if (!ret)
		ret = ctl_pair_open(&a.pair, device, &init, trial);
	if (!ret)
		ret = ctl_pair_connect(&a.pair, trial);
	if (!ret)
		ret = try_steps(&a, finding);
	trial->done = !ret;
	ctl_pair_close(&a.pair, finding);
	ctl_memory_close(&a.memory);
}
