/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl/engine.h"

static const struct ctl_programs programs = { .runtime = "/usr/local/bin/vqp-runtime", .hook = "/usr/local/bin/vqp-hook" };

/* The engine's first file, edited. */
static int edit(const char *engine, const char *before, const char *backup, bool remove, char **after,
		struct vqp_error *error)
{
	const struct ctl_engine_file *file = ctl_engine_find(engine)->files;

	*after = NULL;
	return file->edit(&(struct ctl_edit){ .before = before, .backup = backup, .programs = &programs, .remove = remove },
			  after, error);
}

static char *edited(const char *engine, const char *before, const char *backup, bool remove)
{
	struct vqp_error error = { 0 };
	char *after;

	assert_int_equal(edit(engine, before, backup, remove, &after, &error), 0);
	assert_null(error.text);
	return after;
}

static void refuses(const char *engine, const char *before, bool remove, const char *text)
{
	struct vqp_error error = { 0 };
	char *after;

	assert_true(edit(engine, before, NULL, remove, &after, &error) < 0);
	assert_null(after);
	assert_non_null(strstr(vqp_error_text(&error), text));
	vqp_error_clear(&error);
}

/* Once is as good as twice, and taking it back brings back what was there. */
static void comes_and_goes(const char *engine, const char *before)
{
	char *once = edited(engine, before, NULL, false), *twice, *undone;

	assert_non_null(strstr(once, programs.runtime));
	twice = edited(engine, once, before, false);
	assert_string_equal(once, twice);
	undone = edited(engine, once, before, true);
	if (before)
		assert_string_equal(undone, before);
	else
		assert_null(undone);
	free(once);
	free(twice);
	free(undone);
}

static void docker_has_the_runtime_beside_all_else(void **state)
{
	char *after = edited("docker", "{\"bip\": \"10.1.0.1/24\", \"runtimes\": {\"kata\": {\"path\": \"/k\"}}}", NULL, false);
	json_t *json = unit_json(after), *runtimes = json_object_get(json, "runtimes");

	(void)state;
	unit_assert_string(json, "bip", "10.1.0.1/24");
	unit_assert_string(json_object_get(runtimes, "kata"), "path", "/k");
	unit_assert_string(json_object_get(runtimes, "vqp"), "path", programs.runtime);
	json_decref(json);
	free(after);
}

static void docker_s_other_settings_of_the_runtime_stay(void **state)
{
	char *after = edited("docker", "{\"runtimes\": {\"vqp\": {\"path\": \"/old\", \"runtimeArgs\": [\"--debug\"]}}}", NULL, false);
	json_t *json = unit_json(after), *vqp = json_object_get(json_object_get(json, "runtimes"), "vqp");

	(void)state;
	unit_assert_string(vqp, "path", programs.runtime);
	assert_int_equal(json_array_size(json_object_get(vqp, "runtimeArgs")), 1);
	json_decref(json);
	free(after);
}

static void docker_s_file_comes_back(void **state)
{
	(void)state;
	comes_and_goes("docker", NULL);
	comes_and_goes("docker", "{}");
	comes_and_goes("docker", "\n");
	comes_and_goes("docker", "{ \"bip\":\"10.1.0.1/24\" ,\"a\":[1.5,1e3,-0.25],\"big\":9223372036854775807}");
	comes_and_goes("docker", "{\"runtimes\":{}}");
	comes_and_goes("docker", "{\"runtimes\": {\"kata\": {\"path\": \"/k\"}}}\n");
}

static void docker_keeps_what_changed_since(void **state)
{
	char *after = edited("docker", "{\"debug\": true, \"runtimes\": {\"vqp\": {\"path\": \"/x\"}}}", "{}", true);

	(void)state;
	assert_string_equal(after, "{\n    \"debug\": true\n}\n");
	free(after);
	after = edited("docker", "{\"debug\":true}", "{}", true);
	assert_string_equal(after, "{\"debug\":true}");
	free(after);
	assert_null(edited("docker", NULL, NULL, true));
}

