// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Connections to streams_serve.c, their requests and answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "streams.h"

int streams_failed(const char *what)
{
	fprintf(stderr, "streams: %s: %s\n", what, strerror(errno));
	return -1;
}

int streams_send(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes) {
		ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);

		if (sent < 0)
			return -1;
		at += sent;
		bytes -= (size_t)sent;
	}
	return 0;
}

int streams_ask(int fd, const void *data, size_t bytes)
{
	return streams_send(fd, data, bytes) ? streams_failed("send") : 0;
}

int streams_expect(int fd, const uint8_t *tail, size_t bytes, int flags)
{
	uint8_t data[STREAMS_TAIL] = { 0 };
	size_t got = 0;

	while (got < bytes) {
		ssize_t some = recv(fd, data + got, bytes - got, flags);

		if (some < 0 && errno == EAGAIN && (flags & MSG_DONTWAIT))
			continue;
		if (some <= 0)
			return streams_failed(some ? "recv" : "recv: an early end");
		got += (size_t)some;
	}
	if (memcmp(data, tail, bytes)) {
		fprintf(stderr, "streams: WRONG: other bytes than were sent\n");
		return -1;
	}
	return 0;
}

int streams_connect(const char *address, int protocol, int port, uint64_t request)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct streams_hello hello = { .request = request };
	int fd = socket(AF_INET, SOCK_STREAM, protocol), one = 1;

	if (fd < 0)
		return streams_failed("socket");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	inet_pton(AF_INET, address, &sin.sin_addr);
	if (connect(fd, (struct sockaddr *)&sin, sizeof(sin))) {
		close(fd);
		return streams_failed("connect");
	}
	if (streams_ask(fd, &hello, sizeof(hello))) {
		close(fd);
		return -1;
	}
	return fd;
}

double streams_busy_us(void)
{
	unsigned long long user, nice, system, idle, wait, irq, softirq;
	FILE *file = fopen("/proc/stat", "re");
	int got = file ? fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait,
				&irq, &softirq) : 0;

	if (file)
		fclose(file);
	return got == 7 ? (double)(user + nice + system + irq + softirq) * 1e6 / (double)sysconf(_SC_CLK_TCK) : -1;
}
