// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The policy: what its files may say, and what it decides. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/limits.h"
#include "../../common/sockets.h"
#include "../policy.h"

/* ---- The files of the node ---- */

static const char *node = "/node";		/* their directory */
static const char *policy_text, *old_text;	/* NULL if the file is not there */

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error)
{
	const char *name = basename(path), *found = !strcmp(name, "policy.json") ? policy_text : old_text;

	assert_true(!strncmp(path, node, strlen(node)));
	assert_true(!strcmp(name, "policy.json") || !strcmp(name, "runtime.json"));
	if (!found)
		return vqp_error_set(error, -ENOENT, "it is not there");
	*text = strdup(found);
	*bytes = strlen(found);
	return *text ? 0 : vqp_error_set(error, -ENOMEM, "out of memory");
}

/* ---- Questions ---- */

#define MAX_ADDRESSES	3

/* A container, of a network and with addresses, NULL at their end. */
struct container {
	const char *network;
	const char *addresses[MAX_ADDRESSES];
};

/* What to expect of a decision: terms, or the error's code and part of its text. */
struct expected {
	uint32_t tenant;
	const char *address;
	json_int_t max_vqps;	/* 0 stands for unlimited */
	size_t rule;
	int code;
	const char *text;
};

#define NO_RULE		VQP_POLICY_NO_RULE

static struct expected grants(uint32_t tenant, const char *address, json_int_t max_vqps, size_t rule)
{
	return (struct expected){ .tenant = tenant, .address = address, .max_vqps = max_vqps, .rule = rule };
}

static struct expected refuses(int err, const char *text, size_t rule)
{
	return (struct expected){ .code = -err, .text = text, .rule = rule };
}

static struct vqp_has has_of(const struct container *container, uint8_t gids[MAX_ADDRESSES][16])
{
	size_t count = 0;

	while (count < MAX_ADDRESSES && container->addresses[count]) {
		assert_int_equal(vqp_address_parse(container->addresses[count], gids[count]), 0);
		count++;
	}
	return (struct vqp_has){ container->network, (const uint8_t (*)[16])gids, count };
}

static void assert_reason(struct vqp_error *error, const char *expected)
{
	assert_non_null(error->text);
	if (!strstr(vqp_error_text(error), expected))
		fail_msg("'%s' does not contain '%s'", vqp_error_text(error), expected);
	vqp_error_clear(error);
}

static void decides(const struct vqp_policy *policy, struct container container, struct vqp_terms wish, struct expected expected)
{
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };
	uint8_t gids[MAX_ADDRESSES][16];
	const struct vqp_has has = has_of(&container, gids);
	size_t rule = 99;

	assert_int_equal(vqp_policy_decide(policy, &has, &wish, &terms, &rule, &error), expected.code);
	assert_int_equal(rule, expected.rule);
	if (expected.code) {
		assert_reason(&error, expected.text);
		return;
	}
	assert_null(error.text);
	assert_int_equal(terms.tenant, expected.tenant);
	assert_string_equal(terms.address, expected.address);
	assert_int_equal(json_integer_value(json_object_get(terms.limits, "max_vqps")), expected.max_vqps);
	assert_true(json_is_string(json_object_get(terms.limits, "max_vqps")) == !expected.max_vqps);
}

/* The policy of a text, which the caller clears. */
static struct vqp_policy policy_of(const char *text)
{
	struct vqp_error error = { 0 };
	struct vqp_policy policy;

	if (vqp_policy_parse(&policy, text, strlen(text), &error))
		fail_msg("%s", vqp_error_text(&error));
	return policy;
}

static struct vqp_policy old_policy_of(const char *text)
{
	struct vqp_error error = { 0 };
	struct vqp_policy policy;

	if (vqp_policy_parse_old(&policy, text, strlen(text), &error))
		fail_msg("%s", vqp_error_text(&error));
	assert_true(policy.is_old);
	return policy;
}

/* ---- Decisions ---- */

#define RULES \
	"{ \"rules\": [\n" \
	"  { \"network\": \"blue\", \"tenant\": 7, \"by_annotation\": true },\n" \
	"  { \"network\": \"pods\", \"subnet\": \"10.7.0.0/16\", \"tenant\": 8, \"limits\": { \"max_vqps\": 100 },\n" \
	"    \"may_choose\": { \"tenants\": [9], \"addresses\": [\"10.9.0.0/16\", \"fd09::1\"] } },\n" \
	"  { \"subnet\": \"fd00::/64\", \"tenant\": 3 }, { \"subnet\": \"10.1.0.0/16\", \"tenant\": 2 }\n" \
	"] }\n"

