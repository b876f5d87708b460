// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "../common/limits.h"
#include "../common/sockets.h"
#include "spelling.h"
#include "wish.h"

/* Turns an error of common/ into one of the plugin. */
static int refuse(struct vqp_error *error, const char *where)
{
	error->code = error->code == -ENOMEM ? VQP_CNI_ERROR_IO : VQP_CNI_ERROR_CONFIG;
	return vqp_error_add_context(error, "%s", where);
}

static int parse(struct vqp_terms *said, const json_t *object, const char *where, struct vqp_error *error)
{
	return vqp_terms_parse(said, object, error) ? refuse(error, where) : 0;
}

/* Returns a member that is an object; NULL if it is missing or null, or with the error set. */
static const json_t *get_object(const json_t *object, const char *name, const char *where, struct vqp_error *error)
{
	const json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return NULL;
	if (!json_is_object(value))
		vqp_error_set(error, VQP_CNI_ERROR_DECODE, "%s must be an object", where);
	return value;
}

/* Parses an object of this plugin's own, in which unknown members are errors. */
static int parse_own(struct vqp_terms *said, const json_t *parent, const char *where, struct vqp_error *error)
{
	const json_t *object = get_object(parent, "vqp", where, error);
	const char *name;
	json_t *value;

	if (error->code)
		return error->code;
	json_object_foreach((json_t *)object, name, value)
		if (strcmp(name, "tenant") && strcmp(name, "address") && strcmp(name, "limits") && strcmp(name, "sockets"))
			return vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
					     "%s has \"tenant\", \"address\", \"limits\" and \"sockets\", not \"%s\"", where, name);
	return parse(said, object, where, error);
}

static const char *const own_members[] = { "tenant", "address", "limits", "sockets", "vqpd", "runtimeConfig", NULL };

/* Checks a member of the configuration that is none of the plugin's own. */
static int check_foreign(const char *name, const json_t *limits, struct vqp_error *error)
{
	const char *limit;
	json_t *value;

	for (const char *const *own = own_members; *own; own++)
		if (vqp_spelling_is_like(name, *own))
			return vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
					     "the network's configuration has \"%s\": \"%s\" is meant?", name, *own);
	json_object_foreach((json_t *)limits, limit, value)
		if (vqp_spelling_is_like(name, limit))
			return vqp_error_set(error, VQP_CNI_ERROR_CONFIG, "the network's configuration has \"%s\": "
					     "\"%s\" is meant, in \"limits\"?", name, limit);
	return 0;
}

/*
 * Refuses a member of the configuration that is like one of the plugin's own and is none: a tenant
 * that is misspelt would be that of the policy. Other members are the runtime's or other plugins'.
 */
static int check_spelling(const json_t *config, struct vqp_error *error)
{
	json_auto_t *limits = vqp_limits_default();
	const char *name;
	json_t *value;

	if (!limits)
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	json_object_foreach((json_t *)config, name, value) {
		const char *const *own = own_members;

		while (*own && strcmp(name, *own))
			own++;
		if (!*own && check_foreign(name, limits, error))
			return error->code;
	}
	return 0;
}

/* The terms of each source. */
struct sources {
	struct vqp_terms own;		/* of the configuration itself */
	struct vqp_terms inner, outer;	/* of args.cni and of CNI_ARGS */
	struct vqp_terms runtime;	/* of runtimeConfig */
};

static int parse_all(struct sources *said, const json_t *config, const json_t *args, struct vqp_error *error)
{
	const json_t *runtime_config = get_object(config, "runtimeConfig", "runtimeConfig", error);
	const json_t *cni = get_object(get_object(config, "args", "args", error), "cni", "args.cni", error);

	if (error->code ||
	    check_spelling(config, error) ||
	    parse(&said->own, config, "the network's configuration", error) ||
	    parse_own(&said->runtime, runtime_config, "runtimeConfig.vqp", error) ||
	    parse_own(&said->inner, cni, "args.cni.vqp", error) ||
	    parse(&said->outer, args, "CNI_ARGS", error))
		return error->code;
	return 0;
}

