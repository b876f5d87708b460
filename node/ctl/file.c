/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/io.h"
#include "file.h"

#define LINKS_MAX		40	/* as the kernel follows */
#define ATTRIBUTES_MAX_BYTES	65536	/* of the names of a file's extended attributes, as the kernel has it */

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

int ctl_file_look(const char *path, struct stat *its)
{
	*its = (struct stat){ .st_mode = 0644 };
	return stat(path, its) && errno != ENOENT && errno != ENOTDIR ? -errno : 0;
}

/* Returns the path that a symbolic link names, to be freed. */
static char *named_by(const char *link)
{
	const char *slash = strrchr(link, '/');
	char name[PATH_MAX], *path;
	ssize_t bytes = readlink(link, name, sizeof(name) - 1);

	if (bytes < 0)
		return NULL;
	name[bytes] = '\0';
	if (*name == '/' || !slash)
		return strdup(name);
	return asprintf(&path, "%.*s%s", (int)(slash + 1 - link), link, name) < 0 ? NULL : path;
}

/*
 * Finds the file behind symbolic links, whose path the caller frees. There may be none yet, but a
 * link to it.
 */
static int find_target(const char *path, char **target)
{
	struct stat its;
	char *next;

	*target = realpath(path, NULL);
	if (*target)
		return 0;
	*target = strdup(path);
	for (int links = 0; *target && !lstat(*target, &its) && S_ISLNK(its.st_mode); links++) {
		next = links < LINKS_MAX ? named_by(*target) : NULL;
		free(*target);
		*target = next;
		if (links == LINKS_MAX)
			return -ELOOP;
	}
	return *target ? 0 : -ENOMEM;
}

static int copy_attribute(int from, int to, const char *name)
{
	ssize_t bytes = fgetxattr(from, name, NULL, 0);
	cleanup_free char *value = bytes < 0 ? NULL : malloc(bytes + 1);

	if (bytes >= 0 && !value)
		return -ENOMEM;
	if (value)
		bytes = fgetxattr(from, name, value, bytes);
	return bytes < 0 || fsetxattr(to, name, value, bytes, 0) ? -errno : 0;
}

/*
 * Gives the file `to` the extended attributes of the one at `path`, if there is one: ACLs and labels
 * of security modules are such.
 */
static int copy_attributes(const char *path, int to)
{
	cleanup_close int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char names[ATTRIBUTES_MAX_BYTES];
	ssize_t bytes;
	int ret = 0;

	if (from < 0)
		return errno == ENOENT ? 0 : -errno;
	bytes = flistxattr(from, names, sizeof(names));
	if (bytes < 0)
		return errno == EOPNOTSUPP ? 0 : -errno;
	for (const char *name = names; !ret && name < names + bytes; name += strlen(name) + 1)
		ret = copy_attribute(from, to, name);
	return ret;
}

static int write_like(int fd, const struct stat *its, const char *text)
{
	int ret;

	if (fchown(fd, its->st_uid, its->st_gid) || fchmod(fd, its->st_mode & 07777))
		return -errno;
	ret = vqp_io_write(fd, text, strlen(text));
	return !ret && fsync(fd) ? -errno : ret;
}

/*
 * Writes a text to a new file beside the target, with the extended attributes of the file `like`, and
 * has it take its place.
 */
static int replace(const char *target, const struct stat *its, const char *like, const char *text)
{
	cleanup_free char *beside = NULL;
	int fd, ret = make_directories(target);

	if (ret)
		return ret;
	if (asprintf(&beside, "%s.vqp-XXXXXX", target) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_like(fd, its, text);
	if (!ret)
		ret = copy_attributes(like, fd);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(beside, target))
		ret = -errno;
	if (ret)
		unlink(beside);
	return ret;
}

int ctl_file_replace(const char *path, const struct stat *its, const char *text)
{
	cleanup_free char *target = NULL;
	int ret = find_target(path, &target);

	if (ret)
		return ret;
	if (text)
		return replace(target, its, target, text);
	return unlink(target) && errno != ENOENT && errno != ENOTDIR ? -errno : 0;
}

int ctl_file_back_up(const char *path, const char *backup, const char *text)
{
	struct stat its;
	int ret = ctl_file_look(path, &its);

	return ret ? ret : replace(backup, &its, path, text);
}
