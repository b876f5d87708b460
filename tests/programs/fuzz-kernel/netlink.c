// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The netlink family. Everybody may send; who has no privileges must be
 * refused what changes something, and must see no keys.
 */
#include <err.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "netlink.h"

#define MESSAGE_BYTES	8192
#define ANSWER_BYTES	65536

static atomic_uint sequence;
static _Thread_local uint8_t answer[ANSWER_BYTES];

int netlink_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "netlink socket");
	return fd;
}

void netlink_forked(void)
{
	atomic_store(&sequence, (unsigned int)getpid() << 16);
}

static struct nlmsghdr *begin(void *buf, uint16_t family, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_type = family;
	msg->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	msg->nlmsg_seq = atomic_fetch_add(&sequence, 1) + 1;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = VQP_GENL_VERSION;
	return msg;
}

/* The kernel carries a request out before this returns. */
static bool request(int socket, const void *msg, size_t bytes)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(socket, msg, bytes, 0, (struct sockaddr *)&kernel, sizeof(kernel)) == (ssize_t)bytes;
}

/* The answer to msg, or ENOMSG if another thread got it. At most `most` datagrams are read. */
static int read_answers(int socket, const struct nlmsghdr *msg, int most,
			void (*see)(const struct nlmsghdr *msg, void *data), void *data)
{
	const struct nlmsghdr *at;
	int error = ENOMSG, left;
	ssize_t n;

	while (most-- && (n = recv(socket, answer, sizeof(answer), MSG_DONTWAIT)) > 0) {
		for (at = (void *)answer, left = (int)n; mnl_nlmsg_ok(at, left); at = mnl_nlmsg_next(at, &left)) {
			if (at->nlmsg_seq != msg->nlmsg_seq)
				continue;
			if (at->nlmsg_type == NLMSG_ERROR)
				error = -((const struct nlmsgerr *)mnl_nlmsg_get_payload(at))->error;
			else if (at->nlmsg_type == NLMSG_DONE)
				error = 0;
			else if (see)
				see(at, data);
		}
	}
	return error;
}

/* ---- For the fuzzer itself ---- */

static void demand(int socket, struct nlmsghdr *msg, void (*see)(const struct nlmsghdr *msg, void *data),
		   void *data, const char *what)
{
	int error = request(socket, msg, msg->nlmsg_len) ? read_answers(socket, msg, -1, see, data) : errno;

	if (error)
		errx(1, "%s: %s", what, strerror(error));
}

static void see_family(const struct nlmsghdr *msg, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)data = mnl_attr_get_u16(attr);
}

uint16_t netlink_family(int socket)
{
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	uint16_t family = 0;

	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, VQP_GENL_NAME);
	demand(socket, msg, see_family, &family, "the netlink family of vqp");
	return family;
}

void netlink_add_box(int socket, uint16_t family, const struct box *box)
{
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, family, VQP_CMD_NS_ADD, NLM_F_ACK);

	mnl_attr_put_u32(msg, VQP_ATTR_NETNS_FD, (uint32_t)box->netns);
	mnl_attr_put_u32(msg, VQP_ATTR_TENANT, box->tenant);
	mnl_attr_put(msg, VQP_ATTR_GID, VQP_GID_BYTES, box->gid);
	demand(socket, msg, NULL, NULL, "cannot add a VQP namespace");
}

struct buffer {
	uint8_t *at;
	size_t used, size;
};

static void see_meta(const struct nlmsghdr *msg, void *data)
{
	struct buffer *buffer = data;
	const struct nlattr *attr;
	size_t bytes;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr)) {
		bytes = MNL_ALIGN(attr->nla_len);
		if (mnl_attr_get_type(attr) != VQP_ATTR_META || buffer->used + bytes > buffer->size)
			continue;
		memcpy(buffer->at + buffer->used, attr, bytes);
		((struct nlattr *)(buffer->at + buffer->used))->nla_type |= NLA_F_NESTED;
		buffer->used += bytes;
	}
}

size_t netlink_get_meta(int socket, uint16_t family, void *at, size_t size)
{
	struct buffer buffer = { .at = at, .size = size };
	uint8_t buf[MESSAGE_BYTES];

	demand(socket, begin(buf, family, VQP_CMD_META_GET, NLM_F_DUMP), see_meta, &buffer, "the meta servers");
	return buffer.used;
}

/* ---- For programs ---- */

