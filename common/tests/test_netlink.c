/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the kernel may answer; here it answers as told. The fuzz target netlink has much more of it. */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>

#include "../netlink.h"

/* What the kernel says next, and again and again. */
static struct {
	_Alignas(struct nlmsghdr) char bytes[256];
	size_t count;
	uint32_t seq;			/* of the last request */
	unsigned int requests;
	bool interrupts_send, interrupts_recv;	/* A signal comes first. */
	unsigned int heard;		/* datagrams of the answer to the last request */
	size_t sent;			/* bytes of the last request */
} kernel;

ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t room, int flags);

static bool comes(bool *signal)
{
	bool did = *signal;

	*signal = false;
	errno = EINTR;
	return did;
}

ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags)
{
	(void)fd, (void)flags;
	if (comes(&kernel.interrupts_send))
		return -1;
	kernel.sent = bytes;
	kernel.seq = ((const struct nlmsghdr *)data)->nlmsg_seq;
	kernel.requests++;
	kernel.heard = 0;
	return bytes;
}

/* Who would wait for more than was said hears ENOBUFS. */
ssize_t __wrap_recv(int fd, void *buffer, size_t room, int flags)
{
	(void)fd, (void)room, (void)flags;
	if (comes(&kernel.interrupts_recv))
		return -1;
	errno = ENOBUFS;
	if (kernel.heard++)
		return -1;
	memcpy(buffer, kernel.bytes, kernel.count);
	((struct nlmsghdr *)buffer)->nlmsg_seq = kernel.seq;
	return kernel.count;
}

static int setup(void **state)
{
	static struct vqp_netlink netlink;

	memset(&kernel, 0, sizeof(kernel));
	assert_int_equal(vqp_netlink_open(&netlink), 0);
	netlink.family = 100;
	*state = &netlink;
	return 0;
}

static int teardown(void **state)
{
	vqp_netlink_close(*state);
	return 0;
}

/* A message of the kernel with an errno value, and as much of the request as is quoted. */
static struct nlmsgerr *say_ack(int error, uint16_t flags)
{
	struct nlmsghdr *msg = (struct nlmsghdr *)kernel.bytes;
	struct nlmsgerr *ack = NLMSG_DATA(msg);

	kernel.count = NLMSG_LENGTH(sizeof(*ack));
	*msg = (struct nlmsghdr){ .nlmsg_len = kernel.count, .nlmsg_type = NLMSG_ERROR, .nlmsg_flags = flags };
	*ack = (struct nlmsgerr){ .error = error, .msg.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) };
	return ack;
}

static void assert_do(struct vqp_netlink *netlink, int expected)
{
	assert_int_equal(vqp_netlink_do(netlink, VQP_CMD_NS_DEL, NULL, NULL), expected);
	assert_true(!expected || *vqp_netlink_error(netlink));
}

static void an_acknowledgement_quotes_a_whole_header(void **state)
{
	struct nlmsgerr *ack = say_ack(-EPERM, NLM_F_ACK_TLVS);

	ack->msg.nlmsg_len = NLMSG_HDRLEN;
	assert_do(*state, -EPERM);
	ack->msg.nlmsg_len = NLMSG_HDRLEN - 1;
	assert_do(*state, -EBADMSG);
	ack->msg.nlmsg_len = 0;
	assert_do(*state, -EBADMSG);
}

static void what_is_no_message_is_not_waited_behind(void **state)
{
	struct nlmsghdr *msg = (struct nlmsghdr *)kernel.bytes;

	assert_do(*state, -EBADMSG);
	kernel.count = sizeof(*msg) - 1;
	assert_do(*state, -EBADMSG);
	say_ack(0, 0);
	msg->nlmsg_len = sizeof(*msg) - 1;
	assert_do(*state, -EBADMSG);
	msg->nlmsg_len = kernel.count + 1;
	assert_do(*state, -EBADMSG);
}

static void signals_are_no_answers(void **state)
{
	say_ack(0, 0);
	kernel.interrupts_send = kernel.interrupts_recv = true;
	assert_do(*state, 0);
	assert_int_equal(kernel.requests, 1);
}

static void a_list_that_changes_is_not_dumped_for_ever(void **state)
{
	struct nlmsghdr *msg = (struct nlmsghdr *)kernel.bytes;
	json_t *list;

	say_ack(0, NLM_F_DUMP_INTR);
	assert_int_equal(vqp_netlink_dump(*state, VQP_CMD_NS_GET, &list), -EBUSY);
	assert_null(list);
	assert_non_null(strstr(vqp_netlink_error(*state), "try again"));
	assert_int_equal(kernel.requests, 10);

	*msg = (struct nlmsghdr){ .nlmsg_len = sizeof(*msg), .nlmsg_type = NLMSG_DONE };
	kernel.count = sizeof(*msg);
	assert_int_equal(vqp_netlink_dump(*state, VQP_CMD_NS_GET, &list), 0);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

/* What a module that knows no flag or no conditions of a del refuses is asked of it without them. */
static void a_del_is_of_what_was_listed(void **state)
{
	json_auto_t *item = unit_json("{\"tenant\":1,\"gid\":\"10.1.0.1\",\"netns_ino\":2,\"name\":\"c1/eth0\",\"vqps\":3}");
	const size_t key = NLMSG_LENGTH(GENL_HDRLEN) + NLA_HDRLEN + 4 + NLA_HDRLEN + VQP_GID_BYTES;

	say_ack(0, 0);
	assert_int_equal(vqp_netlink_delete(*state, item), 0);
	assert_int_equal(kernel.requests, 1);
	assert_int_equal(kernel.sent, key + NLA_HDRLEN + 4 + NLA_HDRLEN + sizeof("c1/eth0") + NLA_HDRLEN);
	say_ack(-EINVAL, 0);
	assert_int_equal(vqp_netlink_delete(*state, item), -EINVAL);
	assert_int_equal(kernel.requests, 4);
	assert_int_equal(kernel.sent, key);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_acknowledgement_quotes_a_whole_header),
		TEST(what_is_no_message_is_not_waited_behind),
		TEST(signals_are_no_answers),
		TEST(a_list_that_changes_is_not_dumped_for_ever),
		TEST(a_del_is_of_what_was_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
