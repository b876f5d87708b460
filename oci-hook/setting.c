// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "../common/config.h"
#include "../common/error.h"
#include "setting.h"

/* Reads a member, and leaves *value as it is if there is none. */
static int get_string(json_object *json, const char *name, const char **value, struct vqp_error *error)
{
	json_object *member;
	const char *text;

	if (!json_object_object_get_ex(json, name, &member))
		return 0;
	if (!json_object_is_type(member, json_type_string))
		return vqp_error_set(error, -EINVAL, "\"%s\" must be a string", name);
	text = json_object_get_string(member);
	if (strlen(text) != (size_t)json_object_get_string_len(member))
		return vqp_error_set(error, -EINVAL, "\"%s\" has a NUL in it", name);
	*value = text;
	return 0;
}

/*
 * A member that is misspelt must not be taken for one that is missing: containers would be started by
 * another runtime.
 */
static int check_members(json_object *json, struct vqp_error *error)
{
	static const char *const known[] = { VQP_CONFIG_MEMBERS };

	json_object_object_foreach(json, name, value) {
		unsigned int i = 0;

		(void)value;
		while (i < sizeof(known) / sizeof(*known) && strcmp(name, known[i]))
			i++;
		if (i == sizeof(known) / sizeof(*known))
			return vqp_error_set(error, -EINVAL, "there is no \"%s\" here: \"" VQP_CONFIG_RUNTIME "\" and \""
					     VQP_CONFIG_STAGE "\" are vqp-runtime's", name);
	}
	return 0;
}

static int check(struct vqp_setting *setting, struct vqp_error *error)
{
	if (setting->runtime && setting->runtime[0] != '/') {
		setting->runtime = NULL;
		return vqp_error_set(error, -EINVAL, "\"" VQP_CONFIG_RUNTIME "\" must be an absolute path");
	}
	if (strcmp(setting->stage, "createRuntime") && strcmp(setting->stage, "prestart"))
		return vqp_error_set(error, -EINVAL, "\"" VQP_CONFIG_STAGE "\" is createRuntime or prestart, not \"%s\"",
				     setting->stage);
	return 0;
}

static int parse(struct vqp_setting *setting, const char *text, size_t bytes, struct vqp_error *error)
{
	json_tokener *tokener = json_tokener_new();
	enum json_tokener_error fault;

	if (!tokener)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* The text is passed with its NUL, by which the parser knows that it ends. */
	setting->json = json_tokener_parse_ex(tokener, text, (int)bytes + 1);
	fault = json_tokener_get_error(tokener);
	json_tokener_free(tokener);
	if (fault != json_tokener_success)
		return vqp_error_set(error, -EINVAL, "not JSON: %s", json_tokener_error_desc(fault));
	if (!json_object_is_type(setting->json, json_type_object))
		return vqp_error_set(error, -EINVAL, "not a JSON object");
	return 0;
}

int vqp_setting_parse(struct vqp_setting *setting, const char *text, size_t bytes, struct vqp_error *error)
{
	int ret;

	*setting = (struct vqp_setting){ .stage = "createRuntime" };
	ret = parse(setting, text, bytes, error);
	if (!ret)
		ret = get_string(setting->json, VQP_CONFIG_RUNTIME, &setting->runtime, error);
	if (!ret)
		ret = get_string(setting->json, VQP_CONFIG_STAGE, &setting->stage, error);
	if (!ret)
		ret = check(setting, error);
	/* This is last: what the file says counts for containers that exist, even if more is wrong with it. */
	return ret ? ret : check_members(setting->json, error);
}

void vqp_setting_clear(struct vqp_setting *setting)
{
	json_object_put(setting->json);
	*setting = (struct vqp_setting){ 0 };
}
