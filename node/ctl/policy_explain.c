/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command vqpctl policy explain. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "../../common/direct.h"
#include "../../common/name.h"
#include "../../common/netns.h"
#include "../../oci-hook/namespace.h"
#include "../../oci-hook/wish.h"
#include "../policy.h"
#include "addresses.h"
#include "cni_list.h"
#include "container.h"
#include "ctl.h"

/* The container that is asked about; it may be one that does not exist. */
struct subject {
	int netns_fd;			/* -1 if it does not exist */
	struct ctl_addresses addresses;
	json_t *annotations;		/* an object */
	struct vqp_wish wish;		/* of the annotations */
	json_t *lists;			/* as of ctl_cni_lists() */
	struct vqp_terms terms;		/* what the CNI network list says, or else the wish's */
	json_t *now;			/* an array of the VQP namespaces that it has */
	json_t *unknown;		/* why that is not known; or NULL */
	const char *network;		/* the CNI network list that attaches it; or NULL */
	const char *network_by;		/* how that is known */
};

static void clear(struct subject *subject)
{
	if (subject->netns_fd >= 0)
		close(subject->netns_fd);
	json_decref(subject->annotations);
	vqp_wish_clear(&subject->wish);
	json_decref(subject->lists);
	vqp_terms_clear(&subject->terms);
	json_decref(subject->now);
	json_decref(subject->unknown);
}

#define cleanup_subject	__attribute__((cleanup(clear)))

/* ---- Who it is ---- */

static int open_process(pid_t pid, struct subject *subject, struct vqp_error *error)
{
	subject->netns_fd = vqp_netns_open_process(pid);
	if (subject->netns_fd < 0)
		return vqp_error_set(error, subject->netns_fd, "cannot open the network namespace of process %d: %s", pid,
				     strerror(-subject->netns_fd));
	return 0;
}

static int open_container(const char *name, struct subject *subject, struct vqp_error *error)
{
	cleanup_container struct ctl_container container = { 0 };
	int ret = ctl_container_find(&container, name, error);

	if (ret)
		return ret;
	if (container.annotations)
		json_object_update(subject->annotations, (json_t *)container.annotations);
	return open_process(container.pid, subject, error);
}

static int open_netns(const char *name, struct subject *subject, struct vqp_error *error)
{
	subject->netns_fd = vqp_netns_open_named(name);
	if (subject->netns_fd < 0)
		return vqp_error_set(error, subject->netns_fd, "--netns %s: %s", name, strerror(-subject->netns_fd));
	return 0;
}

/* Opens the network namespace that is asked about, if one is, and reads the addresses. */
static int find(const struct ctl_args *args, struct subject *subject, struct vqp_error *error)
{
	int ret;

	if (!!args->container + !!args->pid + !!args->netns + !!args->naddresses != 1)
		return vqp_error_set(error, -EINVAL, "about whom? one of --container, --pid, --netns and --address");
	if (args->naddresses)
		return ctl_addresses_take(&subject->addresses, args, error);
	if (args->container)
		ret = open_container(args->container, subject, error);
	else if (args->pid)
		ret = open_process((pid_t)args->pid, subject, error);
	else
		ret = open_netns(args->netns, subject, error);
	if (!ret && vqp_netns_is_own(subject->netns_fd) == 1)
		ret = vqp_error_set(error, -EINVAL, "it has the host's network, and so no VQP namespace of its own");
	return ret ? ret : ctl_addresses_read(&subject->addresses, subject->netns_fd, error);
}

static int take_annotations(const struct ctl_args *args, struct subject *subject, struct vqp_error *error)
{
	for (unsigned int i = 0; i < args->nannotations; i++) {
		const char *equals = strchr(args->annotations[i], '=');
		cleanup_free char *key = equals ? strndup(args->annotations[i], equals - args->annotations[i]) : NULL;

		if (!key)
			return vqp_error_set(error, -EINVAL, "--annotation takes KEY=VALUE, not '%s'", args->annotations[i]);
		json_object_set_new(subject->annotations, key, json_string(equals + 1));
	}
	return vqp_wish_parse(&subject->wish, subject->annotations, error);
}

/* ---- What it has now, and which CNI network list attaches it ---- */

static void look_at_now(struct subject *subject)
{
	const uint32_t inode = subject->netns_fd < 0 ? 0 : vqp_netns_inode(subject->netns_fd);
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *list = NULL;
	json_t *item;
	size_t i;

	subject->now = json_array();
	if (!inode)
		return;
	if (vqp_direct_list(&list, &error))
		subject->unknown = json_string(vqp_error_text(&error));
	json_array_foreach(list, i, item)
		if (json_integer_value(json_object_get(item, "netns_ino")) == inode)
			json_array_append(subject->now, item);
}

static void find_network(const struct ctl_args *args, struct subject *subject)
{
	const json_t *item;
	size_t i;

	subject->network = args->network;
	subject->network_by = "by --network";
	if (!subject->network) {
		subject->network = subject->wish.network;
		subject->network_by = "by its annotation " VQP_WISH_NETWORK;
	}
	json_array_foreach(subject->now, i, item) {
		if (subject->network)
			return;
		subject->network = vqp_name_network(item);
		subject->network_by = "by the VQP namespace that it has";
	}
}