static int setup(void **state)
{
	static struct vqp_policy policy;

	policy = policy_of(RULES);
	*state = &policy;
	return 0;
}

static int teardown(void **state)
{
	vqp_policy_clear(*state);
	return 0;
}

#define NOTHING	((struct vqp_terms){ 0 })

static void the_first_rule_that_matches_decides_alone(void **state)
{
	decides(*state, (struct container){ "blue", { "10.7.0.2" } }, NOTHING, grants(7, "::ffff:10.7.0.2", 0, 0));
	decides(*state, (struct container){ "pods", { "10.7.0.2" } }, NOTHING, grants(8, "::ffff:10.7.0.2", 100, 1));
	/* Of the rules, not of the addresses, the first counts. */
	decides(*state, (struct container){ NULL, { "10.1.0.2", "fd00::2" } }, NOTHING, grants(3, "fd00::2", 0, 2));
	decides(*state, (struct container){ "green", { "10.1.0.2" } }, NOTHING, grants(2, "::ffff:10.1.0.2", 0, 3));
}

static void what_no_rule_names_is_refused(void **state)
{
	struct vqp_policy none = policy_of("{\"rules\": []}");

	decides(*state, (struct container){ "green", { "10.2.0.2", "fd01::2" } }, NOTHING,
		refuses(EPERM, "no rule of /etc/vqp/policy.json is for a container of network green with addresses "
			"::ffff:10.2.0.2, fd01::2: vqpctl policy explain --network green --address ::ffff:10.2.0.2 "
			"--address fd01::2 shows", NO_RULE));
	decides(*state, (struct container){ NULL, { "10.2.0.2" } }, NOTHING,
		refuses(EPERM, "of no CNI network with address ::ffff:10.2.0.2: vqpctl policy explain "
			"--address ::ffff:10.2.0.2 shows", NO_RULE));
	decides(&none, (struct container){ "blue", { "10.1.0.2" } }, NOTHING, refuses(EPERM, "no rule", NO_RULE));
	vqp_policy_clear(&none);
}

/* Its CNI list has lost the plugin: it must not fall to a rule that is about the list. */
static void who_was_attached_by_nobody_is_of_no_network(void **state)
{
	decides(*state, (struct container){ NULL, { "10.7.0.2" } }, NOTHING, refuses(EPERM, "no rule", NO_RULE));
}

static void a_rule_with_both_needs_both(void **state)
{
	decides(*state, (struct container){ "pods", { "10.8.0.2" } }, NOTHING, refuses(EPERM, "no rule", NO_RULE));
	decides(*state, (struct container){ "pods", { "10.8.0.2", "10.7.0.3" } }, NOTHING,
		grants(8, "::ffff:10.7.0.3", 100, 1));
}

static void a_tenant_must_be_among_those_to_choose(void **state)
{
	const struct container pod = { "pods", { "10.7.0.2" } };

	decides(*state, pod, (struct vqp_terms){ .tenant = 9 }, grants(9, "::ffff:10.7.0.2", 100, 1));
	decides(*state, pod, (struct vqp_terms){ .tenant = 8 }, grants(8, "::ffff:10.7.0.2", 100, 1));
	decides(*state, pod, (struct vqp_terms){ .tenant = 7 },
		refuses(EPERM, "rule 2 of /etc/vqp/policy.json (line 3): tenant 7 is asked for, and tenant 8 is given", 1));
	decides(*state, (struct container){ "blue", { "10.7.0.2" } }, (struct vqp_terms){ .tenant = 9 },
		refuses(EPERM, "rule 1 of /etc/vqp/policy.json (line 2)", 0));
}

