// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whatever the kernel may answer over netlink, as datagrams: two bytes of
 * length, then the bytes. The sequence number is put right in most, so that the
 * message is looked at. A request ends with an answer or an error, and leaves nothing behind.
 */
#include <errno.h>
#include <linux/netlink.h>

#include "../../common/netlink.h"
#include "fuzz.h"

#define PORT	7

static struct fuzz in;
static uint32_t seq;
static char the_socket;

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	return (struct mnl_socket *)&the_socket;
}

int mnl_socket_setsockopt(const struct mnl_socket *socket, int type, void *value, socklen_t bytes)
{
	(void)socket;
	(void)type;
	(void)value;
	(void)bytes;
	return 0;
}

int mnl_socket_bind(struct mnl_socket *socket, unsigned int groups, pid_t pid)
{
	(void)socket;
	(void)groups;
	(void)pid;
	return 0;
}

int mnl_socket_close(struct mnl_socket *socket)
{
	(void)socket;
	return 0;
}

unsigned int mnl_socket_get_portid(const struct mnl_socket *socket)
{
	(void)socket;
	return PORT;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *socket, const void *data, size_t bytes)
{
	const struct nlmsghdr *msg = data;

	(void)socket;
	fuzz_check(msg->nlmsg_len == bytes);
	seq = msg->nlmsg_seq;
	return bytes;
}

/*
 * Put the headers of a datagram's messages right. libmnl itself goes astray at
 * lengths from 2^31 on, which no kernel sends.
 */
static void mend(char *datagram, size_t bytes, int number_too)
{
	struct nlmsghdr msg;

	for (size_t at = 0; at + sizeof(msg) <= bytes; at += NLMSG_ALIGN(msg.nlmsg_len)) {
		memcpy(&msg, datagram + at, sizeof(msg));
		msg.nlmsg_len &= INT32_MAX;
		if (number_too) {
			msg.nlmsg_seq = seq;
			msg.nlmsg_pid = PORT;
		}
		memcpy(datagram + at, &msg, sizeof(msg));
		if (msg.nlmsg_len < sizeof(msg))
			break;
	}
}

/* The top bit of the length says that numbers are to be wrong. */
ssize_t mnl_socket_recvfrom(const struct mnl_socket *socket, void *buffer, size_t room)
{
	const uint32_t head = fuzz_number(&in, 2);
	size_t bytes = head & 0x7fff;

	(void)socket;
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
	mend(buffer, bytes, !(head & 0x8000));
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
