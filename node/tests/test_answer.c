/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../metad/answer.h"

#define NODE	"\"node\":{\"node_gid\":\"10.0.0.1\",\"epoch\":5,\"qkey\":6,\"lanes\":[17,18]}"
#define OTHER	"\"node\":{\"node_gid\":\"10.0.0.2\",\"epoch\":5,\"qkey\":6,\"lanes\":[17]}"
#define ENTRY	"{\"tenant\":1,\"gid\":\"10.1.0.2\"}"

struct fixture {
	struct vqp_metad metad;
	struct vqp_bucket bucket;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return vqp_table_init(&f->metad.table, &f->bucket, 1);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vqp_table_exit(&f->metad.table);
	json_decref(f->metad.hello);
	free(f);
	return 0;
}

static json_t *ask(struct fixture *f, const char *text)
{
	json_t *request = unit_json(text), *reply = vqp_metad_answer(&f->metad, request, 1000);

	assert_non_null(reply);
	json_decref(request);
	return reply;
}

static void assert_error(struct fixture *f, const char *text, const char *name)
{
	json_t *reply = ask(f, text);

	assert_true(json_is_false(json_object_get(reply, "ok")));
	unit_assert_string(reply, "errno", name);
	assert_non_null(json_object_get(reply, "error"));
	assert_int_equal(f->metad.table.count, 0);
	json_decref(reply);
}

static json_int_t ask_number(struct fixture *f, const char *text, const char *name)
{
	json_t *reply = ask(f, text);
	json_int_t number;

	assert_true(json_is_true(json_object_get(reply, "ok")));
	assert_true(json_is_integer(json_object_get(reply, name)));
	number = json_integer_value(json_object_get(reply, name));
	json_decref(reply);
	return number;
}

/* What was logged last. */
static char logged[256];
static int logged_level;

void vqp_log(int level, const char *format, ...)
{
	va_list args;

	logged_level = level;
	va_start(args, format);
	vsnprintf(logged, sizeof(logged), format, args);
	va_end(args);
}

/* Announces the entry, with more members of it, for one of the nodes. */
static void announce(struct fixture *f, const char *node, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"op\":\"announce\",\"lease_s\":30,%s,\"entries\":[{\"tenant\":1,\"gid\":\"10.1.0.2\"%s}]}",
		 node, more);
	json_decref(ask(f, text));
}

static void what_a_node_takes_over_from_another_is_told_and_counted(void **state)
{
	static const char list[] = "{\"op\":\"list\"}";
	struct fixture *f = *state;

	logged[0] = '\0';
	announce(f, NODE, ",\"new\":true");
	announce(f, NODE, "");
	announce(f, NODE, ",\"new\":true");
	announce(f, OTHER, "");
	assert_int_equal(ask_number(f, list, "takeovers"), 0);
	assert_string_equal(logged, "");
	announce(f, OTHER, ",\"new\":true");
	assert_int_equal(ask_number(f, list, "takeovers"), 1);
	assert_string_equal(logged, "tenant 1's address ::ffff:10.1.0.2: node ::ffff:10.0.0.2 takes it over from node ::ffff:10.0.0.1");
	assert_int_equal(logged_level, LOG_WARNING);
}

static void what_nobody_has_any_more_is_not_taken_over(void **state)
{
	struct fixture *f = *state;

	announce(f, NODE, ",\"new\":true");
	f->metad.table.chains[0]->expires_ms = 1000;	/* the time of ask() */
	announce(f, OTHER, ",\"new\":true");
	assert_int_equal(ask_number(f, "{\"op\":\"list\"}", "takeovers"), 0);
}

static void unknown_operations_are_refused(void **state)
{
	assert_error(*state, "{}", "EINVAL");
	assert_error(*state, "{\"op\":1}", "EINVAL");
	assert_error(*state, "{\"op\":\"bogus\"}", "EOPNOTSUPP");
}

static void hello_needs_a_device(void **state)
{
	struct fixture *f = *state;

	assert_error(f, "{\"op\":\"hello\"}", "ENETDOWN");
	f->metad.hello = unit_json("{\"ok\":true,\"key\":7}");
	assert_int_equal(ask_number(f, "{\"op\":\"hello\"}", "key"), 7);
}

static void announced_withdrawn(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ask_number(f, "{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY "]}", "taken"), 1);
	assert_int_equal(f->metad.table.count, 1);
	assert_int_equal(ask_number(f, "{\"op\":\"withdraw\"," NODE ",\"entries\":[" ENTRY "]}", "removed"), 1);
	assert_int_equal(f->metad.table.count, 0);
}

static void anothers_withdrawal_does_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ask_number(f, "{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY "]}", "taken"), 1);
	assert_int_equal(ask_number(f, "{\"op\":\"withdraw\"," OTHER ",\"entries\":[" ENTRY "]}", "removed"), 0);
	assert_int_equal(f->metad.table.count, 1);
}

