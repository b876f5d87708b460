// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "args.h"
#include "config.h"

static char *read_all(FILE *in, size_t *bytes, struct vqp_error *error)
{
	char *text = malloc(VQP_CNI_CONFIG_MAX_BYTES + 1);

	if (!text) {
		vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
		return NULL;
	}
	*bytes = fread(text, 1, VQP_CNI_CONFIG_MAX_BYTES + 1, in);
	if (ferror(in))
		vqp_error_set(error, VQP_CNI_ERROR_IO, "cannot read the network configuration: %s",
			      strerror(errno));
	else if (*bytes > VQP_CNI_CONFIG_MAX_BYTES)
		vqp_error_set(error, VQP_CNI_ERROR_IO, "the network configuration is longer than %u bytes",
			      VQP_CNI_CONFIG_MAX_BYTES);
	else
		return text;
	free(text);
	return NULL;
}

int vqp_config_load(FILE *in, json_t **json, struct vqp_error *error)
{
	json_error_t where;
	size_t bytes;
	char *text = read_all(in, &bytes, error);

	*json = NULL;
	if (!text)
		return error->code;
	if (bytes) {
		*json = json_loadb(text, bytes, JSON_DECODE_ANY, &where);
		if (!*json)
			vqp_error_set(error, VQP_CNI_ERROR_DECODE,
				      "the network configuration is not JSON: line %d: %s",
				      where.line, where.text);
	}
	free(text);
	return error->code;
}

/* Returns a member; the default if it is missing; or NULL with the error set if it is no string. */
static const char *get_string(const json_t *json, const char *key, const char *otherwise,
			      struct vqp_error *error)
{
	const json_t *value = json_object_get(json, key);

	if (!value || json_is_null(value))
		return otherwise;
	if (!json_is_string(value))
		vqp_error_set(error, VQP_CNI_ERROR_DECODE, "\"%s\" must be a string", key);
	return json_string_value(value);
}

/* A configuration without a version is of the first version. */
static int parse_version(struct vqp_config *config, struct vqp_error *error)
{
	const char *text = get_string(config->json, "cniVersion", "", error);

	if (!text)
		return error->code;
	config->version = *text ? vqp_version_parse(text) : VQP_VERSION_0_1_0;
	if (config->version == VQP_VERSION_COUNT) {
		config->version = VQP_VERSION_LATEST;
		return vqp_error_set(error, VQP_CNI_ERROR_VERSION,
				     "cniVersion \"%s\" is not supported (the newest is %s)",
				     text, vqp_version_text(VQP_VERSION_LATEST));
	}
	return 0;
}

static int parse_name(struct vqp_config *config, struct vqp_error *error)
{
	const char *name = config->name = get_string(config->json, "name", "", error);

	if (!name)
		return error->code;
	if (!*name)
		return vqp_error_set(error, VQP_CNI_ERROR_CONFIG, "the network configuration has no \"name\"");
	if (!vqp_args_is_id(name))
		return vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
				     "the network's name \"%s\" is not letters, digits, '_', '.' and '-'",
				     name);
	return 0;
}

static int parse_vqpd(struct vqp_config *config, struct vqp_error *error)
{
	config->vqpd = get_string(config->json, "vqpd", NULL, error);
	if (config->vqpd && (*config->vqpd != '/' ||
			     strlen(config->vqpd) >= sizeof(((struct sockaddr_un *)0)->sun_path)))
		return vqp_error_set(error, VQP_CNI_ERROR_CONFIG, "\"vqpd\" must be the absolute path of a socket");
	return error->code;
}

static int parse_prev_result(struct vqp_config *config, struct vqp_error *error)
{
	config->prev_result = json_object_get(config->json, "prevResult");
	if (json_is_null(config->prev_result))
		config->prev_result = NULL;
	if (config->prev_result && !json_is_object(config->prev_result))
		return vqp_error_set(error, VQP_CNI_ERROR_DECODE, "\"prevResult\" must be an object");
	return 0;
}

int vqp_config_parse(struct vqp_config *config, json_t *json, struct vqp_error *error)
{
	*config = (struct vqp_config){ .json = json, .version = VQP_VERSION_LATEST };
	/* Plugins that are written in Go take null as an object without members, and so does this one. */
	if (!json_is_object(json) && !json_is_null(json))
		return vqp_error_set(error, VQP_CNI_ERROR_DECODE,
				     "no network configuration (a JSON object) on standard input");

	if (parse_name(config, error) ||
	    parse_version(config, error) ||
	    parse_vqpd(config, error) ||
	    parse_prev_result(config, error))
		return error->code;
	return 0;
}

void vqp_config_clear(struct vqp_config *config)
{
	json_decref(config->json);
	config->json = NULL;
}