static void an_address_is_own_or_among_those_to_choose(void **state)
{
	const struct container pod = { "pods", { "10.7.0.2", "10.7.0.3", "10.8.0.2" } };

	decides(*state, pod, (struct vqp_terms){ .address = "::ffff:10.7.0.3" }, grants(8, "::ffff:10.7.0.3", 100, 1));
	decides(*state, pod, (struct vqp_terms){ .address = "::ffff:10.9.1.1" }, grants(8, "::ffff:10.9.1.1", 100, 1));
	decides(*state, pod, (struct vqp_terms){ .address = "fd09::1" }, grants(8, "fd09::1", 100, 1));
	decides(*state, pod, (struct vqp_terms){ .address = "fd09::2" }, refuses(EPERM, "address fd09::2 is asked for", 1));
	/* The rule is not about that address of the container's. */
	decides(*state, pod, (struct vqp_terms){ .address = "::ffff:10.8.0.2" }, refuses(EPERM, "rule 2", 1));
	decides(*state, (struct container){ "blue", { "10.7.0.2", "10.8.0.2" } },
		(struct vqp_terms){ .address = "::ffff:10.8.0.2" }, grants(7, "::ffff:10.8.0.2", 0, 0));
}

/* It would be a way into the tenant of another network. */
static void an_address_that_is_asked_for_brings_no_tenant(void **state)
{
	struct vqp_policy policy = policy_of("{\"rules\": [{\"subnet\": \"10.8.0.0/16\", \"tenant\": 8},"
					     " {\"subnet\": \"any\", \"tenant\": 1, \"may_choose\": {\"addresses\": [\"any\"]}}]}");

	(void)state;
	decides(&policy, (struct container){ NULL, { "10.1.0.2" } }, (struct vqp_terms){ .address = "::ffff:10.8.0.1" },
		grants(1, "::ffff:10.8.0.1", 0, 1));
	decides(&policy, (struct container){ NULL, { "10.8.0.2" } }, (struct vqp_terms){ .address = "::ffff:10.1.0.1" },
		refuses(EPERM, "rule 1", 0));
	vqp_policy_clear(&policy);
}

static void any_is_any(void **state)
{
	struct vqp_policy policy = policy_of("{\"rules\": [{\"subnet\": \"any\", \"tenant\": 5, \"may_choose\": "
					     "{\"tenants\": \"any\", \"addresses\": [\"any\"]}}]}");

	(void)state;
	decides(&policy, (struct container){ NULL, { "fd00::2" } }, NOTHING, grants(5, "fd00::2", 0, 0));
	decides(&policy, (struct container){ "blue", { "10.1.0.2" } },
		(struct vqp_terms){ .tenant = 4294967295, .address = "fd00::3" }, grants(4294967295, "fd00::3", 0, 0));
	vqp_policy_clear(&policy);
}

static void limits_can_only_be_lowered(void **state)
{
	json_t *less = unit_json("{\"max_vqps\": 5}"), *other = unit_json("{\"max_mrs\": 50}");
	json_t *more = unit_json("{\"max_vqps\": 101}"), *all = unit_json("{\"max_vqps\": \"unlimited\"}");
	const struct container pod = { "pods", { "10.7.0.2" } };

	decides(*state, pod, (struct vqp_terms){ .limits = less }, grants(8, "::ffff:10.7.0.2", 5, 1));
	decides(*state, pod, (struct vqp_terms){ .limits = other }, grants(8, "::ffff:10.7.0.2", 100, 1));
	decides(*state, pod, (struct vqp_terms){ .limits = more },
		refuses(EPERM, "rule 2 of /etc/vqp/policy.json (line 3): max_vqps: 101 is more than 100", 1));
	decides(*state, pod, (struct vqp_terms){ .limits = all }, refuses(EPERM, "\"unlimited\" is more than 100", 1));
	json_decref(less);
	json_decref(other);
	json_decref(more);
	json_decref(all);
}

/* The kernel is told of each, so that a namespace that is there gets what it is to have. */
/* ---- Sockets ---- */

/* By this rule of the policy's, alone, that wish, as a text or NULL, is given so. */
static void gives_sockets(const char *rule, const char *wanted, const char *expected)
{
	json_auto_t *policy_json = json_pack("{s:[o]}", "rules", unit_json(rule));
	cleanup_free char *text = json_dumps(policy_json, 0), *given = NULL;
	cleanup_terms struct vqp_terms wish = { 0 }, terms = { 0 };
	cleanup_policy struct vqp_policy policy = policy_of(text);
	const uint8_t gids[1][16] = { { 0xfd, [15] = 2 } };
	cleanup_error struct vqp_error error = { 0 };
	size_t number;
	int ret;

	wish.sockets = wanted ? vqp_sockets_parse(wanted, &error) : NULL;
	assert_null(error.text);
	ret = vqp_policy_decide(&policy, &(struct vqp_has){ NULL, gids, 1 }, &wish, &terms, &number, &error);
	assert_int_equal(ret, strstr(expected, "asked for") ? -EPERM : 0);
	given = ret ? strdup(vqp_error_text(&error)) : vqp_sockets_format(terms.sockets);
	assert_non_null(given);
	if (ret ? !strstr(given, expected) : strcmp(given, expected))
		fail_msg("'%s' gives to '%s': '%s', not '%s'", rule, wanted ? wanted : "", given, expected);
}

