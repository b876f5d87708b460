// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>

#include "../error.h"

static void a_failure_is_one_statement(void **state)
{
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(vqp_error_set(&error, -ENOENT, "no %s", "file"), -ENOENT);
	assert_int_equal(error.code, -ENOENT);
	assert_string_equal(vqp_error_text(&error), "no file");
	assert_string_equal(vqp_error_reason(&error), "no file");
	vqp_error_clear(&error);
	assert_int_equal(error.code, 0);
	assert_null(error.text);
}

static void contexts_come_in_front_of_the_reason(void **state)
{
	struct vqp_error error = { 0 };

	(void)state;
	vqp_error_set(&error, 7, "no file");
	assert_int_equal(vqp_error_add_context(&error, "line %d", 3), 7);
	assert_int_equal(vqp_error_add_context(&error, "/etc/x"), 7);
	assert_string_equal(vqp_error_text(&error), "/etc/x: line 3: no file");
	assert_string_equal(vqp_error_reason(&error), "no file");
	vqp_error_clear(&error);
}

static void the_last_error_counts_and_may_quote_the_one_before(void **state)
{
	struct vqp_error error = { 0 };

	(void)state;
	vqp_error_set(&error, -ENOENT, "no file");
	vqp_error_add_context(&error, "/etc/x");
	assert_int_equal(vqp_error_set(&error, -EIO, "it said '%s'", error.text), -EIO);
	assert_string_equal(vqp_error_text(&error), "it said '/etc/x: no file'");
	assert_string_equal(vqp_error_reason(&error), "it said '/etc/x: no file'");
	vqp_error_clear(&error);
}

static void without_a_text_memory_had_run_out(void **state)
{
	struct vqp_error error = { .code = -ENOMEM };

	(void)state;
	assert_string_equal(vqp_error_text(&error), "out of memory");
	vqp_error_add_context(&error, "/etc/x");
	assert_string_equal(vqp_error_text(&error), "/etc/x: out of memory");
	assert_string_equal(vqp_error_reason(&error), "out of memory");
	vqp_error_clear(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_one_statement),
		cmocka_unit_test(contexts_come_in_front_of_the_reason),
		cmocka_unit_test(the_last_error_counts_and_may_quote_the_one_before),
		cmocka_unit_test(without_a_text_memory_had_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
