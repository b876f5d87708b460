/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command vqpctl ns. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "../../common/limits.h"
#include "../../common/netns.h"
#include "../../common/sockets.h"
#include "../../common/terms.h"
#include "../policy.h"
#include "addresses.h"
#include "ctl.h"

const char *const ctl_priorities[] = {
	[VQP_PRIORITY_LOW] = "low", [VQP_PRIORITY_NORMAL] = "normal", [VQP_PRIORITY_HIGH] = "high", NULL,
};

/* Shows in one cell what is used, and the limit if there is one. */
static void show_limit(json_t *item, const char *used, const char *max)
{
	const json_t *limit = json_object_get(item, max);

	if (json_is_integer(limit))
		json_object_set_new(item, used, json_sprintf("%lld/%lld",
				    (long long)json_integer_value(json_object_get(item, used)),
				    (long long)json_integer_value(limit)));
}

static void show_limits(json_t *item)
{
	show_limit(item, "vqps", "max_vqps");
	show_limit(item, "mrs", "max_mrs");
	show_limit(item, "pinned_bytes", "max_bytes");
}

static void show_terms(json_t *item)
{
	cleanup_free char *sockets = vqp_sockets_format(json_object_get(item, "sockets"));
	json_int_t priority = json_integer_value(json_object_get(item, "priority"));

	if (!json_is_integer(json_object_get(item, "max_rate")))
		json_object_set_new(item, "max_rate", json_string("-"));
	if (priority >= VQP_PRIORITY_LOW && priority <= VQP_PRIORITY_HIGH)
		json_object_set_new(item, "priority", json_string(ctl_priorities[priority]));
	json_object_set_new(item, "sockets", json_string(sockets));
}

/* Shows counters as fields of their names. */
static void show_counters(json_t *item)
{
	const json_t *counter;
	size_t i;

	json_array_foreach(json_object_get(item, "counters"), i, counter)
		json_object_set(item, json_string_value(json_object_get(counter, "name")),
				json_object_get(counter, "value"));
}

int ctl_ns_list(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "tenant", "TENANT" }, { "gid", "ADDRESS" }, { "name", "NAME" }, { "netns_ino", "NETNS" },
		{ "vqps", "VQPS" }, { "mrs", "MRS" }, { "contexts", "CONTEXTS" }, { "pinned_bytes", "PINNED" },
		{ "max_rate", "RATE" }, { "priority", "PRIORITY" },
		{ "sock_near", "NEAR" }, { "sock_far", "FAR" }, { "sock_tcp", "TCP" }, { "sockets", "SOCKETS" },
		{ 0 },
	};
	json_t *list, *item;
	int ret = ctl_dump(args, VQP_CMD_NS_GET, &list);
	size_t i;

	if (ret)
		return ret;
	json_array_foreach(list, i, item) {
		if (args->json)
			break;
		show_limits(item);
		show_terms(item);
		show_counters(item);
	}
	return ctl_print_table(args, list, columns);
}

/* Opens --netns as *fd. 0 or the exit status. */
static int open_netns(const struct ctl_args *args, int *fd)
{
	*fd = vqp_netns_open_named(args->netns);
	if (*fd == -EINVAL)
		return ctl_fail(args, *fd, "--netns %s: no network namespace", args->netns);
	if (*fd < 0)
		return ctl_fail(args, *fd, "--netns %s: %s", args->netns, strerror(-*fd));
	return 0;
}

/*
 * Puts the key of an existing namespace into a request: --netns, which it opens as *fd, or --tenant
 * and --address. 0 or the exit status.
 */
static int put_namespace(const struct ctl_args *args, json_t *request, int *fd)
{
	int ret;

	if (!args->netns)
		return ctl_put_key(args, request);
	if (args->has_tenant || args->address)
		return ctl_fail(args, EINVAL, "either --netns, or --tenant and --address");
	ret = open_netns(args, fd);
	json_object_set_new(request, "netns_fd", json_integer(*fd));
	return ret;
}

static void put_limit(json_t *request, const char *name, int64_t max)
{
	if (max == CTL_UNLIMITED)
		json_object_set_new(request, name, json_string(VQP_LIMITS_UNLIMITED));
	else if (max != CTL_NOT_GIVEN)
		json_object_set_new(request, name, json_integer(max));
}

/* Puts the limits that were given into a request. */
static void put_limits(const struct ctl_args *args, json_t *request)
{
	put_limit(request, "max_vqps", args->max_vqps);
	put_limit(request, "max_mrs", args->max_mrs);
	put_limit(request, "max_bytes", args->max_bytes);
	put_limit(request, "max_rate", args->max_rate);
	if (args->priority)
		json_object_set_new(request, "priority", json_integer(args->priority));
}

/* Puts the sockets that were given into a request. 0 or the exit status. */
static int put_sockets(const struct ctl_args *args, json_t *request)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *sockets = args->sockets ? vqp_sockets_parse(args->sockets, &error) : NULL;

	if (sockets)
		json_object_set_new(request, "sockets", sockets);
	return error.code ? ctl_fail(args, error.code, "--sockets: %s", vqp_error_text(&error)) : 0;
}

