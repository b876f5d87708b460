/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <linux/vqp.h>

#include "address.h"
#include "limits.h"
#include "attr.h"

enum kind { U8 = 1, U32, U64, LIMIT, FLAG, GID, STRING, ENUM, NEST };

static const char *const qp_states[] = { "init", "bound", "connected", "error", NULL };
static const char *const carriers[] = { "none", "loop", "dc", "rc", NULL };

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
};

static int spec_by_name(const char *name)
{
	for (int type = 1; type <= VQP_ATTR_MAX; type++)
		if (specs[type].name && !strcmp(specs[type].name, name))
			return type;
	return -EINVAL;
}

static int put_object(struct nlmsghdr *msg, size_t room, const json_t *object);

static bool put_limit(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	const char *text = json_string_value(value);
	const json_int_t number = json_integer_value(value);

	if (text && !strcmp(text, VQP_LIMITS_UNLIMITED))
		return mnl_attr_put_u64_check(msg, room, type, VQP_UNLIMITED);
	return json_is_integer(value) && number >= 0 && mnl_attr_put_u64_check(msg, room, type, number);
}

static int put_value(struct nlmsghdr *msg, size_t room, int type, const json_t *value)
{
	json_int_t number = json_integer_value(value);
	struct nlattr *nest;
	uint8_t gid[16];
	bool ok = false;

	switch (specs[type].kind) {
	case U8:
		ok = json_is_integer(value) && number >= 0 && number <= UINT8_MAX &&
		     mnl_attr_put_u8_check(msg, room, type, number);
		break;
	case U32:
		ok = json_is_integer(value) && number >= 0 && number <= UINT32_MAX &&
		     mnl_attr_put_u32_check(msg, room, type, number);
		break;
	case U64:
		ok = json_is_integer(value) && number >= 0 && mnl_attr_put_u64_check(msg, room, type, number);
		break;
	case LIMIT:
		ok = put_limit(msg, room, type, value);
		break;
	case FLAG:
		ok = json_is_true(value) && mnl_attr_put_check(msg, room, type, 0, NULL);
		break;
	case GID:
		ok = json_is_string(value) && !vqp_address_parse(json_string_value(value), gid) &&
		     mnl_attr_put_check(msg, room, type, sizeof(gid), gid);
		break;
	case STRING:
		ok = json_is_string(value) && mnl_attr_put_strz_check(msg, room, type, json_string_value(value));
		break;
	case NEST:
		nest = mnl_attr_nest_start_check(msg, room, type);
		ok = nest && json_is_object(value) && !put_object(msg, room, value);
		if (ok)
			mnl_attr_nest_end(msg, nest);
		break;
	case ENUM:
		break;		/* Only the kernel sends these. */
	}
	return ok ? 0 : -EINVAL;
}

static int put_object(struct nlmsghdr *msg, size_t room, const json_t *object)
{
	const char *name;
	json_t *value, *item;
	size_t i;
	int ret = 0;

	json_object_foreach((json_t *)object, name, value) {
		int type = spec_by_name(name);

		if (type < 0)
			return type;
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
	return put_object(msg, room, object);
}

/* An administrator may name a namespace with any bytes. Makes a string of valid JSON of them. */
static json_t *get_string(const struct nlattr *attr)
{
	char text[VQP_NAME_MAX];
	size_t bytes = strnlen(mnl_attr_get_str(attr), mnl_attr_get_payload_len(attr));

	if (bytes > sizeof(text))
		bytes = sizeof(text);
	for (size_t i = 0; i < bytes; i++) {
		text[i] = mnl_attr_get_str(attr)[i];
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
	return json_stringn(text, bytes);
}

static json_t *get_limit(const struct nlattr *attr)
{
	const uint64_t max = mnl_attr_get_u64(attr);

	return max == VQP_UNLIMITED ? json_string(VQP_LIMITS_UNLIMITED) : json_integer(max);
}

static int get_attr(const struct nlattr *attr, void *object);

static json_t *get_value(const struct nlattr *attr, const struct spec *spec)
{
	size_t bytes = mnl_attr_get_payload_len(attr);
	char text[VQP_ADDRESS_TEXT];
	json_t *nested;
	uint32_t i;

	switch (spec->kind) {
	case U8:
		return bytes == 1 ? json_integer(mnl_attr_get_u8(attr)) : NULL;
	case U32:
		return bytes == 4 ? json_integer(mnl_attr_get_u32(attr)) : NULL;
	case U64:
		return bytes == 8 ? json_integer(mnl_attr_get_u64(attr)) : NULL;
	case LIMIT:
		return bytes == 8 ? get_limit(attr) : NULL;
	case FLAG:
		return bytes ? NULL : json_true();
	case GID:
		return bytes == 16 ? json_string(vqp_address_format(mnl_attr_get_payload(attr), text)) : NULL;
	case STRING:
		return get_string(attr);
	case ENUM:
		for (i = 0; bytes == 4 && spec->names[i]; i++)
			if (i == mnl_attr_get_u32(attr))
				return json_string(spec->names[i]);
		return bytes == 4 ? json_sprintf("%u", mnl_attr_get_u32(attr)) : NULL;
	case NEST:
		nested = json_object();
		if (mnl_attr_parse_nested(attr, get_attr, nested) >= 0)
			return nested;
		json_decref(nested);
	}
	return NULL;
}

static int get_attr(const struct nlattr *attr, void *object)
{
	unsigned int type = mnl_attr_get_type(attr);
	const struct spec *spec = &specs[type <= VQP_ATTR_MAX ? type : 0];
	json_t *value, *list;

	if (!spec->name)
		return MNL_CB_OK;
	value = get_value(attr, spec);
	if (!value)
		return MNL_CB_ERROR;
	if (!spec->repeated)
		return json_object_set_new(object, spec->name, value) ? MNL_CB_ERROR : MNL_CB_OK;

	list = json_object_get(object, spec->name);
	if (!list) {
		list = json_array();
		if (json_object_set_new(object, spec->name, list)) {
			json_decref(value);
			return MNL_CB_ERROR;
		}
	}
	return json_array_append_new(list, value) ? MNL_CB_ERROR : MNL_CB_OK;
}

json_t *vqp_attr_get(const struct nlmsghdr *msg, size_t offset)
{
	json_t *object = json_object();

	if (object && mnl_attr_parse(msg, offset, get_attr, object) >= 0)
		return object;
	json_decref(object);
	return NULL;
}
