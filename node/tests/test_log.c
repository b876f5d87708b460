/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <stdio.h>

#include "../log.h"

static char logged[VQP_LOG_LINE_MAX * 2];
static unsigned int lines;

void warnx(const char *format, ...)
{
	va_list args;

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

static void log_many(struct vqp_log *log, unsigned int count, uint64_t now_ms)
{
	for (unsigned int i = 0; i < count; i++)
		vqp_log_line(log, now_ms, "line %u", i);
}

static void a_second_has_so_many_lines(void **state)
{
	struct vqp_log log = { 0 };

	(void)state;
	log_many(&log, VQP_LOG_LINES_PER_S + 7, 5000);
	assert_int_equal(lines, VQP_LOG_LINES_PER_S);
	assert_string_equal(logged, "line 9");
	vqp_log_tick(&log, 5999);
	assert_int_equal(lines, VQP_LOG_LINES_PER_S);
	vqp_log_tick(&log, 6000);
	assert_int_equal(lines, VQP_LOG_LINES_PER_S + 1);
	assert_string_equal(logged, "7 more lines like these were left out");
	vqp_log_tick(&log, 7000);
	assert_int_equal(lines, VQP_LOG_LINES_PER_S + 1);
}

static void the_next_second_has_as_many_again(void **state)
{
	struct vqp_log log = { 0 };

	(void)state;
	log_many(&log, VQP_LOG_LINES_PER_S + 1, 5000);
	log_many(&log, VQP_LOG_LINES_PER_S + 1, 6000);
	assert_int_equal(lines, 2 * VQP_LOG_LINES_PER_S + 1);	/* One tells of the line that was left out. */
}

static void lines_are_lines_whatever_is_in_them(void **state)
{
	static char text[VQP_LOG_LINE_MAX * 2];
	struct vqp_log log = { 0 };

	(void)state;
	vqp_log_line(&log, 5000, "%s", "a\nvqpd: forged\033[2J\177\303\244");
	assert_string_equal(logged, "a?vqpd: forged?[2J?\303\244");
	memset(text, 'x', sizeof(text) - 1);
	vqp_log_line(&log, 5000, "%s", text);
	assert_int_equal(strlen(logged), VQP_LOG_LINE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_second_has_so_many_lines, setup),
		cmocka_unit_test_setup(the_next_second_has_as_many_again, setup),
		cmocka_unit_test_setup(lines_are_lines_whatever_is_in_them, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
