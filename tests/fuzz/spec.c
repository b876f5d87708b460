// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Container specifications that vqp-runtime edits: all that is not vqp's comes
 * out as it went in, the grant is there once, and a second edit changes nothing.
 */
#include <stdbool.h>

#include <json-c/json.h>

#include "../../include/uapi/linux/vqp.h"
#include "../../oci-hook/spec.h"
#include "fuzz.h"

#define HOOK	"/usr/local/bin/vqp-hook"
#define NETWORK	"/usr/local/bin/vqp-network"

const char *const fuzz_words[] = {
	"ociVersion", "linux", "namespaces", "network", "libnetwork-setkey", "devices", "resources", "hooks", "createRuntime", "poststop", "prestart", "path", "args",
	"timeout", "allow", "type", "major", "minor", "access", "c", "rw", "rwm", "fileMode", "uid", "gid", "process",
	"annotations", "io.vqp.network", "vqp-hook", HOOK, NETWORK, VQP_DEVICE_PATH, "/dev/null", "", NULL,
};

static bool late;
static const struct vqp_grant grant = {
	.hook = HOOK, .network_hook = NETWORK, .stage = "createRuntime", .late = &late,
};

static json_object *at(json_object *object, const char *const *path)
{
	for (; object && *path; path++)
		if (!json_object_object_get_ex(object, *path, &object))
			return NULL;
	return object;
}

static bool has_path(json_object *item, const char *wanted)
{
	json_object *path = at(item, (const char *const[]){ "path", NULL });

	/* one with a NUL in it is another */
	return path && json_object_is_type(path, json_type_string) &&
	       json_object_get_string_len(path) == (int)strlen(wanted) && !strcmp(json_object_get_string(path), wanted);
}

static bool has_one_of(json_object *item, const char *const *paths)
{
	while (*paths && !has_path(item, *paths))
		paths++;
	return *paths;
}

/* The array holds what it held, less what has paths of ours, and then one for each of these. */
static void check_list(json_object *before, json_object *after, const char *const *path, const char *const *ours)
{
	json_object *old = at(before, path), *new = at(after, path);
	size_t n = 0;

	fuzz_check(json_object_is_type(new, json_type_array));
	for (size_t i = 0; old && i < json_object_array_length(old); i++) {
		json_object *item = json_object_array_get_idx(old, i);

		if (has_one_of(item, ours))
			continue;
		fuzz_check(json_object_equal(item, json_object_array_get_idx(new, n)));
		n++;
	}
	for (; *ours; ours++, n++)
		fuzz_check(has_path(json_object_array_get_idx(new, n), *ours));
	fuzz_check(json_object_array_length(new) == n);
}

/* Other members of the object at `path` are as they were. */
static void check_others(json_object *before, json_object *after, const char *const *path, const char *const *but)
{
	json_object *old = at(before, path), *new = at(after, path);
	int added = 0;

	if (!old)
		return;
	json_object_object_foreach(old, key, value) {
		const char *const *mine = but;

		while (*mine && strcmp(*mine, key))
			mine++;
		if (!*mine)
			fuzz_check(json_object_equal(value, at(new, (const char *const[]){ key, NULL })));
	}
	for (; *but; but++)
		added += !json_object_object_get_ex(old, *but, NULL);
	fuzz_check(json_object_object_length(new) == json_object_object_length(old) + added);
}

#define PATH(...)	((const char *const[]){ __VA_ARGS__, NULL })

static bool wants_network(json_object *spec)
{
	json_object *annotations = at(spec, PATH("annotations"));

	return json_object_is_type(annotations, json_type_object) &&
	       json_object_object_get_ex(annotations, "io.vqp.network", NULL);
}

static void check_edit(json_object *before, json_object *after)
{
	check_others(before, after, (const char *const[]){ NULL }, PATH("linux", "hooks"));
	check_others(before, after, PATH("linux"), PATH("devices", "resources"));
	check_others(before, after, PATH("linux", "resources"), PATH("devices"));
	check_others(before, after, PATH("hooks"), PATH("createRuntime", "poststop"));
	check_list(before, after, PATH("linux", "devices"), PATH(VQP_DEVICE_PATH));
	if (wants_network(before)) {
		check_list(before, after, PATH("hooks", "createRuntime"), PATH(NETWORK, HOOK));
		check_list(before, after, PATH("hooks", "poststop"), PATH(HOOK, NETWORK));
	} else {
		check_list(before, after, PATH("hooks", "createRuntime"), PATH(HOOK));
		check_list(before, after, PATH("hooks", "poststop"), PATH(HOOK));
	}
	fuzz_check(json_object_array_length(at(after, PATH("linux", "resources", "devices"))));
}

static void check_twice(json_object *spec)
{
	const char *text = json_object_to_json_string_ext(spec, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	json_object *again;
	struct vqp_error error = { 0 };

	fuzz_check(!vqp_spec_edit(text, strlen(text), &grant, &again, &error));
	fuzz_check(json_object_equal(spec, again));
	json_object_put(again);
}

/* json_tokener_parse() takes 32 levels, which are fewer than a specification may have. */
static json_object *parse(const char *text, size_t bytes)
{
	json_tokener *tokener = json_tokener_new_ex(1000);
	json_object *object;

	fuzz_check(tokener);
	object = json_tokener_parse_ex(tokener, text, (int)bytes + 1);
	json_tokener_free(tokener);
	return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	struct vqp_error error = { 0 };
	json_object *spec, *before;

	fuzz_check(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (vqp_spec_edit(text, bytes, &grant, &spec, &error)) {
		fuzz_check(!spec && error.text);
	} else {
		before = parse(text, bytes);
		fuzz_check(before && !error.text);
		check_edit(before, spec);
		check_twice(spec);
		json_object_put(before);
		json_object_put(spec);
	}
	vqp_error_clear(&error);
	free(text);
	return 0;
}
