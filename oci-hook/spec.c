// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * This file uses json-c and not jansson, because all that is not vqp's must come out unchanged, and
 * jansson has no integers above 2^63 - 1: a specification writes an unlimited rlimit as 2^64 - 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "../common/error.h"
#include "../include/uapi/linux/vqp.h"
#include "spec.h"

#define MAX_DEPTH	64
#define HOOK_TIMEOUT_S	30	/* longer than a call of vqpd may take */
#define NETWORK_TIMEOUT_S	200	/* longer than all plugins together may take */
#define NETWORK		"io.vqp.network"	/* VQP_WISH_NETWORK of wish.h */

static void free_tokener(json_tokener **tokener)
{
	if (*tokener)
		json_tokener_free(*tokener);
}

#define cleanup_tokener	__attribute__((cleanup(free_tokener)))

static int parse(const char *text, size_t bytes, json_object **spec, struct vqp_error *error)
{
	cleanup_tokener json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);

	if (!tokener)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* The text is passed with its NUL, by which the parser knows that it ends. */
	*spec = json_tokener_parse_ex(tokener, text, bytes + 1);
	if (json_tokener_get_error(tokener) != json_tokener_success)
		return vqp_error_set(error, -EINVAL, VQP_SPEC_FILE " is not JSON: %s",
				     json_tokener_error_desc(json_tokener_get_error(tokener)));
	if (!json_object_is_type(*spec, json_type_object))
		return vqp_error_set(error, -EINVAL, VQP_SPEC_FILE " is not a JSON object");
	return 0;
}

/* Returns the member `key`, which is made if it is missing; NULL if it is of another type. */
static json_object *member(json_object *parent, const char *key, json_type type, struct vqp_error *error)
{
	json_object *child = NULL;

	if (!parent)
		return NULL;
	if (!json_object_object_get_ex(parent, key, &child) || !child) {
		child = type == json_type_array ? json_object_new_array() : json_object_new_object();
		json_object_object_add(parent, key, child);
	}
	if (json_object_is_type(child, type))
		return child;
	vqp_error_set(error, -EINVAL, VQP_SPEC_FILE ": \"%s\" must be an %s", key, json_type_to_name(type));
	return NULL;
}

static int same_path(json_object *one, json_object *other)
{
	json_object *one_path = NULL, *other_path = NULL;

	return json_object_object_get_ex(one, "path", &one_path) &&
	       json_object_object_get_ex(other, "path", &other_path) &&
	       json_object_equal(one_path, other_path);
}

/*
 * Removes the items that are like `item`, and appends it, which consumes it. The new item is last,
 * because the last matching device rule counts.
 */
static void put_last(json_object *array, json_object *item, int (*alike)(json_object *, json_object *))
{
	for (size_t i = json_object_array_length(array); i-- > 0;)
		if (alike(json_object_array_get_idx(array, i), item))
			json_object_array_del_idx(array, i, 1);
	json_object_array_add(array, item);
}