static bool changes_something(uint8_t cmd)
{
	return cmd == VQP_CMD_NS_ADD || cmd == VQP_CMD_NS_DEL || cmd == VQP_CMD_NS_SET ||
	       cmd == VQP_CMD_META_SET || cmd == VQP_CMD_CACHE_FLUSH;
}

/* Keys are for the privileged alone, on whatever level they are. */
static void see_keys(const void *attrs, size_t bytes, struct runner *run)
{
	const struct nlattr *attr;

	mnl_attr_for_each_payload(attrs, bytes) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == VQP_ATTR_QKEY || type == VQP_ATTR_META_KEY)
			fail(run, "netlink shows attribute %u to the unprivileged", type);
		if (type == VQP_ATTR_META)
			see_keys(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr), run);
	}
	(void)attr;
}

static void see_answer(const struct nlmsghdr *msg, void *data)
{
	struct runner *run = data;
	size_t bytes = mnl_nlmsg_get_payload_len(msg);

	if (!run->world->privileged && msg->nlmsg_type == run->world->nl_family && bytes > sizeof(struct genlmsghdr))
		see_keys((const uint8_t *)mnl_nlmsg_get_payload(msg) + sizeof(struct genlmsghdr),
			 bytes - sizeof(struct genlmsghdr), run);
}

static void send_message(struct runner *run, struct nlmsghdr *msg, size_t bytes, int datagrams)
{
	struct world *world = run->world;
	uint8_t cmd = ((struct genlmsghdr *)mnl_nlmsg_get_payload(msg))->cmd;
	int error = request(world->nl, msg, bytes) ?
		    read_answers(world->nl, msg, datagrams, see_answer, run) : errno;

	errno = error;
	note(run, !error);
	if (!error && !world->privileged && changes_something(cmd))
		fail(run, "netlink command %u is carried out for the unprivileged", cmd);
}

void call_nl_get(struct runner *run)
{
	static const uint8_t dumps[] = {
		VQP_CMD_NS_GET, VQP_CMD_VQP_GET, VQP_CMD_PEER_GET, VQP_CMD_META_GET, VQP_CMD_CACHE_GET, VQP_CMD_SOCK_GET,
	};
	uint32_t which = rnd_below(&run->rnd, sizeof(dumps) + 1);
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg;

	msg = which < sizeof(dumps) ? begin(buf, run->world->nl_family, dumps[which], NLM_F_DUMP) :
	      begin(buf, run->world->nl_family, VQP_CMD_STATUS_GET, NLM_F_ACK);
	/* A dump of which only the beginning is read goes on with the next request's answers. */
	send_message(run, msg, msg->nlmsg_len, rnd_percent(&run->rnd, 20) ? 1 : -1);
}

static const struct box *pick_box(struct runner *run)
{
	return &run->world->boxes[rnd_below(&run->rnd, BOXES_MAX)];
}

/* Mostly as it should be: ports, or a prefix. */
static void put_sockets_rule(struct rnd *r, struct nlmsghdr *msg)
{
	struct nlattr *nest = mnl_attr_nest_start(msg, VQP_ATTR_SOCKETS_RULE);
	const bool ports = rnd_percent(r, 50), both = rnd_percent(r, 3);
	const uint32_t port = rnd_percent(r, 90) ? rnd_below(r, 65536) : (uint32_t)rnd_edge(r);
	uint8_t gid[VQP_GID_BYTES] = { [10] = 0xff, 0xff, (uint8_t)rnd_below(r, 16), (uint8_t)rnd_below(r, 256) };

	if (ports || both) {
		mnl_attr_put_u32(msg, VQP_ATTR_PORT, port);
		mnl_attr_put_u32(msg, VQP_ATTR_PORT_LAST, port + rnd_below(r, 100));
	}
	if (!ports || both) {
		mnl_attr_put(msg, VQP_ATTR_GID, sizeof(gid), gid);
		mnl_attr_put_u8(msg, VQP_ATTR_PREFIX_BITS, rnd_below(r, 132));
	}
	if (rnd_percent(r, 30))
		mnl_attr_put(msg, VQP_ATTR_EXCEPT, 0, NULL);
	mnl_attr_nest_end(msg, nest);
}

static void put_sockets(struct rnd *r, struct nlmsghdr *msg)
{
	uint32_t rules = rnd_percent(r, 5) ? rnd_below(r, VQP_SOCKETS_RULES_MAX + 3) : rnd_below(r, 4);

	if (rnd_percent(r, 95))
		mnl_attr_put_u8(msg, VQP_ATTR_SOCKETS, rnd_below(r, 3));
	while (rules--)
		put_sockets_rule(r, msg);
}

