// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Netlink messages that the family refuses. They are for the initial network namespace. */
#include <errno.h>
#include <linux/genetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "bad.h"

/* A request, and what comes of it. */
struct message {
	struct nlmsghdr header;
	struct genlmsghdr genl;
	char bytes[8192];
};

static void begin(struct message *m, uint16_t type, uint16_t flags, uint8_t cmd)
{
	memset(m, 0, sizeof(*m));
	m->header.nlmsg_len = sizeof(m->header) + sizeof(m->genl);
	m->header.nlmsg_type = type;
	m->header.nlmsg_flags = NLM_F_REQUEST | flags;
	m->genl.cmd = cmd;
	m->genl.version = 1;
}

/* One more attribute of a request, which has room for it. */
static void put_attr(struct message *m, uint16_t type, const void *value, uint16_t bytes)
{
	const struct nlattr attr = { .nla_type = type, .nla_len = (uint16_t)(NLA_HDRLEN + bytes) };
	char *at = (char *)m + m->header.nlmsg_len;

	memcpy(at, &attr, sizeof(attr));
	memcpy(at + NLA_HDRLEN, value, bytes);
	m->header.nlmsg_len += NLA_ALIGN(attr.nla_len);
}

/* Send it, and receive the first message that comes: 0 or the errno value that it brings. */
static int call(int sock, struct message *m)
{
	const int *error = (const int *)&m->genl;
	ssize_t bytes;

	if (send(sock, m, m->header.nlmsg_len, 0) < 0)
		vqpt_die(errno, "sending to netlink");
	bytes = recv(sock, m, sizeof(*m), 0);
	if (bytes < (ssize_t)(sizeof(m->header) + sizeof(*error)))
		vqpt_die(bytes < 0 ? errno : 0, "receiving from netlink");
	return m->header.nlmsg_type == NLMSG_ERROR ? -*error : 0;
}

static uint16_t find_family(int sock)
{
	const char *at, *end;
	struct nlattr attr;
	struct message m;
	uint16_t family;
	int err;

	begin(&m, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	put_attr(&m, CTRL_ATTR_FAMILY_NAME, VQP_GENL_NAME, sizeof(VQP_GENL_NAME));
	err = call(sock, &m);
	if (err)
		vqpt_die(err, "the netlink family of vqp");
	end = (const char *)&m + m.header.nlmsg_len;
	for (at = m.bytes; at < end; at += NLA_ALIGN(attr.nla_len)) {
		memcpy(&attr, at, sizeof(attr));
		if (attr.nla_type != CTRL_ATTR_FAMILY_ID)
			continue;
		memcpy(&family, at + NLA_HDRLEN, sizeof(family));
		return family;
	}
	vqpt_die(0, "a netlink family without a number");
}

static int open_netlink(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (sock < 0)
		vqpt_die(errno, "netlink");
	return sock;
}

/* One command, with these flags, reserved bytes and an attribute of 4 zero bytes (0: none). */
static int command(uint8_t cmd, uint16_t flags, uint16_t reserved, uint16_t attr)
{
	const uint32_t zero = 0;
	int sock = open_netlink(), err;
	struct message m;

	begin(&m, find_family(sock), flags, cmd);
	m.genl.reserved = reserved;
	if (attr)
		put_attr(&m, attr, &zero, sizeof(zero));
	err = call(sock, &m);
	close(sock);
	return err;
}

static int plain(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_STATUS_GET, NLM_F_ACK, 0, 0);
}

static int reserved_bytes(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_STATUS_GET, NLM_F_ACK, 1, 0);
}

static int reserved_flags(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_CACHE_FLUSH, NLM_F_ACK | NLM_F_EXCL, 0, 0);
}

static int foreign_attr(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_CACHE_FLUSH, NLM_F_ACK, 0, VQP_ATTR_MAX_VQPS);
}

static int foreign_attr_of_dump(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_PEER_GET, NLM_F_DUMP, 0, VQP_ATTR_TENANT);
}

static int no_command(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_MAX + 1, NLM_F_ACK, 0, 0);
}

/* A del of what the suite has made as "doomed", of tenant 9 at 10.90.9.1, on such a condition. */
static int del(uint16_t attr, const void *value, uint16_t bytes)
{
	static const uint8_t gid[VQP_GID_BYTES] = { [10] = 0xff, 0xff, 10, 90, 9, 1 };
	const uint32_t tenant = 9;
	int sock = open_netlink(), err;
	struct message m;

	begin(&m, find_family(sock), NLM_F_ACK, VQP_CMD_NS_DEL);
	put_attr(&m, VQP_ATTR_TENANT, &tenant, sizeof(tenant));
	put_attr(&m, VQP_ATTR_GID, gid, sizeof(gid));
	put_attr(&m, attr, value, bytes);
	err = call(sock, &m);
	close(sock);
	return err;
}

static int del_other_netns(struct bad *b)
{
	const uint32_t ino = 1;		/* No network namespace has it. */

	(void)b;
	return del(VQP_ATTR_NETNS_INO, &ino, sizeof(ino));
}

static int del_no_netns(struct bad *b)
{
	const uint32_t ino = 0;

	(void)b;
	return del(VQP_ATTR_NETNS_INO, &ino, sizeof(ino));
}

static int del_other_name(struct bad *b)
{
	(void)b;
	return del(VQP_ATTR_NAME, "doom", sizeof("doom"));
}

