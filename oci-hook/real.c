// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/config.h"
#include "../common/error.h"
#include "real.h"

/* Refuses this program itself, under whatever name, which would run itself for ever. */
static int look(const char *path)
{
	struct stat own, other;

	if (stat(path, &other))
		return -errno;
	if (!stat("/proc/self/exe", &own) && own.st_dev == other.st_dev && own.st_ino == other.st_ino)
		return -ELOOP;
	if (!S_ISREG(other.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

static int put(char path[PATH_MAX], const char *dir, int dir_bytes, const char *slash, const char *name)
{
	return snprintf(path, PATH_MAX, "%.*s%s%s", dir_bytes, dir, slash, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Finds a program; a name without a slash is looked up as execvp() does. */
static int find(const char *name, char path[PATH_MAX])
{
	const char *dir = getenv("PATH");
	int ret = -ENOENT;

	if (strchr(name, '/')) {
		ret = put(path, "", 0, "", name);
		return ret ? ret : look(path);
	}
	for (dir = dir ? dir : _PATH_DEFPATH;; dir++) {
		int length = (int)strcspn(dir, ":");

		if (!put(path, length ? dir : ".", length ? length : 1, "/", name))
			ret = look(path);
		dir += length;
		if ((ret != -ENOENT && ret != -ENOTDIR && ret != -EACCES) || !*dir)
			return ret;
	}
}

int vqp_real_find(const char *named, char path[PATH_MAX], struct vqp_error *error)
{
	int ret = find(named ? named : "runc", path);

	if (!named && ret == -ENOENT)
		ret = find("crun", path);
	if (ret == -ELOOP)
		return vqp_error_set(error, -ELOOP, "cannot run %s: it is vqp-runtime itself: name another in \""
				     VQP_CONFIG_RUNTIME "\" of " VQP_CONFIG_FILE, path);
	if (!ret)
		return 0;
	return vqp_error_set(error, ret, "cannot run %s: %s", named ? named : "runc or crun", strerror(-ret));
}
