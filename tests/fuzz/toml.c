// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * containerd's configuration: whatever the file says, the runtime vqp is added once, to it or to one that it imports,
 * nothing else of it changes, and when the runtime is taken out it is again what it was, byte for byte.
 */
#define _GNU_SOURCE
#include "../../node/ctl/containerd.h"
#include "../../node/ctl/containerd_config.h"
#include "../../node/ctl/toml.h"
#include "../../node/ctl/toml_block.h"
#include "fuzz.h"

static struct ctl_site site = {
	.programs = { .runtime = "/usr/local/bin/vqp-runtime" },
	.config = "/etc/containerd/config.toml", .real = "/usr/sbin/runc",
};

/* Returns what an edit makes of the text; NULL if it is refused. */
static char *edited(const char *before, const char *backup, bool remove)
{
	struct vqp_error error = { 0 };
	char *after;
	int ret = ctl_containerd_edit(&(struct ctl_edit){ .before = before, .backup = backup, .site = &site, .remove = remove },
				      &after, &error);

	fuzz_check(ret <= 0 && (ret == 0) == (after != NULL) && (ret == 0) == (error.text == NULL));
	vqp_error_clear(&error);
	return after;
}

static bool has_runtime(const char *text)
{
	struct vqp_error error = { 0 };
	json_t *json = ctl_toml_parse(text, &error);
	const json_t *runtimes = json_object_get(ctl_containerd_part(json), "runtimes");
	const char *binary = ctl_containerd_binary(json_object_get(runtimes, "vqp"));
	bool has = binary && !strcmp(binary, site.programs.runtime);

	json_decref(json);
	vqp_error_clear(&error);
	return has;
}

/* Is the runtime in the file, or in one that it imports, which may be refused? */
static bool is_added(const char *once)
{
	struct vqp_error error = { 0 };
	char path[PATH_MAX], *imported = NULL;
	bool has;

	if (!ctl_containerd_import(&site, path))
		return has_runtime(once);
	has = ctl_containerd_edit_import(&(struct ctl_edit){ .site = &site }, &imported, &error) || has_runtime(imported);
	free(imported);
	vqp_error_clear(&error);
	return has;
}

static void check(const char *text)
{
	char *once = edited(text, NULL, false), *twice, *undone;

	if (!once)
		return;
	fuzz_check(is_added(once));
	twice = edited(once, text, false);
	undone = edited(once, text, true);
	fuzz_check(twice && !strcmp(once, twice));
	fuzz_check(undone && !strcmp(undone, text));
	free(once);
	free(twice);
	free(undone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = strndup((const char *)data, bytes);

	site.main = text;
	if (text && !ctl_toml_block_is_in(text))
		check(text);
	free(text);
	return 0;
}
