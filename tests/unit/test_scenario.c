// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Scenarios of the simulator: what is in a file, and that a run follows from it and the seed. */
#define _GNU_SOURCE
#include <glob.h>
#include "unit.h"
#include "sim/run.h"

/* The smallest scenario; what tests add is in its network and its group, and behind them. */
#define SCENARIO(network, group, more)						\
	"{ \"about\": \"A test.\", \"duration_us\": 2000, "			\
	"\"network\": { \"hosts\": 17" network " }, "				\
	"\"groups\": [{ \"name\": \"g\", \"kind\": \"write\", \"flows\": 16, "	\
	"\"bytes\": 65536, \"from\": [1, 16], \"to\": [0, 0]" group " }]" more " }"

static void read_it(const char *text, struct scenario *scenario)
{
	char *error = NULL;

	if (!scenario_parse(scenario, "test", text, &error))
		fail_msg("%s", error);
}

static void what_a_file_says_is_what_is_run(void **state)
{
	struct scenario scenario;

	(void)state;
	read_it(SCENARIO(", \"mbps\": 25000, \"mark_from\": 65, \"leaves\": 2, \"grey_loss\": 0.25",
			 ", \"depth\": 3, \"pause_us\": 7, \"messages\": 9",
			 ", \"seeds\": 5, \"from_us\": 100, \"host\": { \"tick_ns\": 1000000 }"),
		&scenario);
	assert_string_equal(scenario.name, "test");
	assert_int_equal(scenario.seeds, 5);
	assert_int_equal(scenario.from_ns, 100000);
	assert_int_equal(scenario.until_ns, 2000000);
	assert_int_equal(scenario.network.host_link.mbps, 25000);
	assert_int_equal(scenario.network.path_link.mbps, 25000);
	assert_int_equal(scenario.network.host_link.mark_from, 65);
	/* what is not said */
	assert_int_equal(scenario.network.host_link.limit, 512);
	assert_int_equal(scenario.network.leaves, 2);
	assert_true(scenario.network.grey_loss == 0.25);
	assert_int_equal(scenario.network.host.tick_ns, 1000000);
	assert_int_equal(scenario.ngroups, 1);
	assert_int_equal(scenario.groups[0].flow.op, VQP_OP_WRITE);
	assert_int_equal(scenario.groups[0].flow.depth, 3);
	assert_int_equal(scenario.groups[0].flow.pause_ns, 7000);
	assert_int_equal(scenario.groups[0].flow.messages, 9);
	assert_int_equal(scenario_host(&scenario.groups[0].from, 0), 1);
	assert_int_equal(scenario_host(&scenario.groups[0].from, 15), 16);
	assert_int_equal(scenario_host(&scenario.groups[0].from, 16), 1);
	scenario_end(&scenario);
}

