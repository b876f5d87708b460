/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/io.h"
#include "file.h"

/* Reads a text, in which no byte may be 0. */
static int read_text(int fd, char *text, size_t bytes)
{
	ssize_t n = vqp_io_read(fd, text, bytes);

	if (n < 0)
		return (int)n;
	text[n] = '\0';
	return strlen(text) == (size_t)n ? 0 : -EINVAL;
}

int ctl_file_read(const char *path, char **text)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	int ret;

	*text = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (fstat(fd, &file))
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	if (file.st_size > CTL_FILE_MAX_BYTES)
		return -EFBIG;
	*text = malloc(file.st_size + 1);
	if (!*text)
		return -ENOMEM;
	ret = read_text(fd, *text, file.st_size);
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

void ctl_file_read_line(const char *path, char *line, int bytes)
{
	FILE *file = fopen(path, "re");

	*line = '\0';
	if (!file)
		return;
	if (!fgets(line, bytes, file))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static int make_directories(const char *path)
{
	cleanup_free char *part = strdup(path);

	if (!part)
		return -ENOMEM;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

/*
 * Writes a text, and sets owner and mode to those of the model or, without a model, to root and
 * 0644.
 */
static int write_like(int fd, const char *model, const char *text)
{
	struct stat its = { .st_mode = 0644 };
	int ret;

	if (stat(model, &its) && errno != ENOENT)
		return -errno;
	if (fchown(fd, its.st_uid, its.st_gid) || fchmod(fd, its.st_mode & 07777))
		return -errno;
	ret = vqp_io_write(fd, text, strlen(text));
	return !ret && fsync(fd) ? -errno : ret;
}

int ctl_file_replace(const char *path, const char *model, const char *text)
{
	cleanup_free char *target = realpath(path, NULL), *beside = NULL;
	int fd, ret;

	if (!text)
		return unlink(path) && errno != ENOENT ? -errno : 0;
	if (!target) {
		ret = make_directories(path);
		target = strdup(path);
		if (ret || !target)
			return ret ? ret : -ENOMEM;
	}
	if (asprintf(&beside, "%s.vqp-XXXXXX", target) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_like(fd, model, text);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(beside, target))
		ret = -errno;
	if (ret)
		unlink(beside);
	return ret;
}
