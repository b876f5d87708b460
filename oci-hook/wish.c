// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "../common/cni_name.h"
#include "../common/limits.h"
#include "../common/sockets.h"
#include "wish.h"

/* Returns an annotation's text as a value; NULL with *error set. */
static json_t *parse_value(const char *name, const char *text, struct vqp_error *error)
{
	json_t *value;

	if (!strcmp(name, "sockets"))
		return vqp_sockets_parse(text, error);
	value = strcmp(name, "address") ? vqp_limits_parse(text) : json_string(text);
	if (!value)
		vqp_error_set(error, -EINVAL, "\"%s\" is no number", text);
	return value;
}

/* Adds one annotation to `said`, an object in the form of vqp_terms_parse(). */
static int put(json_t *said, const char *name, const char *text, struct vqp_error *error)
{
	cleanup_terms struct vqp_terms terms = { 0 };
	json_t *value = parse_value(name, text, error);
	json_auto_t *one = NULL;

	if (!value)
		return error->code;
	one = vqp_limits_has(name) ? json_pack("{s:{s:o}}", "limits", name, value) : json_pack("{s:o}", name, value);
	if (!one)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	if (vqp_terms_parse(&terms, one, error))
		return error->code;
	return json_object_update_recursive(said, one) ? vqp_error_set(error, -ENOMEM, "out of memory") : 0;
}

static int parse_network(struct vqp_wish *wish, const char *text, struct vqp_error *error)
{
	if (!vqp_cni_name_is_valid(text))
		return vqp_error_set(error, -EINVAL, "\"%s\" is no name of a network list", text);
	wish->network = text;
	return 0;
}

static int parse_one(struct vqp_wish *wish, json_t *said, const char *name, const char *text, struct vqp_error *error)
{
	if (!strcmp(name, "network"))
		return parse_network(wish, text, error);
	if (!strcmp(name, "tenant") || !strcmp(name, "address") || !strcmp(name, "sockets") || vqp_limits_has(name))
		return put(said, name, text, error);
	return vqp_error_set(error, -EINVAL, "it is not known: there are " VQP_WISH_TENANT ", " VQP_WISH_ADDRESS ", "
			     VQP_WISH_NETWORK ", " VQP_WISH_PREFIX "sockets and " VQP_WISH_PREFIX VQP_LIMITS_NAMES);
}

/* Parses the annotations with vqp's prefix. */
static int parse_annotations(struct vqp_wish *wish, json_t *said, const json_t *annotations, struct vqp_error *error)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)annotations, key, value) {
		if (strncmp(key, VQP_WISH_PREFIX, strlen(VQP_WISH_PREFIX)))
			continue;
		if (!json_is_string(value))
			return vqp_error_set(error, -EINVAL, "annotation %s must be a string", key);
		if (parse_one(wish, said, key + strlen(VQP_WISH_PREFIX), json_string_value(value), error))
			return vqp_error_add_context(error, "annotation %s", key);
	}
	return 0;
}

int vqp_wish_parse(struct vqp_wish *wish, const json_t *annotations, struct vqp_error *error)
{
	json_auto_t *said = json_object();
	int ret;

	*wish = (struct vqp_wish){ 0 };
	if (!said)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	if (annotations && !json_is_null(annotations) && !json_is_object(annotations))
		return vqp_error_set(error, -EINVAL, "the container's state: \"annotations\" must be an object");
	ret = parse_annotations(wish, said, annotations, error);
	return ret ? ret : vqp_terms_parse(&wish->terms, said, error);
}

void vqp_wish_clear(struct vqp_wish *wish)
{
	vqp_terms_clear(&wish->terms);
}
