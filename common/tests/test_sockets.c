// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>
#include <linux/vqp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../cleanup.h"
#include "../sockets.h"

#define LISTS	"{\"only\": [\"80\", \"8000-8999\", \"10.7.0.0/16\"], \"except\": [\"8080\", \"fd00::/64\"]}"

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(json);
	return json;
}

static void reads(const char *said, const char *expected)
{
	json_auto_t *json = load(said), *normal = load(expected), *read;
	cleanup_error struct vqp_error error = { 0 };

	read = vqp_sockets_read(json, &error);
	assert_null(error.text);
	assert_true(json_equal(read, normal));
}

static void all_none_or_lists_are_read(void **state)
{
	(void)state;
	reads("true", "true");
	reads("false", "false");
	reads(LISTS, LISTS);
	reads("{\"except\": [\"65535\"]}", "{\"except\": [\"65535\"]}");
}

static void equal_ones_are_made_the_same(void **state)
{
	(void)state;
	reads("{\"only\": [\"080\", \"22-22\", \"1-2\", \"FD00:0::/64\", \"10.1.0.2/32\"]}",
	      "{\"only\": [\"1-2\", \"22\", \"80\", \"10.1.0.2\", \"fd00::/64\"]}");
	reads("{\"only\": [\"443\", \"80\", \"80\"], \"except\": [\"fd00::/64\", \"22\"]}",
	      "{\"only\": [\"80\", \"443\"], \"except\": [\"22\", \"fd00::/64\"]}");
	reads("{\"only\": [\"90-99\", \"80-89\", \"85-95\", \"101\", \"65535\", \"1-65534\"]}", "{\"only\": [\"1-65535\"]}");
	reads("{\"only\": [\"81\", \"80\", \"83\"]}", "{\"only\": [\"80-81\", \"83\"]}");
	reads("{\"only\": [\"10.1.192.0/18\", \"10.1.0.0/17\", \"10.1.7.0/24\", \"10.1.128.0/18\"]}", "{\"only\": [\"10.1.0.0/16\"]}");
	reads("{\"except\": [\"fd00::/64\", \"any\", \"0.0.0.0/0\", \"22\"]}", "{\"except\": [\"22\", \"any\"]}");
}

static void refuses(const char *said, const char *reason)
{
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *json = load(said);

	assert_null(vqp_sockets_read(json, &error));
	assert_int_equal(error.code, -EINVAL);
	if (!strstr(vqp_error_text(&error), reason))
		assert_string_equal(vqp_error_text(&error), reason);
}

static void others_are_refused(void **state)
{
	static const char *const bad[] = {
		"80", "\"0\"", "\"65536\"", "\"80-\"", "\"-80\"", "\"90-80\"", "\"80-65536\"", "\"1-2-3\"", "\"\"", "\"http\"",
		"\"10.1.0.1/16\"", "\"10.1.0.0/16:80\"", "\"99999999999999999999\"", "null", "[]",
	};
	char text[64];

	(void)state;
	refuses("1", "\"sockets\" must be true, false, or an object of \"only\" and \"except\"");
	refuses("\"on\"", "must be true, false, or");
	refuses("null", "must be true, false, or");
	refuses("[\"80\"]", "must be true, false, or");
	refuses("{}", "must be true, false, or");
	refuses("{\"only\": [\"80\"], \"not\": [\"81\"]}", "must be true, false, or");
	refuses("{\"only\": []}", "\"only\" of \"sockets\" must be a list that is not empty");
	refuses("{\"only\": [\"80\"], \"except\": \"81\"}", "\"except\" of \"sockets\" must be a list");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "{\"except\": [%s]}", bad[i]);
		refuses(text, "\"except\" of \"sockets\" has strings, as \"80\"");
	}
	refuses("{\"only\": [\"http\"]}", "or \"fd00::/64\", not \"http\"");
	refuses("{\"only\": [\"80\", \"::/0\"]}", "\"only\" of \"sockets\": \"::/0\" has all of IPv4 in it, too: \"any\"");
}

/* With so many ports in each list, is it taken? */
static bool takes(int only, int except)
{
	json_auto_t *said = json_pack("{s:[], s:[]}", "only", "except"), *read;
	cleanup_error struct vqp_error error = { 0 };

	for (int port = 1; port <= only + except; port++)
		json_array_append_new(json_object_get(said, port <= only ? "only" : "except"), json_sprintf("%d", port));
	read = vqp_sockets_read(said, &error);
	assert_true(read || strstr(vqp_error_text(&error), "at most 64 can be"));
	return read;
}

static void both_lists_have_a_bound(void **state)
{
	(void)state;
	assert_int_equal(VQP_SOCKETS_RULES_MAX, 64);
	assert_true(takes(1, 63));
	assert_true(takes(63, 1));
	assert_false(takes(1, 64));
	assert_false(takes(64, 1));
}