#define ANY_RULE(members)	"{\"subnet\": \"any\", \"tenant\": 1" members "}"

static void sockets_that_the_rule_is_silent_of_are_off(void **state)
{
	(void)state;
	gives_sockets(ANY_RULE(""), NULL, "off");
	gives_sockets(ANY_RULE(""), "off", "off");
	gives_sockets(ANY_RULE(""), "on", "rule 1 of /etc/vqp/policy.json (line 1): sockets are asked for (on), and given so: off; "
		      "\"sockets\" of \"may_choose\" does not let them be chosen");
	gives_sockets(ANY_RULE(""), "only:80", "asked for (only:80), and given so: off");
}

static void sockets_are_what_the_rule_gives_or_less(void **state)
{
	(void)state;
	gives_sockets(ANY_RULE(", \"sockets\": true"), NULL, "on");
	gives_sockets(ANY_RULE(", \"sockets\": true"), "on", "on");
	gives_sockets(ANY_RULE(", \"sockets\": true"), "except:22", "except:22");
	gives_sockets(ANY_RULE(", \"sockets\": true"), "off", "off");
	gives_sockets(ANY_RULE(", \"sockets\": {\"except\": [\"022\"]}"), "on", "except:22");
	gives_sockets(ANY_RULE(", \"sockets\": {\"except\": [\"22\"]}"), "only:80,except:22", "only:80,except:22");
	gives_sockets(ANY_RULE(", \"sockets\": {\"except\": [\"22\"]}"), "only:80", "asked for (only:80), and given so: except:22; "
		      "\"sockets\" of \"may_choose\" does not let them be chosen. Less is \"off\", or \"only\" within theirs with all");
	gives_sockets(ANY_RULE(", \"sockets\": {\"only\": [\"443\", \"80\"]}"), "only:80,443", "only:80,443");
	gives_sockets(ANY_RULE(", \"sockets\": {\"only\": [\"443\", \"80\"]}"), "only:80", "only:80");
}

static void sockets_may_be_chosen_where_the_rule_says_so(void **state)
{
	(void)state;
	gives_sockets(ANY_RULE(", \"may_choose\": {\"sockets\": true}"), NULL, "off");
	gives_sockets(ANY_RULE(", \"may_choose\": {\"sockets\": true}"), "on", "on");
	gives_sockets(ANY_RULE(", \"may_choose\": {\"sockets\": true}"), "only:80", "only:80");
	gives_sockets(ANY_RULE(", \"may_choose\": {\"sockets\": {\"only\": [\"80\"]}}"), "on", "only:80");
	gives_sockets(ANY_RULE(", \"may_choose\": {\"sockets\": {\"only\": [\"80\"]}}"), "only:81", "asked for (only:81)");
	gives_sockets(ANY_RULE(", \"may_choose\": {\"sockets\": {\"only\": [\"80-89\"]}}"), "only:80,85,except:10.1.0.0/16",
		      "only:80,85,except:10.1.0.0/16");
	/* What the rule gives comes first. */
	gives_sockets(ANY_RULE(", \"sockets\": {\"except\": [\"22\"]}, \"may_choose\": {\"sockets\": true}"), "on", "except:22");
	gives_sockets(ANY_RULE(", \"sockets\": {\"except\": [\"22\"]}, \"may_choose\": {\"sockets\": true}"), "only:22", "only:22");
}

static void terms_have_all_limits(void **state)
{
	const uint8_t gids[1][16] = { { 0xfd, [15] = 2 } };
	struct vqp_policy policy = policy_of("{\"rules\": [{\"subnet\": \"any\", \"tenant\": 1, "
					     "\"limits\": {\"priority\": 3, \"max_rate\": 65536}}]}");
	json_t *expected = vqp_limits_default();
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };
	size_t rule;

	(void)state;
	json_object_set_new(expected, "max_rate", json_integer(65536));
	json_object_set_new(expected, "priority", json_integer(3));
	assert_int_equal(vqp_policy_decide(&policy, &(struct vqp_has){ NULL, gids, 1 }, &NOTHING, &terms, &rule, &error), 0);
	assert_true(json_equal(terms.limits, expected));
	json_decref(expected);
	vqp_policy_clear(&policy);
}

