/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl/containerd.h"
#include "../ctl/engine.h"

static struct ctl_site site = {
	.programs = { .runtime = "/usr/local/bin/vqp-runtime", .hook = "/usr/local/bin/vqp-hook" },
	.config = "/etc/containerd/config.toml", .real = "/usr/sbin/runc",
};

/* The engine's first file, edited. */
static int edit(const char *engine, const char *before, const char *backup, bool remove, char **after,
		struct vqp_error *error)
{
	const struct ctl_engine_file *file = ctl_engine_find(engine)->files;
	struct ctl_site its = site;
	int ret;

	*after = NULL;
	its.main = before ? strdup(before) : NULL;
	ret = file->edit(&(struct ctl_edit){ .before = before, .backup = backup, .site = &its, .remove = remove }, after, error);
	free(its.main);
	return ret;
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

	assert_non_null(strstr(once, site.programs.runtime));
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
	unit_assert_string(json_object_get(runtimes, "vqp"), "path", site.programs.runtime);
	json_decref(json);
	free(after);
}

static void docker_s_other_settings_of_the_runtime_stay(void **state)
{
	char *after = edited("docker", "{\"runtimes\": {\"vqp\": {\"path\": \"/old\", \"runtimeArgs\": [\"--debug\"]}}}", NULL, false);
	json_t *json = unit_json(after), *vqp = json_object_get(json_object_get(json, "runtimes"), "vqp");

	(void)state;
	unit_assert_string(vqp, "path", site.programs.runtime);
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

static void is_edited(const char *before, const char *expected)
{
	char *after = edited("docker", before, NULL, false), *undone = edited("docker", after, NULL, true);

	assert_string_equal(after, expected);
	assert_string_equal(undone, before);
	free(after);
	free(undone);
}

/* As it stands there, and also if there is no backup any more. */
static void all_else_of_docker_s_file_stays_as_it_is_written(void **state)
{
#define RUNTIME "\"vqp\": {\"path\": \"/usr/local/bin/vqp-runtime\"}"
	(void)state;
	is_edited("{\n\t\"a\": 1e3,\r\n  \"b\" : \"\\/{\\\"\"\n}",
		  "{\n\t\"runtimes\": {" RUNTIME "},\n\t\"a\": 1e3,\r\n  \"b\" : \"\\/{\\\"\"\n}");
	is_edited("{\"x\": {\"runtimes\": {}}, \"runtimes\" :\n{ \"k\":{\"path\": \"/k\"}} }",
		  "{\"x\": {\"runtimes\": {}}, \"runtimes\" :\n{ " RUNTIME ", \"k\":{\"path\": \"/k\"}} }");
#undef RUNTIME
}

static void docker_has_again_what_somebody_else_called_vqp(void **state)
{
	(void)state;
	comes_and_goes("docker", "{\"runtimes\": {\"vqp\": {\"path\": \"/old\"}}}");
}

/* Configures twice, the second time for another prefix; the first text is the backup or, as it should be, none is. */
static void goes_after_another_prefix(const char *engine, bool with_backup)
{
	struct ctl_site first = site, second = site;
	const struct ctl_engine_file *file = ctl_engine_find(engine)->files;
	struct vqp_error error = { 0 };
	char *one, *two, *undone;

	strcpy(first.programs.runtime, "/opt/vqp/vqp-runtime");
	assert_int_equal(file->edit(&(struct ctl_edit){ .site = &first }, &one, &error), 0);
	assert_true(file->is_ours(one));
	assert_int_equal(file->edit(&(struct ctl_edit){ .before = one, .site = &second }, &two, &error), 0);
	assert_null(strstr(two, "/opt"));
	undone = edited(engine, two, with_backup ? one : NULL, true);
	assert_null(undone);
	free(one);
	free(two);
}

static void vqp_s_own_text_is_no_backup(void **state)
{
	(void)state;
	goes_after_another_prefix("docker", false);
	goes_after_another_prefix("docker", true);
	goes_after_another_prefix("containerd", false);
	goes_after_another_prefix("containerd", true);
	assert_false(ctl_engine_find("docker")->files->is_ours("{\"runtimes\": {\"vqp\": {\"path\": \"/x/vqp-runtime\", \"runtimeArgs\": []}}}"));
	assert_false(ctl_engine_find("docker")->files->is_ours("{\"runtimes\": {\"vqp\": {\"path\": \"/x/runc\"}}}"));
	assert_false(ctl_engine_find("docker")->files->is_ours("{"));
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
static void containerd_s_default_runtime_is_what_vqp_is_like(void **state)
{
	static const char two[] =
		"version = 2\n"
		"plugins.\"io.containerd.grpc.v1.cri\".containerd.default_runtime_name = 's.t'\n"
		"[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.\"s.t\"]\n"
		"  runtime_type = \"io.containerd.runc.v2\"\n"
		"  base_runtime_spec = \"/etc/containerd/\\\"base\\\".json\"\n"
		"  pod_annotations = [\"a.*\", \n\"b\"] # two\n"
		"  cni_max_conf_num = 2\n"
		"  snapshotter = \"\"\n"
		"  options = { BinaryName = 'runc', SystemdCgroup = true, \"Root\" = '/run/r' }\n";
	static const char three[] =
		"version = 3\n"
		"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
		"\t'runtime_type' = 'io.containerd.runc.v2'\n"
		"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\n"
		"\t'BinaryName' = ''\n"
		"\tSystemdCgroup = true";
	char *after = edited("containerd", two, NULL, false);

	(void)state;
	assert_string_equal(after + strlen(two),
			    "# The runtime vqp, by vqpctl configure containerd; --remove takes it out.\n"
			    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.vqp]\n"
			    "base_runtime_spec = \"/etc/containerd/\\\"base\\\".json\"\n"
			    "cni_max_conf_num = 2\n"
			    "pod_annotations = [\"a.*\", \"b\", \"io.vqp.*\"]\n"
			    "runtime_type = \"io.containerd.runc.v2\"\n"
			    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.vqp.options]\n"
			    "BinaryName = \"/usr/local/bin/vqp-runtime\"\n"
			    "Root = \"/run/r\"\n"
			    "SystemdCgroup = true\n"
			    "# The end of the runtime vqp.\n");
	free(after);
	after = edited("containerd", three, NULL, false);
	assert_non_null(strstr(after, "[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.vqp.options]\n"
				      "SystemdCgroup = true\n"
				      "BinaryName = \"/usr/local/bin/vqp-runtime\"\n"
				      "# The end"));
	free(after);
	comes_and_goes("containerd", two);
	comes_and_goes("containerd", three);
}