static void add_string(json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

static void add_int(json_object *object, const char *key, int64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

static json_object *new_device(dev_t device)
{
	json_object *object = json_object_new_object();

	add_string(object, "path", VQP_DEVICE_PATH);
	add_string(object, "type", "c");
	add_int(object, "major", major(device));
	add_int(object, "minor", minor(device));
	add_int(object, "fileMode", 0666);
	add_int(object, "uid", 0);
	add_int(object, "gid", 0);
	return object;
}

static json_object *new_rule(dev_t device)
{
	json_object *object = json_object_new_object();

	json_object_object_add(object, "allow", json_object_new_boolean(1));
	add_string(object, "type", "c");
	add_int(object, "major", major(device));
	add_int(object, "minor", minor(device));
	add_string(object, "access", "rw");
	return object;
}

/* Returns a new hook, with `option` as an argument unless it is NULL. */
static json_object *new_hook(const char *path, const char *stage, const char *option, int timeout_s)
{
	json_object *object = json_object_new_object(), *args = json_object_new_array();
	const char *slash = strrchr(path, '/');

	json_object_array_add(args, json_object_new_string(slash ? slash + 1 : path));
	json_object_array_add(args, json_object_new_string(stage));
	if (option)
		json_object_array_add(args, json_object_new_string(option));
	add_string(object, "path", path);
	json_object_object_add(object, "args", args);
	add_int(object, "timeout", timeout_s);
	return object;
}

/*
 * Does the container ask for a network, by an annotation, or by default if `network` is not NULL?
 * Returns 1 or 0.
 */
static int wants_network(json_object *spec, const char *network, struct vqp_error *error)
{
	json_object *annotations = NULL;

	json_object_object_get_ex(spec, "annotations", &annotations);
	if (json_object_is_type(annotations, json_type_object) &&
	    json_object_object_get_ex(annotations, NETWORK, NULL))
		return 1;
	if (!network)
		return 0;
	annotations = member(spec, "annotations", json_type_object, error);
	if (!annotations)
		return -EINVAL;
	add_string(annotations, NETWORK, network);
	return 1;
}

/* Returns a string, or the first of an array of strings; "" for anything else. */
static const char *text_of(json_object *value)
{
	if (json_object_is_type(value, json_type_array))
		value = json_object_array_get_idx(value, 0);
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static const char *text_member(json_object *object, const char *key)
{
	json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return text_of(value);
}

/*
 * Is there an element whose member `key` has this text, and whose member `without`, if that is not
 * NULL, is empty? Returns 1 or 0.
 */
static int array_has(json_object *array, const char *key, const char *text, const char *without)
{
	size_t count = json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;

	for (size_t i = 0; i < count; i++) {
		json_object *item = json_object_array_get_idx(array, i);

		if (!strcmp(text_member(item, key), text) && (!without || !*text_member(item, without)))
			return 1;
	}
	return 0;
}

/*
 * Is a new network namespace made with the container, without a hook that is known to set up its
 * network before the start? Docker up to 27 has such a hook. From 28 on it sets up the network
 * between create and start, and so does podman with a user namespace.
 */
static int is_late(json_object *linux, json_object *hooks)
{
	json_object *namespaces = NULL, *prestart = NULL;

	json_object_object_get_ex(linux, "namespaces", &namespaces);
	json_object_object_get_ex(hooks, "prestart", &prestart);
	return array_has(namespaces, "type", "network", "path") &&
	       !array_has(prestart, "args", "libnetwork-setkey", NULL);
}

static int edit(json_object *spec, const struct vqp_grant *grant, struct vqp_error *error)
{
	json_object *linux = member(spec, "linux", json_type_object, error);
	json_object *devices = member(linux, "devices", json_type_array, error);
	json_object *resources = devices ? member(linux, "resources", json_type_object, error) : NULL;
	json_object *rules = member(resources, "devices", json_type_array, error);
	json_object *hooks = rules ? member(spec, "hooks", json_type_object, error) : NULL;
	json_object *create = member(hooks, grant->stage, json_type_array, error);
	json_object *poststop = create ? member(hooks, "poststop", json_type_array, error) : NULL;
	int networked = poststop ? wants_network(spec, grant->network, error) : -EINVAL;
	bool late;

	if (networked < 0)
		return networked;
	late = grant->late && !networked && is_late(linux, hooks);
	if (grant->late)
		*grant->late = late;
	put_last(devices, new_device(grant->device), same_path);
	put_last(rules, new_rule(grant->device), json_object_equal);
	if (networked)
		put_last(create, new_hook(grant->network_hook, grant->stage, NULL, NETWORK_TIMEOUT_S), same_path);
	put_last(create, new_hook(grant->hook, grant->stage, late ? "late" : NULL, HOOK_TIMEOUT_S), same_path);
	put_last(poststop, new_hook(grant->hook, "poststop", NULL, HOOK_TIMEOUT_S), same_path);
	if (networked)
		put_last(poststop, new_hook(grant->network_hook, "poststop", NULL, NETWORK_TIMEOUT_S), same_path);
	return 0;
}

int vqp_spec_edit(const char *text, size_t bytes, const struct vqp_grant *grant, json_object **spec,
		  struct vqp_error *error)
{
	int ret;

	*spec = NULL;
	ret = parse(text, bytes, spec, error);
	if (!ret)
		ret = edit(*spec, grant, error);
	if (!ret)
		return 0;
	json_object_put(*spec);
	*spec = NULL;
	return ret;
}
