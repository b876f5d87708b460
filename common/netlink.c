/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "attr.h"
#include "netlink.h"

#define BUFFER_BYTES 65536	/* for a datagram; the kernel's dumps use up to 32 KiB */

/* An exchange with the kernel. */
struct exchange {
	struct vqp_netlink *netlink;
	bool answered;		/* The last answer has arrived. */
	int (*parse)(const struct nlmsghdr *msg, void *data);
	void *data;
};

static int open_socket(struct vqp_netlink *netlink)
{
	int one = 1, err;

	netlink->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!netlink->socket)
		return -errno;
	mnl_socket_setsockopt(netlink->socket, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(netlink->socket, NETLINK_CAP_ACK, &one, sizeof(one));
	if (mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID) >= 0)
		return 0;
	err = errno;
	vqp_netlink_close(netlink);
	return -err;
}

int vqp_netlink_open(struct vqp_netlink *netlink)
{
	*netlink = (struct vqp_netlink){ 0 };
	return open_socket(netlink);
}

void vqp_netlink_close(struct vqp_netlink *netlink)
{
	if (netlink->socket)
		mnl_socket_close(netlink->socket);
	netlink->socket = NULL;
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

static int find_message(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		*(const char **)data = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

/* Checks the kernel's error; a number that cannot be an errno value is no answer. */
static int answered_error(int error)
{
	return error < 0 && error >= -4095 ? -error : EBADMSG;
}

/* Parses an acknowledgement, with the kernel's message if it has one. */
static int parse_ack(const struct nlmsghdr *msg, void *data)
{
	const struct nlmsgerr *ack = mnl_nlmsg_get_payload(msg);
	struct exchange *exchange = data;
	const char *text = NULL;
	int err;

	exchange->answered = true;
	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*ack)) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	if (!ack->error)
		return MNL_CB_STOP;
	if (msg->nlmsg_flags & NLM_F_ACK_TLVS) {
		size_t offset = sizeof(*ack);

		if (!(msg->nlmsg_flags & NLM_F_CAPPED))
			offset += mnl_nlmsg_get_payload_len(&ack->msg);
		if (offset <= mnl_nlmsg_get_payload_len(msg))
			mnl_attr_parse(msg, offset, find_message, &text);
	}
	err = answered_error(ack->error);
	set_error(exchange->netlink, 0, text ? text : strerror(err));
	errno = err;
	return MNL_CB_ERROR;
}

/* Parses the end of a dump, which may be an error. */
static int parse_done(const struct nlmsghdr *msg, void *data)
{
	struct exchange *exchange = data;
	int error = 0;

	exchange->answered = true;
	if (mnl_nlmsg_get_payload_len(msg) >= sizeof(error))
		memcpy(&error, mnl_nlmsg_get_payload(msg), sizeof(error));
	if (error >= 0)
		return MNL_CB_STOP;
	error = answered_error(error);
	set_error(exchange->netlink, 0, strerror(error));
	errno = error;
	return MNL_CB_ERROR;
}

static int parse_data(const struct nlmsghdr *msg, void *data)
{
	struct exchange *exchange = data;

	return exchange->parse(msg, exchange->data);
}

/* Sends a message, and receives answers until the last one. */
static int talk(struct vqp_netlink *netlink, struct nlmsghdr *msg,
		int (*parse)(const struct nlmsghdr *msg, void *data), void *data)
{
	mnl_cb_t control[NLMSG_MIN_TYPE] = { [NLMSG_ERROR] = parse_ack, [NLMSG_DONE] = parse_done };
	struct exchange exchange = { .netlink = netlink, .parse = parse, .data = data };
	char buffer[BUFFER_BYTES];
	int ret = MNL_CB_OK, err;

	netlink->error[0] = '\0';
	err = netlink->socket ? 0 : -open_socket(netlink);
	if (err)
		return set_error(netlink, err, strerror(err));
	msg->nlmsg_seq = ++netlink->seq;
	if (mnl_socket_sendto(netlink->socket, msg, msg->nlmsg_len) < 0)
		return set_error(netlink, errno, strerror(errno));
	while (ret > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(netlink->socket, buffer, sizeof(buffer));

		ret = n < 0 ? MNL_CB_ERROR
			    : mnl_cb_run2(buffer, n, netlink->seq, mnl_socket_get_portid(netlink->socket),
					  parse_data, &exchange, control, NLMSG_MIN_TYPE);
	}
	if (ret == MNL_CB_STOP)
		return 0;
	err = errno;
	if (!exchange.answered)		/* A late answer must not be taken for that of the next request. */
		vqp_netlink_close(netlink);
	return netlink->error[0] ? -err : set_error(netlink, err, strerror(err));
}

static struct nlmsghdr *start_message(char *buffer, uint16_t family, uint16_t flags, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	msg->nlmsg_type = family;
	msg->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return msg;
}

static int find_family(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID && mnl_attr_validate(attr, MNL_TYPE_U16) >= 0)
		*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int parse_family(const struct nlmsghdr *msg, void *data)
{
	return mnl_attr_parse(msg, sizeof(struct genlmsghdr), find_family, data);
}

static int resolve_family(struct vqp_netlink *netlink)
{
	char buffer[256];
	struct nlmsghdr *msg = start_message(buffer, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	int ret;

	netlink->family = 0;
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, VQP_GENL_NAME);
	ret = talk(netlink, msg, parse_family, &netlink->family);
	if (ret == -ENOENT || (!ret && !netlink->family))
		return set_error(netlink, ENOPKG, "no vqp module loaded: modprobe vqp");
	return ret;
}

static int request(struct vqp_netlink *netlink, enum vqp_cmd cmd, uint16_t flags, const json_t *attrs,
		   int (*parse)(const struct nlmsghdr *msg, void *data), void *data)
{
	char buffer[BUFFER_BYTES], error[sizeof(netlink->error)];
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
	json_t *object = vqp_attr_get(msg, sizeof(struct genlmsghdr));

	if (!object) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	json_decref(*(json_t **)data);
	*(json_t **)data = object;
	return MNL_CB_OK;
}

/* For a command without an answer. */
static int ignore(const struct nlmsghdr *msg, void *data)
{
	(void)msg, (void)data;
	return MNL_CB_OK;
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
	int ret = -ENOMEM;

	if (!json_object_set_new(exclusive, "exclusive", json_true()))
		ret = request(netlink, cmd, NLM_F_ACK, exclusive, ignore, NULL);
	json_decref(exclusive);
	return ret;
}

static int parse_item(const struct nlmsghdr *msg, void *list)
{
	json_t *object = vqp_attr_get(msg, sizeof(struct genlmsghdr));
	json_t *meta = json_object_get(object, "meta");

	if (object && !(meta ? json_array_extend(list, meta) : json_array_append(list, object))) {
		json_decref(object);
		return MNL_CB_OK;
	}
	json_decref(object);
	errno = EBADMSG;
	return MNL_CB_ERROR;
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	int ret;

	/* The kernel's error is EINTR if the list has changed during the dump. */
	do {
		*list = json_array();
		ret = request(netlink, cmd, NLM_F_DUMP, NULL, parse_item, *list);
		if (ret) {
			json_decref(*list);
			*list = NULL;
		}
	} while (ret == -EINTR);
	return ret;
}
