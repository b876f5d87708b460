/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trials of vqpctl selftest. Their outcomes, failures included, are in the finding. All but the
 * first two need a usable device, and memory that can be registered.
 */
#ifndef VQPCTL_TRIAL_H
#define VQPCTL_TRIAL_H

#include "device.h"
#include "finding.h"

void ctl_trial_pool(const struct ctl_device *device, struct ctl_finding *finding);
void ctl_trial_memory(const struct ctl_device *device, struct ctl_finding *finding);
void ctl_trial_ud(const struct ctl_device *device, struct ctl_finding *finding);
void ctl_trial_rc(const struct ctl_device *device, struct ctl_finding *finding);
void ctl_trial_atomics(const struct ctl_device *device, struct ctl_finding *finding);

#endif
