// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/error.h"
#include "pin.h"

/*
 * Pins are not in /run/netns: `ip netns` mounts that over itself, which hides what is mounted
 * there.
 */
#define PARENT	"/run/vqp"
#define DIR	PARENT "/netns"

void vqp_pin_name(struct vqp_pin *pin, const char *id, const char *bundle)
{
	snprintf(pin->name, sizeof(pin->name), "%s%s%s", id, *bundle ? "-" : "", bundle);
	snprintf(pin->path, sizeof(pin->path), DIR "/%s", pin->name);
}

bool vqp_pin_exists(const struct vqp_pin *pin)
{
	return !access(pin->path, F_OK);
}

bool vqp_pin_is_namespace(const struct vqp_pin *pin)
{
	struct statfs found;

	return !statfs(pin->path, &found) && found.f_type == NSFS_MAGIC;
}

bool vqp_pin_holds(const struct vqp_pin *pin, int netns_fd)
{
	struct stat held, given;

	return !stat(pin->path, &held) && !fstat(netns_fd, &given) &&
	       held.st_dev == given.st_dev && held.st_ino == given.st_ino;
}

/* Makes the file that the network namespace is mounted on. */
static int make_file(const char *path)
{
	cleanup_close int fd = -1;

	if ((mkdir(PARENT, 0755) && errno != EEXIST) || (mkdir(DIR, 0700) && errno != EEXIST))
		return -errno;
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : 0;
}

int vqp_pin_make(const struct vqp_pin *pin, int netns_fd, struct vqp_error *error)
{
	int ret = make_file(pin->path);
	char netns[32];

	snprintf(netns, sizeof(netns), "/proc/self/fd/%d", netns_fd);
	if (!ret && mount(netns, pin->path, NULL, MS_BIND, NULL)) {
		ret = -errno;
		vqp_pin_remove(pin);
	}
	return ret ? vqp_error_set(error, ret, "cannot bind the container's network namespace to %s: %s", pin->path,
				   strerror(-ret)) : 0;
}

void vqp_pin_remove(const struct vqp_pin *pin)
{
	umount2(pin->path, MNT_DETACH | UMOUNT_NOFOLLOW);
	unlink(pin->path);
}
