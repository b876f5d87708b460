// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common/error.h"
#include "name.h"
#include "wish.h"

/* strtoll() takes signs and spaces, which are no numbers here. */
static int parse_number(const char *key, const char *text, int64_t min, int64_t max, int64_t *number, struct vqp_error *error)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *number < min || *number > max)
		return vqp_error_set(error, -EINVAL, "annotation %s: \"%s\" is not from %lld to %lld", key, text,
				     (long long)min, (long long)max);
	return 0;
}

static int parse_address(struct vqp_wish *wish, const char *text, struct vqp_error *error)
{
	uint8_t gid[16];

	if (vqp_address_parse_unicast(text, gid))
		return vqp_error_set(error, -EINVAL,
				     "annotation " VQP_WISH_ADDRESS ": \"%s\" is no address of a container", text);
	vqp_address_format(gid, wish->address);
	return 0;
}

static int parse_network(struct vqp_wish *wish, const char *text, struct vqp_error *error)
{
	if (!vqp_name_is_valid(text))
		return vqp_error_set(error, -EINVAL,
				     "annotation " VQP_WISH_NETWORK ": \"%s\" is no name of a network list", text);
	wish->network = text;
	return 0;
}

static int parse_one(struct vqp_wish *wish, const char *key, const char *text, struct vqp_error *error)
{
	const char *name = key + strlen(VQP_WISH_PREFIX);
	int64_t tenant;
	int ret;

	if (!strcmp(key, VQP_WISH_ADDRESS))
		return parse_address(wish, text, error);
	if (!strcmp(key, VQP_WISH_NETWORK))
		return parse_network(wish, text, error);
	if (!strcmp(key, VQP_WISH_TENANT)) {
		ret = parse_number(key, text, 1, UINT32_MAX, &tenant, error);
		wish->tenant = ret ? 0 : tenant;
		return ret;
	}
	for (int i = 0; i < VQP_LIMITS_COUNT; i++)
		if (!strcmp(name, vqp_limits_kinds[i].name))
			return parse_number(key, text, vqp_limits_kinds[i].min, vqp_limits_kinds[i].max,
					    &wish->limits.max[i], error);
	return vqp_error_set(error, -EINVAL, "annotation %s is not known: there are " VQP_WISH_TENANT ", "
			     VQP_WISH_ADDRESS ", " VQP_WISH_NETWORK " and " VQP_WISH_PREFIX "max_vqps, max_mrs, max_bytes, "
			     "max_rate and priority", key);
}

int vqp_wish_parse(struct vqp_wish *wish, const json_t *annotations, struct vqp_error *error)
{
	const char *key;
	json_t *value;
	int ret;

	*wish = (struct vqp_wish){ 0 };
	if (annotations && !json_is_null(annotations) && !json_is_object(annotations))
		return vqp_error_set(error, -EINVAL, "the container's state: \"annotations\" must be an object");
	json_object_foreach((json_t *)annotations, key, value) {
		if (strncmp(key, VQP_WISH_PREFIX, strlen(VQP_WISH_PREFIX)))
			continue;
		if (!json_is_string(value))
			return vqp_error_set(error, -EINVAL, "annotation %s must be a string", key);
		ret = parse_one(wish, key, json_string_value(value), error);
		if (ret)
			return ret;
	}
	return 0;
}