static void refusals_name_the_entry(void **state)
{
	json_t *reply, *refused;

	json_decref(ask(*state, "{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY "]}"));
	reply = ask(*state, "{\"op\":\"announce\",\"lease_s\":30," OTHER ",\"entries\":["
		    "{\"tenant\":1,\"gid\":\"10.1.0.3\"}," ENTRY "]}");
	assert_int_equal(json_integer_value(json_object_get(reply, "taken")), 1);
	assert_int_equal(json_array_size(json_object_get(reply, "refused")), 1);
	refused = json_array_get(json_object_get(reply, "refused"), 0);
	unit_assert_string(refused, "gid", "10.1.0.2");
	unit_assert_string(refused, "errno", "EADDRINUSE");
	json_decref(reply);
}

static void a_new_entry_takes_over(void **state)
{
	struct fixture *f = *state;

	json_decref(ask(f, "{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY "]}"));
	assert_int_equal(ask_number(f, "{\"op\":\"announce\",\"lease_s\":30," OTHER ",\"entries\":["
				    "{\"tenant\":1,\"gid\":\"10.1.0.2\",\"new\":true}]}", "taken"), 1);
}

static void a_full_table_says_what_to_do(void **state)
{
	char text[2000] = "{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[";
	json_t *reply, *refused;

	for (int i = 1; i <= VQP_BUCKET_SLOTS + 1; i++)
		sprintf(text + strlen(text), "%s{\"tenant\":%d,\"gid\":\"fd00::1\"}", i > 1 ? "," : "", i);
	strcat(text, "]}");
	reply = ask(*state, text);
	assert_int_equal(json_integer_value(json_object_get(reply, "taken")), VQP_BUCKET_SLOTS);
	refused = json_array_get(json_object_get(reply, "refused"), 0);
	unit_assert_string(refused, "errno", "ENOSPC");
	assert_non_null(strstr(json_string_value(json_object_get(refused, "error")), "--buckets"));
	json_decref(reply);
}

static void ill_formed_announcements_change_nothing(void **state)
{
	static const char *const bad[] = {
		"{\"op\":\"announce\"}",
		"{\"op\":\"announce\",\"lease_s\":30," NODE "}",
		"{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":{}}",
		"{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[1]}",
		"{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY ",{\"tenant\":1}]}",
		"{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY ",{\"tenant\":1,\"gid\":\"::\"}]}",
		"{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY ",{\"tenant\":-1,\"gid\":\"::1\"}]}",
		"{\"op\":\"announce\",\"lease_s\":0," NODE ",\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":3601," NODE ",\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":\"30\"," NODE ",\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":30,\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":30,\"node\":{\"node_gid\":\"x\",\"epoch\":1,\"qkey\":1,\"lanes\":[1]},"
			"\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":30,\"node\":{\"node_gid\":\"10.0.0.1\",\"epoch\":1,\"qkey\":1,\"lanes\":[]},"
			"\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":30,\"node\":{\"node_gid\":\"10.0.0.1\",\"epoch\":1,\"qkey\":1,"
			"\"lanes\":[1,2,3,4,5,6,7,8,9]},\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":30,\"node\":{\"node_gid\":\"10.0.0.1\",\"epoch\":1,\"qkey\":1,"
			"\"lanes\":[16777216]},\"entries\":[" ENTRY "]}",
		"{\"op\":\"announce\",\"lease_s\":30,\"node\":{\"node_gid\":\"10.0.0.1\",\"epoch\":4294967296,\"qkey\":1,"
			"\"lanes\":[1]},\"entries\":[" ENTRY "]}",
		"{\"op\":\"withdraw\"}",
		"{\"op\":\"withdraw\"," NODE "}",
		"{\"op\":\"withdraw\",\"entries\":[" ENTRY "]}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_error(*state, bad[i], "EINVAL");
}

static void list_tells_owner_and_lease(void **state)
{
	json_t *reply, *entry;

	json_decref(ask(*state, "{\"op\":\"announce\",\"lease_s\":30," NODE ",\"entries\":[" ENTRY "]}"));
	reply = ask(*state, "{\"op\":\"list\"}");
	entry = json_array_get(json_object_get(reply, "entries"), 0);
	unit_assert_string(entry, "gid", "::ffff:10.1.0.2");
	unit_assert_string(entry, "node_gid", "::ffff:10.0.0.1");
	assert_int_equal(json_integer_value(json_object_get(entry, "lease_left_ms")), 30000);
	json_decref(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unknown_operations_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(hello_needs_a_device, setup, teardown),
		cmocka_unit_test_setup_teardown(announced_withdrawn, setup, teardown),
		cmocka_unit_test_setup_teardown(anothers_withdrawal_does_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_name_the_entry, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_entry_takes_over, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_table_says_what_to_do, setup, teardown),
		cmocka_unit_test_setup_teardown(ill_formed_announcements_change_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(list_tells_owner_and_lease, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_node_takes_over_from_another_is_told_and_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nobody_has_any_more_is_not_taken_over, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