/* Mostly none, or so few that a program meets them: the namespace is everybody's. */
static void put_limits(struct runner *run, struct nlmsghdr *msg)
{
	struct rnd *r = &run->rnd;

	if (rnd_percent(r, 70))
		mnl_attr_put_u64(msg, VQP_ATTR_MAX_VQPS, rnd_percent(r, 50) ? VQP_UNLIMITED : rnd_below(r, 16));
	if (rnd_percent(r, 70))
		mnl_attr_put_u64(msg, VQP_ATTR_MAX_MRS, rnd_percent(r, 50) ? VQP_UNLIMITED : rnd_below(r, 16));
	if (rnd_percent(r, 70))
		mnl_attr_put_u64(msg, VQP_ATTR_MAX_BYTES, rnd_percent(r, 50) ? VQP_UNLIMITED : rnd_edge(r));
	if (rnd_percent(r, 50))
		mnl_attr_put_u64(msg, VQP_ATTR_MAX_RATE, rnd_percent(r, 50) ? VQP_UNLIMITED : rnd_edge(r));
	if (rnd_percent(r, 50))
		mnl_attr_put_u8(msg, VQP_ATTR_PRIORITY, rnd_below(r, 5));
	if (rnd_percent(r, 50))
		put_sockets(r, msg);
}

static void add_box(struct runner *run, const struct box *box, const struct box *address, uint32_t tenant)
{
	static const char names[] = "fuzz/0123456789";
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, VQP_CMD_NS_ADD, NLM_F_ACK);

	mnl_attr_put_u32(msg, VQP_ATTR_NETNS_FD, (uint32_t)box->netns);
	mnl_attr_put_u32(msg, VQP_ATTR_TENANT, tenant);
	mnl_attr_put(msg, VQP_ATTR_GID, VQP_GID_BYTES, address->gid);
	if (rnd_percent(&run->rnd, 50))
		mnl_attr_put_strz(msg, VQP_ATTR_NAME, names + rnd_below(&run->rnd, sizeof(names)));
	if (rnd_percent(&run->rnd, 20))
		put_limits(run, msg);
	send_message(run, msg, msg->nlmsg_len, -1);
}

void call_nl_add(struct runner *run)
{
	const struct box *box = pick_box(run), *other = rnd_percent(&run->rnd, 90) ? box : pick_box(run);

	add_box(run, box, other, rnd_percent(&run->rnd, 97) ? other->tenant : (uint32_t)rnd_edge(&run->rnd));
}

/* A box, one way or the other. */
static void put_box(struct runner *run, struct nlmsghdr *msg, const struct box *box)
{
	if (rnd_percent(&run->rnd, 50)) {
		mnl_attr_put_u32(msg, VQP_ATTR_NETNS_FD, (uint32_t)box->netns);
	} else {
		mnl_attr_put_u32(msg, VQP_ATTR_TENANT, box->tenant);
		mnl_attr_put(msg, VQP_ATTR_GID, VQP_GID_BYTES, box->gid);
	}
}

void call_nl_set(struct runner *run)
{
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, VQP_CMD_NS_SET, NLM_F_ACK);

	put_box(run, msg, pick_box(run));
	put_limits(run, msg);
	send_message(run, msg, msg->nlmsg_len, -1);
}

void call_nl_del(struct runner *run)
{
	const struct box *box = pick_box(run);
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, VQP_CMD_NS_DEL, NLM_F_ACK);

	put_box(run, msg, box);
	if (rnd_percent(&run->rnd, 10))
		mnl_attr_put_u32(msg, VQP_ATTR_NETNS_INO, rnd_u32(&run->rnd));
	if (rnd_percent(&run->rnd, 10))
		mnl_attr_put_strz(msg, VQP_ATTR_NAME, "another");
	if (rnd_percent(&run->rnd, 50))
		mnl_attr_put(msg, VQP_ATTR_NO_WAIT, 0, NULL);
	send_message(run, msg, msg->nlmsg_len, -1);
	/* Mostly a new one comes at once: without any there would be nothing to use. */
	if (run->world->privileged && rnd_percent(&run->rnd, 90))
		add_box(run, box, box, box->tenant);
}

