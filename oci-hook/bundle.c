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

#include "bundle.h"
#include "cleanup.h"
#include "error.h"

static void put_object(json_object **object)
{
	json_object_put(*object);
}

#define cleanup_object	__attribute__((cleanup(put_object)))

static int read_text(int fd, size_t bytes, char *text, char **error)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = read(fd, text + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return vqp_error_fail(error, n ? errno : EIO, "cannot read " VQP_SPEC_FILE ": %s",
					      n ? strerror(errno) : "it changed meanwhile");
		done += n;
	}
	return 0;
}

static int read_spec(int bundle, const struct vqp_grant *grant, json_object **spec, struct stat *old,
		     char **error)
{
	cleanup_close int fd = openat(bundle, VQP_SPEC_FILE, O_RDONLY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	int ret;

	if (fd < 0 || fstat(fd, old))
		return vqp_error_fail(error, errno, "cannot open " VQP_SPEC_FILE ": %s", strerror(errno));
	if (!S_ISREG(old->st_mode) || old->st_size > VQP_SPEC_MAX_BYTES)
		return vqp_error_fail(error, EFBIG, VQP_SPEC_FILE " is no file of at most %u bytes",
				      VQP_SPEC_MAX_BYTES);
	text = malloc(old->st_size + 1);
	if (!text)
		return vqp_error_fail(error, ENOMEM, "out of memory");
	ret = read_text(fd, old->st_size, text, error);
	text[old->st_size] = '\0';
	return ret ? ret : vqp_spec_edit(text, old->st_size, grant, spec, error);
}

static int write_text(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		bytes -= n;
	}
	return 0;
}

static int write_file(int bundle, const char *name, json_object *spec, const struct stat *old)
{
	cleanup_close int fd = openat(bundle, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t bytes = 0;
	const char *text = json_object_to_json_string_length(spec, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE, &bytes);

	if (!text)
		return -ENOMEM;
	if (fd < 0 || fchown(fd, old->st_uid, old->st_gid) || fchmod(fd, old->st_mode & 07777))
		return -errno;
	return write_text(fd, text, bytes);
}

static int replace_spec(int bundle, json_object *spec, const struct stat *old, char **error)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "." VQP_SPEC_FILE ".vqp-%d", getpid());
	ret = write_file(bundle, name, spec, old);
	if (!ret && renameat(bundle, name, bundle, VQP_SPEC_FILE))
		ret = -errno;
	if (!ret)
		return 0;
	unlinkat(bundle, name, 0);
	return vqp_error_fail(error, -ret, "cannot replace " VQP_SPEC_FILE ": %s", strerror(-ret));
}

int vqp_bundle_grant(const char *bundle, const struct vqp_grant *grant, char **error)
{
	cleanup_close int dir = open(bundle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_object json_object *spec = NULL;
	struct stat old = { 0 };
	int ret;

	if (dir < 0)
		return vqp_error_fail(error, errno, "cannot open bundle %s: %s", bundle, strerror(errno));
	ret = read_spec(dir, grant, &spec, &old, error);
	if (!ret)
		ret = replace_spec(dir, spec, &old, error);
	return ret;
}
