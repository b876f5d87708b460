/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/vqp.h>

#include "../attr.h"

static void there_and_back_again(void **state)
{
	char buffer[4096];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);
	json_t *object = unit_json(
		"{\"tenant\":4294967295,\"gid\":\"::ffff:10.1.0.2\",\"name\":\"a/eth0\",\"netns_fd\":7,"
		"\"max_vqps\":\"unlimited\",\"max_mrs\":0,\"max_bytes\":9223372036854775807,\"max_rate\":65536,\"priority\":3,"
		"\"meta\":[{\"node_gid\":\"fe80::1\",\"epoch\":1,\"qkey\":2,\"lanes\":[3,4,5],"
		"\"key\":6,\"addr\":140737488351232,\"buckets\":1024},{\"key\":8}]}");
	json_t *again;

	(void)state;
	assert_int_equal(vqp_attr_put(msg, sizeof(buffer), object), 0);
	again = vqp_attr_get(msg, 0);
	assert_true(json_equal(object, again));
	json_decref(object);
	json_decref(again);
}

static void assert_refused(const char *text)
{
	char buffer[256];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);
	json_t *object = unit_json(text);

	assert_int_equal(vqp_attr_put(msg, sizeof(buffer), object), -EINVAL);
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
	assert_refused("{\"gid\":1}");
	assert_refused("{\"name\":1}");
	assert_refused("{\"meta\":{}}");
	assert_refused("{\"meta\":[1]}");
	assert_refused("{\"meta\":[{\"addr\":-1}]}");
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
	char buffer[256];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);
	json_t *object;

	(void)state;
	mnl_attr_put_u32(msg, VQP_ATTR_QP_STATE, VQP_QP_CONNECTED);
	mnl_attr_put_u32(msg, VQP_ATTR_CARRIER, 99);
	object = vqp_attr_get(msg, 0);
	unit_assert_string(object, "state", "connected");
	unit_assert_string(object, "carrier", "99");
	json_decref(object);
}

static void malformed_attributes_are_noticed(void **state)
{
	char buffer[256];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);

	(void)state;
	mnl_attr_put_u16(msg, VQP_ATTR_TENANT, 1);
	assert_null(vqp_attr_get(msg, 0));
	msg = mnl_nlmsg_put_header(buffer);
	mnl_attr_put(msg, VQP_ATTR_GID, 4, "abcd");
	assert_null(vqp_attr_get(msg, 0));
}

static void unknown_attributes_are_left_out(void **state)
{
	char buffer[256];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);
	json_t *object;

	(void)state;
	mnl_attr_put_u32(msg, VQP_ATTR_MAX + 1, 1);
	mnl_attr_put_u32(msg, VQP_ATTR_PAD, 1);
	object = vqp_attr_get(msg, 0);
	assert_int_equal(json_object_size(object), 0);
	json_decref(object);
}

static void any_name_is_valid_json(void **state)
{
	char buffer[512], *text;
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buffer);
	json_t *object;

	(void)state;
	mnl_attr_put(msg, VQP_ATTR_NAME, 5, "a\xff\n\x80z");
	object = vqp_attr_get(msg, 0);
	unit_assert_string(object, "name", "a???z");
	text = json_dumps(object, 0);
	assert_non_null(text);
	free(text);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back_again),
		cmocka_unit_test(ill_typed_fields_are_refused),
		cmocka_unit_test(too_much_for_the_buffer_is_refused),
		cmocka_unit_test(enums_have_names),
		cmocka_unit_test(malformed_attributes_are_noticed),
		cmocka_unit_test(unknown_attributes_are_left_out),
		cmocka_unit_test(any_name_is_valid_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
