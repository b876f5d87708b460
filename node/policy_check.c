// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "../common/cni_name.h"
#include "../common/subnet.h"
#include "policy_check.h"

int vqp_policy_check_members(const json_t *object, const char *what, const char *const *known, struct vqp_error *error)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return vqp_error_set(error, -EINVAL, "%s must be an object", what);
	json_object_foreach((json_t *)object, name, value) {
		const char *const *k = known;

		while (*k && strcmp(*k, name))
			k++;
		if (!*k)
			return vqp_error_set(error, -EINVAL, "%s has no \"%s\"", what, name);
	}
	return 0;
}

int vqp_policy_check_subnet(const json_t *text, struct vqp_error *error)
{
	struct vqp_subnet subnet;
	int ret;

	if (!json_is_string(text))
		return vqp_error_set(error, -EINVAL, "a subnet is a string, as \"10.1.0.0/16\"");
	ret = vqp_subnet_parse(&subnet, json_string_value(text));
	if (ret == -ERANGE)
		return vqp_error_set(error, -EINVAL, "\"%s\" " VQP_SUBNET_HAS_V4, json_string_value(text));
	if (ret)
		return vqp_error_set(error, -EINVAL, "\"%s\" is no subnet, as \"10.1.0.0/16\", \"fd00::/64\" or \"any\"",
				     json_string_value(text));
	return 0;
}

int vqp_policy_check_name(const json_t *name, const char *what, struct vqp_error *error)
{
	if (!json_is_string(name) || !vqp_cni_name_is_valid(json_string_value(name)))
		return vqp_error_set(error, -EINVAL, "%s must be the name of a CNI network list: a string of letters, "
				     "digits, \"_\", \".\" and \"-\"", what);
	return 0;
}

int vqp_policy_check_list(const json_t *list, const char *name,
			  int (*check)(const json_t *item, struct vqp_error *error), struct vqp_error *error)
{
	const json_t *item;
	size_t i;
	int ret;

	if (list && !json_is_array(list))
		return vqp_error_set(error, -EINVAL, "\"%s\" must be a list", name);
	json_array_foreach(list, i, item) {
		ret = check(item, error);
		if (ret)
			return ret;
	}
	return 0;
}

json_t *vqp_policy_load_json(const char *text, size_t bytes, struct vqp_error *error)
{
	json_error_t where;
	json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);

	if (!json)
		vqp_error_set(error, -EINVAL, "not JSON: line %d: %s", where.line, where.text);
	return json;
}
