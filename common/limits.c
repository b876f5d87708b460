// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <linux/vqp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

static const struct kind {
	const char *name;
	json_int_t min, max;
	json_int_t normal;	/* the default; 0 stands for unlimited */
} kinds[] = {
	{ "max_vqps", 0, INT64_MAX, 0 },
	{ "max_mrs", 0, INT64_MAX, 0 },
	{ "max_bytes", 0, INT64_MAX, 0 },
	{ "max_rate", VQP_RATE_MIN, INT64_MAX, 0 },
	{ "priority", VQP_PRIORITY_LOW, VQP_PRIORITY_HIGH, VQP_PRIORITY_NORMAL },
};

#define KINDS	(sizeof(kinds) / sizeof(*kinds))

static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

bool vqp_limits_has(const char *name)
{
	return find(name);
}

static bool is_unlimited(const json_t *value)
{
	return json_is_string(value) && !strcmp(json_string_value(value), VQP_LIMITS_UNLIMITED);
}

static bool is_valid(const struct kind *kind, const json_t *value)
{
	if (is_unlimited(value))
		return !kind->normal;
	return json_is_integer(value) && json_integer_value(value) >= kind->min && json_integer_value(value) <= kind->max;
}

int vqp_limits_check(const json_t *limits, struct vqp_error *error)
{
	const char *name;
	json_t *value;

	if (limits && !json_is_object(limits))
		return vqp_error_set(error, -EINVAL, "\"limits\" must be an object of " VQP_LIMITS_NAMES);
	json_object_foreach((json_t *)limits, name, value) {
		const struct kind *kind = find(name);

		if (!kind)
			return vqp_error_set(error, -EINVAL, "\"limits\" has " VQP_LIMITS_NAMES ", not \"%s\"", name);
		if (!is_valid(kind, value))
			return vqp_error_set(error, -EINVAL, "\"%s\" must be %sa number from %lld to %lld", name,
					     kind->normal ? "" : "\"" VQP_LIMITS_UNLIMITED "\" or ",
					     (long long)kind->min, (long long)kind->max);
	}
	return 0;
}

json_t *vqp_limits_parse(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	long long number;

	if (!strcmp(text, VQP_LIMITS_UNLIMITED))
		return json_string(text);
	errno = 0;
	number = strtoll(text, NULL, 10);
	return digits && !text[digits] && !errno ? json_integer(number) : NULL;
}

static json_t *normal(const struct kind *kind)
{
	return kind->normal ? json_integer(kind->normal) : json_string(VQP_LIMITS_UNLIMITED);
}

json_t *vqp_limits_default(void)
{
	json_t *limits = json_object();

	for (size_t i = 0; i < KINDS; i++)
		if (json_object_set_new(limits, kinds[i].name, normal(&kinds[i]))) {
			json_decref(limits);
			return NULL;
		}
	return limits;
}

static bool is_more(const json_t *asked, const json_t *granted)
{
	if (is_unlimited(granted))
		return false;
	return is_unlimited(asked) || json_integer_value(asked) > json_integer_value(granted);
}

static int refuse(const char *name, const json_t *asked, const json_t *granted, struct vqp_error *error)
{
	char *asked_text = json_dumps(asked, JSON_ENCODE_ANY), *granted_text = json_dumps(granted, JSON_ENCODE_ANY);
	int ret = asked_text && granted_text
		? vqp_error_set(error, -EPERM, "%s: %s is more than %s", name, asked_text, granted_text)
		: vqp_error_set(error, -ENOMEM, "out of memory");

	free(asked_text);
	free(granted_text);
	return ret;
}

int vqp_limits_lower(json_t *granted, const json_t *asked, struct vqp_error *error)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)asked, name, value) {
		json_auto_t *most = json_incref(json_object_get(granted, name));
		const struct kind *kind = find(name);

		if (!kind)
			return vqp_error_set(error, -EINVAL, "\"%s\" is no limit", name);
		if (!most)
			most = normal(kind);
		if (most && is_more(value, most))
			return refuse(name, value, most, error);
		if (!most || json_object_set(granted, name, value))
			return vqp_error_set(error, -ENOMEM, "out of memory");
	}
	return 0;
}