/* What containerd shows counts more than its file: it knows what the file imports. */
static void containerd_s_own_view_counts(void **state)
{
	char *after;

	(void)state;
	site.shown = unit_json("{\"version\": 2, \"plugins\": {\"io.containerd.grpc.v1.cri\": {\"containerd\": {"
			       "\"default_runtime_name\": \"a.b\", \"runtimes\": {"
			       "\"a.b\": {\"runtime_type\": \"io.containerd.runc.v2\", \"snapshotter\": \"s\"}}}}}}");
	after = edited("containerd", "version = 2\n", NULL, false);
	assert_non_null(strstr(after, ".containerd.runtimes.\"a.b\"]\nruntime_type = \"io.containerd.runc.v2\"\nsnapshotter = \"s\"\n"));
	free(after);
	json_decref(site.shown);
	site.shown = unit_json("{\"version\": 2, \"plugins\": {\"io.containerd.grpc.v1.cri\": {\"containerd\": {\"runtimes\": {"
			       "\"runc\": {\"runtime_type\": \"io.containerd.runc.v2\", \"sandbox_mode\": \"podsandbox\","
			       "\"snapshotter\": \"\", \"options\": {\"SystemdCgroup\": true, \"IoUid\": 0}}}}}}}");
	after = edited("containerd", "version = 2\n", NULL, false);
	assert_non_null(strstr(after, "runtimes.vqp.options]\nSystemdCgroup = true\nBinaryName = \"/usr/local/bin/vqp-runtime\"\n#"));
	assert_null(strstr(after, "IoUid"));
	assert_null(strstr(after, "snapshotter"));
	assert_null(strstr(after, "sandbox_mode"));
	free(after);
	json_decref(site.shown);
	site.shown = unit_json("{\"version\": 2, \"disabled_plugins\": [\"x\", \"io.containerd.grpc.v1.cri\"]}");
	refuses("containerd", "version = 2\n", false, "disabled_plugins");
	json_decref(site.shown);
	site.shown = unit_json("{\"version\": 3, \"plugins\": {\"io.containerd.cri.v1.runtime\": {\"containerd\": "
			       "{\"runtimes\": {\"vqp\": {}}}}}}");
	refuses("containerd", "version = 3\n", false, "imports has a runtime vqp");
	json_decref(site.shown);
	site.shown = NULL;
}

