// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>

#include "limits.h"
#include "sockets.h"
#include "terms.h"

int vqp_terms_check_tenant(const json_t *tenant, struct vqp_error *error)
{
	const json_int_t number = json_integer_value(tenant);

	if (!json_is_integer(tenant) || number < 1 || number > UINT32_MAX)
		return vqp_error_set(error, -EINVAL, "\"tenant\" must be a number from 1 to %u", UINT32_MAX);
	return 0;
}

static int parse_address(struct vqp_terms *terms, const json_t *address, struct vqp_error *error)
{
	const char *text = json_string_value(address);
	uint8_t gid[16];

	if (!text || vqp_address_parse_unicast(text, gid))
		return vqp_error_set(error, -EINVAL, "\"address\" must be one container's IPv4 or IPv6 address, not \"%s\"",
				     text ? text : "");
	vqp_address_format(gid, terms->address);
	return 0;
}

int vqp_terms_parse(struct vqp_terms *terms, const json_t *object, struct vqp_error *error)
{
	const json_t *tenant = json_object_get(object, "tenant"), *address = json_object_get(object, "address");
	json_t *limits = json_object_get(object, "limits"), *sockets = json_object_get(object, "sockets");

	*terms = (struct vqp_terms){ 0 };
	if ((tenant && vqp_terms_check_tenant(tenant, error)) ||
	    (address && parse_address(terms, address, error)) ||
	    (limits && vqp_limits_check(limits, error)) ||
	    (sockets && !(terms->sockets = vqp_sockets_read(sockets, error))))
		return error->code;
	terms->tenant = json_integer_value(tenant);
	terms->limits = json_incref(limits);
	return 0;
}

json_t *vqp_terms_say(const struct vqp_terms *terms)
{
	json_t *said = json_object();

	if ((terms->tenant && json_object_set_new(said, "tenant", json_integer(terms->tenant))) ||
	    (*terms->address && json_object_set_new(said, "address", json_string(terms->address))) ||
	    (terms->limits && json_object_set(said, "limits", terms->limits)) ||
	    (terms->sockets && json_object_set(said, "sockets", terms->sockets))) {
		json_decref(said);
		return NULL;
	}
	return said;
}

void vqp_terms_clear(struct vqp_terms *terms)
{
	json_decref(terms->limits);
	json_decref(terms->sockets);
	*terms = (struct vqp_terms){ 0 };
}
