/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/vqp.h>

#include "../attr.h"
#include "../nlattr.h"

/* A message without payload, in a buffer of this many bytes. */
#define MESSAGE(name, bytes_)						\
	_Alignas(struct nlmsghdr) char name##_bytes[bytes_] = { 0 };	\
	struct nlmsghdr *name = (struct nlmsghdr *)name##_bytes;	\
	name->nlmsg_len = NLMSG_HDRLEN

static void put(struct nlmsghdr *msg, unsigned int type, const void *data, size_t bytes)
{
	assert_non_null(vqp_nlattr_put(msg, NLMSG_HDRLEN + 128, type, data, bytes));
}

static void there_and_back_again(void **state)
{
	MESSAGE(msg, 4096);
	json_t *object = unit_json(
		"{\"tenant\":4294967295,\"gid\":\"::ffff:10.1.0.2\",\"name\":\"a/eth0\",\"netns_fd\":7,"
		"\"max_vqps\":\"unlimited\",\"max_mrs\":0,\"max_bytes\":9223372036854775807,\"max_rate\":65536,\"priority\":3,\"sockets\":true,"
		"\"meta\":[{\"node_gid\":\"fe80::1\",\"epoch\":1,\"qkey\":2,\"lanes\":[3,4,5],"
		"\"key\":6,\"addr\":140737488351232,\"buckets\":1024},{\"key\":8}]}");
	json_t *again;

	(void)state;
	assert_int_equal(vqp_attr_put(msg, sizeof(msg_bytes), object), 0);
	again = vqp_attr_get(msg, 0);
	assert_true(json_equal(object, again));
	json_decref(object);
	json_decref(again);
}

static void is_the_same_again(const char *text, size_t room)
{
	json_auto_t *object = unit_json(text), *again;
	MESSAGE(msg, 4096);

	assert_true(room <= sizeof(msg_bytes));
	assert_int_equal(vqp_attr_put(msg, room, object), 0);
	again = vqp_attr_get(msg, 0);
	assert_true(json_equal(object, again));
}

static void sockets_have_rules(void **state)
{
	(void)state;
	is_the_same_again("{\"sockets\":false}", 64);
	is_the_same_again("{\"sockets\":{\"only\":[\"80\",\"1024-65535\",\"10.0.0.0/8\",\"fd00::/64\"],\"except\":[\"any\"]}}", 512);
	is_the_same_again("{\"tenant\":1,\"sockets\":{\"only\":[\"fd00::2\"],\"except\":[\"22\",\"0.0.0.0/0\"]}}", 512);
}

/* Puts a rule, with the attributes that are given. */
static void put_rule(struct nlmsghdr *msg, uint32_t port, uint32_t last, const char *gid, uint8_t bits)
{
	struct nlattr *nest = vqp_nlattr_begin_nest(msg, 512, VQP_ATTR_SOCKETS_RULE);

	assert_non_null(nest);
	if (port)
		put(msg, VQP_ATTR_PORT, &port, sizeof(port));
	if (last)
		put(msg, VQP_ATTR_PORT_LAST, &last, sizeof(last));
	if (gid)
		put(msg, VQP_ATTR_GID, gid, 16);
	put(msg, VQP_ATTR_PREFIX_BITS, &bits, sizeof(bits));
	assert_true(vqp_nlattr_end_nest(msg, nest));
}

/* After "sockets", which are on, off, or not there (-1), the rule is malformed. */
static void rule_is_malformed(int sockets, uint32_t port, uint32_t last, const char *gid, uint8_t bits)
{
	const uint8_t on = sockets;
	MESSAGE(msg, 512);

	if (sockets >= 0)
		put(msg, VQP_ATTR_SOCKETS, &on, sizeof(on));
	put_rule(msg, port, last, gid, bits);
	assert_null(vqp_attr_get(msg, 0));
}

static void malformed_rules_are_noticed(void **state)
{
	static const char gid[16] = { 0 };

	(void)state;
	rule_is_malformed(-1, 80, 80, NULL, 0);
	rule_is_malformed(0, 80, 80, NULL, 0);
	rule_is_malformed(1, 0, 0, NULL, 0);
	rule_is_malformed(1, 80, 0, NULL, 0);
	rule_is_malformed(1, 80, 79, NULL, 0);
	rule_is_malformed(1, 80, 65536, NULL, 0);
	rule_is_malformed(1, 80, 80, gid, 0);
	rule_is_malformed(1, 0, 0, gid, 129);
}

static void assert_refused(const char *text)
{
	MESSAGE(msg, 256);
	json_t *object = unit_json(text);

	assert_int_equal(vqp_attr_put(msg, sizeof(msg_bytes), object), -EINVAL);
	json_decref(object);
}

static void ill_typed_fields_are_refused(void **state)
{
	(void)state;
	assert_refused("{\"tenant\":-1}");
	assert_refused("{\"tenant\":4294967296}");
	assert_refused("{\"tenant\":\"1\"}");
	assert_refused("{\"gid\":\"nonsense\"}");
	assert_refused("{\"priority\":256}");
	assert_refused("{\"priority\":\"low\"}");
	assert_refused("{\"sockets\":1}");
	assert_refused("{\"sockets\":{}}");
	assert_refused("{\"sockets\":{\"only\":[\"0\"]}}");
	assert_refused("{\"gid\":1}");
	assert_refused("{\"name\":1}");
	assert_refused("{\"meta\":{}}");
	assert_refused("{\"meta\":[1]}");
	assert_refused("{\"meta\":[{\"addr\":-1}]}");
	assert_refused("{\"meta\":[{\"counters\":[]}]}");
	assert_refused("{\"nobody_knows\":1}");
}

