/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/config.h"
#include "../../oci-hook/real.h"
#include "site.h"

int ctl_site_find_real(struct ctl_site *site, struct vqp_error *error)
{
	cleanup_error struct vqp_error not_found = { 0 };
	cleanup_free char *text = NULL;
	json_auto_t *operator = NULL;
	const char *chosen;
	size_t bytes;
	int ret = vqp_config_read(VQP_CONFIG_FILE, &text, &bytes, error);

	if (ret && ret != -ENOENT)
		return ret;
	vqp_error_clear(error);
	/* What is wrong with its text is for vqp-runtime to say. */
	operator = text ? json_loadb(text, bytes, 0, NULL) : NULL;
	chosen = json_string_value(json_object_get(operator, VQP_CONFIG_RUNTIME));
	site->real_is_chosen = chosen;
	/* It may be installed later. */
	if (vqp_real_find(chosen, site->real, &not_found))
		snprintf(site->real, sizeof(site->real), "%s", chosen ? chosen : "");
	return 0;
}

static bool is_one_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int ctl_site_starts(const struct ctl_site *site, const char *name, const char *program, struct vqp_error *error)
{
	if (!program || !*program || site->real_is_chosen || is_one_file(program, site->real) ||
	    !strcmp(program, strchr(program, '/') ? site->real : basename(site->real)))
		return 0;
	return vqp_error_set(error, -EINVAL, "its runtime %s starts %s, and vqp-runtime would start %s: "
			     "name what it is to start as \"" VQP_CONFIG_RUNTIME "\" in " VQP_CONFIG_FILE,
			     name, program, *site->real ? site->real : "nothing");
}
