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
#define PROGRAM "/vqp-runtime"

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

/* Returns the character behind the string that begins at `text`. */
static const char *skip_string(const char *text)
{
	for (text++; *text && *text != '"'; text++)
		if (*text == '\\' && text[1])
			text++;
	return *text ? text + 1 : text;
}

/*
 * Returns the character behind the brace that opens the object: the whole text, which is one, or its
 * member `name`. NULL if it has no such member that is an object, or writes its name in another way.
 */
static const char *find_object(const char *text, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	int depth = 0;

	while (*text) {
		const char *value = text + 1;

		if (*text == '{' && !name)
			return value;
		if (*text == '"') {
			value = skip_string(text);
			if (depth == 1 && name && (size_t)(value - text) == length + 2 && !strncmp(text + 1, name, length)) {
				value += strspn(value, " \t\r\n");
				if (*value == ':')
					value += 1 + strspn(value + 1, " \t\r\n");
				if (*value == '{')
					return value + 1;
			}
		}
		depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
		text = *text == '"' ? skip_string(text) : value;
	}
	return NULL;
}

/* Does the text say the same as `json`? */
static bool says(const char *text, const json_t *json)
{
	json_auto_t *said = NULL;
	cleanup_error struct vqp_error error = { 0 };

	return text && !parse(text, &said, &error) && json_equal(said, json);
}

/* What is put in as the first member of the text's object, or of its runtimes; to be freed. */
static char *item_of(const char *runtime, bool of_runtimes)
{
	char *item;

	return asprintf(&item, of_runtimes ? "\"" NAME "\": {\"path\": \"%s\"}" :
				"\"runtimes\": {\"" NAME "\": {\"path\": \"%s\"}}", runtime) < 0 ? NULL : item;
}

/*
 * Puts the runtime in without touching anything else of the text: as the first member of an object,
 * with the blanks in front that the next one has. NULL if the text would not say `expected` then.
 */
static char *put_in(const char *text, const char *runtime, const json_t *expected)
{
	const char *behind = find_object(text, "runtimes");
	cleanup_free char *item = item_of(runtime, behind);
	char *after;
	int blanks;

	if (!behind)
		behind = find_object(text, NULL);
	if (!item || !behind)
		return NULL;
	blanks = (int)strspn(behind, " \t\r\n");
	if (behind[blanks] == '}')
		blanks = 0;
	if (asprintf(&after, "%.*s%.*s%s%s%s", (int)(behind - text), text, blanks, behind, item,
		     behind[strspn(behind, " \t\r\n")] == '}' ? "" : ",", behind) < 0)
		return NULL;
	if (says(after, expected))
		return after;
	free(after);
	return NULL;
}

/* Cuts out what put_in() has put in. NULL if the text would not say `expected` then. */
static char *cut_out(const char *text, const char *runtime, bool of_runtimes, const json_t *expected)
{
	cleanup_free char *item = item_of(runtime, of_runtimes);
	const char *found = item ? strstr(text, item) : NULL, *begin = found, *end;
	char *after;

	if (!found)
		return NULL;
	end = found + strlen(item);
	if (*end == ',') {
		end++;
		while (begin > text && strchr(" \t\r\n", begin[-1]))
			begin--;
	}
	if (asprintf(&after, "%.*s%s", (int)(begin - text), text, end) < 0)
		return NULL;
	if (says(after, expected))
		return after;
	free(after);
	return NULL;
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
	if (json_equal(old, json))
		return copy(before, after);
	*after = before ? put_in(before, runtime, json) : NULL;
	return *after ? 0 : print(json, after);
}

/* Is the runtime one that an add has written? Somebody else's has other members, or another path. */
static bool is_own(const json_t *runtime)
{
	const char *path = json_string_value(json_object_get(runtime, "path"));
	const char *name = path ? strrchr(path, '/') : NULL;

	return name && !strcmp(name, PROGRAM) && json_object_size(runtime) == 1;
}

bool ctl_daemon_json_is_ours(const char *text)
{
	json_auto_t *json = NULL;
	cleanup_error struct vqp_error error = { 0 };

	return !parse(text, &json, &error) && is_own(json_object_get(json_object_get(json, "runtimes"), NAME));
}

/* Takes the runtime out or, if somebody else had written it before, puts that one back. */
static bool take_out(json_t *runtimes, const char *backup)
{
	json_auto_t *kept = NULL;
	cleanup_error struct vqp_error error = { 0 };
	json_t *theirs = backup && !parse(backup, &kept, &error) ? json_object_get(json_object_get(kept, "runtimes"), NAME) : NULL;

	return theirs && !is_own(theirs) ? !json_object_set(runtimes, NAME, theirs) : !json_object_del(runtimes, NAME);
}

int ctl_daemon_json_remove(const char *before, const char *backup, char **after, struct vqp_error *error)
{
	json_auto_t *json = NULL, *ours = NULL;
	json_t *runtimes;
	const char *standard, *runtime;
	int ret = parse(before, &json, error);

	*after = NULL;
	if (ret)
		return ret;
	runtimes = json_object_get(json, "runtimes");
	standard = json_string_value(json_object_get(json, "default-runtime"));
	if (standard && !strcmp(standard, NAME))
		return vqp_error_set(error, -EBUSY, "\"default-runtime\" is " NAME ": name another, or take it out, first");
	ours = json_incref(json_object_get(runtimes, NAME));
	if (!take_out(runtimes, backup))
		return copy(before, after);
	runtime = json_string_value(json_object_get(ours, "path"));
	if (says(backup, json))
		return copy(backup, after);
	*after = runtime ? cut_out(before, runtime, true, json) : NULL;
	if (*after && json_object_size(runtimes))
		return 0;
	free(*after);
	*after = NULL;
	if (!json_object_size(runtimes))
		json_object_del(json, "runtimes");
	if (says(backup, json))
		return copy(backup, after);
	*after = runtime && json_object_size(json) ? cut_out(before, runtime, false, json) : NULL;
	if (*after)
		return 0;
	return json_object_size(json) ? print(json, after) : 0;
}
