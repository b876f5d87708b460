// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	state->annotations = json_object_get(state->json, "annotations");
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

void vqp_state_clear(struct vqp_state *state)
{
	json_decref(state->json);
	state->json = NULL;
}
