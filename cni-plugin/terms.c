// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>

#include "../common/address.h"
#include "terms.h"

#define DEFAULT_TENANT		1
#define DEFAULT_PRIORITY	2

static int parse_tenant(uint32_t *tenant, const json_t *value, const char *where, struct vqp_error *error)
{
	if (!value)
		return 0;
	if (!json_is_integer(value))
		return vqp_error_set(error, VQP_ERROR_DECODE, "%s: \"tenant\" must be an integer", where);
	if (json_integer_value(value) < 1 || json_integer_value(value) > UINT32_MAX)
		return vqp_error_set(error, VQP_ERROR_CONFIG, "%s: \"tenant\" must be from 1 to %u", where, UINT32_MAX);
	*tenant = json_integer_value(value);
	return 0;
}

static int parse_address(const char **address, const json_t *value, const char *where, struct vqp_error *error)
{
	uint8_t gid[16];

	if (!value)
		return 0;
	*address = json_string_value(value);
	if (!*address)
		return vqp_error_set(error, VQP_ERROR_DECODE, "%s: \"address\" must be a string", where);
	if (vqp_address_parse_unicast(*address, gid))
		return vqp_error_set(error, VQP_ERROR_CONFIG,
				     "%s: \"address\" must be one container's IPv4 or IPv6 address", where);
	return 0;
}

static int parse_limits(json_t **limits, json_t *value, const char *where, struct vqp_error *error)
{
	const char *name;
	json_t *max;

	if (!value)
		return 0;
	if (!json_is_object(value))
		return vqp_error_set(error, VQP_ERROR_DECODE, "%s: \"limits\" must be an object", where);
	json_object_foreach(value, name, max) {
		if (!json_is_integer(max))
			return vqp_error_set(error, VQP_ERROR_DECODE, "%s: the limit \"%s\" must be an integer", where, name);
		if (json_integer_value(max) < 0)
			return vqp_error_set(error, VQP_ERROR_CONFIG, "%s: the limit \"%s\" must not be negative (0: none)",
					     where, name);
	}
	*limits = value;
	return 0;
}

/* Adds to *said what one of them says; it belongs to `object`, which may be NULL. */
static int parse(struct vqp_terms *said, const json_t *object, const char *where, struct vqp_error *error)
{
	if (parse_tenant(&said->tenant, json_object_get(object, "tenant"), where, error) ||
	    parse_address(&said->address, json_object_get(object, "address"), where, error) ||
	    parse_limits(&said->limits, json_object_get(object, "limits"), where, error))
		return error->code;
	return 0;
}

/* An object in `object`; NULL if there is none, or it is null. */
static const json_t *get_object(const json_t *object, const char *name, const char *where, struct vqp_error *error)
{
	const json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return NULL;
	if (!json_is_object(value))
		vqp_error_set(error, VQP_ERROR_DECODE, "%s must be an object", where);
	return value;
}

/* The same of an object that is ours alone, so that what is misspelt there is not lost. */
static int parse_own(struct vqp_terms *said, const json_t *parent, const char *where, struct vqp_error *error)
{
	const json_t *object = get_object(parent, "vqp", where, error);
	const char *name;
	json_t *value;

	if (error->code)
		return error->code;
	json_object_foreach((json_t *)object, name, value)
		if (strcmp(name, "tenant") && strcmp(name, "address") && strcmp(name, "limits"))
			return vqp_error_set(error, VQP_ERROR_CONFIG,
					     "%s has \"tenant\", \"address\" and \"limits\", not \"%s\"", where, name);
	return parse(said, object, where, error);
}

/* No limit is the greatest one; a priority of which nothing is said is normal. */
static json_int_t most(const char *name, const json_t *granted)
{
	return granted || strcmp(name, "priority") ? json_integer_value(granted) : DEFAULT_PRIORITY;
}

static bool is_more(const json_t *asked, json_int_t max)
{
	return max && (!json_integer_value(asked) || json_integer_value(asked) > max);
}

