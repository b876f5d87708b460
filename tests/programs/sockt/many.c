// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Many connections, at once and one after the other. */
#define _GNU_SOURCE
#include <dirent.h>
#include <unistd.h>
#include "sockt.h"

enum { AT_ONCE = 1000, IN_A_ROW = 500 };

static void clients(struct sockt *t)
{
	static int fds[AT_ONCE];
	long port = far_do(t, "listen 0 1024");
	int i;

	far_start(t, "echo 0 %d", AT_ONCE);
	for (i = 0; i < AT_ONCE; i++)
		fds[i] = sock_reach(t, (int)port);
	for (i = 0; i < AT_ONCE; i++)
		DONE(io_send(fds[i], (uint64_t)i * 1000, 1000, 0, 0));
	for (i = AT_ONCE - 1; i >= 0; i--)
		DONE(io_recv(fds[i], (uint64_t)i * 1000, 1000, 0));
	for (i = 0; i < AT_ONCE; i++)
		close(fds[i]);
	WANT_EQ(far_end(t), AT_ONCE * 1000);
}

static void servers(struct sockt *t)
{
	int listener = sock_listen(t, 1024);
	pid_t pid = check_fork();

	if (!pid) {
		WANT_EQ(io_echo(listener, AT_ONCE), AT_ONCE * 200);
		_exit(0);
	}
	far_do(t, "storm %d %d 2", sock_port(listener), AT_ONCE);
	check_child(pid);
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	WANT(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void in_a_row(struct sockt *t)
{
	long port = far_do(t, "listen 0 16");
	int before = descriptors(), i;

	far_start(t, "echo 0 %d", IN_A_ROW);
	for (i = 0; i < IN_A_ROW; i++) {
		int fd = sock_reach(t, (int)port);

		DONE(io_send(fd, NEAR_BASE, 10, 0, 0));
		DONE(io_recv(fd, NEAR_BASE, 10, 0));
		close(fd);
	}
	far_end(t);
	WANT_EQ(descriptors(), before);
}

/* Each ends in another way. */
static void ends(struct sockt *t)
{
	long port = far_do(t, "listen 0 16");
	int i;

	for (i = 0; i < 200; i++) {
		int fd = sock_reach(t, (int)port);

		far_do(t, "accept 0 1");
		if (i % 5 == 1)
			far_do(t, "close 1");
		if (i % 5 == 2)
			sock_linger(fd, 0);
		if (i % 5 == 3)
			(void)io_send(fd, NEAR_BASE, 10, 0, 0);
		if (i % 5 == 4)
			shutdown(fd, SHUT_RDWR);
		close(fd);
	}
	/* and the listener still serves */
	close(sock_reach(t, (int)port));
	far_do(t, "accept 0 1");
	WANT_EQ(far_do(t, "recv-some 1"), 0);
}

static void sockets(struct sockt *t)
{
	int i;

	for (i = 0; i < 2000; i++) {
		int fd = sock_new(t, 0);

		if (i & 1)
			NEED(sock_bind(fd, sock_near(t, 0)));
		if (i & 2)
			NEED(listen(fd, 1));
		close(fd);
	}
}

const struct sockt_case many_cases[] = {
	{ "many-clients", "1,000 connections at once, a message each way", clients },
	{ "many-servers", "the same, accepted here", servers },
	{ "many-in-a-row", "500 connections, one after the other, leave nothing", in_a_row },
	{ "many-ends", "200 that end in five ways", ends },
	{ "many-sockets", "2,000 sockets that never connect", sockets },
	{ 0 }
};