static void a_container_without_address_may_be_given_one(void **state)
{
	struct vqp_policy any = policy_of("{\"rules\": [{\"subnet\": \"0.0.0.0/0\", \"tenant\": 1}, {\"subnet\": \"any\", "
					  "\"tenant\": 2, \"may_choose\": {\"addresses\": [\"10.9.0.0/16\"]}}]}");
	struct vqp_policy named = policy_of("{\"rules\": [{\"network\": \"blue\", \"tenant\": 2, "
					    "\"may_choose\": {\"addresses\": [\"any\"]}}]}");
	const struct vqp_terms wish = { .address = "::ffff:10.9.0.1" };

	decides(&any, (struct container){ 0 }, wish, grants(2, "::ffff:10.9.0.1", 0, 1));
	decides(&any, (struct container){ 0 }, (struct vqp_terms){ .address = "fd00::1" }, refuses(EPERM, "rule 2", 1));
	decides(&named, (struct container){ "blue", { 0 } }, wish, grants(2, "::ffff:10.9.0.1", 0, 0));
	decides(&named, (struct container){ 0 }, wish, refuses(EPERM, "with no address", NO_RULE));
	decides(*state, (struct container){ 0 }, wish, refuses(EPERM, "no rule", NO_RULE));
	/* Without a wish, there is nothing to decide. */
	decides(&any, (struct container){ 0 }, NOTHING, refuses(EADDRNOTAVAIL, "has no address", 1));
	decides(*state, (struct container){ 0 }, NOTHING, refuses(EADDRNOTAVAIL, "has no address", NO_RULE));
	vqp_policy_clear(&any);
	vqp_policy_clear(&named);
}

/* ---- Networks ---- */

static void annotations_name_lists_that_say_so(void **state)
{
	assert_true(vqp_policy_lets_annotate(*state, "blue"));
	assert_false(vqp_policy_lets_annotate(*state, "pods"));
	assert_false(vqp_policy_lets_annotate(*state, "blu"));
	assert_false(vqp_policy_lets_annotate(*state, "bluer"));
}

static void a_list_has_a_rule_by_name_or_by_subnet(void **state)
{
	struct vqp_policy named = policy_of("{\"rules\": [{\"network\": \"blue\", \"tenant\": 7}]}");

	assert_int_equal(json_integer_value(json_object_get(vqp_policy_network(*state, "pods"), "tenant")), 8);
	assert_int_equal(json_integer_value(json_object_get(vqp_policy_network(*state, "green"), "tenant")), 3);
	assert_null(vqp_policy_network(&named, "green"));
	vqp_policy_clear(&named);
}

/* ---- Lines ---- */

static void rules_have_lines(void **state)
{
	struct vqp_policy policy = policy_of("\n{ \"rules\"\n: [ { \"network\": \"a.b\",\n\"limits\": {}, \"may_choose\": {"
					     "\"addresses\": [\n\"any\"] },\n \"tenant\": 1 },\n\n {\n\"network\":\"c\",\"tenant\":2}]}");

	assert_int_equal(vqp_policy_line(*state, 0), 2);
	assert_int_equal(vqp_policy_line(*state, 1), 3);
	assert_int_equal(vqp_policy_line(*state, 2), 5);
	assert_int_equal(vqp_policy_line(*state, 3), 5);
	assert_int_equal(vqp_policy_line(*state, 4), 0);
	assert_int_equal(vqp_policy_line(&policy, 0), 3);
	assert_int_equal(vqp_policy_line(&policy, 1), 8);
	assert_int_equal(vqp_policy_count(&policy), 2);
	vqp_policy_clear(&policy);
}

/* A brace or a quote in a string, which cannot be in a good file, must not mislead the error either. */
static void lines_are_not_misled_by_strings(void **state)
{
	static const char text[] = "{\"rules\": [{\"subnet\": \"any\", \"tenant\": 1},\n {\"network\": \"{\\\"{\", \"tenant\": 1}]}";
	struct vqp_error error = { 0 };
	struct vqp_policy policy;

	(void)state;
	assert_int_equal(vqp_policy_parse(&policy, text, strlen(text), &error), -EINVAL);
	assert_reason(&error, "rule 2 (line 2): \"network\" must be the name");
	assert_int_equal(vqp_policy_line(&policy, 1), 2);
	assert_int_equal(vqp_policy_line(&policy, 2), 0);
	vqp_policy_clear(&policy);
}

