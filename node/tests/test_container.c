/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <errno.h>

#include "../ctl/container.h"

/* Parses an answer. Returns what ctl_container_parse() returns. */
static int parse(struct ctl_container *container, const char *text)
{
	struct vqp_error error = { 0 };
	int ret = ctl_container_parse(container, text, &error);

	assert_int_equal(error.code, ret);
	vqp_error_clear(&error);
	return ret;
}

static void each_program_s_answer_is_understood(void **state)
{
	static const char *const answers[] = {
		/* runc and crun */
		"{\"id\": \"c1\", \"pid\": 42, \"status\": \"running\", \"annotations\": {\"io.vqp.tenant\": \"7\"}}",
		/* Docker */
		"[{\"Id\": \"c1\", \"State\": {\"Pid\": 42}, \"HostConfig\": {\"Annotations\": {\"io.vqp.tenant\": \"7\"}}, \"Config\": {}}]",
		/* podman */
		"[{\"Id\": \"c1\", \"State\": {\"Pid\": 42}, \"HostConfig\": {\"Annotations\": null},"
		" \"Config\": {\"Annotations\": {\"io.vqp.tenant\": \"7\"}}}]",
		/* crictl */
		"{\"status\": {}, \"info\": {\"pid\": 42, \"runtimeSpec\": {\"annotations\": {\"io.vqp.tenant\": \"7\"}}}}",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct ctl_container container;

		assert_int_equal(parse(&container, answers[i]), 0);
		assert_int_equal(container.pid, 42);
		unit_assert_string(container.annotations, "io.vqp.tenant", "7");
		ctl_container_clear(&container);
	}
}

static void a_container_may_have_no_annotations(void **state)
{
	struct ctl_container container;

	(void)state;
	assert_int_equal(parse(&container, "[{\"State\": {\"Pid\": 42}, \"HostConfig\": {\"Annotations\": null}}]"), 0);
	assert_int_equal(container.pid, 42);
	assert_null(container.annotations);
	ctl_container_clear(&container);
}

static void one_that_has_ended_is_told(void **state)
{
	struct ctl_container container;

	(void)state;
	assert_int_equal(parse(&container, "{\"pid\": 0, \"status\": \"stopped\"}"), -ESRCH);
	ctl_container_clear(&container);
	assert_int_equal(parse(&container, "[{\"State\": {\"Pid\": 0}}]"), -ESRCH);
	ctl_container_clear(&container);
}

static void what_is_no_container_is_told(void **state)
{
	static const char *const answers[] = {
		"", "[]", "{}", "5", "[[]]", "{\"pid\": \"1\"}", "{\"pid\": -1}", "{\"pid\": 2147483648}", "{\"State\": 5}", "{\"info\": []}",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct ctl_container container;

		assert_int_equal(parse(&container, answers[i]), -EINVAL);
		ctl_container_clear(&container);
	}
}

static void options_are_no_names(void **state)
{
	struct ctl_container container;
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(ctl_container_find(&container, "--help", &error), -EINVAL);
	ctl_container_clear(&container);
	vqp_error_clear(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_program_s_answer_is_understood),
		cmocka_unit_test(a_container_may_have_no_annotations),
		cmocka_unit_test(one_that_has_ended_is_told),
		cmocka_unit_test(what_is_no_container_is_told),
		cmocka_unit_test(options_are_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
