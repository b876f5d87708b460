// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whatever the kernel may answer over netlink, as datagrams: two bytes of
 * length, then the bytes. The sequence number is put right in most, so that the
 * message is looked at. A request ends with an answer or an error, and leaves nothing behind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "../../common/netlink.h"
#include "fuzz.h"

#define PORT	7

static struct fuzz in;
static uint32_t seq;

int __wrap_socket(int domain, int type, int protocol);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *bytes);
ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t room, int flags);

/* A file that may be closed. */
int __wrap_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	(void)fd;
	(void)level;
	(void)option;
	(void)value;
	(void)bytes;
	return 0;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
	(void)fd;
	(void)address;
	(void)bytes;
	return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *bytes)
{
	const struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_pid = PORT };

	(void)fd;
	fuzz_check(*bytes >= sizeof(own));
	memcpy(address, &own, sizeof(own));
	return 0;
}

ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags)
{
	const struct nlmsghdr *msg = data;

	(void)fd;
	(void)flags;
	fuzz_check(msg->nlmsg_len == bytes);
	seq = msg->nlmsg_seq;
	return bytes;
}

/* Put the numbers of a datagram's messages right. */
static void mend(char *datagram, size_t bytes)
{
	struct nlmsghdr msg;

	for (size_t at = 0; at + sizeof(msg) <= bytes; at += NLMSG_ALIGN(msg.nlmsg_len)) {
		memcpy(&msg, datagram + at, sizeof(msg));
		msg.nlmsg_seq = seq;
		msg.nlmsg_pid = PORT;
		memcpy(datagram + at, &msg, sizeof(msg));
		if (msg.nlmsg_len < sizeof(msg) || msg.nlmsg_len > bytes)
			break;
	}
}

/* The top bit of the length says that numbers are to be wrong. */
ssize_t __wrap_recv(int fd, void *buffer, size_t room, int flags)
{
	const uint32_t head = fuzz_number(&in, 2);
	size_t bytes = head & 0x7fff;

	(void)fd;
	fuzz_check(flags == MSG_TRUNC);
	if (bytes > in.left)
		bytes = in.left;
	if (!bytes) {
		errno = ENOBUFS;
		return -1;
	}
	fuzz_check(bytes <= room);
	memcpy(buffer, in.at, bytes);
	in.at += bytes;
	in.left -= bytes;
	if (!(head & 0x8000))
		mend(buffer, bytes);
	return bytes;
}

static void check(struct vqp_netlink *netlink, int ret, json_t *reply, int wanted)
{
	fuzz_check(ret <= 0);
	if (ret) {
		fuzz_check(!reply && *vqp_netlink_error(netlink));
	} else {
		fuzz_check(json_is_object(reply) || json_is_array(reply));
		fuzz_check((int)json_typeof(reply) == wanted);
	}
	json_decref(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct vqp_netlink netlink;
	json_t *reply = NULL;
	int ret;

	in = (struct fuzz){ data, bytes };
	fuzz_check(!vqp_netlink_open(&netlink));
	netlink.family = fuzz_byte(&in) & 1 ? 0 : 100;	/* to be asked for, or known */
	ret = vqp_netlink_do(&netlink, VQP_CMD_STATUS_GET, NULL, &reply);
	check(&netlink, ret, reply, JSON_OBJECT);
	reply = NULL;
	ret = vqp_netlink_dump(&netlink, VQP_CMD_NS_GET, &reply);
	check(&netlink, ret, reply, JSON_ARRAY);
	vqp_netlink_close(&netlink);
	return 0;
}