static void docker_s_malformed_file_stays(void **state)
{
	(void)state;
	refuses("docker", "{", false, "not JSON");
	refuses("docker", "[]", false, "not a JSON object");
	refuses("docker", "{\"a\": 1, \"a\": 2}", false, "not JSON");
	refuses("docker", "{\"n\": 9223372036854775808}", false, "not JSON");
	refuses("docker", "{\"runtimes\": []}", false, "\"runtimes\"");
	refuses("docker", "{\"runtimes\": []}", true, "\"runtimes\"");
	refuses("docker", "{\"default-runtime\": \"vqp\", \"runtimes\": {\"vqp\": {}}}", true, "default-runtime");
}

static void containerd_has_a_block_behind_all_else(void **state)
{
	static const char before[] = "version = 2\n[plugins]\n  [plugins.\"x\"]\n    a = 1";
	char *after = edited("containerd", before, NULL, false);

	(void)state;
	assert_int_equal(strncmp(after, before, strlen(before)), 0);
	assert_non_null(strstr(after, "\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.vqp]\n"));
	assert_non_null(strstr(after, "BinaryName = \"/usr/local/bin/vqp-runtime\"\n"));
	free(after);
	after = edited("containerd", "version = 3\n", NULL, false);
	assert_non_null(strstr(after, "[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.vqp]\n"));
	free(after);
}

/* Its own runc counts no more once a runtime is named. */
static void containerd_still_has_runc(void **state)
{
	static const char own[] = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n";
	char *after = edited("containerd", "version = 2\n[a.containerd.runtimes.runc-old]\n", NULL, false);

	(void)state;
	assert_non_null(strstr(after, ".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n"));
	free(after);
	after = edited("containerd", own, NULL, false);
	assert_null(strstr(after + strlen(own), "runtimes.runc]"));
	free(after);
}

/* As kubeadm's users have it, and as containerd 2 writes it. */
static void containerd_s_options_of_runc_are_vqp_s(void **state)
{
	static const char two[] =
		"version = 2\n"
		"[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
		"  runtime_type = \"io.containerd.runc.v2\"\n"
		"  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
		"    BinaryName = \"/opt/runc\"\n"
		"    # a word of theirs\n"
		"    SystemdCgroup = true\n"
		"\n"
		"    Root = \"/run/r\"\n"
		"  [plugins.\"io.containerd.grpc.v1.cri\".other]\n"
		"    x = 1\n";
	static const char three[] =
		"version = 3\n"
		"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\n"
		"\t'BinaryName' = ''\n"
		"\tSystemdCgroup = true";
	char *after = edited("containerd", two, NULL, false);

	(void)state;
	assert_non_null(strstr(after, "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.vqp.options]\n"
				      "BinaryName = \"/usr/local/bin/vqp-runtime\"\n"
				      "SystemdCgroup = true\n"
				      "Root = \"/run/r\"\n"
				      "# The end"));
	free(after);
	after = edited("containerd", three, NULL, false);
	assert_non_null(strstr(after, "[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.vqp.options]\n"
				      "BinaryName = \"/usr/local/bin/vqp-runtime\"\n"
				      "SystemdCgroup = true\n"
				      "# The end"));
	free(after);
	comes_and_goes("containerd", two);
	comes_and_goes("containerd", three);
}

static void containerd_s_file_comes_back(void **state)
{
	(void)state;
	comes_and_goes("containerd", NULL);
	comes_and_goes("containerd", "# mine\nversion = 2\n\n[plugins]\n\n");
	comes_and_goes("containerd", "  version=3\n[a]\nversion = 1\n");
	comes_and_goes("containerd", "version = 2\n[a]");
	comes_and_goes("containerd", "version = 2");
	comes_and_goes("containerd", "version = 2\n");
}

static void containerd_keeps_what_was_written_behind(void **state)
{
	char *after = edited("containerd", "version = 2\n", NULL, false), *more = malloc(strlen(after) + 32), *twice;

	(void)state;
	assert_non_null(more);
	sprintf(more, "%s[debug]\n", after);
	twice = edited("containerd", more, NULL, false);
	assert_string_equal(twice, more);
	free(after);
	after = edited("containerd", more, NULL, true);
	assert_string_equal(after, "version = 2\n[debug]\n");
	free(after);
	free(more);
	free(twice);
}

