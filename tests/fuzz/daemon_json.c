// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Docker's daemon.json: whatever it says, the runtime vqp is added to it once, all else that it says stays, and when the
 * runtime is taken out it is again what it was, byte for byte.
 */
#define _GNU_SOURCE
#include "../../node/ctl/daemon_json.h"
#include "json.h"

#define RUNTIME "/usr/local/bin/vqp-runtime"

const char *const fuzz_words[] = {
	"runtimes", "vqp", "path", "default-runtime", RUNTIME, "runtimeArgs", "nvidia", "bip", "", NULL,
};

/* The text without the runtime, and without an empty list of runtimes. */
static json_t *others(const char *text)
{
	json_t *json = json_loads(text, 0, NULL), *runtimes = json_object_get(json, "runtimes");

	json_object_del(runtimes, "vqp");
	if (!json_object_size(runtimes))
		json_object_del(json, "runtimes");
	return json ? json : json_object();
}

static bool has_runtime(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	const char *path = json_string_value(json_object_get(json_object_get(json_object_get(json, "runtimes"), "vqp"), "path"));
	bool has = path && !strcmp(path, RUNTIME);

	json_decref(json);
	return has;
}

static void check(const char *text, const char *once)
{
	struct vqp_error error = { 0 };
	json_t *before = others(text), *after = others(once);
	char *twice, *undone;

	fuzz_check(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	fuzz_check(has_runtime(once));
	fuzz_check(!ctl_daemon_json_add(once, RUNTIME, &twice, &error) && !strcmp(once, twice));
	free(twice);
	/* A text with vqp's own runtime is no backup. */
	if (!ctl_daemon_json_remove(once, text, &undone, &error) && !ctl_daemon_json_is_ours(text))
		fuzz_check(!strcmp(once, text) || (undone && !strcmp(undone, text)));
	free(undone);
	vqp_error_clear(&error);
	/* The backup may be lost. */
	if (!ctl_daemon_json_remove(once, NULL, &undone, &error)) {
		before = others(text);
		after = others(undone ? undone : "{}");
		fuzz_check(json_equal(before, after));
		json_decref(before);
		json_decref(after);
	}
	free(undone);
	vqp_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = strndup((const char *)data, bytes), *once = NULL;
	struct vqp_error error = { 0 };

	if (text && !ctl_daemon_json_add(text, RUNTIME, &once, &error))
		check(text, once);
	free(once);
	vqp_error_clear(&error);
	free(text);
	return 0;
}
