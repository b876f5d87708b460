// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common/address.h"
#include "../common/cleanup.h"
#include "../common/limits.h"
#include "../common/netns.h"
#include "../common/sockets.h"
#include "ask.h"
#include "attachment.h"
#include "result.h"

int vqp_attachment_open(const struct vqp_args *args, int *fd, struct vqp_error *error)
{
	int ret;

	*fd = vqp_netns_open(args->netns);
	if (*fd < 0)
		return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT, "CNI_NETNS %s: %s", args->netns,
				     *fd == -EINVAL ? "no network namespace" : strerror(-*fd));
	ret = vqp_netns_is_own(*fd);
	if (ret < 0)
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "/proc/self/ns/net: %s", strerror(-ret));
	if (ret)
		return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT,
				     "CNI_NETNS %s is the host's network namespace", args->netns);
	return 0;
}

/* Returns the result of the plugins before this one, a new object. */
static json_t *previous(const struct vqp_config *config, struct vqp_error *error)
{
	if (config->prev_result)
		return vqp_result_parse(config->prev_result, config->version, error);
	vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
		      "no prevResult: vqp is a chained plugin, put it behind bridge, ptp or the like");
	return NULL;
}

/*
 * Returns a request about the attachment, a new object, to which the caller adds what it asks: what
 * the container has, and what is wished for it. vqpd decides by the node's policy.
 */
static json_t *request_of(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
			  const json_t *result, int netns_fd, struct vqp_error *error)
{
	json_auto_t *addresses = vqp_result_addresses(result, args->ifname,
						      wish->must_have_address ? wish->terms.address : NULL,
						      netns_fd, error);
	json_t *request;

	if (!addresses)
		return NULL;
	if (!json_array_size(addresses) && !*wish->terms.address) {
		vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
			      "prevResult has no address for the container's interface %s: put vqp behind a plugin that gives one",
			      args->ifname);
		return NULL;
	}
	request = json_pack("{s:{s:s, s:O}, s:o}", "has", "network", config->name, "addresses", addresses,
			    "wish", vqp_terms_say(&wish->terms));
	if (!request)
		vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	return request;
}

/* Opens the network namespace of a DEL as *fd, or sets that to -1 if it is gone. */
static int open_netns_left(const struct vqp_args *args, int *fd, struct vqp_error *error)
{
	*fd = *args->netns ? vqp_netns_open(args->netns) : -ENOENT;
	switch (*fd) {
	case -ENOENT:
	case -ENOTDIR:
	case -ESRCH:
	case -EINVAL:	/* the file that it was mounted on */
		*fd = -1;
		return 0;
	default:
		return *fd >= 0 ? 0 : vqp_error_set(error, VQP_CNI_ERROR_IO, "CNI_NETNS %s: %s", args->netns,
						    strerror(-*fd));
	}
}

/* Checks that the limits in `set` include those in `wanted`; `reason` is the error's text. */
static int check_limits(const json_t *set, const json_t *wanted, const char *reason, struct vqp_error *error)
{
	const char *name;
	json_t *max;

	json_object_foreach((json_t *)wanted, name, max) {
		if (json_equal(json_object_get(set, name), max))
			continue;
		vqp_error_set(error, VQP_CNI_ERROR_CHECK, "%s", reason);
		return vqp_error_add_context(error, "the VQP namespace's limit \"%s\" is another", name);
	}
	return 0;
}

/*
 * Checks that the limits in `set` are not higher than those in `granted`. Whoever has lowered one
 * since the ADD, by vqpctl ns set, has not broken what the policy says.
 */
static int check_not_above(const json_t *set, const json_t *granted, struct vqp_error *error)
{
	json_auto_t *most = json_copy((json_t *)granted), *present = json_object();
	const char *name;
	json_t *max;

	json_object_foreach((json_t *)granted, name, max)
		json_object_set(present, name, json_object_get(set, name));
	if (json_object_size(present) != json_object_size(granted))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "vqpd does not say all limits of the VQP namespace");
	if (!vqp_limits_lower(most, present, error))
		return 0;
	error->code = VQP_CNI_ERROR_CHECK;
	return vqp_error_add_context(error, "the VQP namespace has more than the policy gives");
}

/* The sockets that vqpd's answer, or an item of its list, tells. */
static json_t *sockets_of(const json_t *object)
{
	json_t *sockets = json_object_get(object, "sockets");

	return sockets ? sockets : json_false();
}

/* Are sockets that are `set` what is `wanted`, which may be NULL? On, they may be so for some ports or peers. */
static bool are_wanted(const json_t *set, const json_t *wanted)
{
	if (!wanted)
		return true;
	if (json_is_true(wanted))
		return !json_is_false(set);
	return vqp_sockets_include(set, wanted) && vqp_sockets_include(wanted, set);
}

/* The caller reports the failure that made the undo necessary. A failure of the undo is ignored. */
void vqp_attachment_undo(const struct vqp_args *args, const struct vqp_config *config, int netns_fd)
{
	cleanup_error struct vqp_error error = { 0 };
	bool away = false;

	if (vqp_ask_del(config, args->container_id, args->ifname, netns_fd, &away, "undo the ADD of", &error))
		fprintf(stderr, "vqp: %s\n", vqp_error_text(&error));
}

/* Asks for the VQP namespace. vqpd's answer is *reply, which the caller releases. */
static int ask_add(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
		   const json_t *result, int netns_fd, json_t **reply, struct vqp_error *error)
{
	json_auto_t *request = request_of(args, config, wish, result, netns_fd, error);
	json_auto_t *name = json_pack("{s:s, s:s, s:s, s:s}", "op", "add", "id", args->container_id,
				      "ifname", args->ifname, "network", config->name);

	if (!request)
		return error->code;
	if (!name || json_object_update(request, name))
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	return vqp_ask(config, request, netns_fd, reply, "make the VQP namespace of", args->container_id, error);
}