static void containerd_s_strange_file_stays(void **state)
{
	char *after = edited("containerd", "version = 2\n", NULL, false), *end;

	(void)state;
	refuses("containerd", "", false, "version 1");
	refuses("containerd", "[plugins]\nversion = 2\n", false, "version 1");
	refuses("containerd", "version = 1\n", false, "version 1");
	refuses("containerd", "version = 2\n  [plugins.cri.containerd.runtimes.vqp]\n", false, "somebody else");
	end = strstr(after, "# The end");
	*end = '\0';
	refuses("containerd", after, false, "mark");
	refuses("containerd", after, true, "mark");
	free(after);
}

static void files_of_vqp_s_own_name_the_programs(void **state)
{
	char *after = edited("podman", NULL, NULL, false);

	(void)state;
	assert_non_null(strstr(after, "vqp = [\"/usr/local/bin/vqp-runtime\"]\n"));
	free(after);
	after = edited("crio", "whatever", NULL, false);
	assert_non_null(strstr(after, "runtime_path = \"/usr/local/bin/vqp-runtime\"\n"));
	free(after);
	assert_null(edited("podman", "whatever", NULL, true));
	assert_null(edited("crio", NULL, NULL, true));
}

static void a_cdi_specification_has_the_device_and_the_hooks(void **state)
{
	json_t *cdi = ctl_engine_cdi(&programs), *edits, *hooks, *mount;

	(void)state;
	unit_assert_string(cdi, "cdiVersion", "0.3.0");
	unit_assert_string(cdi, "kind", "vqp.io/device");
	edits = json_object_get(json_array_get(json_object_get(cdi, "devices"), 0), "containerEdits");
	unit_assert_string(json_array_get(json_object_get(edits, "deviceNodes"), 0), "path", "/dev/vqp");
	hooks = json_object_get(edits, "hooks");
	assert_int_equal(json_array_size(hooks), 3);
	unit_assert_string(json_array_get(hooks, 0), "hookName", "createRuntime");
	assert_int_equal(json_array_size(json_object_get(json_array_get(hooks, 0), "args")), 3);
	/* the container's own program, which is the host's */
	mount = json_array_get(json_object_get(edits, "mounts"), 0);
	unit_assert_string(mount, "hostPath", programs.hook);
	unit_assert_string(json_array_get(hooks, 1), "hookName", "startContainer");
	unit_assert_string(json_array_get(hooks, 1), "path", json_string_value(json_object_get(mount, "containerPath")));
	unit_assert_string(json_array_get(hooks, 2), "hookName", "poststop");
	unit_assert_string(json_array_get(hooks, 2), "path", programs.hook);
	assert_int_equal(json_array_size(json_object_get(json_array_get(hooks, 2), "args")), 2);
	json_decref(cdi);
}

static void there_are_no_other_engines(void **state)
{
	(void)state;
	assert_null(ctl_engine_find("lxc"));
	assert_null(ctl_engine_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docker_has_the_runtime_beside_all_else),
		cmocka_unit_test(docker_s_other_settings_of_the_runtime_stay),
		cmocka_unit_test(docker_s_file_comes_back),
		cmocka_unit_test(docker_keeps_what_changed_since),
		cmocka_unit_test(docker_s_malformed_file_stays),
		cmocka_unit_test(containerd_has_a_block_behind_all_else),
		cmocka_unit_test(containerd_still_has_runc),
		cmocka_unit_test(containerd_s_options_of_runc_are_vqp_s),
		cmocka_unit_test(containerd_s_file_comes_back),
		cmocka_unit_test(containerd_keeps_what_was_written_behind),
		cmocka_unit_test(containerd_s_strange_file_stays),
		cmocka_unit_test(files_of_vqp_s_own_name_the_programs),
		cmocka_unit_test(a_cdi_specification_has_the_device_and_the_hooks),
		cmocka_unit_test(there_are_no_other_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