/* containerd 2.3 shows version 4, whatever the file's version is. */
static void a_newer_version_is_read_by_what_is_there(void **state)
{
#define SHOWN(plugin, binary) "{\"version\": 4, \"plugins\": {\"io.containerd.cri.v1.images\": {}, \"" plugin "\": {\"containerd\": {\"runtimes\": {" \
	"\"vqp\": {\"runtime_type\": \"io.containerd.runc.v2\", \"pod_annotations\": [\"io.vqp.*\"], \"options\": {\"BinaryName\": \"" binary "\"}}, " \
	"\"runc\": {\"runtime_type\": \"io.containerd.runc.v2\"}}}}}}"
	json_t *good = unit_json(SHOWN("io.containerd.cri.v1.runtime", "/usr/local/bin/vqp-runtime"));
	json_t *other = unit_json(SHOWN("io.containerd.cri.v1.runtime", "/usr/bin/runc"));
	json_t *strange = unit_json(SHOWN("io.containerd.cri.v2.runtime", "/usr/local/bin/vqp-runtime"));
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(ctl_containerd_compare(&site, good, &error), 0);
	assert_int_equal(ctl_containerd_compare(&site, other, &error), -EPROTO);
	assert_non_null(strstr(vqp_error_text(&error), "would not have the runtime"));
	assert_int_equal(ctl_containerd_compare(&site, strange, &error), -EPROTO);
	assert_non_null(strstr(vqp_error_text(&error), "version 4, in which vqpctl finds no runtimes"));
	vqp_error_clear(&error);
	site.shown = strange;
	json_object_del(json_object_get(json_object_get(json_object_get(json_object_get(strange, "plugins"),
		"io.containerd.cri.v2.runtime"), "containerd"), "runtimes"), "vqp");
	comes_and_goes("containerd", "version = 3\n");
	site.shown = NULL;
	json_decref(good);
	json_decref(other);
	json_decref(strange);
#undef SHOWN
}

/* vqp-runtime would start runc in place of another program. */
static void a_runtime_that_vqp_would_not_start_is_named_first(void **state)
{
	static const char nvidia[] =
		"version = 2\n"
		"[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
		"runtime_type = \"io.containerd.runc.v2\"\n"
		"options.BinaryName = \"/usr/bin/nvidia-container-runtime\"\n";

	(void)state;
	refuses("containerd", nvidia, false, "as \"runtime\" in /etc/vqp/runtime.json");
	site.real_is_chosen = true;
	comes_and_goes("containerd", nvidia);
	site.real_is_chosen = false;
}

/* What the operator's file says; NULL if vqp-runtime refuses it. */
static const char *operator_text;

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error)
{
	if (!operator_text)
		return vqp_error_set(error, -EPERM, "%s could be written by others", path);
	*text = strdup(operator_text);
	*bytes = strlen(operator_text);
	return *text ? 0 : -ENOMEM;
}

static void real_is(const char *text, bool chosen, const char *name)
{
	struct ctl_site found = { 0 };
	struct vqp_error error = { 0 };

	operator_text = text;
	assert_int_equal(ctl_site_find_real(&found, &error), 0);
	assert_int_equal(found.real_is_chosen, chosen);
	if (name)
		assert_string_equal(found.real, name);
}

