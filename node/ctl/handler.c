/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <string.h>

#include "handler.h"

static bool says_nothing(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		return !json_string_length(value);
	case JSON_INTEGER:
	case JSON_REAL:
		return json_number_value(value) == 0;
	case JSON_ARRAY:
		return !json_array_size(value);
	case JSON_OBJECT:
		return !json_object_size(value);
	default:
		return !json_is_true(value);
	}
}

json_t *ctl_handler_what_is_set(const json_t *object)
{
	json_t *set = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)object, name, value) {
		json_t *copy = json_is_object(value) ? ctl_handler_what_is_set(value) : json_deep_copy(value);

		if (copy && says_nothing(copy))
			json_decref(copy);
		else if (json_object_set_new(set, name, copy)) {
			json_decref(set);
			return NULL;
		}
	}
	return set;
}

bool ctl_handler_lists(const json_t *array, const char *string)
{
	const json_t *value;
	size_t i;

	json_array_foreach(array, i, value)
		if (json_is_string(value) && !strcmp(json_string_value(value), string))
			return true;
	return false;
}

json_t *ctl_handler_reach(json_t *object, const char *name)
{
	json_t *found = json_object_get(object, name);

	if (found)
		return found;
	return json_object_set_new(object, name, json_object()) ? NULL : json_object_get(object, name);
}
