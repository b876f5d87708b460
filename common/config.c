// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "config.h"
#include "error.h"
#include "io.h"

static int check(const char *path, const struct stat *file, struct vqp_error *error)
{
	if (!S_ISREG(file->st_mode))
		return vqp_error_set(error, -EINVAL, "%s is no regular file", path);
	if (file->st_uid || file->st_mode & (S_IWGRP | S_IWOTH))
		return vqp_error_set(error, -EPERM, "%s could be written by others than root: chown root %s; chmod go-w %s",
				     path, path, path);
	if (file->st_size > VQP_CONFIG_MAX_BYTES)
		return vqp_error_set(error, -EFBIG, "%s is longer than %u bytes", path, VQP_CONFIG_MAX_BYTES);
	return 0;
}

int vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	ssize_t n;
	int ret;

	if (fd < 0 || fstat(fd, &file))
		return vqp_error_set(error, -errno, "cannot open %s: %s", path, strerror(errno));
	ret = check(path, &file, error);
	if (ret)
		return ret;
	*text = malloc(file.st_size + 1);
	if (!*text)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	n = vqp_io_read(fd, *text, file.st_size);
	if (n < 0) {
		free(*text);
		*text = NULL;
		return vqp_error_set(error, (int)n, "cannot read %s: %s", path, strerror((int)-n));
	}
	(*text)[n] = '\0';
	*bytes = n;
	return 0;
}
