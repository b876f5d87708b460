// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "../common/error.h"
#include "limits.h"

const struct vqp_limits_kind vqp_limits_kinds[VQP_LIMITS_COUNT] = {
	[VQP_LIMITS_VQPS]	= { "max_vqps", 1, UINT32_MAX, true },
	[VQP_LIMITS_MRS]	= { "max_mrs", 1, UINT32_MAX, true },
	[VQP_LIMITS_BYTES]	= { "max_bytes", 1, INT64_MAX, true },
	[VQP_LIMITS_RATE]	= { "max_rate", VQP_LIMITS_LEAST_RATE, INT64_MAX, true },
	[VQP_LIMITS_PRIORITY]	= { "priority", VQP_LIMITS_LOW, VQP_LIMITS_HIGH, false },
};

const struct vqp_limits vqp_limits_default = { .max[VQP_LIMITS_PRIORITY] = VQP_LIMITS_NORMAL };

static bool is_within(const struct vqp_limits_kind *kind, const json_t *value)
{
	const json_int_t number = json_integer_value(value);

	return json_is_integer(value) &&
	       ((!number && kind->may_be_none) || (number >= kind->min && number <= kind->max));
}

static int find(const char *name)
{
	int i = 0;

	while (i < VQP_LIMITS_COUNT && strcmp(vqp_limits_kinds[i].name, name))
		i++;
	return i;
}

int vqp_limits_parse(struct vqp_limits *limits, const json_t *object, struct vqp_error *error)
{
	const char *name;
	json_t *value;

	if (object && !json_is_object(object))
		return vqp_error_set(error, -EINVAL, "\"limits\" must be an object");
	json_object_foreach((json_t *)object, name, value) {
		int i = find(name);

		if (i == VQP_LIMITS_COUNT)
			return vqp_error_set(error, -EINVAL, "\"limits\" knows max_vqps, max_mrs, max_bytes, max_rate and "
					     "priority, not \"%s\"", name);
		if (!is_within(&vqp_limits_kinds[i], value))
			return vqp_error_set(error, -EINVAL, "\"%s\" must be %sa number from %lld to %lld", name,
					     vqp_limits_kinds[i].may_be_none ? "0 (no limit) or " : "",
					     (long long)vqp_limits_kinds[i].min, (long long)vqp_limits_kinds[i].max);
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