static void parses(const char *text, const char *expected, const char *again)
{
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *json = load(expected), *sockets = vqp_sockets_parse(text, &error);
	cleanup_free char *formatted = vqp_sockets_format(sockets);

	assert_true(json_equal(sockets, json));
	assert_string_equal(formatted, again);
}

static void a_text_says_the_same(void **state)
{
	(void)state;
	parses("on", "true", "on");
	parses("off", "false", "off");
	parses("only:80,8000-8999,10.7.0.0/16,except:8080,fd00::/64", LISTS, "only:80,8000-8999,10.7.0.0/16,except:8080,fd00::/64");
	parses("except:8080,fd00:0::/64,only:080,8000-8999,only:10.7.0.0/16", LISTS,
	       "only:80,8000-8999,10.7.0.0/16,except:8080,fd00::/64");
}

static void other_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "ON", "yes", "true", "80", "80,only:81", "only", "only:", "only:80,", "only:80,,81", "only:80;81", "only:80 ,81",
		"not:80", "only:80,not:81", "only:except:80", "only:\xff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cleanup_error struct vqp_error error = { 0 };

		assert_null(vqp_sockets_parse(bad[i], &error));
		assert_int_equal(error.code, -EINVAL);
	}
}

/* `asked` of `granted` gives `result`; NULL: it would be more. */
static void lowers(const char *granted, const char *asked, const char *result)
{
	json_auto_t *sockets = load(granted), *wish = load(asked), *expected = load(result ? result : granted);

	assert_int_equal(vqp_sockets_lower(&sockets, wish), result != NULL);
	assert_true(json_equal(sockets, expected));
}

static void sockets_are_narrowed_and_never_widened(void **state)
{
	(void)state;
	lowers("true", "true", "true");
	lowers("true", LISTS, LISTS);
	lowers("true", "false", "false");
	lowers(LISTS, "true", LISTS);
	lowers(LISTS, LISTS, LISTS);
	lowers(LISTS, "false", "false");
	lowers("false", "false", "false");
	lowers("false", "true", NULL);
	lowers("false", LISTS, NULL);
}

/* Lists of "only" and "except" narrow others. */
static void narrows(const char *granted, const char *asked)
{
	lowers(granted, asked, asked);
}

static void narrows_not(const char *granted, const char *asked)
{
	lowers(granted, asked, NULL);
}

static void only_is_narrowed_within_its_ports_and_subnets(void **state)
{
	(void)state;
	narrows("{\"only\": [\"80\", \"443\"]}", "{\"only\": [\"443\"]}");
	narrows("{\"only\": [\"80\", \"443\"]}", "{\"only\": [\"443\", \"80\"]}");
	narrows("{\"only\": [\"80-89\"]}", "{\"only\": [\"80\", \"85-89\"]}");
	narrows("{\"only\": [\"80-84\", \"85-89\"]}", "{\"only\": [\"83-86\"]}");
	narrows("{\"only\": [\"10.0.0.0/8\", \"any\"]}", "{\"only\": [\"10.7.0.0/16\", \"fd00::1\"]}");
	narrows("{\"only\": [\"10.0.0.0/9\", \"10.128.0.0/9\"]}", "{\"only\": [\"10.0.0.0/8\"]}");
	narrows("{\"only\": [\"80\"]}", "{\"only\": [\"80\", \"10.7.0.0/16\"]}");
	narrows("{\"only\": [\"10.7.0.0/16\"]}", "{\"only\": [\"80\", \"10.7.0.0/16\"]}");
	narrows("{\"except\": [\"22\"]}", "{\"only\": [\"80\"], \"except\": [\"22\"]}");

	narrows_not("{\"only\": [\"80\"]}", "{\"only\": [\"81\"]}");
	narrows_not("{\"only\": [\"80-89\"]}", "{\"only\": [\"85-90\"]}");
	narrows_not("{\"only\": [\"80\", \"443\"]}", "{\"only\": [\"80-443\"]}");
	narrows_not("{\"only\": [\"10.7.0.0/16\"]}", "{\"only\": [\"10.0.0.0/8\"]}");
	narrows_not("{\"only\": [\"0.0.0.0/0\"]}", "{\"only\": [\"any\"]}");
	/* Those of the other kind are no word about these. */
	narrows_not("{\"only\": [\"80\"]}", "{\"only\": [\"10.7.0.0/16\"]}");
	narrows_not("{\"only\": [\"10.7.0.0/16\"]}", "{\"only\": [\"80\"]}");
	narrows_not("{\"only\": [\"80\", \"10.7.0.0/16\"]}", "{\"only\": [\"80\"]}");
	narrows_not("{\"only\": [\"80\"]}", "{\"except\": [\"22\"]}");
}

