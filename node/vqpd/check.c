/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The checks of request.h, which come before any part of a request is carried out. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "../../common/error.h"
#include "../../common/name.h"
#include "../reply.h"
#include "request.h"

/* Is the text of printable ASCII without blanks and slashes? */
static bool is_word(const char *text)
{
	const char *c = text;

	while (*c > ' ' && *c <= '~' && *c != '/')
		c++;
	return c > text && !*c;
}

static bool is_ifname(const char *text)
{
	return is_word(text) && strlen(text) < IFNAMSIZ && !strchr(text, ':') &&
	       strcmp(text, ".") && strcmp(text, "..");
}

static const char *get_string(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static json_t *check_name(const json_t *object, char name[VQP_NAME_MAX])
{
	const char *id = get_string(object, "id"), *ifname = get_string(object, "ifname");
	const json_t *network = json_object_get(object, "network");
	size_t bytes;

	if (!id || !is_word(id))
		return vqp_reply_error(EINVAL, "id is a container's id: printable, without blanks and slashes");
	if (!ifname || !is_ifname(ifname))
		return vqp_reply_error(EINVAL, "ifname is an interface's name, at most %d characters", IFNAMSIZ - 1);
	if (json_is_null(network))
		network = NULL;
	if (network && (!json_is_string(network) || !is_word(json_string_value(network))))
		return vqp_reply_error(EINVAL, "network is a network's name: printable, without blanks and slashes");
	if (vqp_name_write(name, id, ifname, json_string_value(network)))
		return NULL;
	bytes = strlen(id) + strlen(ifname) + (network ? json_string_length(network) + 2 : 1);
	/* With a colon it is none that a user has named: vqp-hook has written its own there. */
	return vqp_reply_error(ENAMETOOLONG, "the container's id%s is too long by %zu characters",
			       network && !strchr(json_string_value(network), ':') ? ", or the network's name," : "",
			       bytes - (VQP_NAME_MAX - 1));
}

json_t *vqp_request_check_add(const json_t *object, struct vqp_request *request)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *refusal;

	*request = (struct vqp_request){ 0 };
	refusal = check_name(object, request->name);
	if (refusal)
		return refusal;
	if (vqp_claim_parse(&request->claim, object, &error))
		return vqp_reply_error(error.code, "%s", vqp_error_text(&error));
	return NULL;
}

void vqp_request_clear(struct vqp_request *request)
{
	vqp_claim_clear(&request->claim);
	vqp_terms_clear(&request->terms);
	json_decref(request->rule);
	*request = (struct vqp_request){ 0 };
}

/* Are the members well-formed, whether or not an add would take their values? */
static bool names_attachment(const json_t *object)
{
	const json_t *network = json_object_get(object, "network");

	return get_string(object, "id") && get_string(object, "ifname") &&
	       (!network || json_is_null(network) || json_is_string(network));
}

json_t *vqp_request_check_del(const json_t *object, struct vqp_request *request)
{
	json_t *refusal = check_name(object, request->name);
	const json_t *netns = json_object_get(object, "netns");

	request->has_netns = json_is_true(netns);
	/* To ignore the path of an older client would delete in every network namespace. */
	if (netns && !json_is_null(netns) && !request->has_netns) {
		json_decref(refusal);
		return vqp_reply_error(EINVAL, "netns is true if a network namespace comes as a descriptor: is the "
				       "client of another version than vqpd?");
	}
	if (!refusal || !names_attachment(object))
		return refusal;
	json_decref(refusal);
	return json_pack("{s:b, s:i}", "ok", 1, "deleted", 0);
}
