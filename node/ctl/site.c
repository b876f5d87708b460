/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "file.h"
#include "program.h"
#include "site.h"

#define OPERATOR_FILE	"/etc/vqp/runtime.json"

int ctl_site_find_real(struct ctl_site *site, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	json_auto_t *operator = NULL;
	const char *chosen;
	int ret = ctl_file_read(OPERATOR_FILE, &text);

	if (ret)
		return vqp_error_set(error, ret, "cannot read " OPERATOR_FILE ": %s", strerror(-ret));
	/* What is wrong with the file is for vqp-runtime to say. */
	operator = text ? json_loads(text, 0, NULL) : NULL;
	chosen = json_string_value(json_object_get(operator, "runtime"));
	site->real_is_chosen = chosen;
	if (chosen)
		snprintf(site->real, sizeof(site->real), "%s", chosen);
	else if (!ctl_program_find("runc", site->real) && !ctl_program_find("crun", site->real))
		*site->real = '\0';
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
			     "name what it is to start as \"runtime\" in " OPERATOR_FILE,
			     name, program, *site->real ? site->real : "nothing");
}