int vqp_attachment_add(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
		       int netns_fd, json_t **result, struct vqp_error *error)
{
	json_auto_t *parsed = previous(config, error), *out = NULL, *reply = NULL;

	if (!parsed)
		return error->code;
	/* The answer is formatted first: if that fails, nothing has been made. */
	out = vqp_result_format(parsed, config->version, error);
	if (!out || ask_add(args, config, wish, parsed, netns_fd, &reply, error))
		return error->code;
	if (check_limits(json_object_get(reply, "limits"), wish->terms.limits,
			 "vqpd has not set it: it is not of this plugin's version; install both of one", error)) {
		vqp_attachment_undo(args, config, netns_fd);
		return error->code;
	}
	if (!are_wanted(sockets_of(reply), wish->terms.sockets)) {
		vqp_attachment_undo(args, config, netns_fd);
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "vqpd has not set \"sockets\" as they are asked for: it is not of "
				     "this plugin's version; install both of one");
	}
	*result = json_incref(out);
	return 0;
}

/*
 * DEL works while vqpd is away, by the kernel, because the network namespace may live on: the pod
 * may be given another, or an engine keep it.
 */
int vqp_attachment_del(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error)
{
	cleanup_close int netns_fd = -1;
	bool away = false;

	if (open_netns_left(args, &netns_fd, error))
		return error->code;
	return vqp_ask_del(config, args->container_id, args->ifname, netns_fd, &away, "delete the VQP namespace of", error);
}

static int is_member(const json_t *item, const char *name, const char *wanted)
{
	const char *text = json_string_value(json_object_get(item, name));

	return !text || !strcmp(text, wanted);
}

static int is_own(const struct vqp_args *args, const struct vqp_config *config, const json_t *item)
{
	return is_member(item, "id", args->container_id) && is_member(item, "ifname", args->ifname) &&
	       is_member(item, "network", config->name);
}

/*
 * Of the VQP namespaces of a network namespace, returns the one of this attachment, or another if
 * it has none; NULL if there is none at all.
 */
static const json_t *find_in(const json_t *list, uint32_t inode, const struct vqp_args *args,
			     const struct vqp_config *config)
{
	const json_t *item, *found = NULL;
	size_t i;

	json_array_foreach(list, i, item)
		if (json_integer_value(json_object_get(item, "netns_ino")) == (json_int_t)inode &&
		    (!found || is_own(args, config, item)))
			found = item;
	return found;
}

static int check_sockets(const json_t *item, const struct vqp_wish *wish, const json_t *terms, struct vqp_error *error)
{
	const json_t *set = sockets_of(item);

	if (!are_wanted(set, wish->terms.sockets))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace's \"sockets\" are others than are asked for: "
				     "they were changed, by vqpctl ns set or in what is asked for");
	if (!vqp_sockets_include(sockets_of(terms), set))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace has more or other \"sockets\" than the policy gives");
	return 0;
}

/* Compares the item of a list with the terms that vqpd has answered, and the limits with the wish, too. */
static int compare(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
		   const json_t *terms, const json_t *item, struct vqp_error *error)
{
	const char *found = json_string_value(json_object_get(item, "gid"));
	const char *address = json_string_value(json_object_get(terms, "address"));
	const json_int_t tenant = json_integer_value(json_object_get(terms, "tenant"));
	uint8_t gid[16], found_gid[16];

	if (!is_own(args, config, item))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace is that of another attachment, %s",
				     json_string_value(json_object_get(item, "name")));
	if (json_integer_value(json_object_get(item, "tenant")) != tenant || !found || !address ||
	    vqp_address_parse(found, found_gid) || vqp_address_parse(address, gid) ||
	    memcmp(found_gid, gid, sizeof(gid)))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK,
				     "the VQP namespace is not that of %s in tenant %lld, which the policy gives",
				     address ? address : "", (long long)tenant);
	if (check_limits(item, wish->terms.limits, "it was changed: by vqpctl ns set, or in what is asked for", error))
		return error->code;
	if (check_not_above(item, json_object_get(terms, "limits"), error))
		return error->code;
	return check_sockets(item, wish, terms, error);
}

/* Asks for the terms that an ADD would get now. vqpd's answer is *terms, which the caller releases. */
static int ask_terms(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
		     int netns_fd, json_t **terms, struct vqp_error *error)
{
	json_auto_t *result = previous(config, error), *request = NULL;

	if (result)
		request = request_of(args, config, wish, result, netns_fd, error);
	if (!request)
		return error->code;
	if (json_object_set_new(request, "op", json_string("policy")))
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	return vqp_ask(config, request, -1, terms, "say what the policy gives to", args->container_id, error);
}

int vqp_attachment_check(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
			 struct vqp_error *error)
{
	json_auto_t *terms = NULL, *request = json_pack("{s:s}", "op", "list"), *reply = NULL;
	cleanup_close int netns_fd = -1;
	const json_t *item;

	if (vqp_attachment_open(args, &netns_fd, error) ||
	    ask_terms(args, config, wish, netns_fd, &terms, error) ||
	    vqp_ask(config, request, -1, &reply, "look at the VQP namespace of", args->container_id, error))
		return error->code;
	item = find_in(json_object_get(reply, "namespaces"), vqp_netns_inode(netns_fd), args, config);
	if (!item)
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace of %s is missing", args->container_id);
	return compare(args, config, wish, terms, item, error);
}
