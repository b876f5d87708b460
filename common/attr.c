/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <linux/vqp.h>

#include "address.h"
#include "attr.h"
#include "limits.h"
#include "nlattr.h"
#include "sockets.h"

enum kind { U8 = 1, U32, U64, LIMIT, FLAG, GID, STRING, ENUM, NEST, SOCKETS };

static const char *const qp_states[] = { "init", "bound", "connected", "error", NULL };
static const char *const carriers[] = { "none", "loop", "dc", "rc", NULL };
static const char *const hooks[] = { "idle", "armed", "refused", "off", NULL };
static const char *const sock_kinds[] = { "unconnected", "listener", "near", "tcp", "far", NULL };
/* as <netinet/tcp.h> numbers them, and ss calls them */
static const char *const tcp_states[] = {
	"unknown", "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2", "time-wait", "closed",
	"close-wait", "last-ack", "listening", "closing", NULL,
};

static const struct spec {
	const char *name;
	enum kind kind;
	bool repeated;
	const char *const *names;	/* the names of an ENUM's values */
} specs[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	 = { "netns_fd", U32 },
	[VQP_ATTR_TENANT]	 = { "tenant", U32 },
	[VQP_ATTR_GID]		 = { "gid", GID },
	[VQP_ATTR_NAME]		 = { "name", STRING },
	[VQP_ATTR_NETNS_INO]	 = { "netns_ino", U32 },
	[VQP_ATTR_VQPS]		 = { "vqps", U32 },
	[VQP_ATTR_MRS]		 = { "mrs", U32 },
	[VQP_ATTR_CONTEXTS]	 = { "contexts", U32 },
	[VQP_ATTR_PINNED_BYTES]	 = { "pinned_bytes", U64 },
	[VQP_ATTR_QP_NUM]	 = { "qp_num", U32 },
	[VQP_ATTR_QP_STATE]	 = { "state", ENUM, .names = qp_states },
	[VQP_ATTR_CARRIER]	 = { "carrier", ENUM, .names = carriers },
	[VQP_ATTR_PORT]		 = { "port", U32 },
	[VQP_ATTR_REMOTE_GID]	 = { "remote_gid", GID },
	[VQP_ATTR_REMOTE_PORT]	 = { "remote_port", U32 },
	[VQP_ATTR_SENDS_PENDING] = { "sends_pending", U32 },
	[VQP_ATTR_RECVS_PENDING] = { "recvs_pending", U32 },
	[VQP_ATTR_TX_MSGS]	 = { "tx_msgs", U64 },
	[VQP_ATTR_RX_MSGS]	 = { "rx_msgs", U64 },
	[VQP_ATTR_NODE_GID]	 = { "node_gid", GID },
	[VQP_ATTR_EPOCH]	 = { "epoch", U32 },
	[VQP_ATTR_QKEY]		 = { "qkey", U32 },
	[VQP_ATTR_LANE_QPN]	 = { "lanes", U32, .repeated = true },
	[VQP_ATTR_TX_PACKETS]	 = { "tx_packets", U64 },
	[VQP_ATTR_RX_PACKETS]	 = { "rx_packets", U64 },
	[VQP_ATTR_PARENT]	 = { "parent", STRING },
	[VQP_ATTR_MTU]		 = { "mtu", U32 },
	[VQP_ATTR_POOL_BYTES]	 = { "pool_bytes", U64 },
	[VQP_ATTR_COUNTER]	 = { "counters", NEST, .repeated = true },
	[VQP_ATTR_COUNTER_NAME]	 = { "name", STRING },
	[VQP_ATTR_COUNTER_MADE]	 = { "made", U64 },
	[VQP_ATTR_COUNTER_FREED] = { "freed", U64 },
	[VQP_ATTR_COUNTER_VALUE] = { "value", U64 },
	[VQP_ATTR_META]		 = { "meta", NEST, .repeated = true },
	[VQP_ATTR_META_KEY]	 = { "key", U32 },
	[VQP_ATTR_META_ADDR]	 = { "addr", U64 },
	[VQP_ATTR_META_BUCKETS]	 = { "buckets", U32 },
	[VQP_ATTR_MAX_VQPS]	 = { "max_vqps", LIMIT },
	[VQP_ATTR_MAX_MRS]	 = { "max_mrs", LIMIT },
	[VQP_ATTR_MAX_BYTES]	 = { "max_bytes", LIMIT },
	[VQP_ATTR_MAX_RATE]	 = { "max_rate", LIMIT },
	[VQP_ATTR_PRIORITY]	 = { "priority", U8 },
	[VQP_ATTR_EXCLUSIVE]	 = { "exclusive", FLAG },
	[VQP_ATTR_NO_WAIT]	 = { "no_wait", FLAG },
	[VQP_ATTR_SOCKETS]	 = { "sockets", SOCKETS },
	[VQP_ATTR_PORT_LAST]	 = { "port_last", U32 },
	[VQP_ATTR_PREFIX_BITS]	 = { "prefix_bits", U8 },
	[VQP_ATTR_EXCEPT]	 = { "except", FLAG },
	[VQP_ATTR_HOOK]		 = { "hook", ENUM, .names = hooks },
	[VQP_ATTR_SOCK_KIND]	 = { "kind", ENUM, .names = sock_kinds },
	[VQP_ATTR_TCP_STATE]	 = { "tcp_state", ENUM, .names = tcp_states },
	[VQP_ATTR_TX_BYTES]	 = { "tx_bytes", U64 },
	[VQP_ATTR_RX_BYTES]	 = { "rx_bytes", U64 },
	[VQP_ATTR_RECV_QUEUE]	 = { "recv_queue", U32 },
	[VQP_ATTR_SEND_QUEUE]	 = { "send_queue", U32 },
	[VQP_ATTR_WINDOW]	 = { "window", U32 },
	[VQP_ATTR_RESENT]	 = { "resent", U64 },
	[VQP_ATTR_FLOW]		 = { "flow", U32 },
	[VQP_ATTR_STREAMS]	 = { "streams", U32 },
	[VQP_ATTR_TRUNKS]	 = { "trunks", U32 },
	[VQP_ATTR_STREAM_BYTES]	 = { "stream_bytes", U64 },
};

