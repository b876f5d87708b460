/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "netns.h"

int vqp_netns_open(const char *text)
{
	char path[PATH_MAX];
	struct statfs fs;
	int fd, n;

	if (strchr(text, '/'))
		n = snprintf(path, sizeof(path), "%s", text);
	else if (!strncmp(text, "pid:", 4))
		n = snprintf(path, sizeof(path), "/proc/%s/ns/net", text + 4);
	else
		n = snprintf(path, sizeof(path), "/run/netns/%s", text);
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;

	/*
	 * With O_NONBLOCK the opening of a FIFO or a device, which the path may name, does not
	 * wait.
	 */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstatfs(fd, &fs) && fs.f_type == NSFS_MAGIC && ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET)
		return fd;
	close(fd);
	return -EINVAL;
}

uint32_t vqp_netns_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}
