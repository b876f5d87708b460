/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "attr.h"
#include "netlink.h"
#include "nlattr.h"

#define BUFFER_BYTES 65536	/* for a datagram; the kernel's dumps use up to 32 KiB */
#define DUMPS_MAX 10		/* attempts to dump a list that changes meanwhile */

/* Takes an answer with data. 0 or a negative errno value. */
typedef int (*parse_fn)(const struct nlmsghdr *msg, void *data);

/* An exchange with the kernel. */
struct exchange {
	struct vqp_netlink *netlink;
	bool answered;		/* The last answer has arrived. */
	parse_fn parse;
	void *data;
};

static int open_socket(struct vqp_netlink *netlink)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	socklen_t bytes = sizeof(address);
	const int one = 1;
	int err;

	netlink->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (netlink->fd < 0)
		return -errno;
	setsockopt(netlink->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(netlink->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	if (!bind(netlink->fd, (struct sockaddr *)&address, sizeof(address)) &&
	    !getsockname(netlink->fd, (struct sockaddr *)&address, &bytes)) {
		netlink->port = address.nl_pid;
		return 0;
	}
	err = errno;
	vqp_netlink_close(netlink);
	return -err;
}

int vqp_netlink_open(struct vqp_netlink *netlink)
{
	*netlink = (struct vqp_netlink){ .fd = -1 };
	return open_socket(netlink);
}

void vqp_netlink_close(struct vqp_netlink *netlink)
{
	if (netlink->fd >= 0)
		close(netlink->fd);
	netlink->fd = -1;
}

const char *vqp_netlink_error(const struct vqp_netlink *netlink)
{
	return netlink->error;
}

static int set_error(struct vqp_netlink *netlink, int err, const char *text)
{
	snprintf(netlink->error, sizeof(netlink->error), "%s", text);
	return -err;
}

/* Returns the kernel's own words for an error, which are the message's from `offset` on; NULL if it has none. */
static const char *find_words(const struct nlmsghdr *msg, size_t offset)
{
	struct vqp_nlattrs attrs = vqp_nlattrs_of(msg, offset);
	struct vqp_nlattr attr;

	while (vqp_nlattr_next(&attrs, &attr))
		if (attr.type == NLMSGERR_ATTR_MSG && memchr(attr.data, '\0', attr.bytes))
			return attr.data;
	return NULL;
}

/* Checks the kernel's error; a number that cannot be an errno value is no answer. */
static int answered_error(int error)
{
	return error < 0 && error >= -4095 ? -error : EBADMSG;
}

/* Takes an acknowledgement, with the kernel's own words if it has some. 0 or a negative errno value. */
static int parse_ack(struct exchange *exchange, const struct nlmsghdr *msg)
{
	const struct nlmsgerr *ack = NLMSG_DATA(msg);
	const bool capped = msg->nlmsg_flags & NLM_F_CAPPED;	/* Of the request it quotes the header alone. */
	const char *text = NULL;
	int err;

	if (NLMSG_PAYLOAD(msg, 0) < sizeof(*ack) || (!capped && ack->msg.nlmsg_len < NLMSG_HDRLEN))
		return -EBADMSG;
	if (!ack->error)
		return 0;
	if (msg->nlmsg_flags & NLM_F_ACK_TLVS)
		text = find_words(msg, sizeof(*ack) + (capped ? 0 : ack->msg.nlmsg_len - NLMSG_HDRLEN));
	err = answered_error(ack->error);
	return set_error(exchange->netlink, err, text ? text : strerror(err));
}

/* Takes the end of a dump, which may be an error. 0 or a negative errno value. */
static int parse_done(struct exchange *exchange, const struct nlmsghdr *msg)
{
	int error = 0;

	if (NLMSG_PAYLOAD(msg, 0) >= sizeof(error))
		memcpy(&error, NLMSG_DATA(msg), sizeof(error));
	if (error >= 0)
		return 0;
	error = answered_error(error);
	return set_error(exchange->netlink, error, strerror(error));
}

/* Takes a message. 0, with exchange->answered set by the last one, or a negative errno value. */
static int take(struct exchange *exchange, const struct nlmsghdr *msg)
{
	if (msg->nlmsg_pid && msg->nlmsg_pid != exchange->netlink->port)
		return -ESRCH;
	if (msg->nlmsg_seq != exchange->netlink->seq)
		return -EPROTO;
	if (msg->nlmsg_flags & NLM_F_DUMP_INTR)
		return -EINTR;
	switch (msg->nlmsg_type) {
	case NLMSG_ERROR:
		exchange->answered = true;
		return parse_ack(exchange, msg);
	case NLMSG_DONE:
		exchange->answered = true;
		return parse_done(exchange, msg);
	default:
		return msg->nlmsg_type < NLMSG_MIN_TYPE ? 0 : exchange->parse(msg, exchange->data);
	}
}

/* Receives a datagram, and takes its messages, of which there must be one. */
static int receive(struct exchange *exchange)
{
	_Alignas(struct nlmsghdr) char buffer[BUFFER_BYTES];
	const struct nlmsghdr *msg = (const struct nlmsghdr *)buffer;
	ssize_t received;
	size_t left;
	int ret = 0;

	do
		received = recv(exchange->netlink->fd, buffer, sizeof(buffer), MSG_TRUNC);
	while (received < 0 && errno == EINTR);
	left = received;
	if (received < 0)
		return -errno;
	if (left > sizeof(buffer))
		return -EMSGSIZE;
	if (!left)
		return -EBADMSG;
	while (!ret && !exchange->answered && left >= sizeof(*msg) && msg->nlmsg_len >= sizeof(*msg) &&
	       msg->nlmsg_len <= left) {
		const size_t bytes = NLMSG_ALIGN(msg->nlmsg_len) < left ? NLMSG_ALIGN(msg->nlmsg_len) : left;

		ret = take(exchange, msg);
		msg = (const struct nlmsghdr *)((const char *)msg + bytes);
		left -= bytes;
	}
	return ret || exchange->answered || !left ? ret : -EBADMSG;
}

/* Sends a message. 0 or a negative errno value. */
static int send_message(const struct vqp_netlink *netlink, const struct nlmsghdr *msg)
{
	ssize_t sent;

	do
		sent = send(netlink->fd, msg, msg->nlmsg_len, 0);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* Sends a message, and receives answers until the last one. */
static int talk(struct vqp_netlink *netlink, struct nlmsghdr *msg, parse_fn parse, void *data)
{
	struct exchange exchange = { .netlink = netlink, .parse = parse, .data = data };
	int ret = netlink->fd >= 0 ? 0 : open_socket(netlink);

	netlink->error[0] = '\0';
	if (ret)
		return set_error(netlink, -ret, strerror(-ret));
	msg->nlmsg_seq = ++netlink->seq;
	ret = send_message(netlink, msg);
	if (ret)
		return set_error(netlink, -ret, strerror(-ret));
	while (!ret && !exchange.answered)
		ret = receive(&exchange);
	if (!exchange.answered)		/* A late answer must not be taken for that of the next request. */
		vqp_netlink_close(netlink);
	return !ret || netlink->error[0] ? ret : set_error(netlink, -ret, strerror(-ret));
}

static struct nlmsghdr *start_message(char *buffer, uint16_t family, uint16_t flags, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *msg = (struct nlmsghdr *)buffer;

	*msg = (struct nlmsghdr){
		.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST | flags,
	};
	*(struct genlmsghdr *)NLMSG_DATA(msg) = (struct genlmsghdr){ .cmd = cmd, .version = version };
	return msg;
}

static int parse_family(const struct nlmsghdr *msg, void *data)
{
	struct vqp_nlattrs attrs = vqp_nlattrs_of(msg, GENL_HDRLEN);
	struct vqp_nlattr attr;

	while (vqp_nlattr_next(&attrs, &attr))
		if (attr.type == CTRL_ATTR_FAMILY_ID && attr.bytes == sizeof(uint16_t))
			memcpy(data, attr.data, sizeof(uint16_t));
	return 0;
}

static int resolve_family(struct vqp_netlink *netlink)
{
	_Alignas(struct nlmsghdr) char buffer[256];
	struct nlmsghdr *msg = start_message(buffer, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	int ret;

	netlink->family = 0;
	vqp_nlattr_put(msg, sizeof(buffer), CTRL_ATTR_FAMILY_NAME, VQP_GENL_NAME, sizeof(VQP_GENL_NAME));
	ret = talk(netlink, msg, parse_family, &netlink->family);
	if (ret == -ENOENT || (!ret && !netlink->family))
		return set_error(netlink, ENOPKG, "no vqp module loaded: modprobe vqp");
	return ret;
}

static int request(struct vqp_netlink *netlink, enum vqp_cmd cmd, uint16_t flags, const json_t *attrs,
		   parse_fn parse, void *data)
{
	_Alignas(struct nlmsghdr) char buffer[BUFFER_BYTES];
	char error[sizeof(netlink->error)];
	int ret = netlink->family ? 0 : resolve_family(netlink);

	while (!ret) {
		uint16_t family = netlink->family;
		struct nlmsghdr *msg = start_message(buffer, family, flags, cmd, VQP_GENL_VERSION);

		if (attrs && vqp_attr_put(msg, sizeof(buffer), attrs))
			return set_error(netlink, EINVAL, "the request does not fit the netlink family");
		ret = talk(netlink, msg, parse, data);
		if (ret != -ENOENT)
			return ret;
		/*
		 * There is no such object; or the module was loaded anew, and its family has
		 * another number.
		 */
		memcpy(error, netlink->error, sizeof(error));
		ret = resolve_family(netlink);
		if (!ret && netlink->family == family)
			return set_error(netlink, ENOENT, error);
	}
	return ret;
}

static int parse_object(const struct nlmsghdr *msg, void *data)
{
	json_t *object = vqp_attr_get(msg, GENL_HDRLEN);

	if (!object)
		return -EBADMSG;
	json_decref(*(json_t **)data);
	*(json_t **)data = object;
	return 0;
}

/* For a command without an answer. */
static int ignore(const struct nlmsghdr *msg, void *data)
{
	(void)msg, (void)data;
	return 0;
}

int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	json_t *object = json_object();
	int ret = request(netlink, cmd, NLM_F_ACK, attrs, parse_object, &object);

	if (!ret && reply)
		*reply = object;
	else
		json_decref(object);
	return ret;
}

int vqp_netlink_make(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs)
{
	json_t *exclusive = json_copy((json_t *)attrs);
	int ret = set_error(netlink, ENOMEM, strerror(ENOMEM));

	if (!json_object_set_new(exclusive, "exclusive", json_true()))
		ret = request(netlink, cmd, NLM_F_ACK, exclusive, ignore, NULL);
	json_decref(exclusive);
	return ret;
}

int vqp_netlink_delete(struct vqp_netlink *netlink, const json_t *item)
{
	json_auto_t *key = json_pack("{s:O, s:O}", "tenant", json_object_get(item, "tenant"),
				     "gid", json_object_get(item, "gid"));
	json_auto_t *that = json_pack("{s:O, s:O}", "netns_ino", json_object_get(item, "netns_ino"),
				      "name", json_object_get(item, "name"));
	json_auto_t *at_once = json_pack("{s:b}", "no_wait", 1);
	int ret;

	if (!key || !that || !at_once || json_object_update(that, key) || json_object_update(at_once, that))
		return set_error(netlink, ENOMEM, strerror(ENOMEM));
	ret = vqp_netlink_do(netlink, VQP_CMD_NS_DEL, at_once, NULL);
	/* A module that was loaded before an upgrade may always wait, and may know no conditions. */
	if (ret == -EINVAL)
		ret = vqp_netlink_do(netlink, VQP_CMD_NS_DEL, that, NULL);
	return ret == -EINVAL ? vqp_netlink_do(netlink, VQP_CMD_NS_DEL, key, NULL) : ret;
}

static int parse_item(const struct nlmsghdr *msg, void *list)
{
	json_t *object = vqp_attr_get(msg, GENL_HDRLEN);
	json_t *meta = json_object_get(object, "meta");

	const bool taken = object && !(meta ? json_array_extend(list, meta) : json_array_append(list, object));

	json_decref(object);
	return taken ? 0 : -EBADMSG;
}

static int dump_once(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	int ret;

	*list = json_array();
	ret = request(netlink, cmd, NLM_F_DUMP, NULL, parse_item, *list);
	if (ret) {
		json_decref(*list);
		*list = NULL;
	}
	return ret;
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	/* The kernel's error is EINTR if the list has changed during the dump. */
	for (unsigned int i = 0; i < DUMPS_MAX; i++) {
		int ret = dump_once(netlink, cmd, list);

		if (ret != -EINTR)
			return ret;
	}
	return set_error(netlink, EBUSY, "the list changes all the time: try again");
}