static void clear_all(struct sources *said)
{
	vqp_terms_clear(&said->own);
	vqp_terms_clear(&said->inner);
	vqp_terms_clear(&said->outer);
	vqp_terms_clear(&said->runtime);
}

static int choose_tenant(struct vqp_terms *terms, const struct sources *said, struct vqp_error *error)
{
	const uint32_t asked = said->inner.tenant ? said->inner.tenant : said->outer.tenant;

	terms->tenant = said->runtime.tenant ? said->runtime.tenant : said->own.tenant;
	if (!terms->tenant)
		terms->tenant = asked;
	if (!said->runtime.tenant && asked && asked != terms->tenant)
		return vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
				     "args ask for tenant %u, and the network is of tenant %u: args choose no other",
				     asked, terms->tenant);
	return 0;
}

static void choose_address(struct vqp_wish *wish, const struct sources *said)
{
	const char *asked = *said->inner.address ? said->inner.address : said->outer.address;

	wish->must_have_address = !*said->runtime.address && *asked;
	strcpy(wish->terms.address, *said->runtime.address ? said->runtime.address :
	       *asked ? asked : said->own.address);
}

/*
 * Returns the limits that the two kinds of args ask for and that runtimeConfig does not state, a
 * new object; NULL without memory.
 */
static json_t *asked_limits(const struct sources *said)
{
	json_t *asked = said->outer.limits ? json_copy(said->outer.limits) : json_object();
	const char *name;
	json_t *value;

	if (said->inner.limits && json_object_update(asked, said->inner.limits)) {
		json_decref(asked);
		return NULL;
	}
	json_object_foreach(said->runtime.limits, name, value)
		json_object_del(asked, name);
	return asked;
}

/* A limit that the configuration does not state is the policy's, which args may wish to lower. */
static int choose_limits(struct vqp_terms *terms, const struct sources *said, struct vqp_error *error)
{
	json_auto_t *limits = said->own.limits ? json_copy(said->own.limits) : json_object();
	json_auto_t *asked = asked_limits(said);

	if (!limits || !asked || json_object_update_missing(limits, asked))
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	if (vqp_limits_lower(limits, asked, error))
		return refuse(error, "args ask for more than the network's configuration gives");
	if (said->runtime.limits && json_object_update(limits, said->runtime.limits))
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	if (json_object_size(limits))
		terms->limits = json_incref(limits);
	return 0;
}

/* Of what the configuration says of sockets, args may wish for less, and of what it does not, for anything. */
static int choose_sockets(struct vqp_terms *terms, const struct sources *said, struct vqp_error *error)
{
	json_t *asked = said->inner.sockets ? said->inner.sockets : said->outer.sockets;

	terms->sockets = json_incref(said->runtime.sockets ? said->runtime.sockets : said->own.sockets ? said->own.sockets : asked);
	if (said->runtime.sockets || !asked || vqp_sockets_lower(&terms->sockets, asked))
		return 0;
	return vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
			     "args ask for \"sockets\" that the network's configuration does not give: less is false, or has its "
			     "\"only\" within theirs and all that is in their \"except\"");
}

int vqp_wish_read(struct vqp_wish *wish, const json_t *config, const json_t *args, struct vqp_error *error)
{
	struct sources said = { 0 };

	*wish = (struct vqp_wish){ 0 };
	if (!parse_all(&said, config, args, error) && !choose_tenant(&wish->terms, &said, error)) {
		choose_address(wish, &said);
		choose_limits(&wish->terms, &said, error);
		choose_sockets(&wish->terms, &said, error);
	}
	clear_all(&said);
	return error->code;
}

void vqp_wish_clear(struct vqp_wish *wish)
{
	vqp_terms_clear(&wish->terms);
}
