/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "daemon_json.h"

#define NAME "vqp"

/* Parses a text. Like Docker, it takes an empty file for an empty object. */
static int parse(const char *text, json_t **json, struct vqp_error *error)
{
	json_error_t where;

	if (!text || !text[strspn(text, " \t\r\n")])
		text = "{}";
	*json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
	if (!*json)
		return vqp_error_set(error, -EINVAL, "not JSON that could be edited: line %d: %s", where.line, where.text);
	if (!json_is_object(*json))
		return vqp_error_set(error, -EINVAL, "not a JSON object");
	if (json_object_get(*json, "runtimes") && !json_is_object(json_object_get(*json, "runtimes")))
		return vqp_error_set(error, -EINVAL, "\"runtimes\" is not an object");
	return 0;
}

static int copy(const char *text, char **after)
{
	*after = text ? strdup(text) : NULL;
	return text && !*after ? -ENOMEM : 0;
}

static int print(const json_t *json, char **after)
{
	cleanup_free char *text = json_dumps(json, JSON_INDENT(4) | JSON_REAL_PRECISION(17));

	if (text && asprintf(after, "%s\n", text) >= 0)
		return 0;
	*after = NULL;
	return -ENOMEM;
}

int ctl_daemon_json_add(const char *before, const char *runtime, char **after, struct vqp_error *error)
{
	json_auto_t *json = NULL, *old = NULL;
	json_t *runtimes, *ours;
	int ret = parse(before, &json, error);

	*after = NULL;
	if (ret)
		return ret;
	old = json_deep_copy(json);
	runtimes = json_object_get(json, "runtimes");
	if (!runtimes && !json_object_set_new(json, "runtimes", json_object()))
		runtimes = json_object_get(json, "runtimes");
	ours = json_object_get(runtimes, NAME);
	if (!json_is_object(ours) && !json_object_set_new(runtimes, NAME, json_object()))
		ours = json_object_get(runtimes, NAME);
	if (json_object_set_new(ours, "path", json_string(runtime)) || !old)
		return -ENOMEM;
	return json_equal(old, json) ? copy(before, after) : print(json, after);
}

/* Is the backup the same JSON? */
static bool is_kept(const char *backup, const json_t *json)
{
	json_auto_t *kept = NULL;
	cleanup_error struct vqp_error error = { 0 };

	return backup && !parse(backup, &kept, &error) && json_equal(kept, json);
}

/* Takes the runtime out or, if somebody else had written it before, puts that one back. */
static bool take_out(json_t *runtimes, const char *backup)
{
	json_auto_t *kept = NULL;
	cleanup_error struct vqp_error error = { 0 };
	json_t *theirs = backup && !parse(backup, &kept, &error) ? json_object_get(json_object_get(kept, "runtimes"), NAME) : NULL;

	return theirs ? !json_object_set(runtimes, NAME, theirs) : !json_object_del(runtimes, NAME);
}

int ctl_daemon_json_remove(const char *before, const char *backup, char **after, struct vqp_error *error)
{
	json_auto_t *json = NULL;
	json_t *runtimes;
	const char *standard;
	int ret = parse(before, &json, error);

	*after = NULL;
	if (ret)
		return ret;
	runtimes = json_object_get(json, "runtimes");
	standard = json_string_value(json_object_get(json, "default-runtime"));
	if (standard && !strcmp(standard, NAME))
		return vqp_error_set(error, -EBUSY, "\"default-runtime\" is " NAME ": name another, or take it out, first");
	if (!take_out(runtimes, backup))
		return copy(before, after);
	if (is_kept(backup, json))
		return copy(backup, after);
	if (!json_object_size(runtimes))
		json_object_del(json, "runtimes");
	if (is_kept(backup, json))
		return copy(backup, after);
	return json_object_size(json) ? print(json, after) : 0;
}