/* Makes the request, and reports refusals in terms of the command line. */
static int add(const struct ctl_args *args, const json_t *request)
{
	struct vqp_netlink netlink;
	int ret = vqp_netlink_open(&netlink);

	if (ret)
		return ctl_fail(args, ret, "no netlink socket: %s", strerror(-ret));
	ret = vqp_netlink_do(&netlink, VQP_CMD_NS_ADD, request, NULL);
	if (ret == -EEXIST)
		ret = ctl_fail(args, ret, "%s already has a VQP namespace of another tenant: vqpctl ns del --netns %s",
			       args->netns, args->netns);
	else if (ret == -EADDRINUSE)
		ret = ctl_fail(args, ret, "tenant %u's address %s is taken on this node: vqpctl ns list",
			       args->tenant, args->address);
	else if (ret == -EPERM)
		ret = ctl_fail(args, ret, "this needs CAP_NET_ADMIN in the host's user namespace: run as root");
	else if (ret)
		ret = ctl_fail(args, ret, "%s", vqp_netlink_error(&netlink));
	vqp_netlink_close(&netlink);
	return ret;
}

/* Asks the policy about a network namespace. 0 or the exit status. */
static int judge(const struct ctl_args *args, int fd, const struct vqp_terms *wish, struct vqp_terms *terms)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	struct ctl_addresses addresses;
	size_t rule;
	int ret = ctl_addresses_read(&addresses, fd, &error);

	if (ret)
		return ctl_fail(args, ret, "--netns %s: %s", args->netns, vqp_error_text(&error));
	ret = vqp_policy_load(&policy, VQP_CONFIG_DIR, &error);
	if (!ret)
		ret = vqp_policy_decide(&policy, &(struct vqp_has){ NULL, addresses.gids, addresses.count }, wish, terms, &rule, &error);
	return ret ? ctl_fail(args, ret, "%s (--without-policy does not ask)", vqp_error_text(&error)) : 0;
}

/* Adds the limits and the sockets of the rule by which the policy lets the request be. 0 or the exit status. */
static int put_terms(const struct ctl_args *args, int fd, json_t *request)
{
	cleanup_terms struct vqp_terms terms = { 0 }, wish = { .tenant = args->tenant, .limits = json_object(),
							    .sockets = json_incref(json_object_get(request, "sockets")) };
	json_auto_t *normal = vqp_limits_default();
	const char *name;
	json_t *limit;
	int ret;

	strcpy(wish.address, json_string_value(json_object_get(request, "gid")));
	put_limits(args, wish.limits);
	ret = judge(args, fd, &wish, &terms);
	if (ret)
		return ret;
	/* What is normal is left out: a namespace that is there keeps what was set since. */
	json_object_foreach(terms.limits, name, limit)
		if (!json_equal(limit, json_object_get(normal, name)))
			json_object_set(request, name, limit);
	if (wish.sockets || !json_is_false(terms.sockets))
		json_object_set(request, "sockets", terms.sockets);
	return 0;
}

int ctl_ns_add(const struct ctl_args *args)
{
	json_auto_t *request = json_object();
	cleanup_close int fd = -1;
	uint8_t gid[16];
	int ret;

	if (!args->netns)
		return ctl_fail(args, EINVAL, "--netns is missing: a name, a path, or pid:N");
	if (!args->tenant)
		return ctl_fail(args, EINVAL, "--tenant is missing: a number from 1");
	if (args->name && strlen(args->name) >= VQP_NAME_MAX)
		return ctl_fail(args, ENAMETOOLONG, "--name has at most %d bytes", VQP_NAME_MAX - 1);
	ret = ctl_put_key(args, request);
	if (ret)
		return ret;
	if (vqp_address_parse_unicast(args->address, gid))
		return ctl_fail(args, EINVAL, "%s is not one container's address", args->address);
	ret = open_netns(args, &fd);
	if (ret)
		return ret;
	json_object_set_new(request, "netns_fd", json_integer(fd));
	if (args->name)
		json_object_set_new(request, "name", json_string(args->name));
	put_limits(args, request);
	ret = put_sockets(args, request);
	if (!ret && !args->without_policy)
		ret = put_terms(args, fd, request);
	if (!ret)
		ret = add(args, request);
	if (ret || !args->json)
		return ret;
	return ctl_print_json(json_pack("{s:b, s:I, s:O}", "ok", 1, "tenant", (json_int_t)args->tenant,
					"gid", json_object_get(request, "gid")));
}

int ctl_ns_set(const struct ctl_args *args)
{
	json_auto_t *request = json_object();
	cleanup_close int fd = -1;
	int ret;

	put_limits(args, request);
	ret = put_sockets(args, request);
	if (ret)
		return ret;
	if (!json_object_size(request))
		return ctl_fail(args, EINVAL, "what to set? --max-vqps, --max-mrs, --max-bytes, --max-rate, --priority or --sockets");
	ret = put_namespace(args, request, &fd);
	if (!ret)
		ret = ctl_do(args, VQP_CMD_NS_SET, request, NULL);
	if (ret || !args->json)
		return ret;
	return ctl_print_json(json_pack("{s:b}", "ok", 1));
}

int ctl_ns_del(const struct ctl_args *args)
{
	json_auto_t *request = json_object();
	cleanup_close int fd = -1;
	int ret = put_namespace(args, request, &fd);

	if (!ret)
		ret = ctl_do(args, VQP_CMD_NS_DEL, request, NULL);
	if (ret || !args->json)
		return ret;
	return ctl_print_json(json_pack("{s:b}", "ok", 1));
}
