// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Vectors, several messages in a call, nothing at all, and memory that is not there. */
#define _GNU_SOURCE
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include "sockt.h"

#define ENTRIES 1024

/* Entries of 0 to 96 bytes over a buffer; how many bytes */
static size_t cut(struct iovec *vector, uint8_t *buffer)
{
	size_t bytes = 0;
	int i;

	for (i = 0; i < ENTRIES; i++) {
		vector[i] = (struct iovec){ buffer + bytes, (size_t)i * 37 % 97 };
		bytes += vector[i].iov_len;
	}
	return bytes;
}

static void many_entries(struct sockt *t)
{
	static struct iovec vector[ENTRIES];
	static uint8_t buffer[ENTRIES * 97];
	struct msghdr message = { .msg_iov = vector, .msg_iovlen = ENTRIES };
	size_t bytes = cut(vector, buffer);

	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);

		io_fill(buffer, NEAR_BASE, bytes);
		WANT_EQ(sendmsg(fd, &message, 0), (long long)bytes);
		far_do(t, "recv 0 %llu %zu 0", NEAR_BASE, bytes);
		WANT_EQ(writev(fd, vector, ENTRIES), (long long)bytes);
		far_do(t, "recv 0 %llu %zu 0", NEAR_BASE, bytes);
		far_do(t, "send 0 %llu %zu 0 0", FAR_BASE, bytes);
		memset(buffer, 0, bytes);
		WANT_EQ(recvmsg(fd, &message, MSG_WAITALL), (long long)bytes);
		DONE(io_check(buffer, FAR_BASE, bytes));
		WANT_EQ(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC | MSG_OOB | MSG_ERRQUEUE), 0);
		far_do(t, "send 0 %llu %zu 0 0", FAR_BASE, bytes);
		sock_await_queued(fd, (int)bytes);
		memset(buffer, 0, bytes);
		WANT_EQ(readv(fd, vector, ENTRIES), (long long)bytes);
		DONE(io_check(buffer, FAR_BASE, bytes));
		close(fd);
	}
}

static void too_many(struct sockt *t)
{
	static struct iovec vector[IOV_MAX + 1];
	struct msghdr message = { .msg_iov = vector, .msg_iovlen = IOV_MAX + 1 };
	int fd = sock_pair(t, CLIENT, 0);

	WANT_ERR(sendmsg(fd, &message, MSG_NOSIGNAL), EMSGSIZE);
	WANT_ERR(recvmsg(fd, &message, 0), EMSGSIZE);
}

/* A stream names no sender, and a connected one goes nowhere else. */
static void names(struct sockt *t)
{
	struct sockaddr_storage name = { 0 }, other = sock_far(t, 1);
	struct iovec vector;
	char buffer[10];
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_name = &name, .msg_namelen = sizeof(name) };
	socklen_t len = sizeof(name);
	int fd = sock_pair(t, CLIENT, 0);

	vector = (struct iovec){ buffer, 10 };
	far_do(t, "send 0 %llu 20 0 0", FAR_BASE);
	sock_await_queued(fd, 20);
	WANT_EQ(recvmsg(fd, &message, 0), 10);
	WANT_EQ(message.msg_namelen, 0);
	WANT_EQ(recvfrom(fd, buffer, 10, 0, (struct sockaddr *)&name, &len), 10);
	WANT_EQ(len, 0);
	io_fill(buffer, NEAR_BASE, 10);
	WANT_EQ(sendto(fd, buffer, 10, 0, (struct sockaddr *)&other, sock_len(&other)), 10);
	far_do(t, "recv 0 %llu 10 0", NEAR_BASE);
}