static int lower_limits(json_t *limits, const struct vqp_terms *asked, const struct vqp_terms *runtime,
			struct vqp_error *error)
{
	const char *name;
	json_t *max;

	json_object_foreach(asked->limits, name, max) {
		const json_int_t granted = most(name, json_object_get(limits, name));

		if (json_object_get(runtime->limits, name))
			continue;
		if (is_more(max, granted))
			return vqp_error_set(error, VQP_ERROR_CONFIG,
					     "args ask for %s %lld, and the network's configuration gives %lld", name,
					     (long long)json_integer_value(max), (long long)granted);
		json_object_set(limits, name, max);
	}
	return 0;
}

static int merge_limits(struct vqp_terms *terms, const struct vqp_terms *own, const struct vqp_terms *asked,
			const struct vqp_terms *runtime, struct vqp_error *error)
{
	terms->limits = own->limits ? json_copy(own->limits) : json_object();
	if (!terms->limits)
		return vqp_error_set(error, VQP_ERROR_IO, "out of memory");
	if (lower_limits(terms->limits, asked, runtime, error))
		return error->code;
	if (runtime->limits)
		json_object_update(terms->limits, runtime->limits);
	if (!json_object_size(terms->limits)) {
		json_decref(terms->limits);
		terms->limits = NULL;
	}
	return 0;
}

static int merge(struct vqp_terms *terms, const struct vqp_terms *own, const struct vqp_terms *asked,
		 const struct vqp_terms *runtime, struct vqp_error *error)
{
	terms->tenant = runtime->tenant ? runtime->tenant : own->tenant ? own->tenant : DEFAULT_TENANT;
	if (!runtime->tenant && asked->tenant && asked->tenant != terms->tenant)
		return vqp_error_set(error, VQP_ERROR_CONFIG,
				     "args ask for tenant %u, and the network is of tenant %u: args choose no tenant",
				     asked->tenant, terms->tenant);
	terms->must_have_address = !runtime->address && asked->address;
	terms->address = runtime->address ? runtime->address : asked->address ? asked->address : own->address;
	return merge_limits(terms, own, asked, runtime, error);
}

/* What args.cni says, and CNI_ARGS where that says nothing; `limits` is a new object. */
static int read_asked(struct vqp_terms *asked, const json_t *config, const json_t *args, struct vqp_error *error)
{
	const json_t *cni = get_object(get_object(config, "args", "args", error), "cni", "args.cni", error);
	struct vqp_terms inner = { 0 }, outer = { 0 };

	*asked = (struct vqp_terms){ 0 };
	if (error->code || parse_own(&inner, cni, "args.cni.vqp", error) ||
	    parse(&outer, args, "CNI_ARGS", error))
		return error->code;
	asked->tenant = inner.tenant ? inner.tenant : outer.tenant;
	asked->address = inner.address ? inner.address : outer.address;
	asked->limits = outer.limits ? json_copy(outer.limits) : json_object();
	if (!asked->limits || (inner.limits && json_object_update(asked->limits, inner.limits)))
		return vqp_error_set(error, VQP_ERROR_IO, "out of memory");
	return 0;
}

int vqp_terms_read(struct vqp_terms *terms, const json_t *config, const json_t *args, struct vqp_error *error)
{
	const json_t *runtime_config = get_object(config, "runtimeConfig", "runtimeConfig", error);
	struct vqp_terms own = { 0 }, asked = { 0 }, runtime = { 0 };

	*terms = (struct vqp_terms){ 0 };
	if (!error->code && !parse(&own, config, "the network's configuration", error) &&
	    !parse_own(&runtime, runtime_config, "runtimeConfig.vqp", error) &&
	    !read_asked(&asked, config, args, error))
		merge(terms, &own, &asked, &runtime, error);
	vqp_terms_clear(&asked);
	if (error->code)
		vqp_terms_clear(terms);
	return error->code;
}

void vqp_terms_clear(struct vqp_terms *terms)
{
	json_decref(terms->limits);
	terms->limits = NULL;
}
