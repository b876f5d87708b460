// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Streams of bytes of which each end knows what they must be. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sockt.h"

#define CHUNK_MAX (1 << 20)

static uint64_t word_at(uint64_t number)
{
	uint64_t x = (number + 1) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	return x ^ (x >> 31);
}

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(word_at(at / 8) >> (at % 8 * 8));
}

void *io_buffer(size_t bytes)
{
	void *buffer = malloc(bytes);

	if (!buffer)
		abort();
	return buffer;
}

void io_fill(void *buffer, uint64_t from, size_t bytes)
{
	uint8_t *to = buffer;
	size_t i = 0;

	while (i < bytes) {
		uint64_t word;

		if ((from + i) % 8 || bytes - i < 8) {
			to[i] = byte_at(from + i);
			i++;
			continue;
		}
		word = word_at((from + i) / 8);
		memcpy(to + i, &word, 8);
		i += 8;
	}
}

int io_check(const void *buffer, uint64_t from, size_t bytes)
{
	const uint8_t *is = buffer;
	uint8_t want[512];
	size_t i;

	for (i = 0; i < bytes; i += sizeof(want)) {
		size_t some = bytes - i < sizeof(want) ? bytes - i : sizeof(want);

		io_fill(want, from + i, some);
		if (memcmp(is + i, want, some))
			return -EBADMSG;
	}
	return 0;
}

int io_file(uint64_t from, size_t bytes)
{
	uint8_t *buffer = io_buffer(bytes);
	int fd = NEED(memfd_create("sockt", MFD_CLOEXEC));

	io_fill(buffer, from, bytes);
	WANT_EQ(write(fd, buffer, bytes), (long long)bytes);
	free(buffer);
	NEED(lseek(fd, 0, SEEK_SET));
	return fd;
}

static size_t chunk_of(uint64_t left, size_t chunk)
{
	if (!chunk || chunk > CHUNK_MAX)
		chunk = CHUNK_MAX;
	return left < chunk ? (size_t)left : chunk;
}

int io_send(int fd, uint64_t from, uint64_t bytes, size_t chunk, int flags)
{
	uint8_t *buffer = io_buffer(chunk_of(bytes, chunk) + 1);
	uint64_t done = 0;
	int err = 0;

	while (done < bytes) {
		size_t some = chunk_of(bytes - done, chunk);
		ssize_t sent;

		io_fill(buffer, from + done, some);
		sent = send(fd, buffer, some, flags | MSG_NOSIGNAL);
		if (sent < 0) {
			err = -errno;
			break;
		}
		done += (size_t)sent;
	}
	free(buffer);
	return err;
}

/* Receive up to so many bytes; with `exact` an end before them is an error. */
static int64_t receive(int fd, uint64_t from, uint64_t bytes, size_t chunk, bool exact)
{
	uint8_t *buffer = io_buffer(chunk_of(bytes, chunk) + 1);
	uint64_t done = 0;
	int64_t err = 0;

	while (done < bytes && !err) {
		ssize_t got = recv(fd, buffer, chunk_of(bytes - done, chunk), 0);

		if (got < 0)
			err = -errno;
		else if (!got && exact)
			err = -ENODATA;
		else if (!got)
			break;
		else
			err = io_check(buffer, from + done, (size_t)got);
		done += got > 0 ? (size_t)got : 0;
	}
	free(buffer);
	return err ? err : (int64_t)done;
}

int io_recv(int fd, uint64_t from, uint64_t bytes, size_t chunk)
{
	int64_t got = receive(fd, from, bytes, chunk, true);

	return got < 0 ? (int)got : 0;
}

int64_t io_drain(int fd, uint64_t from)
{
	return receive(fd, from, UINT64_MAX, 0, false);
}

/* One of the two directions of io_both(). */
struct direction {
	uint64_t from, bytes, done;
};

static int some_out(int fd, struct direction *out, uint8_t *buffer, size_t chunk)
{
	size_t some = chunk_of(out->bytes - out->done, chunk);
	ssize_t sent;

	io_fill(buffer, out->from + out->done, some);
	sent = send(fd, buffer, some, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return errno == EAGAIN ? 0 : -errno;
	out->done += (size_t)sent;
	return 0;
}

static int some_in(int fd, struct direction *in, uint8_t *buffer, size_t chunk)
{
	ssize_t got = recv(fd, buffer, chunk_of(in->bytes - in->done, chunk), MSG_DONTWAIT);
	int err;

	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (!got)
		return -ENODATA;
	err = io_check(buffer, in->from + in->done, (size_t)got);
	in->done += (size_t)got;
	return err;
}

int io_both(int fd, uint64_t send_from, uint64_t send, uint64_t recv_from, uint64_t recv, size_t chunk)
{
	struct direction out = { .from = send_from, .bytes = send }, in = { .from = recv_from, .bytes = recv };
	uint8_t *buffer = io_buffer(chunk_of(UINT64_MAX, chunk));
	int err = 0;

	while (!err && (out.done < out.bytes || in.done < in.bytes)) {
		struct pollfd p = { .fd = fd };

		p.events = (short)((out.done < out.bytes ? POLLOUT : 0) | (in.done < in.bytes ? POLLIN : 0));
		if (poll(&p, 1, check_limit_s() * 1000) <= 0)
			err = -ETIMEDOUT;
		if (!err && (p.revents & POLLOUT) && out.done < out.bytes)
			err = some_out(fd, &out, buffer, chunk);
		if (!err && (p.revents & ~POLLOUT) && in.done < in.bytes)
			err = some_in(fd, &in, buffer, chunk);
	}
	free(buffer);
	return err;
}

/* Give back what is there; the number of bytes, 0 at the end */
static ssize_t echo_some(int fd)
{
	uint8_t buffer[16384];
	ssize_t got = recv(fd, buffer, sizeof(buffer), 0), done = 0;

	if (got < 0)
		return -errno;
	while (done < got) {
		ssize_t sent = send(fd, buffer + done, (size_t)(got - done), MSG_NOSIGNAL);

		if (sent < 0)
			return -errno;
		done += sent;
	}
	return got;
}

int64_t io_echo_one(int fd)
{
	int64_t sum = 0;
	ssize_t some;

	while ((some = echo_some(fd)) > 0)
		sum += some;
	return some < 0 ? some : sum;
}

static int echo_accept(int epoll, int listener)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return -errno;
	event.data.fd = fd;
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int64_t io_echo(int listener, int connections)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), coming = connections, ended = 0;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
	int64_t sum = 0, some = 0;

	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	while (ended < connections && some >= 0) {
		if (epoll_wait(epoll, &event, 1, check_limit_s() * 1000) <= 0) {
			some = -ETIMEDOUT;
			break;
		}
		if (event.data.fd == listener) {
			some = echo_accept(epoll, listener);
			if (!--coming)
				epoll_ctl(epoll, EPOLL_CTL_DEL, listener, NULL);
			continue;
		}
		some = echo_some(event.data.fd);
		sum += some;
		if (some <= 0) {
			close(event.data.fd);
			ended++;
		}
	}
	close(epoll);
	return some < 0 ? some : sum;
}
