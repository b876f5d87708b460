/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ctl/change.h"
#include "../ctl/file.h"

static char directory[] = "/tmp/vqp-test-change-XXXXXX";

static const struct stat new_file = { .st_mode = 0644 };

static int work_in_a_directory(void **state)
{
	(void)state;
	return !mkdtemp(directory) || chdir(directory) || ctl_file_replace("wall", &new_file, "");
}

static int leave_it(void **state)
{
	(void)state;
	unlink("wall");
	return chdir("/") || rmdir(directory);
}

static void has(const char *path, const char *text)
{
	char *found;

	assert_int_equal(ctl_file_read(path, &found), 0);
	if (text)
		assert_string_equal(found, text);
	else
		assert_null(found);
	free(found);
}

/* Plans that the file gets the text `after`. */
static void plan(struct ctl_change *change, const char *path, bool shared, const char *after)
{
	struct vqp_error error = { 0 };

	*change = (struct ctl_change){ 0 };
	assert_int_equal(ctl_change_read(change, path, shared, &error), 0);
	change->after = after ? strdup(after) : NULL;
}

static void make(struct ctl_change *changes, unsigned int count)
{
	struct vqp_error error = { 0 };

	assert_int_equal(ctl_changes_make(changes, count, NULL, NULL, &error), 0);
	for (unsigned int i = 0; i < count; i++)
		ctl_change_free(&changes[i]);
}

/* Nothing can be made below "wall", which is a file. */
static void fails_at_the_last(struct ctl_change *changes, unsigned int count)
{
	struct vqp_error error = { 0 };

	changes[count - 1] = (struct ctl_change){ .path = "wall/below", .after = strdup("x") };
	assert_int_equal(ctl_changes_make(changes, count, NULL, NULL, &error), -ENOTDIR);
	assert_string_equal(vqp_error_text(&error), "cannot replace wall/below: Not a directory");
	vqp_error_clear(&error);
	for (unsigned int i = 0; i < count; i++)
		ctl_change_free(&changes[i]);
}

static void if_one_file_fails_all_are_as_they_were(void **state)
{
	struct ctl_change changes[4];

	(void)state;
	assert_int_equal(ctl_file_replace("shared", &new_file, "theirs"), 0);
	assert_int_equal(chmod("shared", 0640), 0);
	plan(&changes[0], "own", false, "of vqp");
	plan(&changes[1], "shared", true, "both");
	make(changes, 2);
	has("own", "of vqp");
	has("shared", "both");
	has("shared.before-vqp", "theirs");

	/* a removal */
	plan(&changes[0], "own", false, NULL);
	plan(&changes[1], "shared", true, "theirs");
	fails_at_the_last(changes, 3);
	has("own", "of vqp");
	has("shared", "both");
	has("shared.before-vqp", "theirs");

	/* an addition */
	plan(&changes[0], "shared", true, "theirs");
	make(changes, 1);
	has("shared.before-vqp", NULL);
	plan(&changes[0], "own", false, "newer");
	plan(&changes[1], "other", false, "new");
	plan(&changes[2], "shared", true, "both");
	fails_at_the_last(changes, 4);
	has("own", "of vqp");
	has("other", NULL);
	has("shared", "theirs");
	has("shared.before-vqp", NULL);
}

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* Refuses what was made, after somebody has tried to end the program, and has done with a file what `script` says. */
static int refuse(const void *script, struct vqp_error *error)
{
	has("shared", "both");
	kill(getpid(), SIGTERM);
	assert_false(ended);
	assert_int_equal(system(script), 0);
	return vqp_error_set(error, -EPROTO, "refused");
}

static void is_refused(struct ctl_change *change, const char *script, const char *text)
{
	struct vqp_error error = { 0 };

	ended = 0;
	signal(SIGTERM, end);
	assert_int_equal(ctl_changes_make(change, 1, refuse, script, &error), -EPROTO);
	assert_true(ended);
	signal(SIGTERM, SIG_DFL);
	assert_string_equal(vqp_error_text(&error), text);
	assert_int_equal(error.code, -EPROTO);
	vqp_error_clear(&error);
	ctl_change_free(change);
}

