/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/io.h"
#include "notify.h"

#define FIRST_FD	3	/* SD_LISTEN_FDS_START of sd_listen_fds(3) */
#define KEPT_MAX	16	/* more were not asked for */

/* Tells the service manager, and passes `fd` unless that is -1. 1, 0 or an error as vqp_notify_keep(). */
static int tell(const char *text, int fd)
{
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t length = path ? strlen(path) : 0;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	cleanup_close int manager = -1;

	if (!path)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(addr.sun_path))
		return -EAFNOSUPPORT;
	memcpy(addr.sun_path, path, length);
	if (path[0] == '@')
		addr.sun_path[0] = '\0';	/* an abstract socket, whose name has no NUL at its end */

	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (manager < 0 ||
	    connect(manager, (const struct sockaddr *)&addr, offsetof(struct sockaddr_un, sun_path) + length) ||
	    vqp_io_send(manager, text, strlen(text), fd) < 0)
		return -errno;
	return 1;
}

int vqp_notify_ready(void)
{
	int ret = tell("READY=1", -1);

	return ret < 0 ? ret : 0;
}

int vqp_notify_keep(int fd, const char *name)
{
	char text[64];
	int ret;

	snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	ret = tell(text, -1);
	if (ret <= 0)
		return ret;
	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	return tell(text, fd);
}

/* How many descriptors came from the service manager for this process, from FIRST_FD on. */
static int count_kept(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	const long count = fds ? strtol(fds, NULL, 10) : 0;

	if (!pid || strtol(pid, NULL, 10) != getpid())
		return 0;
	return count > 0 && count <= KEPT_MAX ? (int)count : 0;
}

int vqp_notify_kept(const char *name)
{
	cleanup_free char *names = strdup(getenv("LISTEN_FDNAMES") ?: "");
	const int count = count_kept();
	char *rest = names, *next;
	int found = -1;

	for (int i = 0; i < count; i++) {
		next = rest ? strsep(&rest, ":") : NULL;
		if (found < 0 && next && !strcmp(next, name) && !fcntl(FIRST_FD + i, F_SETFD, FD_CLOEXEC))
			found = FIRST_FD + i;
		else
			close(FIRST_FD + i);
	}
	/* They are not for the processes that this one makes. */
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return found;
}
