// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* splice(), sendfile(), MSG_ZEROCOPY. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include "sockt.h"

#define BYTES (2u << 20)

static void from_file(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0), content = io_file(NEAR_BASE, BYTES);
		size_t left = BYTES;
		off_t at = 1000;

		far_start(t, "recv 0 %llu %u 0", NEAR_BASE, BYTES);
		while (left) {
			ssize_t some = NEED(sendfile(fd, content, NULL, left));

			WANT(some > 0);
			left -= (size_t)some;
		}
		far_end(t);
		WANT_EQ(sendfile(fd, content, NULL, 1), 0);
		WANT_EQ(sendfile(fd, content, &at, 500), 500);
		WANT_EQ(at, 1500);
		far_do(t, "recv 0 %llu 500 0", NEAR_BASE + 1000);
		close(content);
		close(fd);
	}
}

static void from_file_full(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), content = io_file(NEAR_BASE, 64 * BYTES);
	off_t at = 0;

	sock_nonblocking(fd, true);
	while (sendfile(fd, content, &at, 1 << 20) > 0)
		;
	WANT_EQ(errno, EAGAIN);
	WANT(at > 0 && at < 64 * (off_t)BYTES);
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), at);
}

static void to_pipe(struct sockt *t)
{
	static uint8_t buffer[65536];
	int fd = sock_pair(t, CLIENT, 0), pipe[2];
	uint64_t done = 0;

	NEED(pipe2(pipe, O_CLOEXEC));
	/* SPLICE_F_NONBLOCK is about the pipe alone */
	sock_nonblocking(fd, true);
	WANT_ERR(splice(fd, NULL, pipe[1], NULL, 1, 0), EAGAIN);
	sock_nonblocking(fd, false);
	far_start(t, "send 0 %llu %u 10000 0", FAR_BASE, BYTES);
	while (done < BYTES) {
		ssize_t some = NEED(splice(fd, NULL, pipe[1], NULL, sizeof(buffer), 0)), got = 0;

		WANT(some > 0);
		while (got < some)
			got += NEED(read(pipe[0], buffer + got, (size_t)(some - got)));
		DONE(io_check(buffer, FAR_BASE + done, (size_t)some));
		done += (uint64_t)some;
	}
	far_end(t);
	far_do(t, "close 0");
	WANT_EQ(splice(fd, NULL, pipe[1], NULL, 1, 0), 0);
}

static void from_pipe(struct sockt *t)
{
	static uint8_t buffer[65536];
	int fd = sock_pair(t, SERVER, 0), pipe[2];
	uint64_t done = 0;

	NEED(pipe2(pipe, O_CLOEXEC));
	far_start(t, "recv 0 %llu %u 0", NEAR_BASE, BYTES);
	while (done < BYTES) {
		ssize_t left = NEED((io_fill(buffer, NEAR_BASE + done, 40000), write(pipe[1], buffer, 40000)));

		if (done + (uint64_t)left > BYTES)
			left = (ssize_t)(BYTES - done);
		done += (uint64_t)left;
		while (left) {
			ssize_t some = NEED(splice(pipe[0], NULL, fd, NULL, (size_t)left, SPLICE_F_MORE));

			WANT(some > 0);
			left -= some;
		}
	}
	far_end(t);
}

/* A proxy moves bytes from one socket to another without seeing them. */
static void between(struct sockt *t)
{
	int from = sock_pair(t, CLIENT, 0), to = sock_pair(t, SERVER, 1), pipe[2];
	uint64_t moved = 0;
	pid_t pid;

	NEED(pipe2(pipe, O_CLOEXEC));
	far_do(t, "send 0 %llu 60000 0 0", FAR_BASE);
	pid = check_fork();
	if (!pid) {
		while (moved < 60000) {
			ssize_t some = NEED(splice(from, NULL, pipe[1], NULL, 65536, SPLICE_F_MOVE));

			while (some) {
				ssize_t out = NEED(splice(pipe[0], NULL, to, NULL, (size_t)some, SPLICE_F_MOVE));

				some -= out;
				moved += (uint64_t)out;
			}
		}
		_exit(0);
	}
	far_do(t, "recv 1 %llu 60000 0", FAR_BASE);
	check_child(pid);
}

static void await_notification(int fd)
{
	char control[128];
	struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	sock_await(fd, POLLERR);
	NEED(recvmsg(fd, &message, MSG_ERRQUEUE));
	WANT(message.msg_flags & MSG_ERRQUEUE);
	c = CMSG_FIRSTHDR(&message);
	WANT(c);
	WANT_EQ(((struct sock_extended_err *)CMSG_DATA(c))->ee_origin, SO_EE_ORIGIN_ZEROCOPY);
}

/* Whoever cannot do it says so when it is asked for. */
static void zerocopy(struct sockt *t)
{
	uint8_t *buffer = io_buffer(100000);
	int fd = sock_pair(t, CLIENT, 0), one = 1;

	io_fill(buffer, NEAR_BASE, 100000);
	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one))) {
		WANT_EQ(errno, EOPNOTSUPP);
		/* without the option, the flag of a send says nothing */
		WANT_EQ(send(fd, buffer, 1000, MSG_ZEROCOPY), 1000);
		far_do(t, "recv 0 %llu 1000 0", NEAR_BASE);
		return;
	}
	far_start(t, "recv 0 %llu 100000 0", NEAR_BASE);
	WANT_EQ(send(fd, buffer, 100000, MSG_ZEROCOPY), 100000);
	far_end(t);
	await_notification(fd);
	free(buffer);
}

const struct sockt_case splice_cases[] = {
	{ "splice-sendfile", "2 MiB, and a part", from_file },
	{ "splice-sendfile-full", "until EAGAIN: the offset is what was sent", from_file_full },
	{ "splice-to-pipe", "2 MiB, EAGAIN, the end", to_pipe },
	{ "splice-from-pipe", "2 MiB", from_pipe },
	{ "splice-between", "from a socket to another", between },
	{ "splice-zerocopy", "MSG_ZEROCOPY, or EOPNOTSUPP", zerocopy },
	{ 0 }
};