static void what_vqp_runtime_starts_is_found_as_it_does(void **state)
{
	struct ctl_site found = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	real_is("{}", false, NULL);
	real_is("{\"runtime\": \"/bin/sh\"}", true, "/bin/sh");
	real_is("{\"runtime\": \"/nonexistent/runtime\"}", true, "/nonexistent/runtime");
	real_is("{\"runtime\": \"env\"}", true, "/usr/bin/env");
	operator_text = NULL;
	assert_int_equal(ctl_site_find_real(&found, &error), -EPERM);
	vqp_error_clear(&error);
}

/* The text of the file that an edit of the main one leaves to it. */
static char *imported(const char *text, const char *config, char path[PATH_MAX])
{
	const struct ctl_engine_file *file = &ctl_engine_find("containerd")->files[1];
	struct vqp_error error = { 0 };
	struct ctl_site its = site;
	char *after = NULL;

	its.main = strdup(text);
	its.config = config;
	if (ctl_engine_file_find(file, &its, path))
		assert_int_equal(file->edit(&(struct ctl_edit){ .site = &its }, &after, &error), 0);
	free(its.main);
	return after;
}

static void containerd_2_has_a_file_in_a_directory_that_it_imports(void **state)
{
	static const char text[] = "version = 3\nimports = ['one.toml', 'conf.d/*.toml']\n";
	char path[PATH_MAX], *after = edited("containerd", text, NULL, false);

	(void)state;
	assert_string_equal(after, text);
	free(after);
	after = imported(text, "/a/b/config.toml", path);
	assert_string_equal(path, "/a/b/conf.d/50-vqp.toml");
	assert_non_null(after);
	assert_non_null(after ? strstr(after, "\nversion = 3\n[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.vqp]\n") : NULL);
	free(after);
	after = imported("version = 3\nimports = ['/c/*.toml']\n", "/a/b/config.toml", path);
	assert_string_equal(path, "/c/50-vqp.toml");
	free(after);
	assert_null(imported("version = 2\nimports = ['/c/*.toml']\n", "/a/b/config.toml", path));
	assert_null(imported("version = 3\nimports = ['/c/*/*.toml', '/c/d', 7]\n", "/a/b/config.toml", path));
}

static void what_an_earlier_configure_wrote_is_found(void **state)
{
	const struct ctl_engine_file *file = &ctl_engine_find("containerd")->files[1];
	struct ctl_site its = site;
	char imports[] = "version = 2\nimports = ['one.toml', '/c/*.toml', 'd/*.toml']\n", path[PATH_MAX];

	(void)state;
	assert_true(file->find_former(&its, 0, path));
	assert_string_equal(path, "/etc/containerd/conf.d/50-vqp.toml");
	assert_false(file->find_former(&its, 1, path));
	its.main = imports;
	assert_true(file->find_former(&its, 1, path));
	assert_string_equal(path, "/c/50-vqp.toml");
	assert_true(file->find_former(&its, 2, path));
	assert_string_equal(path, "/etc/containerd/d/50-vqp.toml");
	assert_false(file->find_former(&its, 3, path));
}

/* Files of vqp's own that are removed, unless somebody else has written them. */
static void somebody_else_s_file_stays(void **state)
{
	static const char *const engines[] = { "containerd", "podman", "crio" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		for (const struct ctl_engine_file *file = ctl_engine_find(engines[i])->files; file->edit; file++) {
			struct vqp_error error = { 0 };
			char *written, *after;

			if (file->shared)
				continue;
			site.main = strdup("version = 3\nimports = ['conf.d/*.toml']\n");
			assert_int_equal(file->edit(&(struct ctl_edit){ .site = &site }, &written, &error), 0);
			assert_int_equal(ctl_engine_file_edit(file, &(struct ctl_edit){ .before = written, .site = &site, .remove = true },
							      &after, &error), 0);
			assert_null(after);
			assert_int_equal(ctl_engine_file_edit(file, &(struct ctl_edit){ .before = "{\"hook\": {}}", .site = &site, .remove = true },
							      &after, &error), 0);
			assert_string_equal(after, "{\"hook\": {}}");
			free(after);
			free(written);
			free(site.main);
			site.main = NULL;
		}
	}
}