/* The plugin asks for what its list says, and vqp-hook for what the annotations say. */
static int find_terms(struct subject *subject, struct vqp_error *error)
{
	const json_t *list = subject->network ? ctl_cni_list_find(subject->lists, subject->network) : NULL;

	if (list)
		return vqp_terms_parse(&subject->terms, json_object_get(list, "plugin"), error)
			? vqp_error_add_context(error, "%s", json_string_value(json_object_get(list, "path"))) : 0;
	subject->terms = subject->wish.terms;
	json_incref(subject->terms.limits);
	json_incref(subject->terms.sockets);
	return 0;
}

/* ---- What it gets ---- */

/* Returns all that is known of the container, before a decision. */
static json_t *say_subject(const struct subject *subject)
{
	return json_pack("{s:s*, s:o, s:o, s:O, s:O*}", "network", subject->network, "addresses",
			 vqp_namespace_say_gids(subject->addresses.gids, subject->addresses.count),
			 "wish", vqp_terms_say(&subject->terms), "now", subject->now, "now_unknown", subject->unknown);
}

static json_t *say_rule(const struct vqp_policy *policy, size_t rule)
{
	const unsigned int line = vqp_policy_line(policy, rule);
	json_t *said = json_pack("{s:I, s:s, s:O}", "number", (json_int_t)rule + 1, "file", vqp_policy_file(policy),
				 "text", json_array_get(json_object_get(policy->json, "rules"), rule));

	if (line)
		json_object_set_new(said, "line", json_integer(line));
	return said;
}

static void print_row(const char *title, const json_t *value)
{
	cleanup_free char *text = json_dumps(value, JSON_ENCODE_ANY);

	printf("%-10s %s\n", title, text ? text : "?");
}

static void print_now(const struct subject *subject)
{
	const json_t *item;
	size_t i;

	if (subject->unknown)
		printf("%-10s unknown: %s\n", "has now", json_string_value(subject->unknown));
	else if (!json_array_size(subject->now) && subject->netns_fd >= 0)
		printf("%-10s no VQP namespace\n", "has now");
	json_array_foreach(subject->now, i, item)
		printf("%-10s tenant %lld, address %s, name %s\n", "has now",
		       (long long)json_integer_value(json_object_get(item, "tenant")),
		       json_string_value(json_object_get(item, "gid")), json_string_value(json_object_get(item, "name")));
}

static void print_subject(const struct subject *subject)
{
	json_auto_t *addresses = vqp_namespace_say_gids(subject->addresses.gids, subject->addresses.count);
	json_auto_t *wish = vqp_terms_say(&subject->terms);

	if (subject->network)
		printf("%-10s %s, %s\n", "network", subject->network, subject->network_by);
	else
		printf("%-10s none: vqp-hook asks for the container, and no CNI network list\n", "network");
	print_row("addresses", addresses);
	print_row("wishes", wish);
	print_now(subject);
}

static int tell(const struct ctl_args *args, const struct subject *subject, const struct vqp_policy *policy,
		const struct vqp_terms *terms, size_t rule)
{
	json_auto_t *gets = vqp_terms_say(terms), *by = say_rule(policy, rule);
	const json_int_t line = json_integer_value(json_object_get(by, "line"));

	if (args->json) {
		json_t *said = say_subject(subject);

		json_object_update(said, gets);
		json_object_set(said, "rule", by);
		json_object_set_new(said, "ok", json_true());
		return ctl_print_json(said);
	}
	print_subject(subject);
	print_row("gets", gets);
	printf("%-10s %zu of %s", "by rule", rule + 1, vqp_policy_file(policy));
	if (line)
		printf(", line %lld", (long long)line);
	printf(":\n");
	print_row("", json_object_get(by, "text"));
	return 0;
}

static int decide(const struct ctl_args *args, const struct subject *subject, const struct vqp_policy *policy)
{
	const struct vqp_has has = { subject->network, subject->addresses.gids, subject->addresses.count };
	cleanup_terms struct vqp_terms terms = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	size_t rule = VQP_POLICY_NO_RULE;
	int ret;

	if (subject->wish.network && !vqp_policy_lets_annotate(policy, subject->wish.network))
		ret = vqp_error_set(&error, -EPERM, "annotation " VQP_WISH_NETWORK ": no rule of %s for the network %s has "
				    "\"by_annotation\"", vqp_policy_file(policy), subject->wish.network);
	else
		ret = vqp_policy_decide(policy, &has, &subject->terms, &terms, &rule, &error);
	if (!ret)
		return tell(args, subject, policy, &terms, rule);
	if (!args->json)
		print_subject(subject);
	fflush(stdout);
	return ctl_fail(args, ret, "refused: %s", vqp_error_text(&error));
}

int ctl_policy_explain(const struct ctl_args *args)
{
	cleanup_subject struct subject subject = { .netns_fd = -1, .annotations = json_object(), .lists = ctl_cni_lists("", NULL) };
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	int ret = find(args, &subject, &error);

	if (!ret)
		ret = take_annotations(args, &subject, &error);
	if (!ret) {
		look_at_now(&subject);
		find_network(args, &subject);
		ret = find_terms(&subject, &error);
	}
	if (!ret)
		ret = vqp_policy_load(&policy, VQP_CONFIG_DIR, &error);
	return ret ? ctl_fail(args, ret, "%s", vqp_error_text(&error)) : decide(args, &subject, &policy);
}
