// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A request to a daemon, with a descriptor, as the CNI plugin and the hook send it to vqpd; and many
 * descriptors that nobody receives.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "vqpt.h"

#define HAND_MAX	250	/* the most descriptors in a message; the kernel takes 253 */

static int hand_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		vqpt_die(errno, "%s", path);
	return fd;
}

/* Sends a text, and with it the descriptor `passed`, `count` times. */
static void hand_over(int fd, char *text, size_t bytes, int passed, unsigned int count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(HAND_MAX * sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec data = { .iov_base = text, .iov_len = bytes };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};

	for (unsigned int i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(passed), &passed, sizeof(passed));
	if (sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)bytes)
		vqpt_die(errno, "sendmsg");
}

int vqpt_hand_run(const struct vqpt_options *options, char **args)
{
	int passed = open(args[1], O_RDONLY | O_CLOEXEC), fd;
	char text[65536];
	size_t bytes;
	ssize_t got;

	(void)options;
	if (passed < 0)
		vqpt_die(errno, "%s", args[1]);
	bytes = fread(text, 1, sizeof(text), stdin);
	fd = hand_connect(args[0]);
	hand_over(fd, text, bytes, passed, 1);
	do {
		got = read(fd, text, sizeof(text));
		if (got <= 0)
			vqpt_die(got ? errno : EPIPE, "no answer");
	} while (fwrite(text, 1, got, stdout) == (size_t)got && text[got - 1] != '\n');
	return fflush(stdout) != 0;
}

int vqpt_strew_run(const struct vqpt_options *options, char **args)
{
	unsigned int left = options->count;
	int ends[2];
	char c = 0;

	(void)args;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		vqpt_die(errno, "socketpair");
	while (left) {
		unsigned int count = left < HAND_MAX ? left : HAND_MAX;

		hand_over(ends[0], &c, 1, STDIN_FILENO, count);
		left -= count;
	}
	printf("%u\n", options->count);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
