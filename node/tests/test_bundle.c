/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../ctl/bundle.h"

static char directory[] = "/tmp/vqp-test-bundle-XXXXXX";
static bool knows_how;	/* The file system knows RENAME_NOREPLACE. */

int __real_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path, unsigned int flags);
int __wrap_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path, unsigned int flags);

int __wrap_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path, unsigned int flags)
{
	if (knows_how)
		return __real_renameat2(old_dir, old_path, new_dir, new_path, flags);
	errno = EINVAL;
	return -1;
}

static int work_in_a_directory(void **state)
{
	(void)state;
	return !mkdtemp(directory) || chdir(directory);
}

static int leave_it(void **state)
{
	(void)state;
	return system("rm -r -- ./*") || chdir("/") || rmdir(directory);
}

static void writes(const char *path, int expected)
{
	json_t *report = json_pack("{s:b}", "ok", 1);
	struct vqp_error error = { 0 };

	assert_int_equal(ctl_bundle_write(path, report, &error), expected);
	vqp_error_clear(&error);
	json_decref(report);
}

static void an_archive_may_have_any_name(void **state)
{
	(void)state;
	knows_how = true;
	writes("-node:1.tar.gz", 0);
	assert_int_equal(system("tar -tzf ./-node:1.tar.gz | grep -qx vqp-doctor/doctor.json"), 0);
	writes("-node:1.tar.gz", -EEXIST);
}

/* Nor is anything replaced, or left beside it. */
static void a_file_system_may_not_know_how_not_to_replace(void **state)
{
	(void)state;
	knows_how = false;
	writes("other.tar.gz", 0);
	assert_int_equal(system("tar -tzf other.tar.gz | grep -qx vqp-doctor/doctor.json"), 0);
	writes("node", 0);
	assert_int_equal(access("node/doctor.json", F_OK), 0);
	writes("node", -EEXIST);
	assert_int_equal(system("test \"$(ls)\" = \"$(printf '%s\\n' -node:1.tar.gz node other.tar.gz)\""), 0);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_archive_may_have_any_name),
		cmocka_unit_test(a_file_system_may_not_know_how_not_to_replace),
	};

	(void)argv;
	/* A bundle asks the program that writes it. */
	if (argc > 1)
		return EXIT_FAILURE;
	setenv("LC_ALL", "C", 1);
	return cmocka_run_group_tests(tests, work_in_a_directory, leave_it);
}
