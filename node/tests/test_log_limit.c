/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <stdio.h>

#include "../log_limit.h"

static char logged[VQP_LOG_LINE_MAX * 2];
static unsigned int lines;
static int logged_level;

void vqp_log(int level, const char *format, ...)
{
	va_list args;

	logged_level = level;
	va_start(args, format);
	vsnprintf(logged, sizeof(logged), format, args);
	va_end(args);
	lines++;
}

static int setup(void **state)
{
	(void)state;
	lines = 0;
	logged[0] = '\0';
	return 0;
}

static void log_many(struct vqp_log_limit *log, unsigned int count, uint64_t now_ms)
{
	for (unsigned int i = 0; i < count; i++)
		vqp_log_limited(log, now_ms, LOG_NOTICE, "line %u", i);
}

static void a_second_has_so_many_lines(void **state)
{
	struct vqp_log_limit log = { 0 };

	(void)state;
	log_many(&log, VQP_LOG_LIMIT_PER_S + 7, 5000);
	assert_int_equal(lines, VQP_LOG_LIMIT_PER_S);
	assert_string_equal(logged, "line 9");
	vqp_log_limit_tick(&log, 5999);
	assert_int_equal(lines, VQP_LOG_LIMIT_PER_S);
	vqp_log_limit_tick(&log, 6000);
	assert_int_equal(lines, VQP_LOG_LIMIT_PER_S + 1);
	assert_string_equal(logged, "7 more lines like these were left out");
	vqp_log_limit_tick(&log, 7000);
	assert_int_equal(lines, VQP_LOG_LIMIT_PER_S + 1);
}

static void the_next_second_has_as_many_again(void **state)
{
	struct vqp_log_limit log = { 0 };

	(void)state;
	log_many(&log, VQP_LOG_LIMIT_PER_S + 1, 5000);
	log_many(&log, VQP_LOG_LIMIT_PER_S + 1, 6000);
	assert_int_equal(lines, 2 * VQP_LOG_LIMIT_PER_S + 1);	/* One tells of the line that was left out. */
}

static void what_is_left_out_is_as_urgent_as_its_most_urgent_line(void **state)
{
	struct vqp_log_limit log = { 0 };

	(void)state;
	log_many(&log, VQP_LOG_LIMIT_PER_S + 1, 5000);
	vqp_log_limited(&log, 5000, LOG_WARNING, "a warning");
	vqp_log_limited(&log, 5000, LOG_INFO, "an information");
	assert_int_equal(logged_level, LOG_NOTICE);
	vqp_log_limit_tick(&log, 6000);
	assert_int_equal(logged_level, LOG_WARNING);
	assert_string_equal(logged, "3 more lines like these were left out");
}

static void a_line_has_so_many_bytes(void **state)
{
	static char text[VQP_LOG_LINE_MAX * 2];
	struct vqp_log_limit log = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	vqp_log_limited(&log, 5000, LOG_WARNING, "%s", text);
	assert_int_equal(strlen(logged), VQP_LOG_LINE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_second_has_so_many_lines, setup),
		cmocka_unit_test_setup(the_next_second_has_as_many_again, setup),
		cmocka_unit_test_setup(what_is_left_out_is_as_urgent_as_its_most_urgent_line, setup),
		cmocka_unit_test_setup(a_line_has_so_many_bytes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