/* ---- What is no policy ---- */

static void no_policy(const char *text, const char *reason)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };

	assert_int_equal(vqp_policy_parse(&policy, text, strlen(text), &error), -EINVAL);
	vqp_policy_clear(&policy);
	assert_reason(&error, reason);
}

/* A file with one rule. */
#define RULE(text)	"{\"rules\": [{" text "}]}"

static void malformed_files_are_refused(void **state)
{
	(void)state;
	no_policy("", "not JSON");
	no_policy("[]", "must be an object");
	no_policy("{}", "\"rules\" must be there");
	no_policy("{\"rules\": {}}", "\"rules\" must be there, a list");
	no_policy("{\"rules\": [], \"tenant\": 1}", "the file has no \"tenant\"");
	no_policy("{\"rules\": [], \"rules\": []}", "duplicate");
	no_policy("{\"rules\": [7]}", "rule 1 must be an object");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 1, \"tenant\": 2"), "duplicate");
	no_policy(RULE("\"tenant\": 1"), "rule 1 (line 1): a rule says whose it is");
	no_policy(RULE("\"network\": \"a\""), "\"tenant\" must be a number");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 0"), "\"tenant\" must be a number");
	no_policy(RULE("\"network\": \"a\", \"tenant\": \"7\""), "\"tenant\" must be a number");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"limit\": {}"), "a rule has no \"limit\"");
	no_policy(RULE("\"network\": \"../a\", \"tenant\": 7"), "\"network\" must be the name");
	no_policy(RULE("\"network\": null, \"tenant\": 7"), "\"network\" must be the name");
	no_policy(RULE("\"subnet\": 7, \"tenant\": 7"), "a subnet is a string");
	no_policy(RULE("\"subnet\": \"10.1.0.0/33\", \"tenant\": 7"), "is no subnet");
	no_policy(RULE("\"subnet\": \"all\", \"tenant\": 7"), "is no subnet");
	no_policy(RULE("\"subnet\": \"::/0\", \"tenant\": 7"), "\"::/0\" has all of IPv4 in it, too: \"any\" is for both");
	no_policy(RULE("\"subnet\": \"any\", \"tenant\": 7, \"limits\": {\"max_vqp\": 7}"), "not \"max_vqp\"");
	no_policy(RULE("\"subnet\": \"any\", \"tenant\": 7, \"limits\": []"), "must be an object");
	no_policy(RULE("\"subnet\": \"any\", \"tenant\": 7, \"by_annotation\": true"), "which \"network\" must name");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"by_annotation\": 1"), "must be true or false");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"sockets\": \"on\""), "\"sockets\" must be true, false, or");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"sockets\": {\"only\": [80]}}"), "\"only\" of \"sockets\" has strings");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": []"), "must be an object");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"tenant\": 7}"), "\"may_choose\" has no \"tenant\"");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"tenants\": 7}"), "must be a list, or \"any\"");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"tenants\": \"all\"}"), "must be a list, or \"any\"");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"tenants\": [7, \"8\"]}"), "\"tenant\" must be a number");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"addresses\": \"any\"}"), "must be a list");
	no_policy(RULE("\"network\": \"a\", \"tenant\": 7, \"may_choose\": {\"addresses\": [\"all\"]}"), "is no subnet");
}

/* ---- runtime.json, as it was ---- */

#define OLD \
	"{\"runtime\": \"/usr/bin/crun\", \"tenant\": 3, \"limits\": {\"max_vqps\": 100}, \"networks\": [" \
	"  {\"subnet\": \"10.7.0.0/16\", \"tenant\": 7, \"limits\": {\"max_vqps\": 10, \"max_bytes\": 4096}}," \
	"  {\"subnet\": \"fd08::/64\", \"tenant\": 8}, {\"subnet\": \"10.6.0.0/16\"}]," \
	" \"annotations\": {\"tenants\": [9], \"addresses\": [\"10.8.0.0/16\"], \"networks\": [\"blue\", \"red\"]}}"

