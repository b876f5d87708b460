/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The node's policy, as commands of vqpctl write it. */
#ifndef VQPCTL_POLICY_H
#define VQPCTL_POLICY_H

#include "change.h"
#include "ctl.h"
#include "policy_draft.h"

/* Plans to write a draft. 0, or a negative errno value with *error set. The caller frees the change in both cases. */
int ctl_policy_plan(const struct ctl_policy_draft *draft, struct ctl_change *change, struct vqp_error *error);

/* Prints why the draft has its rules, and what else is to be known. */
void ctl_policy_print_draft(const struct ctl_policy_draft *draft);

#endif
