// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/error.h"
#include "../common/io.h"
#include "bundle.h"

static void put_object(json_object **object)
{
	json_object_put(*object);
}

#define cleanup_object	__attribute__((cleanup(put_object)))

static int read_spec(int dir, const char *file, const struct vqp_grant *grant, json_object **spec,
		     struct stat *old, struct vqp_error *error)
{
	cleanup_close int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	cleanup_free char *text = NULL;
	ssize_t n;

	if (fd < 0 || fstat(fd, old))
		return vqp_error_set(error, -errno, "cannot open " VQP_SPEC_FILE ": %s", strerror(errno));
	if (!S_ISREG(old->st_mode) || old->st_size > VQP_SPEC_MAX_BYTES)
		return vqp_error_set(error, -EFBIG, VQP_SPEC_FILE " is no file of at most %u bytes",
				     VQP_SPEC_MAX_BYTES);
	text = malloc(old->st_size + 1);
	if (!text)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	n = vqp_io_read(fd, text, old->st_size);
	if (n != old->st_size)
		return vqp_error_set(error, n < 0 ? (int)n : -EIO, "cannot read " VQP_SPEC_FILE ": %s",
				     n < 0 ? strerror((int)-n) : "it changed meanwhile");
	text[n] = '\0';
	return vqp_spec_edit(text, n, grant, spec, error);
}

static int write_file(int dir, const char *name, json_object *spec, const struct stat *old)
{
	cleanup_close int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t bytes = 0;
	const char *text = json_object_to_json_string_length(spec, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE, &bytes);

	if (!text)
		return -ENOMEM;
	if (fd < 0 || fchown(fd, old->st_uid, old->st_gid) || fchmod(fd, old->st_mode & 07777))
		return -errno;
	return vqp_io_write(fd, text, bytes);
}

static int replace_spec(int dir, const char *file, json_object *spec, const struct stat *old, struct vqp_error *error)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "." VQP_SPEC_FILE ".vqp-%d", getpid());
	ret = write_file(dir, name, spec, old);
	if (!ret && renameat(dir, name, dir, file))
		ret = -errno;
	if (!ret)
		return 0;
	unlinkat(dir, name, 0);
	return vqp_error_set(error, ret, "cannot replace " VQP_SPEC_FILE ": %s", strerror(-ret));
}

static int grant_in(const char *path, const char *file, const struct vqp_grant *grant, struct vqp_error *error)
{
	cleanup_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_object json_object *spec = NULL;
	struct stat old = { 0 };
	int ret;

	if (dir < 0)
		return vqp_error_set(error, -errno, "cannot open bundle %s: %s", path, strerror(errno));
	ret = read_spec(dir, file, grant, &spec, &old, error);
	return ret ? ret : replace_spec(dir, file, spec, &old, error);
}

int vqp_bundle_grant(const char *bundle, const char *config, const struct vqp_grant *grant, struct vqp_error *error)
{
	cleanup_free char *dir = NULL;
	const char *slash;

	/* crun takes a bare config.json for the one in the bundle. */
	if (!config || !strcmp(config, VQP_SPEC_FILE))
		return grant_in(bundle, VQP_SPEC_FILE, grant, error);
	slash = strrchr(config, '/');
	if (!slash)
		return grant_in(".", config, grant, error);
	dir = strndup(config, slash - config + 1);
	if (!dir)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	return grant_in(dir, slash + 1, grant, error);
}