static void an_old_file_decides_as_it_did(void **state)
{
	struct vqp_policy policy = old_policy_of(OLD);

	(void)state;
	decides(&policy, (struct container){ NULL, { "10.1.0.2" } }, NOTHING, grants(3, "::ffff:10.1.0.2", 100, 5));
	decides(&policy, (struct container){ NULL, { "10.1.0.2", "10.7.0.2" } }, NOTHING, grants(7, "::ffff:10.7.0.2", 10, 0));
	decides(&policy, (struct container){ "red", { "fd08::5" } }, NOTHING, grants(8, "fd08::5", 100, 1));
	decides(&policy, (struct container){ NULL, { "10.6.0.2" } }, NOTHING, grants(3, "::ffff:10.6.0.2", 100, 2));
	decides(&policy, (struct container){ "red", { "10.1.0.2" } }, NOTHING, grants(3, "::ffff:10.1.0.2", 100, 4));
	decides(&policy, (struct container){ NULL, { "10.7.0.2" } },
		(struct vqp_terms){ .tenant = 9, .address = "::ffff:10.8.0.1" }, grants(9, "::ffff:10.8.0.1", 10, 0));
	decides(&policy, (struct container){ NULL, { "10.7.0.2" } }, (struct vqp_terms){ .tenant = 3 },
		refuses(EPERM, "rule 1 of those made of /etc/vqp/runtime.json: tenant 3", 0));
	decides(&policy, (struct container){ 0 }, (struct vqp_terms){ .address = "::ffff:10.8.0.1" },
		grants(3, "::ffff:10.8.0.1", 100, 5));
	assert_true(vqp_policy_lets_annotate(&policy, "red"));
	assert_false(vqp_policy_lets_annotate(&policy, "green"));
	assert_int_equal(vqp_policy_line(&policy, 0), 0);
	vqp_policy_clear(&policy);
}

/* Such containers had the terms of their lists, and would get another tenant unasked. */
static void an_old_file_decides_about_no_list_that_it_does_not_name(void **state)
{
	struct vqp_policy policy = old_policy_of(OLD);

	(void)state;
	decides(&policy, (struct container){ "green", { "10.7.0.2" } }, NOTHING,
		refuses(EPERM, "does not name the network green: vqpctl policy init", NO_RULE));
	decides(&policy, (struct container){ "green", { 0 } }, (struct vqp_terms){ .address = "::ffff:10.8.0.1" },
		refuses(EPERM, "this node has no policy (/etc/vqp/policy.json)", NO_RULE));
	assert_null(vqp_policy_network(&policy, "green"));
	assert_string_equal(json_string_value(json_object_get(vqp_policy_network(&policy, "red"), "network")), "red");
	vqp_policy_clear(&policy);
}

static void an_old_file_need_not_name_a_tenant(void **state)
{
	struct vqp_policy policy = old_policy_of("{\"limits\": {}}");

	(void)state;
	decides(&policy, (struct container){ NULL, { "10.1.0.2" } }, NOTHING, grants(1, "::ffff:10.1.0.2", 0, 0));
	vqp_policy_clear(&policy);
}

/* vqpctl writes the rules to policy.json. */
static void an_old_files_rules_are_a_policy(void **state)
{
	struct vqp_policy policy = old_policy_of(OLD), again;
	char *text = json_dumps(policy.json, JSON_INDENT(2));

	(void)state;
	again = policy_of(text);
	assert_true(json_equal(policy.json, again.json));
	free(text);
	vqp_policy_clear(&again);
	vqp_policy_clear(&policy);
}

static void no_old_policy(const char *text, int err, const char *reason)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };

	assert_int_equal(vqp_policy_parse_old(&policy, text, strlen(text), &error), -err);
	vqp_policy_clear(&policy);
	assert_reason(&error, reason);
}

static void malformed_old_files_are_refused(void **state)
{
	(void)state;
	no_old_policy("", EINVAL, "not JSON");
	no_old_policy("[]", EINVAL, "must be an object");
	no_old_policy("{\"tenants\": 7}", EINVAL, "has no \"tenants\"");
	no_old_policy("{\"tenant\": 1, \"tenant\": 2}", EINVAL, "duplicate");
	no_old_policy("{\"tenant\": 0}", EINVAL, "\"tenant\" must be a number");
	no_old_policy("{\"limits\": {\"max_vqps\": -1}}", EINVAL, "a number from 0");
	no_old_policy("{\"networks\": {}}", EINVAL, "must be a list");
	no_old_policy("{\"networks\": [{\"tenant\": 7}]}", EINVAL, "a subnet is a string");
	no_old_policy("{\"networks\": [{\"subnet\": \"10.1.0.0/16\", \"tenants\": [7]}]}", EINVAL, "a network has no");
	no_old_policy("{\"annotations\": [7]}", EINVAL, "must be an object");
	no_old_policy("{\"annotations\": {\"tenants\": [7, \"8\"]}}", EINVAL, "\"tenant\" must be a number");
	no_old_policy("{\"annotations\": {\"networks\": [\"../blue\"]}}", EINVAL, "must be the name of a CNI network list");
	no_old_policy("{\"annotations\": {\"all\": true}}", EINVAL, "has no \"all\"");
	no_old_policy("{\"runtime\": \"/usr/bin/crun\", \"stage\": \"prestart\"}", ENOENT, "nothing of a policy");
	no_old_policy("{}", ENOENT, "nothing of a policy");
}

