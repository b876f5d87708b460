/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* runtime.json as a policy, which it was before there was policy.json. */
#ifndef VQPCTL_POLICY_OLD_H
#define VQPCTL_POLICY_OLD_H

#include "../policy.h"

/* Former versions go by these members, so they stay until none of these runs any more. */
#define CTL_POLICY_OLD_IDLE	"tenant, limits, networks and annotations of " VQP_CONFIG_FILE " do not count for a vqpd that " \
				"knows " VQP_POLICY_FILE ": take them out once this node runs it"

/*
 * Reads the rules that runtime.json below `root` stands for. 0, also if it stands for none, and
 * then old->json is NULL; or a negative errno value with *error set. The caller clears the policy
 * in all cases.
 */
int ctl_policy_old_read(struct vqp_policy *old, const char *root, struct vqp_error *error);

/*
 * Returns what is to be said of a policy that counts, because runtime.json below `root` is it, or
 * looks as if it were; NULL if there is nothing.
 */
const char *ctl_policy_old_warning(const struct vqp_policy *policy, const char *root);

#endif