static void what_is_wrong_with_a_file_is_said(void **state)
{
	const struct {
		const char *text, *error;
	} wrong[] = {
		{ "{", "test: line 1: " },
		{ "[]", "test: the scenario: Expected object" },
		{ "{ \"about\": \"\" }", "test: the scenario: Object item not found: duration_us" },
		{ SCENARIO("", "", ", \"speed\": 1"),
		  "test: the scenario: 1 object item(s) left unpacked: speed" },
		{ SCENARIO("", "", ", \"seeds\": 0"), "test: seeds, from_us or duration_us is too small" },
		{ SCENARIO("", "", ", \"from_us\": 2000"), "test: seeds, from_us or duration_us is too small" },
		{ SCENARIO(", \"hosts\": 3", "", ""), "test: line 1: duplicate object key" },
		{ SCENARIO(", \"rate\": 3", "", ""), "test: network: 1 object item(s) left unpacked: rate" },
		{ SCENARIO(", \"leaves\": 3", "", ""), "test: network: leaves is neither 1 nor 2" },
		{ SCENARIO(", \"mbps\": 0", "", ""), "test: network: mbps is not from 1 to 1000000" },
		{ SCENARIO(", \"mark_from\": -1", "", ""), "test: network: a number is negative" },
		{ SCENARIO(", \"grey_loss\": 1.5", "", ""), "test: network: grey_loss is not from 0 to 1" },
		{ SCENARIO("", "", ", \"host\": { \"speed\": 1 }"), "test: host: no such thing as speed" },
		{ SCENARIO("", "", ", \"host\": { \"tick_ns\": -1 }"),
		  "test: host: tick_ns is no number of nanoseconds" },
		{ SCENARIO("", ", \"depth\": 0", ""), "test: group g: depth is not from 1 to 256" },
		{ SCENARIO("", ", \"size\": 0", ""), "test: a group: 1 object item(s) left unpacked: size" },
		{ "{ \"about\": \"\", \"duration_us\": 1, \"network\": { \"hosts\": 2 }, \"groups\": [] }",
		  "test: groups is no array of 1 to 8" },
		{ "{ \"about\": \"\", \"duration_us\": 1, \"network\": { \"hosts\": 2 }, \"groups\": "
		  "[{ \"name\": \"g\", \"kind\": \"vegas\", \"from\": [0, 0], \"to\": [1, 1] }] }",
		  "test: group g: vegas is no kind of flow" },
		{ "{ \"about\": \"\", \"duration_us\": 1, \"network\": { \"hosts\": 2 }, \"groups\": "
		  "[{ \"name\": \"g\", \"kind\": \"reno\", \"from\": [0, 0], \"to\": [1, 2] }] }",
		  "test: group g: no hosts from 1 to 2" },
		{ "{ \"about\": \"\", \"duration_us\": 1, \"network\": { \"hosts\": 2 }, \"groups\": "
		  "[{ \"name\": \"g\", \"kind\": \"reno\", \"flows\": 2, \"from\": [0, 1], \"to\": [1, 1] }] }",
		  "test: group g: flow 1 leads from host 1 to itself" },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct scenario scenario;
		char *error = NULL;

		assert_false(scenario_parse(&scenario, "test", wrong[i].text, &error));
		if (strncmp(error, wrong[i].error, strlen(wrong[i].error)) != 0)
			fail_msg("\"%s\" and not \"%s\"", error, wrong[i].error);
		free(error);
		scenario_end(&scenario);
	}
}

static void a_file_that_is_not_there(void **state)
{
	struct scenario scenario;
	char *error = NULL;

	(void)state;
	assert_false(scenario_read(&scenario, "/nowhere/at all.json", &error));
	assert_non_null(strstr(error, "at all: "));
	free(error);
	scenario_end(&scenario);
}

/* The scenarios that `make sim` runs, beside this file. */
static void all_scenarios_can_be_read(void **state)
{
	const char *slash = strrchr(__FILE__, '/');
	char *pattern = NULL, *error = NULL;
	glob_t files;

	(void)state;
	assert_true(asprintf(&pattern, "%.*ssim/scenarios/*.json", slash ? (int)(slash + 1 - __FILE__) : 0,
			     __FILE__) > 0);
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 10);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct scenario scenario;

		if (!scenario_read(&scenario, files.gl_pathv[i], &error))
			fail_msg("%s", error);
		assert_null(strchr(scenario.name, '.'));
		scenario_end(&scenario);
	}
	globfree(&files);
	free(pattern);
}

/* What a run with the seed shows, as JSON. */
static char *show(const struct scenario *scenario, u64 seed)
{
	struct run_result result = { 0 };
	json_t *json;
	char *text;

	run_scenario(scenario, seed, &result, NULL, NULL);
	json = run_report(scenario, &result);
	text = json_dumps(json, 0);
	assert_non_null(text);
	json_decref(json);
	run_end(&result);
	return text;
}

static void a_run_follows_from_its_seed(void **state)
{
	struct scenario scenario;
	char *first, *again, *other;

	(void)state;
	read_it(SCENARIO(", \"queue_packets\": 64", "", ""), &scenario);
	first = show(&scenario, 1);
	again = show(&scenario, 1);
	other = show(&scenario, 2);
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	free(first);
	free(again);
	free(other);
	scenario_end(&scenario);
}

