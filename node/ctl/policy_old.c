/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "../../common/cleanup.h"
#include "policy_old.h"

int ctl_policy_old_read(struct vqp_policy *old, const char *root, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	size_t bytes;
	int ret;

	*old = (struct vqp_policy){ 0 };
	snprintf(path, sizeof(path), "%s" VQP_CONFIG_FILE, root);
	ret = vqp_config_read(path, &text, &bytes, error);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = vqp_policy_parse_old(old, text, bytes, error);
	if (ret != -ENOENT)
		return ret ? vqp_error_add_context(error, VQP_CONFIG_FILE) : 0;
	vqp_policy_clear(old);
	return 0;
}

const char *ctl_policy_old_warning(const struct vqp_policy *policy, const char *root)
{
	cleanup_policy struct vqp_policy old = { 0 };
	cleanup_error struct vqp_error error = { 0 };

	if (policy->is_old)
		return "it is read as a policy, as before there was " VQP_POLICY_FILE ": vqpctl policy init writes that from it";
	if (!ctl_policy_old_read(&old, root, &error) && old.json)
		return CTL_POLICY_OLD_IDLE;
	return NULL;
}
