/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The policy that vqpctl proposes for a node, by what the node has. */
#ifndef VQPCTL_POLICY_DRAFT_H
#define VQPCTL_POLICY_DRAFT_H

#include <jansson.h>

#include "../../common/error.h"

struct ctl_policy_draft {
	json_t *rules;	/* an array of {"rule","why"} */
	json_t *notes;	/* an array of texts: what an operator has to know besides */
	char *text;	/* of policy.json */
};

/*
 * Drafts a policy with which containers get what they got before, but for what a runtime or args
 * said: a rule for each CNI network list that has the plugin vqp, and the rules that runtime.json
 * stands for. A node that has neither gets one rule, by which all containers are of tenant 1, unless
 * it has lists that cannot be read or be a rule. Files are looked for below `root`, which is ""
 * but in tests. 0, or a negative errno value with *error set. The caller clears the draft in both
 * cases.
 */
int ctl_policy_draft_make(struct ctl_policy_draft *draft, const char *root, struct vqp_error *error);
void ctl_policy_draft_clear(struct ctl_policy_draft *draft);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_draft	__attribute__((cleanup(ctl_policy_draft_clear)))

#endif
