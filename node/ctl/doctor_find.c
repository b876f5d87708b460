/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "doctor.h"

const char *ctl_doctor_state(enum ctl_level level)
{
	static const char *const texts[] = {
		[CTL_OK] = "ok", [CTL_LIMITED] = "warning", [CTL_FAILS] = "fault", [CTL_UNTRIED] = "unknown",
	};

	return texts[level];
}

void ctl_doctor_find(struct ctl_doctor *doctor, enum ctl_level level, const char *id, const char *subject,
		     const char *remedy, const char *format, ...)
{
	cleanup_free char *seen = NULL;
	va_list list;

	va_start(list, format);
	if (vasprintf(&seen, format, list) < 0)
		seen = NULL;
	va_end(list);
	doctor->counts[level]++;
	json_array_append_new(doctor->findings, json_pack("{s:s, s:s*, s:s, s:s, s:s*}", "id", id, "subject", subject,
							  "state", ctl_doctor_state(level), "seen", seen ? seen : "?",
							  "remedy", level == CTL_OK ? NULL : remedy));
}

void ctl_doctor_find_error(struct ctl_doctor *doctor, enum ctl_level level, const char *id, const char *subject,
			   const char *text)
{
	const char *colon = strstr(text, ": ");

	ctl_doctor_find(doctor, level, id, subject, colon ? colon + 2 : NULL, "%.*s",
			(int)(colon ? colon - text : (ptrdiff_t)strlen(text)), text);
}

const char *ctl_doctor_path(const struct ctl_doctor *doctor, const char *path, char full[PATH_MAX])
{
	snprintf(full, PATH_MAX, "%s%s", doctor->root, path);
	return full;
}
