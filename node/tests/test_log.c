/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "../log.h"

/* A file in the place of standard error, and where that was. */
struct fixture {
	int fd, stderr_fd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->fd = memfd_create("log", MFD_CLOEXEC);
	f->stderr_fd = dup(STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unsetenv("JOURNAL_STREAM");
	close(f->fd);
	close(f->stderr_fd);
	free(f);
	return 0;
}

static void listen_to(struct fixture *f)
{
	assert_int_equal(ftruncate(f->fd, 0), 0);
	assert_int_equal(lseek(f->fd, 0, SEEK_SET), 0);
	dup2(f->fd, STDERR_FILENO);
}

/* Returns what was written, and gives standard error back, where cmocka writes. */
static const char *heard(struct fixture *f)
{
	static char text[VQP_LOG_LINE_MAX * 2];
	ssize_t n = pread(f->fd, text, sizeof(text) - 1, 0);

	dup2(f->stderr_fd, STDERR_FILENO);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

/* Names the file as the journal, or one that has another number by `more`. */
static void set_journal(const struct fixture *f, int more)
{
	char place[64];
	struct stat st;

	assert_int_equal(fstat(f->fd, &st), 0);
	snprintf(place, sizeof(place), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino + more);
	setenv("JOURNAL_STREAM", place, 1);
}

static void the_journal_is_told_the_level(void **state)
{
	struct fixture *f = *state;

	set_journal(f, 0);
	listen_to(f);
	vqp_log(LOG_WARNING, "no %s", "device");
	vqp_log(LOG_INFO, "up");
	assert_string_equal(heard(f), "<4>test_log: no device\n<6>test_log: up\n");
}

static void other_files_are_not(void **state)
{
	struct fixture *f = *state;

	listen_to(f);
	vqp_log(LOG_WARNING, "no device");
	assert_string_equal(heard(f), "test_log: no device\n");
	set_journal(f, 1);
	listen_to(f);
	vqp_log(LOG_WARNING, "no device");
	assert_string_equal(heard(f), "test_log: no device\n");
}

static void lines_below_the_level_are_left_out(void **state)
{
	static const char *const names[] = { "error", "warning", "notice", "info", "debug" };
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++) {
		char expected[100] = "";

		listen_to(f);
		vqp_log_set_level(names[i]);
		for (int level = LOG_ERR; level <= LOG_DEBUG; level++)
			vqp_log(level, "%d", level);
		for (int level = LOG_ERR; level <= LOG_ERR + i; level++)
			sprintf(expected + strlen(expected), "test_log: %d\n", level);
		assert_string_equal(heard(f), expected);
	}
	vqp_log_set_level("info");
}

static void debug_is_left_out_at_first(void **state)
{
	struct fixture *f = *state;

	listen_to(f);
	vqp_log(LOG_DEBUG, "detail");
	vqp_log(LOG_INFO, "up");
	assert_string_equal(heard(f), "test_log: up\n");
}

static void lines_are_lines_whatever_is_in_them(void **state)
{
	static char text[VQP_LOG_LINE_MAX * 2];
	struct fixture *f = *state;

	listen_to(f);
	vqp_log(LOG_WARNING, "%s", "a\n<0>vqpd: forged\033[2J\177\303\244");
	assert_string_equal(heard(f), "test_log: a?<0>vqpd: forged?[2J?\303\244\n");
	memset(text, 'x', sizeof(text) - 1);
	listen_to(f);
	vqp_log(LOG_WARNING, "%s", text);
	assert_int_equal(strlen(heard(f)), strlen("test_log: \n") + VQP_LOG_LINE_MAX - 1);
}

/* Returns the exit status of a process that does `what`. */
static int status_of(void (*what)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void end(void)
{
	vqp_log_set_level("error");
	vqp_log_end(EX_CONFIG, "no %s", "key");
}

static void set_no_level(void)
{
	vqp_log_set_level("loud");
}

static void what_ends_the_program_is_an_error(void **state)
{
	struct fixture *f = *state;

	set_journal(f, 0);
	listen_to(f);
	assert_int_equal(status_of(end), EX_CONFIG);
	assert_string_equal(heard(f), "<3>test_log: no key\n");
}

static void another_level_is_misuse(void **state)
{
	struct fixture *f = *state;

	listen_to(f);
	assert_int_equal(status_of(set_no_level), EX_USAGE);
	assert_string_equal(heard(f), "test_log: --log-level takes error, warning, notice, info or debug, not 'loud'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(debug_is_left_out_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(the_journal_is_told_the_level, setup, teardown),
		cmocka_unit_test_setup_teardown(other_files_are_not, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_below_the_level_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_are_lines_whatever_is_in_them, setup, teardown),
		cmocka_unit_test_setup_teardown(what_ends_the_program_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(another_level_is_misuse, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
