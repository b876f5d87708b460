// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "../name.h"

static void a_name_is_written_and_taken_apart(void **state)
{
	char name[VQP_NAME_MAX];
	json_t *parts;

	(void)state;
	assert_true(vqp_name_write(name, "c1", "eth0", "blue"));
	assert_string_equal(name, "c1/eth0/blue");
	parts = vqp_name_split(name);
	unit_assert_string(parts, "id", "c1");
	unit_assert_string(parts, "ifname", "eth0");
	unit_assert_string(parts, "network", "blue");
	json_decref(parts);
}

static void a_network_may_be_left_out(void **state)
{
	char name[VQP_NAME_MAX];
	json_t *parts;

	(void)state;
	assert_true(vqp_name_write(name, "c1", "eth0", NULL));
	assert_string_equal(name, "c1/eth0");
	parts = vqp_name_split(name);
	unit_assert_string(parts, "id", "c1");
	unit_assert_string(parts, "ifname", "eth0");
	assert_null(json_object_get(parts, "network"));
	json_decref(parts);
}

/* vqp-hook tells containers of one id apart by what it writes there. */
static void what_the_hook_writes_is_no_network(void **state)
{
	json_t *item = json_pack("{s:s}", "name", "c1/eth0/blue");

	(void)state;
	vqp_name_tell(item);
	assert_string_equal(vqp_name_network(item), "blue");
	json_object_clear(item);
	json_object_set_new(item, "name", json_string("oci:c1/all/bundle:0123456789abcdef"));
	vqp_name_tell(item);
	assert_null(vqp_name_network(item));
	json_object_clear(item);
	json_object_set_new(item, "name", json_string("mine"));
	vqp_name_tell(item);
	assert_null(vqp_name_network(item));
	json_decref(item);
}

static void a_name_is_never_cut(void **state)
{
	char name[VQP_NAME_MAX], id[VQP_NAME_MAX];

	(void)state;
	/* the longest: id, "/eth0/blue" and the NUL */
	memset(id, 'x', sizeof(id));
	id[VQP_NAME_MAX - 11] = '\0';
	assert_true(vqp_name_write(name, id, "eth0", "blue"));
	assert_int_equal(strlen(name), VQP_NAME_MAX - 1);
	assert_false(vqp_name_write(name, id, "eth0", "blues"));
}

static void what_administrators_call_theirs_is_no_attachment(void **state)
{
	static const char *const names[] = { "", "blue", "/", "/eth0", "c1/", "c1//blue", "c1/eth0/", "a/b/c/d", "c1/eth0//" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_null(vqp_name_split(names[i]));
		assert_false(vqp_name_same(names[i], names[i]));
	}
}

static void an_attachment_is_of_one_network(void **state)
{
	(void)state;
	assert_true(vqp_name_same("c1/eth0/blue", "c1/eth0/blue"));
	assert_false(vqp_name_same("c1/eth0/blue", "c1/eth0/red"));
	assert_false(vqp_name_same("c1/eth0/blue", "c1/eth1/blue"));
	assert_false(vqp_name_same("c1/eth0/blue", "c2/eth0/blue"));
	assert_false(vqp_name_same("c1/eth0", "c1/eth00"));
	assert_false(vqp_name_same("c1/eth0", "blue"));
}

static void a_name_without_network_is_of_each(void **state)
{
	(void)state;
	assert_true(vqp_name_same("c1/eth0", "c1/eth0/blue"));
	assert_true(vqp_name_same("c1/eth0/blue", "c1/eth0"));
	assert_false(vqp_name_same("c1/eth0/blue", "c1/eth1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_written_and_taken_apart),
		cmocka_unit_test(a_network_may_be_left_out),
		cmocka_unit_test(what_the_hook_writes_is_no_network),
		cmocka_unit_test(a_name_is_never_cut),
		cmocka_unit_test(what_administrators_call_theirs_is_no_attachment),
		cmocka_unit_test(an_attachment_is_of_one_network),
		cmocka_unit_test(a_name_without_network_is_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
