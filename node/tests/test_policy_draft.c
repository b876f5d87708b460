/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>

#include "../ctl/policy_draft.h"
#include "../policy.h"
#include "tree.h"

/* One of the draft's notes has this text. */
static void tells(const char *text)
{
	struct ctl_policy_draft draft;
	struct vqp_error error = { 0 };
	bool told = false;
	const json_t *note;
	size_t i;

	assert_int_equal(ctl_policy_draft_make(&draft, root, &error), 0);
	json_array_foreach(draft.notes, i, note)
		told = told || strstr(json_string_value(note), text);
	vqp_error_clear(&error);
	ctl_policy_draft_clear(&draft);
	if (!told)
		fail_msg("no note has \"%s\"", text);
}

/* The draft has exactly these rules and so many notes, and its text is the policy of these rules. */
static void drafts(const char *expected, size_t notes)
{
	json_t *rules = json_loads(expected, 0, NULL), *drafted = json_array(), *item;
	struct ctl_policy_draft draft;
	struct vqp_policy policy = { 0 };
	struct vqp_error error = { 0 };
	size_t i;

	assert_int_equal(ctl_policy_draft_make(&draft, root, &error), 0);
	json_array_foreach(draft.rules, i, item) {
		json_array_append(drafted, json_object_get(item, "rule"));
		assert_true(json_string_length(json_object_get(item, "why")) > 0);
	}
	if (!json_equal(rules, drafted))
		fail_msg("%s, not %s", json_dumps(drafted, 0), expected);
	assert_int_equal(json_array_size(draft.notes), notes);
	assert_int_equal(vqp_policy_parse(&policy, draft.text, strlen(draft.text), &error), 0);
	assert_true(json_equal(json_object_get(policy.json, "rules"), rules));
	json_decref(rules);
	json_decref(drafted);
	vqp_policy_clear(&policy);
	vqp_error_clear(&error);
	ctl_policy_draft_clear(&draft);
}

static void a_node_without_anything_has_one_tenant(void **state)
{
	(void)state;
	drafts("[{\"subnet\": \"any\", \"tenant\": 1}]", 0);
	put("/etc/cni/net.d/10-a.conflist", "{\"name\": \"a\", \"plugins\": [{\"type\": \"bridge\"}]}");
	put("/etc/vqp/runtime.json", "{\"stage\": \"prestart\"}");
	drafts("[{\"subnet\": \"any\", \"tenant\": 1}]", 0);
}

static void a_list_s_tenant_is_allowed_by_its_name(void **state)
{
	(void)state;
	put("/etc/cni/net.d/10-b.conflist", "{\"name\": \"b\", \"plugins\": [{\"type\": \"ptp\"}, {\"type\": \"vqp\", \"tenant\": 7}]}");
	put("/etc/cni/net.d/05-a.conf", "{\"name\": \"a\", \"type\": \"vqp\"}");
	put("/etc/cni/net.d/20-c.conflist", "{\"name\": \"c\", \"plugins\": [{\"type\": \"vqp\", \"address\": \"10.9.0.1\"}]}");
	drafts("[{\"network\": \"a\", \"tenant\": 1}, {\"network\": \"b\", \"tenant\": 7},"
	       " {\"network\": \"c\", \"tenant\": 1, \"may_choose\": {\"addresses\": [\"10.9.0.1\"]}}]", 1);
}

static void a_high_priority_is_allowed_and_lower_limits_need_no_word(void **state)
{
	(void)state;
	put("/etc/cni/net.d/10-a.conflist", "{\"name\": \"a\", \"plugins\": [{\"type\": \"vqp\", \"limits\": {\"max_vqps\": 5, \"priority\": 3}}]}");
	put("/etc/cni/net.d/20-b.conflist", "{\"name\": \"b\", \"plugins\": [{\"type\": \"vqp\", \"limits\": {\"max_vqps\": 5, \"priority\": 1}}]}");
	drafts("[{\"network\": \"a\", \"tenant\": 1, \"limits\": {\"priority\": 3}}, {\"network\": \"b\", \"tenant\": 1}]", 1);
}

static void sockets_that_a_list_asks_for_may_be_chosen(void **state)
{
	(void)state;
	put("/etc/cni/net.d/10-a.conflist", "{\"name\": \"a\", \"plugins\": [{\"type\": \"vqp\", \"sockets\": true}]}");
	put("/etc/cni/net.d/20-b.conflist", "{\"name\": \"b\", \"plugins\": [{\"type\": \"vqp\", \"address\": \"10.9.0.1\", \"sockets\": {\"only\": [\"80\"]}}]}");
	put("/etc/cni/net.d/30-c.conflist", "{\"name\": \"c\", \"plugins\": [{\"type\": \"vqp\", \"sockets\": \"yes\"}]}");
	drafts("[{\"network\": \"a\", \"tenant\": 1, \"may_choose\": {\"sockets\": true}},"
	       " {\"network\": \"b\", \"tenant\": 1, \"may_choose\": {\"addresses\": [\"10.9.0.1\"], \"sockets\": {\"only\": [\"80\"]}}}]", 4);
	tells("/etc/cni/net.d/20-b.conflist asks for stream sockets, which network policies and packet filters do not see: take "
	      "\"sockets\" out of \"may_choose\" of the network b");
	put("/etc/cni/net.d/20-b.conflist", "{\"name\": \"b\", \"plugins\": [{\"type\": \"vqp\", \"sockets\": false}]}");
	drafts("[{\"network\": \"a\", \"tenant\": 1, \"may_choose\": {\"sockets\": true}}, {\"network\": \"b\", \"tenant\": 1}]", 3);
}

