/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/io.h"
#include "containerd.h"
#include "containerd_config.h"
#include "file.h"
#include "handler.h"
#include "program.h"
#include "toml.h"
#include "toml_block.h"

static bool find_containerd(const struct ctl_site *site, char path[PATH_MAX])
{
	static const char *const places[][2] = {
		{ "/var/lib/rancher/k3s/", "/var/lib/rancher/k3s/data/current/bin/containerd" },
		{ "/var/lib/rancher/rke2/", "/var/lib/rancher/rke2/bin/containerd" },
	};

	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!strncmp(site->config, places[i][0], strlen(places[i][0])) && !access(places[i][1], X_OK)) {
			strcpy(path, places[i][1]);
			return true;
		}
	}
	return ctl_program_find("containerd", path);
}

/* Asks about a file. */
static json_t *ask_about(const char *containerd, const char *config, struct vqp_error *error)
{
	cleanup_free char *output = NULL;

	if (ctl_program_ask((const char *const[]){ containerd, "--config", config, "config", "dump", NULL }, &output, error))
		return NULL;
	return ctl_toml_parse(output, error);
}

/*
 * Asks about the main file, which is there. What k3s makes of a template is written to a file for
 * containerd to read.
 */
static json_t *ask(const struct ctl_site *site, const char *containerd, struct vqp_error *error)
{
	char path[] = "/tmp/vqpctl-XXXXXX";
	cleanup_free char *text = NULL, *read = NULL;
	json_t *shown = NULL;
	int fd, ret;

	if (!ctl_containerd_is_template(site))
		return ask_about(containerd, site->config, error);
	ret = ctl_file_read(site->config, &text);
	if (ret) {
		vqp_error_set(error, ret, "cannot read %s: %s", site->config, strerror(-ret));
		return NULL;
	}
	read = ctl_containerd_as_read(site, text ? text : CTL_CONTAINERD_BASE_TEMPLATE, error);
	if (!read)
		return NULL;
	fd = mkostemp(path, O_CLOEXEC);
	ret = fd < 0 ? -errno : vqp_io_write(fd, read, strlen(read));
	if (ret)
		vqp_error_set(error, ret, "cannot write %s: %s", path, strerror(-ret));
	else
		shown = ask_about(containerd, path, error);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return shown;
}

/*
 * Leaves of the generated file what stands there for the template's line: not vqp's part, nor what
 * the template has behind that line.
 */
static int keep_base(struct ctl_site *site, struct vqp_error *error)
{
	cleanup_free char *generated = site->generated, *rest = NULL;
	const char *base, *tail;
	size_t length;
	int ret = ctl_toml_block_cut(generated, &site->generated, error);

	if (!ret)
		ret = ctl_toml_block_cut(site->main ? site->main : "", &rest, error);
	if (ret)
		return ret;
	base = strstr(rest, CTL_CONTAINERD_BASE_TEMPLATE);
	tail = base ? base + strlen(CTL_CONTAINERD_BASE_TEMPLATE) : "";
	length = strlen(site->generated);
	if (length >= strlen(tail) && !strcmp(site->generated + length - strlen(tail), tail))
		site->generated[length - strlen(tail)] = '\0';
	return 0;
}

/* Reads what k3s or RKE2 made of a template the last time. */
static int read_generated(struct ctl_site *site, struct vqp_error *error)
{
	char path[PATH_MAX];
	int directory = (int)(strrchr(site->config, '/') + 1 - site->config), ret;

	if (snprintf(path, sizeof(path), "%.*sconfig.toml", directory, site->config) >= (int)sizeof(path))
		return vqp_error_set(error, -ENAMETOOLONG, "the path %s is too long", site->config);
	ret = ctl_file_read(path, &site->generated);
	if (!ret && !site->generated)
		ret = -ENOENT;
	if (ret)
		return vqp_error_set(error, ret, "cannot read %s, which is generated of it: %s", path, strerror(-ret));
	return keep_base(site, error);
}

static int look(struct ctl_site *site, struct vqp_error *error)
{
	char containerd[PATH_MAX];
	int ret = ctl_file_read(site->config, &site->main);

	if (ret)
		return vqp_error_set(error, ret, "cannot read it: %s", strerror(-ret));
	if (ctl_containerd_is_template(site)) {
		ret = read_generated(site, error);
		if (ret)
			return ret;
	}
	if (!find_containerd(site, containerd) || (!site->main && !ctl_containerd_is_template(site)))
		return 0;
	site->shown = ask(site, containerd, error);
	if (site->shown)
		return 0;
	return error->code == -EPROTO ? vqp_error_add_context(error, "containerd refuses it as it is") : error->code;
}

int ctl_containerd_look(struct ctl_site *site, struct vqp_error *error)
{
	return look(site, error) ? vqp_error_add_context(error, "%s", site->config) : 0;
}

/* The runtimes in what containerd shows, without vqp. */
static json_t *others(const json_t *shown)
{
	json_t *runtimes = ctl_containerd_what_is_set(json_object_get(ctl_containerd_part(shown), "runtimes"));

	json_object_del(runtimes, CTL_HANDLER);
	return runtimes;
}

int ctl_containerd_compare(const struct ctl_site *site, const json_t *shown, struct vqp_error *error)
{
	const char *name;
	json_auto_t *before = others(site->shown), *after = others(shown), *vqp = NULL, *base = NULL, *expected = NULL;

	if (ctl_containerd_is_newer(shown) && !ctl_containerd_part(shown))
		return vqp_error_set(error, -EPROTO, "containerd shows its configuration in version %lld, in which vqpctl finds no "
				     "runtimes: it knows versions up to %d", (long long)json_integer_value(json_object_get(shown, "version")),
				     CTL_CONTAINERD_VERSION_MAX);
	vqp = ctl_containerd_what_is_set(json_object_get(json_object_get(ctl_containerd_part(shown), "runtimes"), CTL_HANDLER));
	if (!ctl_containerd_binary(vqp) || strcmp(ctl_containerd_binary(vqp), site->programs.runtime))
		return vqp_error_set(error, -EPROTO, "containerd would not have the runtime: a file that it imports says otherwise, "
				     "or its version knows no files of this one's (containerd config migrate)");
	if (!site->shown)
		return 0;
	if (!json_equal(before, after))
		return vqp_error_set(error, -EPROTO, "containerd would have other runtimes than before");
	base = ctl_containerd_base(site, NULL, &name);
	expected = ctl_containerd_vqp(site, base);
	if (!json_equal(vqp, expected))
		return vqp_error_set(error, -EPROTO, "containerd would have other settings for vqp than for %s", name);
	return 0;
}

int ctl_containerd_verify(const struct ctl_site *site, struct vqp_error *error)
{
	char containerd[PATH_MAX];
	json_auto_t *shown = NULL;
	int ret;

	if (!find_containerd(site, containerd))
		return 0;
	shown = ask(site, containerd, error);
	if (!shown)
		return error->code;
	ret = ctl_containerd_compare(site, shown, error);
	return ret ? ret : 1;
}
