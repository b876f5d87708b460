/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../ctl/file.h"

#define LABEL	"security.vqp"	/* Linux 6.1's tmpfs has none of users. */

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

static void replace(const char *path, const char *model, const char *text)
{
	struct stat its;

	assert_int_equal(ctl_file_look(model, &its), 0);
	assert_int_equal(ctl_file_replace(path, &its, text), 0);
}

static void a_new_file_is_for_all_to_read(void **state)
{
	(void)state;
	replace("file", "file", "one");
	has("file", "one", 0644);
}

static void a_file_s_mode_stays(void **state)
{
	(void)state;
	assert_int_equal(chmod("file", 0600), 0);
	replace("file", "file", "two");
	has("file", "two", 0600);
}

/* What is in the file may be a secret. */
static void a_backup_has_the_mode_of_its_file(void **state)
{
	(void)state;
	assert_int_equal(ctl_file_back_up("file", "backup", "two"), 0);
	has("backup", "two", 0600);
}

static void has_label(const char *path)
{
	char label[16] = "";

	assert_int_equal(getxattr(path, LABEL, label, sizeof(label)), 5);
	assert_string_equal(label, "ours");
}

/* ACLs and labels are attributes of this kind. */
static void extended_attributes_stay(void **state)
{
	(void)state;
	assert_int_equal(setxattr("file", LABEL, "ours", 5, 0), 0);
	replace("file", "file", "three");
	has("file", "three", 0600);
	has_label("file");
	assert_int_equal(ctl_file_back_up("file", "backup", "three"), 0);
	has_label("backup");
}

/* What it names is replaced and removed, and is made if it is not there. */
static void a_link_stays(void **state)
{
	struct stat its;
	char *text;

	(void)state;
	assert_int_equal(mkdir("links", 0755), 0);
	assert_int_equal(symlink("../second", "links/first"), 0);
	assert_int_equal(symlink("made/target", "second"), 0);
	for (int i = 0; i < 2; i++) {
		replace("links/first", "links/first", "linked");
		has("made/target", "linked", 0644);
		replace("links/first", "links/first", "again");
		has("made/target", "again", 0644);
		replace("links/first", "links/first", NULL);
		assert_int_equal(ctl_file_read("made/target", &text), 0);
		assert_null(text);
		assert_int_equal(lstat("links/first", &its), 0);
		assert_true(S_ISLNK(its.st_mode));
		assert_int_equal(lstat("second", &its), 0);
		assert_true(S_ISLNK(its.st_mode));
	}
	unlink("second");
	assert_int_equal(symlink("links/first", "second"), 0);
	assert_int_equal(ctl_file_replace("second", &(struct stat){ .st_mode = 0644 }, "round"), -ELOOP);
	unlink("second");
	unlink("links/first");
	rmdir("links");
	rmdir("made");
}

static void what_is_removed_is_gone(void **state)
{
	char *text;

	(void)state;
	replace("backup", "file", NULL);
	replace("backup", "file", NULL);
	assert_int_equal(ctl_file_read("backup", &text), 0);
	assert_null(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file_is_for_all_to_read),
		cmocka_unit_test(a_file_s_mode_stays),
		cmocka_unit_test(a_backup_has_the_mode_of_its_file),
		cmocka_unit_test(extended_attributes_stay),
		cmocka_unit_test(a_link_stays),
		cmocka_unit_test(what_is_removed_is_gone),
	};

	return cmocka_run_group_tests(tests, work_in_a_directory, leave_it);
}
