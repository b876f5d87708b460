// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include "../../../common/netlink.h"
#include "admin.h"
#include "main.h"

static struct vqp_netlink netlink = { .fd = -1 };
static int host_ns = -1, work_ns = -1;

static int open_ns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(errno, "%s", path);
	return fd;
}

static void go_to(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		die(errno, "changing the network namespace");
}

/* A socket belongs to where it was opened. It is closed when an answer got lost. */
static void have_socket(void)
{
	int err;

	if (netlink.fd >= 0)
		return;
	go_to(host_ns);
	err = vqp_netlink_open(&netlink);
	if (err)
		die(-err, "netlink");
	go_to(work_ns);
}

void admin_open(const char *netns)
{
	host_ns = open_ns("/proc/self/ns/net");
	work_ns = open_ns(netns ? netns : "/proc/self/ns/net");
	have_socket();
}

int admin_do(enum vqp_cmd cmd, const json_t *request, json_t **reply)
{
	have_socket();
	return -vqp_netlink_do(&netlink, cmd, request, reply);
}

int admin_dump(enum vqp_cmd cmd, json_t **list)
{
	have_socket();
	return -vqp_netlink_dump(&netlink, cmd, list);
}
