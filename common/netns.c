/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "address.h"
#include "cleanup.h"
#include "netns.h"

#define OWN	"/proc/self/ns/net"

int vqp_netns_check(int fd)
{
	struct statfs fs;
	int type;

	if (fstatfs(fd, &fs))
		return -errno;
	if (fs.f_type != NSFS_MAGIC)
		return -EINVAL;
	type = ioctl(fd, NS_GET_NSTYPE);
	if (type < 0)
		return -errno;
	return type == CLONE_NEWNET ? 0 : -EINVAL;
}

int vqp_netns_open(const char *path)
{
	/*
	 * With O_NONBLOCK the opening of a FIFO or a device, which the path may name, does not
	 * wait.
	 */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return -errno;
	ret = vqp_netns_check(fd);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Returns the process's number in /proc, by the kernel's description of the descriptor. */
static int number_in_proc(int process)
{
	char path[64], text[512];
	cleanup_close int fd = -1;
	const char *line;
	ssize_t bytes;
	int number;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)	/* /proc may not even show the caller. */
		return errno == ENOENT ? -ESRCH : -errno;
	bytes = read(fd, text, sizeof(text) - 1);
	if (bytes < 0)
		return -errno;
	text[bytes] = '\0';
	line = strstr(text, "\nPid:");
	number = line ? atoi(line + strlen("\nPid:")) : 0;
	return number > 0 ? number : -ESRCH;
}

int vqp_netns_open_process(pid_t pid)
{
	cleanup_close int process = pidfd_open(pid, 0);
	struct pollfd alive = { .fd = process, .events = POLLIN };
	char path[64];
	int number, fd;

	if (process < 0)
		return -errno;
	number = number_in_proc(process);
	if (number < 0)
		return number;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* While the process lives, no other has its number. */
	if (!poll(&alive, 1, 0))
		return fd;
	close(fd);
	return -ESRCH;
}

int vqp_netns_open_named(const char *text)
{
	char path[PATH_MAX], *end;
	long pid;

	if (strchr(text, '/'))
		return vqp_netns_open(text);
	if (!strncmp(text, "pid:", 4)) {
		pid = strtol(text + 4, &end, 10);
		return pid <= 0 || pid > INT_MAX || *end ? -EINVAL : vqp_netns_open_process(pid);
	}
	if (snprintf(path, sizeof(path), "/run/netns/%s", text) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return vqp_netns_open(path);
}

uint32_t vqp_netns_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

int vqp_netns_is_own(int fd)
{
	struct stat own, other;

	if (stat(OWN, &own) || fstat(fd, &other))
		return -errno;
	return own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

int vqp_netns_visit(int fd, int (*look)(const void *arg), const void *arg)
{
	cleanup_close int own = open(OWN, O_RDONLY | O_CLOEXEC);
	int ret;

	if (own < 0 || setns(fd, CLONE_NEWNET))
		return -errno;
	ret = look(arg);
	return setns(own, CLONE_NEWNET) ? -errno : ret;
}

struct address {
	const char *ifname;
	const uint8_t *gid;
};

static int has_address(const void *arg)
{
	const struct address *wanted = arg;
	struct ifaddrs *list;
	int found = 0;

	if (getifaddrs(&list))
		return -errno;
	for (const struct ifaddrs *entry = list; entry && !found; entry = entry->ifa_next) {
		uint8_t gid[16];

		found = entry->ifa_addr && !strcmp(entry->ifa_name, wanted->ifname) &&
			!vqp_address_of(entry->ifa_addr, gid) && !memcmp(gid, wanted->gid, sizeof(gid));
	}
	freeifaddrs(list);
	return found;
}

int vqp_netns_has_address(int fd, const char *ifname, const uint8_t gid[16])
{
	return vqp_netns_visit(fd, has_address, &(struct address){ ifname, gid });
}