/* ---- The node's files ---- */

static void loads(const char *text, const char *old, bool is_old, size_t count)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };

	policy_text = text;
	old_text = old;
	assert_int_equal(vqp_policy_load(&policy, node, &error), 0);
	assert_null(error.text);
	assert_int_equal(policy.is_old, is_old);
	assert_int_equal(vqp_policy_count(&policy), count);
	vqp_policy_clear(&policy);
}

static void fails(const char *text, const char *old, int err, const char *reason)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };

	policy_text = text;
	old_text = old;
	assert_int_equal(vqp_policy_load(&policy, node, &error), -err);
	assert_reason(&error, reason);
	vqp_policy_clear(&policy);
}

static void the_new_file_counts_and_then_the_old_one(void **state)
{
	(void)state;
	loads("{\"rules\": []}", NULL, false, 0);
	loads("{\"rules\": []}", OLD, false, 0);
	loads("{\"rules\": []}", "no JSON", false, 0);
	loads(NULL, OLD, true, 6);
	fails(NULL, NULL, EPERM, "this node has no policy (/etc/vqp/policy.json), so no container gets a VQP namespace: vqpctl policy init");
	fails(NULL, "{\"runtime\": \"/usr/bin/crun\"}", EPERM, "this node has no policy");
	fails("{}", OLD, EINVAL, "/node/policy.json: \"rules\"");
	fails(NULL, "{\"tenant\": 0}", EINVAL, "/node/runtime.json: \"tenant\"");
}

/* It stands for a policy that somebody has written, whatever has become of it. */
static void a_link_that_leads_nowhere_is_no_leave_for_the_old_file(void **state)
{
	char dir[] = "/tmp/vqp-test-policy-XXXXXX", link[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/policy.json", dir);
	node = dir;
	loads(NULL, OLD, true, 6);
	assert_int_equal(symlink("/nowhere/policy.json", link), 0);
	fails(NULL, OLD, ENOENT, "it is not there");
	node = "/node";
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(the_first_rule_that_matches_decides_alone),
		TEST(what_no_rule_names_is_refused),
		TEST(who_was_attached_by_nobody_is_of_no_network),
		TEST(a_rule_with_both_needs_both),
		TEST(a_tenant_must_be_among_those_to_choose),
		TEST(an_address_is_own_or_among_those_to_choose),
		cmocka_unit_test(an_address_that_is_asked_for_brings_no_tenant),
		cmocka_unit_test(any_is_any),
		TEST(limits_can_only_be_lowered),
		cmocka_unit_test(sockets_that_the_rule_is_silent_of_are_off),
		cmocka_unit_test(sockets_are_what_the_rule_gives_or_less),
		cmocka_unit_test(sockets_may_be_chosen_where_the_rule_says_so),
		cmocka_unit_test(terms_have_all_limits),
		TEST(a_container_without_address_may_be_given_one),
		TEST(annotations_name_lists_that_say_so),
		TEST(a_list_has_a_rule_by_name_or_by_subnet),
		TEST(rules_have_lines),
		cmocka_unit_test(lines_are_not_misled_by_strings),
		cmocka_unit_test(malformed_files_are_refused),
		cmocka_unit_test(an_old_file_decides_as_it_did),
		cmocka_unit_test(an_old_file_decides_about_no_list_that_it_does_not_name),
		cmocka_unit_test(an_old_file_need_not_name_a_tenant),
		cmocka_unit_test(an_old_files_rules_are_a_policy),
		cmocka_unit_test(malformed_old_files_are_refused),
		cmocka_unit_test(the_new_file_counts_and_then_the_old_one),
		cmocka_unit_test(a_link_that_leads_nowhere_is_no_leave_for_the_old_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
