/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "container.h"
#include "program.h"

/* ---- What programs say of a container ---- */

/* Returns the member at a path of names, which ends with NULL; NULL if there is none. */
static const json_t *member(const json_t *json, const char *const path[])
{
	for (; json && *path; path++)
		json = json_object_get(json, *path);
	return json;
}

static const json_t *find_pid(const json_t *json)
{
	static const char *const paths[][3] = { { "pid" }, { "State", "Pid" }, { "info", "pid" } };
	const json_t *pid = NULL;

	for (unsigned int i = 0; !pid && i < sizeof(paths) / sizeof(*paths); i++)
		pid = member(json, paths[i]);
	return pid;
}

static const json_t *find_annotations(const json_t *json)
{
	static const char *const paths[][4] = {
		{ "annotations" },				/* runc and crun */
		{ "HostConfig", "Annotations" },		/* Docker from 24.0 */
		{ "Config", "Annotations" },			/* podman */
		{ "info", "runtimeSpec", "annotations" },	/* crictl */
	};
	const json_t *annotations = NULL;

	for (unsigned int i = 0; !json_is_object(annotations) && i < sizeof(paths) / sizeof(*paths); i++)
		annotations = member(json, paths[i]);
	return json_is_object(annotations) ? annotations : NULL;
}

int ctl_container_parse(struct ctl_container *container, const char *text, struct vqp_error *error)
{
	const json_t *one, *pid;

	*container = (struct ctl_container){ .json = json_loads(text, 0, NULL) };
	one = json_is_array(container->json) ? json_array_get(container->json, 0) : container->json;
	pid = find_pid(one);
	if (!json_is_integer(pid) || json_integer_value(pid) < 0 || json_integer_value(pid) > INT_MAX)
		return vqp_error_set(error, -EINVAL, "the answer is no container's");
	if (!json_integer_value(pid))
		return vqp_error_set(error, -ESRCH, "the container does not run");
	container->pid = (pid_t)json_integer_value(pid);
	container->annotations = find_annotations(one);
	return 0;
}

/* ---- Whom to ask ---- */

/*
 * Asks a program. Returns 1 if it knows the container and it runs, 0 if the program is not there or
 * does not know it, or a negative errno value with *error set.
 */
static int ask(struct ctl_container *container, const char *const argv[], struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	int ret = ctl_program_run(argv, CTL_PROGRAM_LIMIT_MS, &text, NULL);

	if (ret == -ETIMEDOUT)
		return vqp_error_set(error, ret, "%s does not answer", argv[0]);
	if (ret || !text)
		return 0;
	ret = ctl_container_parse(container, text, error);
	return ret ? vqp_error_add_context(error, "%s", argv[0]) : 1;
}

/* Asks runc and crun about the container whose directory they keep at `path`. */
static int ask_runtimes(struct ctl_container *container, const char *path, struct vqp_error *error)
{
	static const char *const runtimes[] = { "runc", "crun" };
	char root[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int ret = 0;

	snprintf(root, sizeof(root), "%.*s", (int)(slash - path), path);
	for (unsigned int i = 0; !ret && i < sizeof(runtimes) / sizeof(*runtimes); i++)
		ret = ask(container, (const char *const[]){ runtimes[i], "--root", root, "state", slash + 1, NULL }, error);
	return ret;
}

/*
 * Looks for the container in the roots of runtimes: of themselves, of docker, and of containerd,
 * which has one for each of its namespaces, as k8s.io.
 */
static int find_by_root(struct ctl_container *container, const char *id, struct vqp_error *error)
{
	static const char *const roots[] = { "/run/runc", "/run/crun", "/run/docker/runtime-*/*", "/run/containerd/runc/*" };
	int ret = 0;

	/* What has one of these in it is no container's name. */
	if (!*id || *id == '.' || strpbrk(id, "/*?[\\"))
		return 0;
	for (unsigned int i = 0; !ret && i < sizeof(roots) / sizeof(*roots); i++) {
		char pattern[PATH_MAX];
		glob_t found;

		if (snprintf(pattern, sizeof(pattern), "%s/%s", roots[i], id) >= (int)sizeof(pattern) || glob(pattern, 0, NULL, &found))
			continue;
		for (size_t n = 0; !ret && n < found.gl_pathc; n++)
			ret = ask_runtimes(container, found.gl_pathv[n], error);
		globfree(&found);
	}
	return ret;
}

static int find_by_engine(struct ctl_container *container, const char *name, struct vqp_error *error)
{
	static const char *const engines[][4] = {
		{ "docker", "container", "inspect" }, { "podman", "container", "inspect" },
		{ "crictl", "inspect" }, { "crictl", "inspectp" },
	};
	int ret = 0;

	for (unsigned int i = 0; !ret && i < sizeof(engines) / sizeof(*engines); i++) {
		const char *argv[6] = { 0 };
		unsigned int n = 0;

		for (; engines[i][n]; n++)
			argv[n] = engines[i][n];
		argv[n] = name;
		ret = ask(container, argv, error);
	}
	return ret;
}

int ctl_container_find(struct ctl_container *container, const char *name, struct vqp_error *error)
{
	int ret;

	*container = (struct ctl_container){ 0 };
	if (*name == '-')
		return vqp_error_set(error, -EINVAL, "\"%s\" is no container's name", name);
	ret = find_by_root(container, name, error);
	if (!ret)
		ret = find_by_engine(container, name, error);
	if (!ret)
		return vqp_error_set(error, -ENOENT, "no container %s: neither docker, podman, crictl nor runc or crun know it; "
				     "--pid takes the number of its process", name);
	return ret < 0 ? ret : 0;
}

void ctl_container_clear(struct ctl_container *container)
{
	json_decref(container->json);
	*container = (struct ctl_container){ 0 };
}
