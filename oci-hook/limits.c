// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "error.h"
#include "limits.h"

const struct vqp_limits_kind vqp_limits_kinds[VQP_LIMITS_COUNT] = {
	{ "max_vqps", UINT32_MAX }, { "max_mrs", UINT32_MAX }, { "max_bytes", INT64_MAX },
};

static int find(const char *name)
{
	int i = 0;

	while (i < VQP_LIMITS_COUNT && strcmp(vqp_limits_kinds[i].name, name))
		i++;
	return i;
}

int vqp_limits_parse(struct vqp_limits *limits, const json_t *object, char **error)
{
	const char *name;
	json_t *value;

	if (object && !json_is_object(object))
		return vqp_error_fail(error, EINVAL, "\"limits\" must be an object");
	json_object_foreach((json_t *)object, name, value) {
		int i = find(name);

		if (i == VQP_LIMITS_COUNT)
			return vqp_error_fail(error, EINVAL, "\"limits\" knows max_vqps, max_mrs and max_bytes, not \"%s\"", name);
		if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		    json_integer_value(value) > vqp_limits_kinds[i].max)
			return vqp_error_fail(error, EINVAL, "\"%s\" must be a number from 0 (no limit) to %lld", name,
					      (long long)vqp_limits_kinds[i].max);
		limits->max[i] = json_integer_value(value);
	}
	return 0;
}

json_t *vqp_limits_json(const struct vqp_limits *limits)
{
	json_t *object = json_object();

	for (int i = 0; i < VQP_LIMITS_COUNT; i++)
		if (json_object_set_new(object, vqp_limits_kinds[i].name, json_integer(limits->max[i]))) {
			json_decref(object);
			return NULL;
		}
	return object;
}