static void k3s_has_a_template(void **state)
{
	char *after;

	(void)state;
	site.config = "/k/config.toml.tmpl";
	site.generated = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
			 "runtime_type = \"io.containerd.runc.v2\"\noptions.SystemdCgroup = true\n";
	after = edited("containerd", NULL, NULL, false);
	assert_int_equal(strncmp(after, "{{ template \"base\" . }}\n# The runtime vqp", 40), 0);
	assert_non_null(strstr(after, "SystemdCgroup = true\n"));
	free(after);
	comes_and_goes("containerd", NULL);
	comes_and_goes("containerd", "# mine\n{{ template \"base\" . }}\n[debug]\nlevel = \"info\"");
	refuses("containerd", "version = 2\n", false, "template");
	refuses("containerd", "{{ template \"base\" . }}\n{{ end }}", false, "template");
	site.generated = NULL;
	site.config = "/k/config.toml";
	refuses("containerd", "\n# by k3s. DO NOT EDIT.\nversion = 2\n", false, "--config /k/config.toml.tmpl");
	site.config = "/etc/containerd/config.toml";
}

static void containerd_s_file_comes_back(void **state)
{
	(void)state;
	comes_and_goes("containerd", NULL);
	comes_and_goes("containerd", "# mine\nversion = 2\n\n[plugins]\n\n");
	comes_and_goes("containerd", "  version=3\n[a]\nversion = 1\n");
	comes_and_goes("containerd", "");
	comes_and_goes("containerd", "# version = 2");
	comes_and_goes("containerd", "version = 1\n");
	comes_and_goes("containerd", "version = 2\r\n[a]\r\nb = 1\r\n");
	comes_and_goes("containerd", "version = 2\n[a]");
	comes_and_goes("containerd", "version = 2");
	comes_and_goes("containerd", "version = 2\n");
}

/* As an editor leaves it. */
static char *with_crlf(const char *text)
{
	char *crlf = malloc(2 * strlen(text) + 1), *to = crlf;

	if (!crlf)
		return NULL;
	for (; *text; text++) {
		if (*text == '\n')
			*to++ = '\r';
		*to++ = *text;
	}
	*to = '\0';
	return crlf;
}