static int spec_by_name(const char *name)
{
	for (int type = 1; type <= VQP_ATTR_MAX; type++)
		if (specs[type].name && !strcmp(specs[type].name, name))
			return type;
	return -EINVAL;
}

static int put_object(struct nlmsghdr *msg, size_t room, const json_t *object, bool nested);

/* Puts an integer of `bytes` bytes if it has such a value. */
static bool put_integer(struct nlmsghdr *msg, size_t room, int type, const json_t *value, size_t bytes)
{
	const json_int_t number = json_integer_value(value);
	const uint64_t u64 = number;
	const uint32_t u32 = number;
	const uint8_t u8 = number;

	if (!json_is_integer(value) || number < 0)
		return false;
	if (bytes == sizeof(u64))
		return vqp_nlattr_put(msg, room, type, &u64, sizeof(u64));
	if (bytes == sizeof(u32))
		return number <= UINT32_MAX && vqp_nlattr_put(msg, room, type, &u32, sizeof(u32));
	return number <= UINT8_MAX && vqp_nlattr_put(msg, room, type, &u8, sizeof(u8));
}

static bool put_limit(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	static const uint64_t unlimited = VQP_UNLIMITED;
	const char *text = json_string_value(value);

	if (text && !strcmp(text, VQP_LIMITS_UNLIMITED))
		return vqp_nlattr_put(msg, room, type, &unlimited, sizeof(unlimited));
	return put_integer(msg, room, type, value, sizeof(uint64_t));
}

static bool put_string(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	const char *text = json_string_value(value);

	return text && vqp_nlattr_put(msg, room, type, text, strlen(text) + 1);
}

static bool put_gid(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	const char *text = json_string_value(value);
	uint8_t gid[16];

	return text && !vqp_address_parse(text, gid) && vqp_nlattr_put(msg, room, type, gid, sizeof(gid));
}

static bool put_nest(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	struct nlattr *nest = json_is_object(value) ? vqp_nlattr_begin_nest(msg, room, type) : NULL;

	return nest && !put_object(msg, room, value, true) && vqp_nlattr_end_nest(msg, nest);
}

/* Returns the attributes of a rule of "sockets", a new object. */
static json_t *make_rule(const char *text)
{
	char gid[VQP_ADDRESS_TEXT];
	struct vqp_sockets_rule rule;

	if (vqp_sockets_rule_parse(&rule, text))
		return NULL;
	if (rule.port)
		return json_pack("{s:i, s:i}", "port", rule.port, "port_last", rule.last);
	return json_pack("{s:s, s:i}", "gid", vqp_address_format(rule.peers.gid, gid), "prefix_bits", (int)rule.peers.bits);
}