static void what_was_made_is_taken_back(void **state)
{
	struct ctl_change change;
	struct stat file;

	(void)state;
	plan(&change, "shared", true, "both");
	is_refused(&change, ":", "what was written is taken back: refused");
	has("shared", "theirs");
	has("shared.before-vqp", NULL);
	assert_int_equal(stat("shared", &file), 0);
	assert_int_equal(file.st_mode & 07777, 0640);
}

static void what_cannot_be_taken_back_is_told(void **state)
{
	struct ctl_change change;

	(void)state;
	plan(&change, "shared", true, "both");
	is_refused(&change, "rm shared && mkdir shared",
		   "what was written is taken back: refused; and shared cannot be restored: Invalid argument");
	assert_int_equal(system("rmdir shared && mv shared.before-vqp shared"), 0);
}

static void what_somebody_else_has_written_meanwhile_stays(void **state)
{
	struct ctl_change change, changes[2];
	struct vqp_error error = { 0 };

	(void)state;
	plan(&change, "shared", true, "both");
	is_refused(&change, "printf newer >shared",
		   "what was written is taken back: refused; and shared cannot be restored: it has changed meanwhile");
	has("shared", "newer");
	has("shared.before-vqp", "theirs");
	unlink("shared.before-vqp");

	plan(&changes[0], "own", false, "newer");
	plan(&changes[1], "shared", true, "both");
	assert_int_equal(system("printf newest >shared"), 0);
	assert_int_equal(ctl_changes_make(changes, 2, NULL, NULL, &error), -EAGAIN);
	assert_string_equal(vqp_error_text(&error), "shared has changed meanwhile: try again");
	vqp_error_clear(&error);
	has("own", "of vqp");
	has("shared", "newest");
	has("shared.before-vqp", NULL);
	ctl_change_free(&changes[0]);
	ctl_change_free(&changes[1]);
	unlink("own");
	unlink("shared");
}

/* Also where a removal is taken back. */
static void owner_and_mode_are_restored(void **state)
{
	struct ctl_change changes[2] = { 0 };
	struct stat found;

	(void)state;
	assert_int_equal(ctl_file_replace("own", &new_file, "of vqp"), 0);
	assert_int_equal(chmod("own", 0600), 0);
	assert_int_equal(chown("own", 0, 6), 0);
	plan(&changes[0], "own", false, NULL);
	fails_at_the_last(changes, 2);
	has("own", "of vqp");
	assert_int_equal(stat("own", &found), 0);
	assert_int_equal(found.st_mode & 07777, 0600);
	assert_int_equal(found.st_gid, 6);
	unlink("own");
}

static void a_text_of_vqp_s_is_no_backup(void **state)
{
	struct ctl_change change;

	(void)state;
	plan(&change, "mine", true, "of vqp");
	make(&change, 1);
	plan(&change, "mine", true, "of vqp, too");
	change.has_part = true;
	assert_false(ctl_change_leaves_backup(&change));
	make(&change, 1);
	has("mine.before-vqp", NULL);

	/* one that was taken for a backup nevertheless */
	assert_int_equal(ctl_file_replace("mine.before-vqp", &new_file, "of vqp"), 0);
	plan(&change, "mine", true, NULL);
	change.has_part = change.stale = change.removes = true;
	make(&change, 1);
	has("mine", NULL);
	has("mine.before-vqp", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(if_one_file_fails_all_are_as_they_were),
		cmocka_unit_test(what_was_made_is_taken_back),
		cmocka_unit_test(what_cannot_be_taken_back_is_told),
		cmocka_unit_test(what_somebody_else_has_written_meanwhile_stays),
		cmocka_unit_test(owner_and_mode_are_restored),
		cmocka_unit_test(a_text_of_vqp_s_is_no_backup),
	};

	return cmocka_run_group_tests(tests, work_in_a_directory, leave_it);
}
