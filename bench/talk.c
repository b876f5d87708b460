// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"

#define TALK_PORT	7100
#define TALK_ACCEPT_MS	60000	/* by then the other end has come, or failed */

/* A socket, and where it is to be. */
static int talk_socket(const char *address, struct sockaddr_in *at)
{
	const int yes = 1;
	int fd;

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(TALK_PORT) };
	errno = EINVAL;
	if (!inet_aton(address, &at->sin_addr))
		return link_fail(address);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return link_fail("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

int talk_accept(void)
{
	struct sockaddr_in at;
	int listener = talk_socket("0.0.0.0", &at), fd = -1;

	if (listener < 0)
		return -1;
	if (!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1)) {
		errno = ETIMEDOUT;
		if (poll(&(struct pollfd){ .fd = listener, .events = POLLIN }, 1, TALK_ACCEPT_MS) == 1)
			fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	}
	if (fd < 0)
		link_fail("accept");
	close(listener);
	return fd;
}

int talk_connect(const char *address)
{
	struct sockaddr_in at;
	int fd = talk_socket(address, &at);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		link_fail(address);
		close(fd);
		return -1;
	}
	return fd;
}

int talk_send(int fd, const void *data, size_t bytes)
{
	return send(fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : link_fail("send");
}

int talk_receive(int fd, void *data, size_t bytes)
{
	return recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes ? 0 : -1;
}

int64_t talk_answer(int fd)
{
	int64_t answer;

	if (!talk_receive(fd, &answer, sizeof(answer)))
		return answer;
	errno = ECONNRESET;
	return link_fail("the server");
}

int64_t talk_ask(int fd, const struct talk_order *order)
{
	return talk_send(fd, order, sizeof(*order)) ? -1 : talk_answer(fd);
}