/* Puts a nest for each rule of a list of "sockets". */
static bool put_rules(struct nlmsghdr *msg, size_t room, const json_t *list, bool except)
{
	const json_t *said;
	size_t i;

	json_array_foreach(list, i, said) {
		json_auto_t *rule = make_rule(json_string_value(said));

		if ((except && json_object_set_new(rule, "except", json_true())) ||
		    !put_nest(msg, room, VQP_ATTR_SOCKETS_RULE, rule))
			return false;
	}
	return true;
}

/* Puts whether sockets are on, and the rules. */
static bool put_sockets(struct nlmsghdr *msg, size_t room, const json_t *value)
{
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *sockets = vqp_sockets_read(value, &error);
	const uint8_t on = !json_is_false(sockets);

	return sockets && vqp_nlattr_put(msg, room, VQP_ATTR_SOCKETS, &on, sizeof(on)) &&
	       put_rules(msg, room, json_object_get(sockets, VQP_SOCKETS_ONLY), false) &&
	       put_rules(msg, room, json_object_get(sockets, VQP_SOCKETS_EXCEPT), true);
}

static int put_value(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	bool ok = false;

	switch (specs[type].kind) {
	case U8:
		ok = put_integer(msg, room, type, value, sizeof(uint8_t));
		break;
	case U32:
		ok = put_integer(msg, room, type, value, sizeof(uint32_t));
		break;
	case U64:
		ok = put_integer(msg, room, type, value, sizeof(uint64_t));
		break;
	case LIMIT:
		ok = put_limit(msg, room, type, value);
		break;
	case FLAG:
		ok = json_is_true(value) && vqp_nlattr_put(msg, room, type, NULL, 0);
		break;
	case GID:
		ok = put_gid(msg, room, type, value);
		break;
	case STRING:
		ok = put_string(msg, room, type, value);
		break;
	case NEST:
		ok = put_nest(msg, room, type, value);
		break;
	case SOCKETS:
		ok = put_sockets(msg, room, value);
		break;
	case ENUM:
		break;		/* Only the kernel sends these. */
	}
	return ok ? 0 : -EINVAL;
}

/* The family has no nest within a nest. */
static int put_object(struct nlmsghdr *msg, size_t room, const json_t *object, bool nested)
{
	const char *name;
	json_t *value, *item;
	size_t i;
	int ret = 0;

	json_object_foreach((json_t *)object, name, value) {
		int type = spec_by_name(name);

		if (type < 0)
			return type;
		if (nested && specs[type].kind == NEST)
			return -EINVAL;
		if (!specs[type].repeated)
			ret = put_value(msg, room, type, value);
		else if (!json_is_array(value))
			ret = -EINVAL;
		else
			json_array_foreach(value, i, item)
				ret = ret ? ret : put_value(msg, room, type, item);
		if (ret)
			return ret;
	}
	return 0;
}

int vqp_attr_put(struct nlmsghdr *msg, size_t room, const json_t *object)
{
	return put_object(msg, room, object, false);
}

