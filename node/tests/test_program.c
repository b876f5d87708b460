/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ctl/program.h"

#define LONG_MS	60000	/* longer than any of these programs takes */

static void runs(const char *script, bool with_errors, int limit_ms, int expected, const char *output)
{
	char *text;

	assert_int_equal(ctl_program_run((const char *const[]){ "sh", "-c", script, NULL }, limit_ms, &text, with_errors ? &text : NULL), expected);
	if (output)
		assert_string_equal(text, output);
	else
		assert_null(text);
	free(text);
}

static void output_and_status_are_told(void **state)
{
	(void)state;
	runs("echo one; echo two >&2", false, LONG_MS, 0, "one\n");
	runs("echo one; echo two >&2", true, LONG_MS, 0, "one\ntwo\n");
	runs("exit 3", false, LONG_MS, 3, "");
	runs("printf 'a\\000b'", false, LONG_MS, 0, "a?b");
	runs("cat", false, LONG_MS, 0, "");
	runs("kill -s SEGV $$", false, LONG_MS, -EPROTO, NULL);
}

static void errors_may_be_a_text_of_their_own(void **state)
{
	char *output, *errors;

	(void)state;
	assert_int_equal(ctl_program_run((const char *const[]){ "sh", "-c", "echo one; echo two >&2", NULL }, LONG_MS, &output, &errors), 0);
	assert_string_equal(output, "one\n");
	assert_string_equal(errors, "two\n");
	free(output);
	free(errors);
}

static void what_is_too_long_is_cut(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(ctl_program_run((const char *const[]){ "head", "-c", "17M", "/dev/zero", NULL }, LONG_MS, &text, NULL), 0);
	assert_int_equal(strlen(text), 16 << 20);
	free(text);
	runs("cat /dev/zero", false, LONG_MS, -EFBIG, NULL);
	runs("exec cat /dev/zero >&2", true, LONG_MS, -EFBIG, NULL);
}

/* Whatever signals it handles, and whatever it has started. */
static void what_does_not_end_is_killed(void **state)
{
	char path[] = "/tmp/vqp-test-program-XXXXXX", script[256], pid[32] = "";
	FILE *file = fdopen(mkstemp(path), "r+");

	(void)state;
	assert_non_null(file);
	snprintf(script, sizeof(script), "trap '' ALRM TERM; sh -c 'trap \"\" TERM; echo $$ >%s; exec sleep 1000' & wait; sleep 1000", path);
	/* The limit may be over before a slow machine has started the second program. */
	for (int limit_ms = 200; !*pid; limit_ms *= 2) {
		assert_true(limit_ms < LONG_MS);
		runs(script, false, limit_ms, -ETIMEDOUT, NULL);
		rewind(file);
		if (!fgets(pid, sizeof(pid), file))
			*pid = '\0';
	}
	/* It is gone as soon as somebody has waited for it; until then it is dead. */
	if (!kill(atoi(pid), 0)) {
		snprintf(script, sizeof(script), "grep -q '^State:.Z' /proc/%d/status || ! kill -0 %d", atoi(pid), atoi(pid));
		for (int i = 0; system(script) && i < 1000; i++)
			usleep(10000);
		assert_int_equal(system(script), 0);
	}
	fclose(file);
	unlink(path);
}

static void it_gets_no_other_environment(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	setenv("PATH", "/nonexistent:/usr/bin:/bin", 1);
	setenv("CONTAINERS_CONF", "/nonexistent", 1);
	setenv("HOME", "/nonexistent", 1);
	runs("echo $PATH $HOME $LC_ALL $CONTAINERS_CONF", false, LONG_MS, 0, "/nonexistent:/usr/bin:/bin:/usr/sbin:/sbin /root C\n");
	setenv("PATH", path, 1);
}

static void regular_files_alone_are_programs(void **state)
{
	char directory[] = "/tmp/vqp-test-program-XXXXXX", found[PATH_MAX], *path = strdup(getenv("PATH")), *search;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_true(asprintf(&search, "%s:%s", directory, path) > 0);
	setenv("PATH", search, 1);
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(mkdir("sh", 0755), 0);
	assert_true(ctl_program_find("sh", found));
	assert_int_not_equal(strncmp(found, directory, strlen(directory)), 0);
	assert_false(ctl_program_find("no-such-program", found));
	assert_int_equal(chdir("/"), 0);
	setenv("PATH", path, 1);
	snprintf(found, sizeof(found), "%s/sh", directory);
	rmdir(found);
	rmdir(directory);
	free(search);
	free(path);
}

static void what_does_not_run_is_told(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(ctl_program_run((const char *const[]){ "/nonexistent/program", NULL }, LONG_MS, &text, NULL), -ENOENT);
	assert_null(text);
	runs("exit 124", false, LONG_MS, 124, "");
}

static void asks(const char *script, int expected, const char *said)
{
	struct vqp_error error = { 0 };
	char *output;

	assert_int_equal(ctl_program_ask((const char *const[]){ "sh", "-c", script, NULL }, &output, &error), expected);
	assert_string_equal(expected ? vqp_error_text(&error) : output, said);
	free(output);
	vqp_error_clear(&error);
}

static void an_engine_s_answer_is_told(void **state)
{
	(void)state;
	asks("echo one; echo two >&2", 0, "one\n");
	asks("echo time=1 >&2; echo why >&2; echo stack >&2; exit 1", -EPROTO, "sh: why");
	asks("exit 1", -EPROTO, "sh: it fails, and does not say why");
	asks("head -c 17M /dev/zero", -EFBIG, "sh says more than 16777216 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status_are_told),
		cmocka_unit_test(errors_may_be_a_text_of_their_own),
		cmocka_unit_test(what_is_too_long_is_cut),
		cmocka_unit_test(what_does_not_end_is_killed),
		cmocka_unit_test(it_gets_no_other_environment),
		cmocka_unit_test(regular_files_alone_are_programs),
		cmocka_unit_test(what_does_not_run_is_told),
		cmocka_unit_test(an_engine_s_answer_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
