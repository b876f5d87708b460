// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include "../args.h"

/* Arguments as engines give them, and a NULL behind. */
#define parse(...)	parse_all((char *[]){ "vqp-runtime", __VA_ARGS__, NULL })

static struct vqp_args parse_all(char **argv)
{
	struct vqp_args args;

	vqp_args_parse(&args, argv);
	return args;
}

static void containerd_s_arguments(void **state)
{
	struct vqp_args args = parse("--root", "/run/r", "--log", "/l/log.json", "--log-format", "json",
				     "--systemd-cgroup", "create", "--bundle", "/b", "--pid-file", "/b/pid", "c1");

	(void)state;
	assert_string_equal(args.command, "create");
	assert_string_equal(args.bundle, "/b");
	assert_string_equal(args.log, "/l/log.json");
	assert_string_equal(args.log_format, "json");
	assert_null(args.config);
}

static void conmon_s_arguments(void **state)
{
	struct vqp_args args = parse("--cgroup-manager", "cgroupfs", "--log-format=json", "--log=/l", "create",
				     "--bundle", "/b", "--pid-file", "/p", "--no-pivot", "c1");

	(void)state;
	assert_string_equal(args.command, "create");
	assert_string_equal(args.bundle, "/b");
	assert_string_equal(args.log, "/l");
}

static void the_container_is_known(void **state)
{
	(void)state;
	assert_string_equal(parse("--root", "/r", "create", "--bundle", "/b", "c1").id, "c1");
	assert_string_equal(parse("create", "c1", "-b", "/b").id, "c1");
	assert_string_equal(parse("create", "-b", "/b", "--", "c1").id, "c1");
	assert_string_equal(parse("start", "c1").id, "c1");
	assert_string_equal(parse("delete", "--force", "c1").id, "c1");
	assert_null(parse("start").id);
	assert_null(parse("start", "--").id);
	assert_null(parse("kill", "c1", "9").id);
	assert_int_equal(parse("start", "c1").globals, 1);
	assert_int_equal(parse("--root", "/r", "--log=/l", "start", "c1").globals, 4);
}

static void the_bundle_is_the_working_directory_if_not_given(void **state)
{
	(void)state;
	assert_string_equal(parse("run", "c1").bundle, ".");
	assert_string_equal(parse("run", "--detach", "c1").bundle, ".");
}

static void crun_s_configuration_may_be_another_file(void **state)
{
	(void)state;
	assert_string_equal(parse("create", "--config", "/c/other.json", "c1").config, "/c/other.json");
	assert_string_equal(parse("run", "-f", "other.json", "-b", "/b", "c1").config, "other.json");
	assert_string_equal(parse("run", "--config=x/y", "c1").config, "x/y");
}

static void options_may_stand_behind_the_container(void **state)
{
	(void)state;
	assert_string_equal(parse("create", "c1", "--bundle", "/b").bundle, "/b");
	assert_string_equal(parse("run", "--detach", "c1", "-b=/b").bundle, "/b");
	assert_string_equal(parse("run", "c1", "--pid-file", "/p", "--config", "/c").config, "/c");
	assert_string_equal(parse("create", "--bundle", "/b", "--", "--bundle", "/c").bundle, "/b");
}

static void a_bundle_is_given_in_many_ways(void **state)
{
	(void)state;
	assert_string_equal(parse("run", "-b", "/b", "c1").bundle, "/b");
	assert_string_equal(parse("run", "-b/b", "c1").bundle, "/b");
	assert_string_equal(parse("run", "-db/b", "c1").bundle, "/b");
	assert_string_equal(parse("run", "-db", "/b", "c1").bundle, "/b");
	assert_string_equal(parse("run", "-bundle", "/b", "c1").bundle, "/b");
	assert_string_equal(parse("run", "-bundle=/b", "c1").bundle, "/b");
	assert_string_equal(parse("run", "-f/c", "c1").config, "/c");
}

static void values_of_other_options_are_no_options(void **state)
{
	(void)state;
	assert_string_equal(parse("create", "--pidfd-socket", "-b/s", "--console-socket", "--bundle", "c1").bundle, ".");
	assert_string_equal(parse("run", "-detach", "--no-subreaper", "-no-subreaper", "--bu", "c1").bundle, ".");
	assert_null(parse("restore", "-file-locks", "--lsm-profile", "-f", "c1").config);
}

static void restore_makes_a_container(void **state)
{
	struct vqp_args args = parse("restore", "--image-path", "-b/i", "--work-path=/w", "--empty-ns", "-b", "c1",
				     "--bundle", "/b");

	(void)state;
	assert_true(args.creation);
	assert_string_equal(args.bundle, "/b");
}

static void other_commands_have_no_bundle(void **state)
{
	struct vqp_args args = parse("exec", "--bundle", "/b", "c1", "create");

	(void)state;
	assert_string_equal(args.command, "exec");
	assert_false(args.creation);
	assert_string_equal(args.bundle, ".");
}

static void no_command_is_none(void **state)
{
	(void)state;
	assert_null(parse("--version").command);
	assert_null(parse("--log").command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containerd_s_arguments),
		cmocka_unit_test(conmon_s_arguments),
		cmocka_unit_test(the_container_is_known),
		cmocka_unit_test(the_bundle_is_the_working_directory_if_not_given),
		cmocka_unit_test(crun_s_configuration_may_be_another_file),
		cmocka_unit_test(options_may_stand_behind_the_container),
		cmocka_unit_test(a_bundle_is_given_in_many_ways),
		cmocka_unit_test(values_of_other_options_are_no_options),
		cmocka_unit_test(restore_makes_a_container),
		cmocka_unit_test(other_commands_have_no_bundle),
		cmocka_unit_test(no_command_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
