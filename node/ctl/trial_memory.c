/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Registration of as much memory as the module registers at once, a window (kmod/rc/window.c). */
#include <errno.h>

#include "pair.h"
#include "trial.h"

#define WINDOW_BYTES (2U << 20)

void ctl_trial_memory(const struct ctl_device *device, struct ctl_finding *finding)
{
	struct ctl_trial *trial = &finding->registration;
	struct ctl_memory memory = { 0 };
	/* The first registration warms the caches, and is not measured. */
	int ret = ctl_memory_open(&memory, device, WINDOW_BYTES, trial);
	double start;

	if (!ret) {
		ibv_dereg_mr(memory.mr);
		start = ctl_now_ms();
		memory.mr = ibv_reg_mr(device->pd, memory.at, memory.bytes,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
		finding->registration_us = (ctl_now_ms() - start) * 1e3;
		finding->registration_bytes = WINDOW_BYTES;
		trial->done = memory.mr;
		if (!memory.mr)
			ctl_fail_trial(trial, errno, "memory cannot be registered again");
	}
	ctl_memory_close(&memory);
}
