/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The policy. */
#define _GNU_SOURCE
#include <errno.h>

#include "../../common/cleanup.h"
#include "doctor.h"
#include "policy_old.h"

#define INIT	"vqpctl policy init"

static void judge(struct ctl_doctor *d, const struct vqp_policy *policy)
{
	const char *warning = ctl_policy_old_warning(policy, d->root);
	const char *file = vqp_policy_file(policy);

	if (warning)
		ctl_doctor_find(d, CTL_LIMITED, "policy.file", policy->is_old ? file : VQP_CONFIG_FILE,
				policy->is_old ? INIT : "edit the file: man vqp-runtime.json", "%s", warning);
	if (!vqp_policy_count(policy))
		ctl_doctor_find(d, CTL_LIMITED, "policy.file", file, "man vqp-policy.json", "it has no rule, so no container gets a VQP namespace");
	else
		ctl_doctor_find(d, CTL_OK, "policy.file", file, NULL, "right, with %zu rules", vqp_policy_count(policy));
}

/* vqp-runtime reads its part of the file, whatever the policy is. Returns whether the file is right. */
static bool look_at_old(struct ctl_doctor *d)
{
	cleanup_policy struct vqp_policy old = { 0 };
	cleanup_error struct vqp_error error = { 0 };

	if (!ctl_policy_old_read(&old, d->root, &error))
		return true;
	ctl_doctor_find(d, error.code == -EACCES ? CTL_UNTRIED : CTL_FAILS, "policy.file", VQP_CONFIG_FILE,
			error.code == -EACCES ? "run as root" : "mend the file: man vqp-runtime.json", "%s", vqp_error_text(&error));
	return false;
}

void ctl_doctor_policy(struct ctl_doctor *d)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	char path[PATH_MAX];
	int ret = vqp_policy_load(&policy, ctl_doctor_path(d, VQP_CONFIG_DIR, path), &error);
	bool there = !access(ctl_doctor_path(d, VQP_POLICY_FILE, path), F_OK), well = look_at_old(d);

	if (!ret)
		judge(d, &policy);
	else if (ret == -EACCES)
		ctl_doctor_find(d, CTL_UNTRIED, "policy.file", VQP_POLICY_FILE, "run as root", "%s", vqp_error_text(&error));
	else if (there)
		ctl_doctor_find(d, CTL_FAILS, "policy.file", VQP_POLICY_FILE, "mend the file: vqpctl policy check", "%s",
				vqp_error_text(&error));
	else if (well)
		ctl_doctor_find(d, CTL_FAILS, "policy.file", VQP_POLICY_FILE, INIT, "%s", vqp_error_text(&error));
}