static void too_much_for_the_buffer_is_refused(void **state)
{
	char text[400];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "{\"name\":\"", 9);
	strcpy(text + sizeof(text) - 3, "\"}");
	assert_refused(text);
}

static void enums_have_names(void **state)
{
	static const uint32_t connected = VQP_QP_CONNECTED, unknown = 99;
	static const uint32_t far = VQP_SOCK_FAR, refused = VQP_HOOK_REFUSED, listening = 10;
	MESSAGE(msg, 256);
	json_t *object;

	(void)state;
	put(msg, VQP_ATTR_QP_STATE, &connected, sizeof(connected));
	put(msg, VQP_ATTR_CARRIER, &unknown, sizeof(unknown));
	put(msg, VQP_ATTR_SOCK_KIND, &far, sizeof(far));
	put(msg, VQP_ATTR_HOOK, &refused, sizeof(refused));
	put(msg, VQP_ATTR_TCP_STATE, &listening, sizeof(listening));
	object = vqp_attr_get(msg, 0);
	unit_assert_string(object, "state", "connected");
	unit_assert_string(object, "carrier", "99");
	unit_assert_string(object, "kind", "far");
	unit_assert_string(object, "hook", "refused");
	unit_assert_string(object, "tcp_state", "listening");
	json_decref(object);
}

static void malformed_attributes_are_noticed(void **state)
{
	MESSAGE(msg, 256);

	(void)state;
	put(msg, VQP_ATTR_TENANT, "ab", 2);
	assert_null(vqp_attr_get(msg, 0));
	msg->nlmsg_len = NLMSG_HDRLEN;
	put(msg, VQP_ATTR_GID, "abcd", 4);
	assert_null(vqp_attr_get(msg, 0));
}

static void a_nest_has_no_nests(void **state)
{
	const struct nlattr inner = { .nla_len = NLA_HDRLEN, .nla_type = NLA_F_NESTED | VQP_ATTR_COUNTER };
	MESSAGE(msg, 256);

	(void)state;
	put(msg, NLA_F_NESTED | VQP_ATTR_META, &inner, sizeof(inner));
	assert_null(vqp_attr_get(msg, 0));
}

static void unknown_attributes_are_left_out(void **state)
{
	MESSAGE(msg, 256);
	json_t *object;

	(void)state;
	put(msg, VQP_ATTR_MAX + 1, "abcd", 4);
	put(msg, VQP_ATTR_PAD, "abcd", 4);
	object = vqp_attr_get(msg, 0);
	assert_int_equal(json_object_size(object), 0);
	json_decref(object);
}

static void any_name_is_valid_json(void **state)
{
	MESSAGE(msg, 512);
	json_t *object;
	char *text;

	(void)state;
	put(msg, VQP_ATTR_NAME, "a\xff\n\x80z", 5);
	object = vqp_attr_get(msg, 0);
	unit_assert_string(object, "name", "a???z");
	text = json_dumps(object, 0);
	assert_non_null(text);
	free(text);
	json_decref(object);
}

/* What a message claims to have must be in it. */
static void reading_ends_where_no_whole_attribute_is(void **state)
{
	MESSAGE(msg, 256);
	struct vqp_nlattrs attrs;
	struct vqp_nlattr attr;
	struct nlattr *last;

	(void)state;
	put(msg, 1, "abcd", 4);
	last = vqp_nlattr_put(msg, sizeof(msg_bytes), 2, "ef", 2);
	attrs = vqp_nlattrs_of(msg, 0);
	assert_true(vqp_nlattr_next(&attrs, &attr));
	assert_int_equal(attr.type, 1);
	assert_true(vqp_nlattr_next(&attrs, &attr));
	assert_int_equal(attr.type, 2);
	assert_int_equal(attr.bytes, 2);
	assert_memory_equal(attr.data, "ef", 2);
	assert_false(vqp_nlattr_next(&attrs, &attr));

	last->nla_len += 3;
	attrs = vqp_nlattrs_of(msg, 0);
	assert_true(vqp_nlattr_next(&attrs, &attr));
	assert_false(vqp_nlattr_next(&attrs, &attr));
	last->nla_len = NLA_HDRLEN - 1;
	attrs = vqp_nlattrs_of(msg, 0);
	assert_true(vqp_nlattr_next(&attrs, &attr));
	assert_false(vqp_nlattr_next(&attrs, &attr));
	attrs = vqp_nlattrs_of(msg, 4096);
	assert_false(vqp_nlattr_next(&attrs, &attr));
}

static void an_attribute_goes_where_it_fits(void **state)
{
	MESSAGE(msg, 256);
	const size_t room = NLMSG_HDRLEN + NLA_HDRLEN + 4;

	(void)state;
	assert_null(vqp_nlattr_put(msg, room, 1, "abcde", 5));
	assert_non_null(vqp_nlattr_put(msg, room, 1, "abc", 3));
	assert_int_equal(msg->nlmsg_len, room);
	assert_null(vqp_nlattr_put(msg, room, 1, NULL, 0));
	assert_null(vqp_nlattr_put(msg, 1 << 20, 1, msg_bytes, 1 << 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back_again),
		cmocka_unit_test(sockets_have_rules),
		cmocka_unit_test(malformed_rules_are_noticed),
		cmocka_unit_test(ill_typed_fields_are_refused),
		cmocka_unit_test(too_much_for_the_buffer_is_refused),
		cmocka_unit_test(enums_have_names),
		cmocka_unit_test(malformed_attributes_are_noticed),
		cmocka_unit_test(a_nest_has_no_nests),
		cmocka_unit_test(unknown_attributes_are_left_out),
		cmocka_unit_test(any_name_is_valid_json),
		cmocka_unit_test(reading_ends_where_no_whole_attribute_is),
		cmocka_unit_test(an_attribute_goes_where_it_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