static void nothing(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	struct msghdr message = { 0 };
	char byte;

	WANT_EQ(send(fd, "", 0, 0), 0);
	WANT_EQ(write(fd, "", 0), 0);
	WANT_EQ(sendmsg(fd, &message, 0), 0);
	WANT_EQ(read(fd, &byte, 0), 0);
	WANT_ERR(recv(fd, &byte, 0, MSG_DONTWAIT), EAGAIN);
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	sock_await(fd, POLLIN);
	WANT_EQ(recv(fd, &byte, 0, 0), 0);
	WANT_EQ(recvmsg(fd, &message, 0), 0);
	DONE(io_recv(fd, FAR_BASE, 1, 0));
	/* nothing of it was an end */
	DONE(io_send(fd, NEAR_BASE, 1, 0, 0));
	far_do(t, "recv 0 %llu 1 0", NEAR_BASE);
}

static void many_messages(struct sockt *t)
{
	enum { MESSAGES = 8, BYTES = 500 };
	static uint8_t buffer[MESSAGES * BYTES];
	struct mmsghdr messages[MESSAGES] = { 0 };
	struct iovec vectors[MESSAGES];
	int fd = sock_pair(t, CLIENT, 0), i, got;

	for (i = 0; i < MESSAGES; i++) {
		vectors[i] = (struct iovec){ buffer + i * BYTES, BYTES };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	io_fill(buffer, NEAR_BASE, sizeof(buffer));
	WANT_EQ(sendmmsg(fd, messages, MESSAGES, 0), MESSAGES);
	far_do(t, "recv 0 %llu %zu 0", NEAR_BASE, sizeof(buffer));
	far_do(t, "send 0 %llu %zu 0 0", FAR_BASE, sizeof(buffer));
	sock_await_queued(fd, sizeof(buffer));
	got = recvmmsg(fd, messages, MESSAGES, MSG_WAITALL, NULL);
	WANT_EQ(got, MESSAGES);
	for (i = 0; i < MESSAGES; i++)
		WANT_EQ(messages[i].msg_len, BYTES);
	DONE(io_check(buffer, FAR_BASE, sizeof(buffer)));
	WANT_ERR(recvmmsg(fd, messages, MESSAGES, MSG_DONTWAIT, NULL), EAGAIN);
}

static void wait_for_one(struct sockt *t)
{
	struct mmsghdr messages[2] = { 0 };
	struct iovec vectors[2];
	char buffer[2][100] = { 0 };
	int fd = sock_pair(t, CLIENT, 0), i;

	for (i = 0; i < 2; i++) {
		vectors[i] = (struct iovec){ buffer[i], 100 };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
	sock_await_queued(fd, 100);
	WANT_EQ(recvmmsg(fd, messages, 2, MSG_WAITFORONE, NULL), 1);
	WANT_EQ(messages[0].msg_len, 100);
}

/* Memory that is not there gives EFAULT, and costs the stream nothing. */
static void bad_memory(struct sockt *t)
{
	uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = sock_pair(t, CLIENT, 0);

	WANT(page != MAP_FAILED);
	NEED(mprotect(page + 4096, 4096, PROT_NONE));
	WANT_ERR(send(fd, page + 4096, 10, MSG_NOSIGNAL), EFAULT);
	far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
	sock_await_queued(fd, 100);
	WANT_ERR(recv(fd, page + 4096, 100, 0), EFAULT);
	DONE(io_recv(fd, FAR_BASE, 100, 0));
	DONE(io_send(fd, NEAR_BASE, 100, 0, 0));
	far_do(t, "recv 0 %llu 100 0", NEAR_BASE);
}

const struct sockt_case vector_cases[] = {
	{ "vector-many", "1,024 entries, some empty, of sendmsg(), writev(), recvmsg(), readv()", many_entries },
	{ "vector-too-many", "EMSGSIZE", too_many },
	{ "vector-names", "no sender's name; another receiver's is ignored", names },
	{ "vector-nothing", "no bytes: 0 or EAGAIN, and no end", nothing },
	{ "vector-mmsg", "sendmmsg(), recvmmsg()", many_messages },
	{ "vector-wait-for-one", "MSG_WAITFORONE", wait_for_one },
	{ "vector-bad-memory", "EFAULT loses nothing", bad_memory },
	{ 0 }
};
