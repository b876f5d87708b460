// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../include/uapi/linux/vqp.h"
#include "cleanup.h"
#include "error.h"
#include "state.h"

static int parse_json(const char *text, size_t bytes, json_t **json, char **error)
{
	json_error_t where;

	*json = json_loadb(text, bytes, 0, &where);
	if (!*json)
		return vqp_error_fail(error, EINVAL, "the container's state is not JSON: line %d: %s",
				      where.line, where.text);
	if (!json_is_object(*json))
		return vqp_error_fail(error, EINVAL, "the container's state is not a JSON object");
	return 0;
}

static int parse_pid(struct vqp_state *state, char **error)
{
	const json_t *pid = json_object_get(state->json, "pid");

	if (!pid)
		return 0;
	if (!json_is_integer(pid) || json_integer_value(pid) < 0 || json_integer_value(pid) > INT32_MAX)
		return vqp_error_fail(error, EINVAL, "the container's state: \"pid\" is no process id");
	state->pid = json_integer_value(pid);
	return 0;
}

/* *value is NULL if there is no such annotation, or it cannot be had. */
static int get_annotation(const struct vqp_state *state, const char *key, const char **value, char **error)
{
	const json_t *annotations = json_object_get(state->json, "annotations"), *annotation;

	*value = NULL;
	if (annotations && !json_is_null(annotations) && !json_is_object(annotations))
		return vqp_error_fail(error, EINVAL, "the container's state: \"annotations\" must be an object");
	annotation = json_object_get(annotations, key);
	if (annotation && !json_is_string(annotation))
		return vqp_error_fail(error, EINVAL, "annotation %s must be a string", key);
	*value = json_string_value(annotation);
	return 0;
}

static int parse_tenant(const struct vqp_state *state, struct vqp_wish *wish, char **error)
{
	unsigned long long tenant;
	const char *text;
	char *end;
	int ret = get_annotation(state, VQP_STATE_TENANT, &text, error);

	if (ret || !text)
		return ret;
	errno = 0;
	tenant = strtoull(text, &end, 10);
	/* strtoull() takes signs and spaces, which are no numbers of tenants. */
	if (*text < '0' || *text > '9' || *end || errno || !tenant || tenant > UINT32_MAX)
		return vqp_error_fail(error, EINVAL, "annotation " VQP_STATE_TENANT ": \"%s\" is not from 1 to %u",
				      text, UINT32_MAX);
	wish->tenant = tenant;
	return 0;
}

static int parse_address(const struct vqp_state *state, struct vqp_wish *wish, char **error)
{
	uint8_t gid[VQP_GID_BYTES];
	const char *text;
	int ret = get_annotation(state, VQP_STATE_ADDRESS, &text, error);

	if (ret || !text)
		return ret;
	if (vqp_address_parse_unicast(text, gid))
		return vqp_error_fail(error, EINVAL,
				      "annotation " VQP_STATE_ADDRESS ": \"%s\" is no address of a container", text);
	vqp_address_format(gid, wish->address);
	return 0;
}

int vqp_state_parse(struct vqp_state *state, const char *text, size_t bytes, char **error)
{
	int ret;

	*state = (struct vqp_state){ 0 };
	ret = parse_json(text, bytes, &state->json, error);
	if (ret)
		return ret;
	state->id = json_string_value(json_object_get(state->json, "id"));
	if (!state->id || !*state->id)
		return vqp_error_fail(error, EINVAL, "the container's state has no \"id\"");
	return parse_pid(state, error);
}

int vqp_state_read(struct vqp_state *state, FILE *in, char **error)
{
	cleanup_free char *text = malloc(VQP_STATE_MAX_BYTES + 1);
	size_t bytes;

	*state = (struct vqp_state){ 0 };
	if (!text)
		return vqp_error_fail(error, ENOMEM, "out of memory");
	bytes = fread(text, 1, VQP_STATE_MAX_BYTES + 1, in);
	if (ferror(in))
		return vqp_error_fail(error, errno, "cannot read the container's state: %s", strerror(errno));
	if (bytes > VQP_STATE_MAX_BYTES)
		return vqp_error_fail(error, EFBIG, "the container's state is longer than %u bytes",
				      VQP_STATE_MAX_BYTES);
	return vqp_state_parse(state, text, bytes, error);
}

int vqp_state_wish(const struct vqp_state *state, struct vqp_wish *wish, char **error)
{
	int ret;

	*wish = (struct vqp_wish){ 0 };
	ret = parse_tenant(state, wish, error);
	return ret ? ret : parse_address(state, wish, error);
}

void vqp_state_clear(struct vqp_state *state)
{
	json_decref(state->json);
	state->json = NULL;
}