static void containerd_s_file_may_have_been_edited(void **state)
{
	char *once = edited("containerd", "version = 2\n", NULL, false), *crlf = with_crlf(once), *undone, *end;

	(void)state;
	undone = edited("containerd", crlf, "version = 2\n", true);
	assert_string_equal(undone, "version = 2\r\n");
	free(undone);
	/* without the last newline */
	once[strlen(once) - 1] = '\0';
	undone = edited("containerd", once, "version = 2\n", true);
	assert_string_equal(undone, "version = 2\n");
	free(undone);
	/* without the marks */
	for (char *mark = once; (mark = strchr(mark, '#')); *mark = ' ')
		for (end = mark; *end && *end != '\n'; end++)
			*end = ' ';
	refuses("containerd", once, true, "starts /usr/local/bin/vqp-runtime, and is not between");
	free(once);
	free(crlf);
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
	refuses("containerd", "version = 0\n", false, "version");
	refuses("containerd", "version = 4\n", false, "version");
	refuses("containerd", "version = 2\nversion = 2\n", false, "not TOML: line 2");
	refuses("containerd", "version = 2\nx = 2024-01-01\n", false, "a date");
	refuses("containerd", "version = 2\nx = \"\\u0000\"\n", false, "a zero byte");
	refuses("containerd", "disabled_plugins = ['cri']\n", false, "disabled_plugins");
	refuses("containerd", "version = 2\nplugins = {}\n", false, "nothing can be added");
	refuses("containerd", "version = 2\n  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.\"\\u0076qp\"]\n", false,
		"somebody else");
	refuses("containerd", "version = 2\nplugins.\"io.containerd.grpc.v1.cri\".containerd.default_runtime_name = 'vqp'\n", true,
		"default_runtime_name");
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

/* Where conmon is not in the PATH, CRI-O does not start if a handler has no monitor_path. */
static void crio_s_default_handler_is_what_vqp_is_like(void **state)
{
	char *after;

	(void)state;
	site.shown = unit_json("{\"crio\": {\"runtime\": {\"default_runtime\": \"crun\", \"runtimes\": {"
			       "\"runc\": {\"monitor_path\": \"/other\"}, \"crun\": {\"runtime_path\": \"/usr/libexec/crio/crun\","
			       "\"runtime_root\": \"/run/crun\", \"monitor_path\": \"/usr/libexec/crio/conmon\","
			       "\"allowed_annotations\": [\"x\"], \"platform_runtime_paths\": {\"a/b\": \"/c\"}}}}}}");
	refuses("crio", NULL, false, "its runtime crun starts /usr/libexec/crio/crun");
	strcpy(site.real, "/usr/libexec/crio/crun");
	after = edited("crio", NULL, NULL, false);
	assert_string_equal(after, "# Written by vqpctl configure crio\n"
				   "[crio.runtime.runtimes.vqp]\n"
				   "runtime_path = \"/usr/local/bin/vqp-runtime\"\n"
				   "runtime_root = \"/run/crun\"\n"
				   "monitor_path = \"/usr/libexec/crio/conmon\"\n"
				   "allowed_annotations = [\"x\"]\n"
				   "runtime_type = \"oci\"\n");
	free(after);
	json_decref(site.shown);
	strcpy(site.real, "/usr/sbin/runc");
	site.shown = unit_json("{\"crio\": {\"runtime\": {\"default_runtime\": \"vqp\", \"runtimes\": {\"vqp\": {}}}}}");
	refuses("crio", NULL, false, "somebody else");
	refuses("crio", NULL, true, "default_runtime");
	json_decref(site.shown);
	site.shown = NULL;
}

static void a_cdi_specification_has_the_device_and_the_hooks(void **state)
{
	json_t *cdi = ctl_engine_cdi(&site.programs), *edits, *hooks, *mount;

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
	unit_assert_string(mount, "hostPath", site.programs.hook);
	unit_assert_string(json_array_get(hooks, 1), "hookName", "startContainer");
	unit_assert_string(json_array_get(hooks, 1), "path", json_string_value(json_object_get(mount, "containerPath")));
	unit_assert_string(json_array_get(hooks, 2), "hookName", "poststop");
	unit_assert_string(json_array_get(hooks, 2), "path", site.programs.hook);
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
		cmocka_unit_test(all_else_of_docker_s_file_stays_as_it_is_written),
		cmocka_unit_test(docker_has_again_what_somebody_else_called_vqp),
		cmocka_unit_test(vqp_s_own_text_is_no_backup),
		cmocka_unit_test(docker_s_malformed_file_stays),
		cmocka_unit_test(containerd_has_a_block_behind_all_else),
		cmocka_unit_test(containerd_still_has_runc),
		cmocka_unit_test(containerd_s_default_runtime_is_what_vqp_is_like),
		cmocka_unit_test(containerd_s_own_view_counts),
		cmocka_unit_test(a_newer_version_is_read_by_what_is_there),
		cmocka_unit_test(a_runtime_that_vqp_would_not_start_is_named_first),
		cmocka_unit_test(what_vqp_runtime_starts_is_found_as_it_does),
		cmocka_unit_test(containerd_2_has_a_file_in_a_directory_that_it_imports),
		cmocka_unit_test(what_an_earlier_configure_wrote_is_found),
		cmocka_unit_test(somebody_else_s_file_stays),
		cmocka_unit_test(k3s_has_a_template),
		cmocka_unit_test(containerd_s_file_comes_back),
		cmocka_unit_test(containerd_s_file_may_have_been_edited),
		cmocka_unit_test(containerd_keeps_what_was_written_behind),
		cmocka_unit_test(containerd_s_strange_file_stays),
		cmocka_unit_test(files_of_vqp_s_own_name_the_programs),
		cmocka_unit_test(crio_s_default_handler_is_what_vqp_is_like),
		cmocka_unit_test(a_cdi_specification_has_the_device_and_the_hooks),
		cmocka_unit_test(there_are_no_other_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