void call_nl_flush(struct runner *run)
{
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, VQP_CMD_CACHE_FLUSH, NLM_F_ACK);

	if (rnd_percent(&run->rnd, 80)) {
		mnl_attr_put_u32(msg, VQP_ATTR_TENANT, pick_box(run)->tenant);
		mnl_attr_put(msg, VQP_ATTR_GID, VQP_GID_BYTES, run->world->target->gid);
	}
	send_message(run, msg, msg->nlmsg_len, -1);
}

/* The list that was there first: without it no program would reach another node any more. */
static void restore_meta(struct runner *run)
{
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, VQP_CMD_META_SET, 0);

	if (!run->world->privileged)
		return;
	memcpy((uint8_t *)msg + msg->nlmsg_len, run->world->meta, run->world->meta_bytes);
	msg->nlmsg_len += (uint32_t)run->world->meta_bytes;
	request(run->world->nl, msg, msg->nlmsg_len);
}

/* One meta server with attributes missing, doubled, or at an edge. */
static void put_meta(struct runner *run, struct nlmsghdr *msg)
{
	struct nlattr *nest = mnl_attr_nest_start(msg, VQP_ATTR_META);
	static const uint16_t words[] = {
		VQP_ATTR_EPOCH, VQP_ATTR_QKEY, VQP_ATTR_META_KEY, VQP_ATTR_META_BUCKETS, VQP_ATTR_LANE_QPN,
	};
	struct rnd *r = &run->rnd;
	uint32_t i, n;

	/* Address resolution of nodes that are not there holds everybody up: the target's, or nothing. */
	if (rnd_percent(r, 95))
		mnl_attr_put(msg, VQP_ATTR_NODE_GID, VQP_GID_BYTES, run->world->boxes[0].gid);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (n = rnd_percent(r, 90) ? 1 : rnd_below(r, 12); n; n--)
			mnl_attr_put_u32(msg, words[i], 1U << rnd_below(r, rnd_percent(r, 90) ? 24 : 32));
	if (rnd_percent(r, 95))
		mnl_attr_put_u64(msg, VQP_ATTR_META_ADDR, rnd_edge(r));
	mnl_attr_nest_end(msg, nest);
}

void call_nl_meta(struct runner *run)
{
	uint32_t n = rnd_percent(&run->rnd, 90) ? 1 : rnd_below(&run->rnd, VQP_META_MAX + 3);
	uint8_t buf[MESSAGE_BYTES];
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, VQP_CMD_META_SET, NLM_F_ACK);

	/* Not in a child, which may be killed before it has restored the list. */
	if (run->world->forked || !rnd_percent(&run->rnd, run->world->privileged ? 10 : 100))
		return;
	while (n--)
		put_meta(run, msg);
	send_message(run, msg, msg->nlmsg_len, -1);
	restore_meta(run);
}

/* Attributes of any type and length, commands that are none, messages that end too soon. */
void call_nl_odd(struct runner *run)
{
	struct rnd *r = &run->rnd;
	uint8_t buf[MESSAGE_BYTES], content[256];
	uint8_t cmd = (uint8_t)rnd_below(r, VQP_CMD_MAX + 3);
	struct nlmsghdr *msg = begin(buf, run->world->nl_family, cmd, (uint16_t)(rnd_percent(r, 70) ? NLM_F_ACK : NLM_F_DUMP));
	struct nlattr *nest = NULL;
	uint32_t n = rnd_below(r, 8), i;
	size_t bytes;

	if (run->world->forked && cmd == VQP_CMD_META_SET)
		return;
	for (i = 0; i < sizeof(content); i++)
		content[i] = rnd_percent(r, 70) ? 0 : (uint8_t)rnd_u32(r);
	while (n--) {
		if (!nest && rnd_percent(r, 20))
			nest = mnl_attr_nest_start(msg, VQP_ATTR_META);
		mnl_attr_put(msg, (uint16_t)rnd_below(r, VQP_ATTR_MAX + 3),
			     rnd_percent(r, 50) ? 4 : rnd_percent(r, 50) ? VQP_GID_BYTES : rnd_below(r, sizeof(content)),
			     content);
	}
	if (nest && rnd_percent(r, 80))
		mnl_attr_nest_end(msg, nest);
	bytes = msg->nlmsg_len;
	if (rnd_percent(r, 20))
		msg->nlmsg_len = (uint32_t)rnd_below(r, (uint32_t)bytes + 40);
	if (rnd_percent(r, 10))
		bytes = sizeof(*msg) + rnd_below(r, (uint32_t)bytes);
	send_message(run, msg, bytes, -1);
	if (cmd == VQP_CMD_META_SET)
		restore_meta(run);
}