static void what_cannot_be_a_rule_is_told(void **state)
{
	(void)state;
	put("/etc/cni/net.d/10-a.conflist", "{\"name\": \"a\", \"plugins\": [{\"type\": \"vqp\", \"tenant\": 7}]}");
	put("/etc/cni/net.d/20-a.conflist", "{\"name\": \"a\", \"plugins\": [{\"type\": \"vqp\", \"tenant\": 8}]}");
	put("/etc/cni/net.d/30-b.conflist", "{\"name\": \"b\", \"plugins\": [{\"type\": \"vqp\", \"tenant\": \"9\"}]}");
	put("/etc/cni/net.d/40-c.conflist", "{\"name\": \"../c\", \"plugins\": [{\"type\": \"vqp\"}]}");
	put("/etc/cni/net.d/50-d.conflist", "{\"name\": \"d\", \"plugins\": [{\"type\": \"vqp\", \"capabilities\": {\"vqp\": true}}]}");
	/* the three, what the runtime says, and containers without a list */
	drafts("[{\"network\": \"a\", \"tenant\": 7}, {\"network\": \"d\", \"tenant\": 1}]", 5);
}

/* What its containers are to get nobody knows. */
static void a_list_that_is_left_out_keeps_all_from_one_tenant(void **state)
{
	(void)state;
	put("/etc/cni/net.d/20-b.conf", "no JSON");
	drafts("[]", 2);
	tells("/etc/cni/net.d/20-b.conf is not JSON: line 1");
	tells("there is no rule");
	put("/etc/cni/net.d/20-b.conf", "{\"name\": \"b\", \"type\": \"vqp\", \"tenant\": \"9\"}");
	drafts("[]", 2);
	tells("/etc/cni/net.d/20-b.conf is left out");
	put("/etc/cni/net.d/20-b.conf", "{\"name\": \"b\", \"type\": \"ptp\"}");
	drafts("[{\"subnet\": \"any\", \"tenant\": 1}]", 0);
}

static void a_list_that_cannot_be_read_is_told(void **state)
{
	char path[PATH_MAX];

	(void)state;
	put("/etc/cni/net.d/10-a.conf", "{\"name\": \"a\", \"type\": \"vqp\"}");
	snprintf(path, sizeof(path), "%s/etc/cni/net.d/20-b.conf", root);
	assert_int_equal(mkdir(path, 0755), 0);
	drafts("[{\"network\": \"a\", \"tenant\": 1}]", 2);
	tells("/etc/cni/net.d/20-b.conf cannot be read");
}

static void the_old_file_s_rules_stay(void **state)
{
	(void)state;
	put("/etc/vqp/runtime.json", "{\"tenant\": 3, \"networks\": [{\"subnet\": \"10.7.0.0/16\", \"tenant\": 7}]}");
	drafts("[{\"subnet\": \"10.7.0.0/16\", \"tenant\": 7}, {\"subnet\": \"any\", \"tenant\": 3}]", 2);
	tells("the last rule, of \"any\", is for all that no other rule is for, also for pods");
	/* The draft may be made before the node is upgraded. */
	tells("do not count for a vqpd that knows /etc/vqp/policy.json: take them out once this node runs it");
}

static void a_list_goes_before_the_old_file_and_may_still_be_annotated(void **state)
{
	(void)state;
	put("/etc/vqp/runtime.json", "{\"tenant\": 3, \"annotations\": {\"networks\": [\"a\", \"other\"]}}");
	put("/etc/cni/net.d/10-a.conflist", "{\"name\": \"a\", \"plugins\": [{\"type\": \"vqp\", \"tenant\": 7}]}");
	drafts("[{\"network\": \"a\", \"tenant\": 7, \"by_annotation\": true},"
	       " {\"network\": \"other\", \"tenant\": 3, \"by_annotation\": true}, {\"subnet\": \"any\", \"tenant\": 3}]", 2);
}

static void an_old_file_that_is_wrong_is_not_guessed_at(void **state)
{
	struct ctl_policy_draft draft;
	struct vqp_error error = { 0 };

	(void)state;
	put("/etc/vqp/runtime.json", "{\"tennant\": 3}");
	assert_int_equal(ctl_policy_draft_make(&draft, root, &error), -EINVAL);
	assert_non_null(strstr(vqp_error_text(&error), "/etc/vqp/runtime.json"));
	assert_non_null(strstr(vqp_error_text(&error), "tennant"));
	vqp_error_clear(&error);
	ctl_policy_draft_clear(&draft);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_node_without_anything_has_one_tenant, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_list_s_tenant_is_allowed_by_its_name, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_high_priority_is_allowed_and_lower_limits_need_no_word, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(sockets_that_a_list_asks_for_may_be_chosen, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(what_cannot_be_a_rule_is_told, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_list_that_is_left_out_keeps_all_from_one_tenant, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_list_that_cannot_be_read_is_told, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(the_old_file_s_rules_stay, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(a_list_goes_before_the_old_file_and_may_still_be_annotated, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(an_old_file_that_is_wrong_is_not_guessed_at, make_tree, remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