static void except_is_kept_or_widened(void **state)
{
	(void)state;
	narrows("{\"except\": [\"22\"]}", "{\"except\": [\"22\", \"80\"]}");
	narrows("{\"except\": [\"22\", \"10.7.0.0/16\"]}", "{\"except\": [\"any\", \"20-29\"]}");
	narrows("{\"only\": [\"80\"]}", "{\"only\": [\"80\"], \"except\": [\"fd00::/64\"]}");

	narrows_not("{\"except\": [\"22\"]}", "{\"only\": [\"80\"]}");
	narrows_not("{\"except\": [\"22\", \"80\"]}", "{\"except\": [\"22\"]}");
	narrows_not("{\"except\": [\"20-29\"]}", "{\"except\": [\"22\"]}");
	narrows_not("{\"except\": [\"10.0.0.0/8\"]}", "{\"except\": [\"10.7.0.0/16\"]}");
	narrows_not("{\"except\": [\"22\"]}", "{\"except\": [\"any\"]}");
}

/* ---- At random, against what rules mean ---- */

static const char *const peers[] = { "10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "::fffe:a00:3", "fd00::1" };
static const char *const some[] = {
	"1", "2", "3", "4", "1-2", "2-3", "3-5", "1-65535", "10.0.0.0", "10.0.0.1", "10.0.0.0/31", "10.0.0.2/31", "10.0.0.0/30", "0.0.0.0/0",
	"any", "fd00::/8", "fd00::1", "::fffe:0:0/96",
};

/* As the kernel asks it: may a connection with the peer go by vqp, at whose one end a listener has that port? */
static bool let(const json_t *sockets, const char *peer, uint16_t port)
{
	bool there[2] = { false }, met[2] = { false };
	const char *name;
	json_t *list, *said;
	uint8_t gid[16];
	size_t i;

	assert_int_equal(vqp_address_parse(peer, gid), 0);
	json_object_foreach((json_t *)sockets, name, list) {
		json_array_foreach(list, i, said) {
			struct vqp_sockets_rule rule;
			bool matches;

			assert_int_equal(vqp_sockets_rule_parse(&rule, json_string_value(said)), 0);
			matches = rule.port ? rule.port <= port && port <= rule.last : vqp_subnet_has(&rule.peers, gid);
			if (!strcmp(name, "except") && matches)
				return false;
			if (!strcmp(name, "except"))
				continue;
			there[!rule.port] = true;
			met[!rule.port] |= matches;
		}
	}
	return there[0] == met[0] && there[1] == met[1];
}

/* Do the sockets let all that the others let, of the peers and ports at hand? */
static bool let_all(const json_t *sockets, const json_t *others)
{
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++)
		for (uint16_t port = 1; port < 8; port++)
			if (let(others, peers[i], port) && !let(sockets, peers[i], port))
				return false;
	return true;
}

static json_t *make_lists(uint32_t *random)
{
	json_t *lists = json_object();

	for (uint32_t i = 0, many = 1 + *random % 5; i < many; i++) {
		const char *name;

		*random = *random * 1664525 + 1013904223;
		name = *random >> 16 & 1 ? "only" : "except";
		if (!json_object_get(lists, name))
			json_object_set_new(lists, name, json_array());
		json_array_append_new(json_object_get(lists, name), json_string(some[(*random >> 17) % (sizeof(some) / sizeof(*some))]));
	}
	return lists;
}

static void what_is_read_and_narrowed_means_the_same(void **state)
{
	cleanup_error struct vqp_error error = { 0 };
	uint32_t random = 1, narrowed = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		json_auto_t *said = make_lists(&random), *others = make_lists(&random);
		json_auto_t *read = vqp_sockets_read(said, &error), *others_read = vqp_sockets_read(others, &error), *again;

		assert_true(let_all(read, said) && let_all(said, read));
		again = vqp_sockets_read(read, &error);
		assert_true(json_equal(read, again));
		assert_true(vqp_sockets_include(read, said));
		if (!vqp_sockets_include(read, others_read))
			continue;
		narrowed++;
		assert_true(let_all(read, others));
	}
	assert_true(narrowed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_none_or_lists_are_read),
		cmocka_unit_test(equal_ones_are_made_the_same),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(both_lists_have_a_bound),
		cmocka_unit_test(a_text_says_the_same),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(sockets_are_narrowed_and_never_widened),
		cmocka_unit_test(only_is_narrowed_within_its_ports_and_subnets),
		cmocka_unit_test(except_is_kept_or_widened),
		cmocka_unit_test(what_is_read_and_narrowed_means_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
