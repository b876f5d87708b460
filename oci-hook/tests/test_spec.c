// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which hooks a container gets; what else is kept and added, tests/fuzz/spec.c and containers.bats have. */
#include "unit.h"

#include <errno.h>
#include <json-c/json.h>

#include "../spec.h"

static const struct vqp_grant grant = {
	.hook = "/bin/vqp-hook", .network_hook = "/bin/vqp-network", .stage = "createRuntime",
};

/* Paths of the hooks of a stage, with the stage that each is given. */
static void hooks_are(json_object *spec, const char *stage, const char *const *expected)
{
	json_object *hooks = NULL, *list = NULL;
	size_t i;

	assert_true(json_object_object_get_ex(spec, "hooks", &hooks));
	assert_true(json_object_object_get_ex(hooks, stage, &list));
	for (i = 0; i < json_object_array_length(list); i++) {
		json_object *hook = json_object_array_get_idx(list, i), *path = NULL, *args = NULL;

		assert_non_null(expected[i]);
		assert_true(json_object_object_get_ex(hook, "path", &path));
		assert_true(json_object_object_get_ex(hook, "args", &args));
		assert_string_equal(json_object_get_string(path), expected[i]);
		assert_string_equal(json_object_get_string(json_object_array_get_idx(args, 0)),
				    strrchr(expected[i], '/') + 1);
		assert_string_equal(json_object_get_string(json_object_array_get_idx(args, 1)), stage);
	}
	assert_null(expected[i]);
}

static json_object *edit(const char *text, const char *network)
{
	struct vqp_grant given = grant;
	json_object *spec = NULL;
	struct vqp_error error = { 0 };

	given.network = network;
	if (vqp_spec_edit(text, strlen(text), &given, &spec, &error))
		fail_msg("%s", vqp_error_text(&error));
	return spec;
}

static void has_both_hooks(json_object *spec, const char *network)
{
	json_object *annotations = NULL, *value = NULL;

	hooks_are(spec, "createRuntime", (const char *const[]){ "/bin/vqp-network", "/bin/vqp-hook", NULL });
	hooks_are(spec, "poststop", (const char *const[]){ "/bin/vqp-hook", "/bin/vqp-network", NULL });
	assert_true(json_object_object_get_ex(spec, "annotations", &annotations));
	assert_true(json_object_object_get_ex(annotations, "io.vqp.network", &value));
	assert_string_equal(json_object_get_string(value), network);
}

static void has_one_hook(json_object *spec)
{
	hooks_are(spec, "createRuntime", (const char *const[]){ "/bin/vqp-hook", NULL });
	hooks_are(spec, "poststop", (const char *const[]){ "/bin/vqp-hook", NULL });
	json_object_put(spec);
}

static void others_have_no_hook_for_networks(void **state)
{
	(void)state;
	has_one_hook(edit("{}", NULL));
	has_one_hook(edit("{\"annotations\": null}", NULL));
	has_one_hook(edit("{\"annotations\": {\"io.vqp.tenant\": \"2\", \"io.vqp.networks\": \"blue\"}}", NULL));
}

static void an_annotation_brings_it_once(void **state)
{
	json_object *spec = edit("{\"annotations\": {\"io.vqp.network\": \"blue\"}}", NULL), *again;

	(void)state;
	has_both_hooks(spec, "blue");
	again = edit(json_object_to_json_string(spec), NULL);
	assert_true(json_object_equal(spec, again));
	json_object_put(again);
	json_object_put(spec);
}

static void a_network_is_given_to_those_that_ask_for_none(void **state)
{
	json_object *spec = edit("{}", "green");

	(void)state;
	has_both_hooks(spec, "green");
	json_object_put(spec);
	spec = edit("{\"annotations\": {\"io.vqp.network\": \"blue\"}}", "green");
	has_both_hooks(spec, "blue");
	json_object_put(spec);
}

#define NETWORK		"{\"linux\": {\"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"network\"}]}"
#define SETKEY		"{\"prestart\": [{\"path\": \"/proc/1/exe\", \"args\": [\"libnetwork-setkey\", \"a\"]}]}"

static void a_network_that_others_do_not_make_is_late(void **state)
{
	static const struct {
		const char *text;
		bool late;
	} cases[] = {
		{ NETWORK "}", true },
		{ "{\"linux\": {\"namespaces\": [{\"type\": \"network\", \"path\": \"\"}]}}", true },
		{ NETWORK ", \"hooks\": {\"prestart\": [{\"path\": \"/gpu\", \"args\": [\"gpu\"]}, 5, {\"args\": 5}]}}", true },
		{ NETWORK ", \"hooks\": " SETKEY "}", false },
		{ NETWORK ", \"annotations\": {\"io.vqp.network\": \"blue\"}}", false },
		{ "{\"linux\": {\"namespaces\": [{\"type\": \"network\", \"path\": \"/run/netns/a\"}]}}", false },
		{ "{\"linux\": {\"namespaces\": [{\"type\": \"pid\"}]}}", false },
		{ "{\"linux\": {\"namespaces\": {}}}", false },
		{ "{}", false },
	};
	struct vqp_grant given = grant;
	json_object *spec, *hook, *args;
	struct vqp_error error = { 0 };
	bool late;

	(void)state;
	given.late = &late;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		late = !cases[i].late;
		assert_int_equal(vqp_spec_edit(cases[i].text, strlen(cases[i].text), &given, &spec, &error), 0);
		assert_int_equal(late, cases[i].late);
		assert_int_equal(json_pointer_get(spec, "/hooks/createRuntime", &hook), 0);
		hook = json_object_array_get_idx(hook, json_object_array_length(hook) - 1);
		json_object_object_get_ex(hook, "args", &args);
		assert_int_equal(json_object_array_length(args), 2 + late);
		json_object_put(spec);
	}
	has_one_hook(edit(NETWORK "}", NULL));	/* as for run */
}

static void annotations_that_are_none_take_no_network(void **state)
{
	struct vqp_grant given = grant;
	json_object *spec;
	struct vqp_error error = { 0 };

	(void)state;
	given.network = "green";
	assert_int_equal(vqp_spec_edit("{\"annotations\": []}", 19, &given, &spec, &error), -EINVAL);
	unit_assert_error(&error, "\"annotations\" must be an object");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_have_no_hook_for_networks),
		cmocka_unit_test(an_annotation_brings_it_once),
		cmocka_unit_test(a_network_is_given_to_those_that_ask_for_none),
		cmocka_unit_test(a_network_that_others_do_not_make_is_late),
		cmocka_unit_test(annotations_that_are_none_take_no_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
