/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../common/cleanup.h"
#include "notify.h"

int vqp_notify_ready(void)
{
	static const char ready[] = "READY=1";
	const char *path = getenv("NOTIFY_SOCKET");
	const size_t length = path ? strlen(path) : 0;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	cleanup_close int fd = -1;

	if (!path)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(addr.sun_path))
		return -EAFNOSUPPORT;
	memcpy(addr.sun_path, path, length);
	if (path[0] == '@')
		addr.sun_path[0] = '\0';	/* an abstract socket, whose name has no NUL at its end */

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, ready, strlen(ready), MSG_NOSIGNAL, (const struct sockaddr *)&addr,
		   offsetof(struct sockaddr_un, sun_path) + length) < 0)
		return -errno;
	return 0;
}
