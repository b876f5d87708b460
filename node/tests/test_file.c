/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ctl/file.h"

static char directory[] = "/tmp/vqp-test-file-XXXXXX";

static int work_in_a_directory(void **state)
{
	(void)state;
	return !mkdtemp(directory) || chdir(directory);
}

static int leave_it(void **state)
{
	(void)state;
	unlink("file");
	unlink("backup");
	return chdir("/") || rmdir(directory);
}

static void has(const char *path, const char *text, mode_t mode)
{
	struct stat found;
	char *read;

	assert_int_equal(ctl_file_read(path, &read), 0);
	assert_string_equal(read, text);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, mode);
	free(read);
}

static void a_new_file_is_for_all_to_read(void **state)
{
	(void)state;
	assert_int_equal(ctl_file_replace("file", "file", "one"), 0);
	has("file", "one", 0644);
}

static void a_file_s_mode_stays(void **state)
{
	(void)state;
	assert_int_equal(chmod("file", 0600), 0);
	assert_int_equal(ctl_file_replace("file", "file", "two"), 0);
	has("file", "two", 0600);
}

/* What is in the file may be a secret. */
static void a_backup_has_the_mode_of_its_file(void **state)
{
	(void)state;
	assert_int_equal(ctl_file_replace("backup", "file", "two"), 0);
	has("backup", "two", 0600);
}

static void what_is_removed_is_gone(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(ctl_file_replace("backup", "file", NULL), 0);
	assert_int_equal(ctl_file_replace("backup", "file", NULL), 0);
	assert_int_equal(ctl_file_read("backup", &text), 0);
	assert_null(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file_is_for_all_to_read),
		cmocka_unit_test(a_file_s_mode_stays),
		cmocka_unit_test(a_backup_has_the_mode_of_its_file),
		cmocka_unit_test(what_is_removed_is_gone),
	};

	return cmocka_run_group_tests(tests, work_in_a_directory, leave_it);
}