/* An administrator may name a namespace with any bytes. Makes a string of valid JSON of them. */
static json_t *get_string(const struct vqp_nlattr *attr)
{
	const char *raw = attr->data;
	char text[VQP_NAME_MAX];
	size_t bytes = strnlen(raw, attr->bytes);

	if (bytes > sizeof(text))
		bytes = sizeof(text);
	for (size_t i = 0; i < bytes; i++) {
		text[i] = raw[i];
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
	return json_stringn(text, bytes);
}

/* Gets an integer of `bytes` bytes. False if the attribute has another length. */
static bool get_integer(const struct vqp_nlattr *attr, size_t bytes, uint64_t *number)
{
	uint32_t u32;
	uint8_t u8;

	if (attr->bytes != bytes)
		return false;
	if (bytes == sizeof(*number)) {
		memcpy(number, attr->data, bytes);
	} else if (bytes == sizeof(u32)) {
		memcpy(&u32, attr->data, bytes);
		*number = u32;
	} else {
		memcpy(&u8, attr->data, sizeof(u8));
		*number = u8;
	}
	return true;
}

static json_t *get_enum(uint64_t number, const char *const *names)
{
	for (uint64_t i = 0; names[i]; i++)
		if (i == number)
			return json_string(names[i]);
	return json_sprintf("%u", (unsigned int)number);
}

static json_t *get_object(struct vqp_nlattrs attrs, bool nested);

static json_t *get_value(const struct vqp_nlattr *attr, const struct spec *spec)
{
	char text[VQP_ADDRESS_TEXT];
	uint64_t number;

	switch (spec->kind) {
	case U8:
		return get_integer(attr, sizeof(uint8_t), &number) ? json_integer(number) : NULL;
	case U32:
		return get_integer(attr, sizeof(uint32_t), &number) ? json_integer(number) : NULL;
	case U64:
		return get_integer(attr, sizeof(uint64_t), &number) ? json_integer(number) : NULL;
	case LIMIT:
		if (!get_integer(attr, sizeof(uint64_t), &number))
			return NULL;
		return number == VQP_UNLIMITED ? json_string(VQP_LIMITS_UNLIMITED) : json_integer(number);
	case FLAG:
		return attr->bytes ? NULL : json_true();
	case GID:
		return attr->bytes == 16 ? json_string(vqp_address_format(attr->data, text)) : NULL;
	case STRING:
		return get_string(attr);
	case ENUM:
		return get_integer(attr, sizeof(uint32_t), &number) ? get_enum(number, spec->names) : NULL;
	case NEST:
		return get_object(vqp_nlattrs_in(attr), true);
	case SOCKETS:
		return get_integer(attr, sizeof(uint8_t), &number) ? json_boolean(number) : NULL;
	}
	return NULL;
}

/* Returns a rule of "sockets" as a string, given its attributes; NULL if they are those of none. */
static json_t *format_rule(const json_t *said)
{
	const json_int_t port = json_integer_value(json_object_get(said, "port"));
	const json_int_t last = json_integer_value(json_object_get(said, "port_last"));
	const json_int_t bits = json_integer_value(json_object_get(said, "prefix_bits"));
	const char *gid = json_string_value(json_object_get(said, "gid"));
	struct vqp_sockets_rule rule = { .port = port, .last = last, .peers.bits = bits };
	char text[VQP_SOCKETS_RULE_TEXT];

	if (gid ? vqp_address_parse(gid, rule.peers.gid) || port || bits > 128
		: port < 1 || port > UINT16_MAX || last < port || last > UINT16_MAX)
		return NULL;
	return json_string(vqp_sockets_rule_format(&rule, text));
}

/* Adds a rule to "sockets", which are on. 0, or -1 if it is malformed, or without memory. */
static int get_rule(const struct vqp_nlattr *attr, json_t *object)
{
	json_auto_t *said = get_object(vqp_nlattrs_in(attr), true), *rule = format_rule(said);
	const char *name = json_object_get(said, "except") ? VQP_SOCKETS_EXCEPT : VQP_SOCKETS_ONLY;
	json_t *sockets = json_object_get(object, "sockets");

	if (!rule || !json_is_true(sockets) == !json_is_object(sockets))
		return -1;
	if (!json_is_object(sockets) && json_object_set_new(object, "sockets", json_object()))
		return -1;
	sockets = json_object_get(object, "sockets");
	if (!json_object_get(sockets, name) && json_object_set_new(sockets, name, json_array()))
		return -1;
	return json_array_append(json_object_get(sockets, name), rule);
}

/* Adds an attribute to an object. 0, or -1 if it is malformed, or without memory. */
static int get_attr(const struct vqp_nlattr *attr, json_t *object, bool nested)
{
	const struct spec *spec = &specs[attr->type <= VQP_ATTR_MAX ? attr->type : 0];
	json_t *value, *list;

	if (attr->type == VQP_ATTR_SOCKETS_RULE)
		return nested ? -1 : get_rule(attr, object);
	if (!spec->name)
		return 0;
	value = nested && spec->kind == NEST ? NULL : get_value(attr, spec);
	if (!value)
		return -1;
	if (!spec->repeated)
		return json_object_set_new(object, spec->name, value);

	list = json_object_get(object, spec->name);
	if (!list) {
		list = json_array();
		if (json_object_set_new(object, spec->name, list)) {
			json_decref(value);
			return -1;
		}
	}
	return json_array_append_new(list, value);
}

static json_t *get_object(struct vqp_nlattrs attrs, bool nested)
{
	json_t *object = json_object();
	struct vqp_nlattr attr;

	while (object && vqp_nlattr_next(&attrs, &attr)) {
		if (get_attr(&attr, object, nested)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

json_t *vqp_attr_get(const struct nlmsghdr *msg, size_t offset)
{
	return get_object(vqp_nlattrs_of(msg, offset), false);
}