static int del_name(struct bad *b)
{
	(void)b;
	return del(VQP_ATTR_NAME, "doomed", sizeof("doomed"));
}

static int del_condition_alone(struct bad *b)
{
	(void)b;
	return command(VQP_CMD_NS_DEL, NLM_F_ACK, 0, VQP_ATTR_NAME);
}

/* What terms has the set of a namespace that there is not: ENOENT, if nothing is wrong with it. */
static int set(void (*put_terms)(struct message *m))
{
	static const uint8_t gid[VQP_GID_BYTES] = { [10] = 0xff, 0xff, 10, 90, 9, 2 };
	const uint32_t tenant = 9;
	int sock = open_netlink(), err;
	struct message m;

	begin(&m, find_family(sock), NLM_F_ACK, VQP_CMD_NS_SET);
	put_attr(&m, VQP_ATTR_TENANT, &tenant, sizeof(tenant));
	put_attr(&m, VQP_ATTR_GID, gid, sizeof(gid));
	put_terms(&m);
	err = call(sock, &m);
	close(sock);
	return err;
}

static void put_sockets(struct message *m, uint8_t on)
{
	put_attr(m, VQP_ATTR_SOCKETS, &on, sizeof(on));
}

/* A rule: of ports unless the first is 0, and of a prefix unless its bits are negative. */
static void put_rule(struct message *m, uint32_t port, uint32_t last, int prefix_bits)
{
	const uint8_t gid[VQP_GID_BYTES] = { 0 }, bits = (uint8_t)prefix_bits;
	struct message nest;

	begin(&nest, 0, 0, 0);
	if (port || last) {
		put_attr(&nest, VQP_ATTR_PORT, &port, sizeof(port));
		put_attr(&nest, VQP_ATTR_PORT_LAST, &last, sizeof(last));
	}
	if (prefix_bits >= 0) {
		put_attr(&nest, VQP_ATTR_GID, gid, sizeof(gid));
		put_attr(&nest, VQP_ATTR_PREFIX_BITS, &bits, sizeof(bits));
	}
	put_attr(m, NLA_F_NESTED | VQP_ATTR_SOCKETS_RULE, nest.bytes,
		 (uint16_t)(nest.header.nlmsg_len - offsetof(struct message, bytes)));
}

static void put_rules(struct message *m, int count)
{
	put_sockets(m, 1);
	while (count--)
		put_rule(m, 80, 80, -1);
}

#define SET(name, statements)						\
	static void name##_terms(struct message *m) { statements; }	\
	static int name(struct bad *b)					\
	{								\
		(void)b;						\
		return set(name##_terms);				\
	}

SET(rules, put_rules(m, VQP_SOCKETS_RULES_MAX))
SET(rules_too_many, put_rules(m, VQP_SOCKETS_RULES_MAX + 1))
SET(rules_alone, put_rule(m, 80, 80, -1))
SET(rules_of_off, put_sockets(m, 0); put_rule(m, 80, 80, -1))
SET(sockets_two, put_sockets(m, 2))
SET(rule_prefix, put_sockets(m, 1); put_rule(m, 0, 0, 128))
SET(rule_empty, put_sockets(m, 1); put_rule(m, 0, 0, -1))
SET(rule_both, put_sockets(m, 1); put_rule(m, 80, 80, 64))
SET(rule_backwards, put_sockets(m, 1); put_rule(m, 80, 79, -1))
SET(rule_port_0, put_sockets(m, 1); put_rule(m, 0, 80, -1))
SET(rule_port_65536, put_sockets(m, 1); put_rule(m, 80, 65536, -1))
SET(rule_prefix_129, put_sockets(m, 1); put_rule(m, 0, 0, 129))

const struct bad_case bad_netlinks[] = {
	{ "nl-plain", BAD_HOST, plain },
	{ "nl-reserved-bytes", BAD_HOST, reserved_bytes },
	{ "nl-reserved-flags", BAD_HOST, reserved_flags },
	{ "nl-foreign-attr", BAD_HOST, foreign_attr },
	{ "nl-foreign-attr-of-dump", BAD_HOST, foreign_attr_of_dump },
	{ "nl-no-command", BAD_HOST, no_command },
	{ "nl-del-other-netns", BAD_HOST, del_other_netns },
	{ "nl-del-no-netns", BAD_HOST, del_no_netns },
	{ "nl-del-other-name", BAD_HOST, del_other_name },
	{ "nl-del-name", BAD_HOST, del_name },
	{ "nl-del-condition-alone", BAD_HOST, del_condition_alone },
	{ "nl-rules", BAD_HOST, rules },
	{ "nl-rules-too-many", BAD_HOST, rules_too_many },
	{ "nl-rules-alone", BAD_HOST, rules_alone },
	{ "nl-rules-of-off", BAD_HOST, rules_of_off },
	{ "nl-sockets-2", BAD_HOST, sockets_two },
	{ "nl-rule-prefix", BAD_HOST, rule_prefix },
	{ "nl-rule-empty", BAD_HOST, rule_empty },
	{ "nl-rule-both", BAD_HOST, rule_both },
	{ "nl-rule-backwards", BAD_HOST, rule_backwards },
	{ "nl-rule-port-0", BAD_HOST, rule_port_0 },
	{ "nl-rule-port-65536", BAD_HOST, rule_port_65536 },
	{ "nl-rule-prefix-129", BAD_HOST, rule_prefix_129 },
	{ 0 }
};
