/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "../ctl/program.h"

static void runs(const char *script, bool errors, int expected, const char *output)
{
	char *text;

	assert_int_equal(ctl_program_run((const char *const[]){ "sh", "-c", script, NULL }, errors, &text), expected);
	if (output)
		assert_string_equal(text, output);
	else
		assert_null(text);
	free(text);
}

static void output_and_status_are_told(void **state)
{
	(void)state;
	runs("echo one; echo two >&2", false, 0, "one\n");
	runs("echo one; echo two >&2", true, 0, "one\ntwo\n");
	runs("exit 3", false, 3, "");
	runs("printf 'a\\000b'", false, 0, "a?b");
	runs("cat", false, 0, "");
}

static void what_is_too_long_is_cut(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(ctl_program_run((const char *const[]){ "head", "-c", "5M", "/dev/zero", NULL }, false, &text), 0);
	assert_in_range(strlen(text), 1 << 20, 4 << 20);
	free(text);
}

static void what_does_not_run_is_told(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(ctl_program_run((const char *const[]){ "/nonexistent/program", NULL }, false, &text), -ENOENT);
	assert_null(text);
	/* as timeout(1) says it */
	runs("exit 124", false, -ETIMEDOUT, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status_are_told),
		cmocka_unit_test(what_is_too_long_is_cut),
		cmocka_unit_test(what_does_not_run_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
