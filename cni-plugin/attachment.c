// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common/address.h"
#include "../common/cleanup.h"
#include "../common/netns.h"
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

/* Returns the result of the plugins before this one, a new object, and sets the address. */
static json_t *previous(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_grant *grant,
			int netns_fd, char *address, struct vqp_error *error)
{
	const char *wanted = *grant->terms.address ? grant->terms.address : NULL;
	json_auto_t *result = NULL;

	if (!config->prev_result) {
		vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
			      "no prevResult: vqp is a chained plugin, put it behind bridge, ptp or the like");
		return NULL;
	}
	result = vqp_result_parse(config->prev_result, config->version, error);
	if (!result)
		return NULL;
	if (wanted && !grant->must_have_address)
		strcpy(address, wanted);
	else if (vqp_result_address(result, args->ifname, wanted, netns_fd, address, error))
		return NULL;
	return json_incref(result);
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
		return vqp_error_add_context(error, "the VQP namespace's limit \"%s\" is not as granted", name);
	}
	return 0;
}

/* The caller reports the failure that made the undo necessary. A failure of the undo is ignored. */
void vqp_attachment_undo(const struct vqp_args *args, const struct vqp_config *config, int netns_fd)
{
	cleanup_error struct vqp_error error = { 0 };
	bool away = false;

	if (vqp_ask_del(config, args->container_id, args->ifname, netns_fd, &away, "undo the ADD of", &error))
		fprintf(stderr, "vqp: %s\n", vqp_error_text(&error));
}

int vqp_attachment_add(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_grant *grant,
		       int netns_fd, json_t **result, struct vqp_error *error)
{
	json_auto_t *parsed = NULL, *out = NULL, *request = NULL, *reply = NULL;
	char address[INET6_ADDRSTRLEN];

	parsed = previous(args, config, grant, netns_fd, address, error);
	if (!parsed)
		return error->code;
	/* The answer is formatted first: if that fails, nothing has been made. */
	out = vqp_result_format(parsed, config->version, error);
	if (!out)
		return error->code;

	request = json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:O*}", "op", "add", "id", args->container_id,
			    "ifname", args->ifname, "network", config->name,
			    "tenant", (json_int_t)grant->terms.tenant, "address", address, "limits", grant->terms.limits);
	if (vqp_ask(config, request, netns_fd, &reply, "make the VQP namespace of", address, error))
		return error->code;
	/* An older vqpd ignores limits that it does not know. */
	if (check_limits(json_object_get(reply, "limits"), grant->terms.limits,
			 "vqpd has not set it: it is older than this plugin; install both of one version", error)) {
		vqp_attachment_undo(args, config, netns_fd);
		return error->code;
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

static int compare(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_grant *grant,
		   const char *address, const json_t *item, struct vqp_error *error)
{
	const char *found = json_string_value(json_object_get(item, "gid"));
	uint8_t gid[16], found_gid[16];

	if (!is_own(args, config, item))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace is that of another attachment, %s",
				     json_string_value(json_object_get(item, "name")));
	if (json_integer_value(json_object_get(item, "tenant")) != grant->terms.tenant || !found ||
	    vqp_address_parse(found, found_gid) || vqp_address_parse(address, gid) ||
	    memcmp(found_gid, gid, sizeof(gid)))
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace is not that of %s in tenant %u",
				     address, grant->terms.tenant);
	return check_limits(item, grant->terms.limits, "it was changed: vqpctl ns set", error);
}

int vqp_attachment_check(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_grant *grant,
			 struct vqp_error *error)
{
	json_auto_t *result = NULL, *request = NULL, *reply = NULL;
	char address[INET6_ADDRSTRLEN];
	cleanup_close int netns_fd = -1;
	const json_t *item;

	if (vqp_attachment_open(args, &netns_fd, error))
		return error->code;
	result = previous(args, config, grant, netns_fd, address, error);
	if (!result)
		return error->code;
	request = json_pack("{s:s}", "op", "list");
	if (vqp_ask(config, request, -1, &reply, "look at the VQP namespace of", args->container_id, error))
		return error->code;
	item = find_in(json_object_get(reply, "namespaces"), vqp_netns_inode(netns_fd), args, config);
	if (!item)
		return vqp_error_set(error, VQP_CNI_ERROR_CHECK, "the VQP namespace of %s is missing", address);
	return compare(args, config, grant, address, item, error);
}