static double number(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

/* Sixteen hosts write to one: the link is full, and what each got is what all got, shared. */
static void a_report_says_what_came_through(void **state)
{
	struct run_result result = { 0 };
	struct scenario scenario;
	json_t *json, *group, *packets;

	(void)state;
	read_it(SCENARIO(", \"mark_from\": 65", "", ", \"from_us\": 100, \"seeds\": 2"), &scenario);
	run_scenario(&scenario, 1, &result, NULL, NULL);
	run_scenario(&scenario, 2, &result, NULL, NULL);
	json = run_report(&scenario, &result);
	group = json_array_get(json_object_get(json, "groups"), 0);
	packets = json_object_get(json, "vqp");
	assert_true(number(group, "line_share") > 0.9 && number(group, "line_share") < 1.01);
	assert_true(number(group, "fairness") >= 0 && number(group, "fairness") <= 1);
	/* 16 * 64 KiB at 100 Gbit/s */
	assert_in_range(number(group, "ideal_us") * 100, 8388, 8389);
	assert_true(number(group, "p50_us") > 5 && number(group, "p50_us") <= number(group, "p99_us"));
	assert_true(number(group, "p99_us") <= number(group, "max_us"));
	assert_true(number(group, "completed") > 2 * 16);
	assert_int_equal(number(group, "failed"), 0);
	assert_true(number(packets, "marked_share") > 0.1 && number(packets, "marked_share") < 1);
	assert_int_equal(number(json, "seeds"), 2);
	assert_null(json_object_get(json, "tcp_share"));
	json_decref(json);
	run_end(&result);
	scenario_end(&scenario);
}

/* Sixteen messages of 4 MiB take some 5 ms, of which 2 are measured. */
static void what_is_under_way_at_the_end_still_finishes(void **state)
{
	struct run_result result = { 0 };
	struct scenario scenario;

	(void)state;
	read_it(SCENARIO("", "", ""), &scenario);
	scenario.groups[0].flow.bytes = 4 << 20;
	run_scenario(&scenario, 1, &result, NULL, NULL);
	assert_int_equal(result.groups[0].completed, 16);
	assert_true(result.groups[0].bytes < 16 * (4 << 20) / 2);
	assert_true(samples_percentile(&result.groups[0].took, 100) > 5000000);
	run_end(&result);
	scenario_end(&scenario);
}

static void tcp_has_its_share(void **state)
{
	struct run_result result = { 0 };
	struct scenario scenario;
	json_t *json;

	(void)state;
	read_it("{ \"about\": \"\", \"duration_us\": 100000, "
		"\"network\": { \"hosts\": 3, \"mbps\": 10000 }, \"groups\": ["
		"{ \"name\": \"vqp\", \"kind\": \"write\", \"bytes\": 1048576, \"depth\": 2, "
		"\"from\": [1, 1], \"to\": [0, 0] }, "
		"{ \"name\": \"tcp\", \"kind\": \"cubic\", \"from\": [2, 2], \"to\": [0, 0] }] }", &scenario);
	run_scenario(&scenario, 1, &result, NULL, NULL);
	json = run_report(&scenario, &result);
	print_message("TCP has %.3f\n", number(json, "tcp_share"));
	assert_true(number(json, "tcp_share") > 0.05 && number(json, "tcp_share") < 0.99);
	assert_true(number(json_object_get(json, "tcp"), "packets") > 1000);
	json_decref(json);
	run_end(&result);
	scenario_end(&scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_says_is_what_is_run),
		cmocka_unit_test(what_is_wrong_with_a_file_is_said),
		cmocka_unit_test(a_file_that_is_not_there),
		cmocka_unit_test(all_scenarios_can_be_read),
		cmocka_unit_test(a_run_follows_from_its_seed),
		cmocka_unit_test(a_report_says_what_came_through),
		cmocka_unit_test(what_is_under_way_at_the_end_still_finishes),
		cmocka_unit_test(tcp_has_its_share),
	};

	return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
