// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../common/cleanup.h"
#include "../common/error.h"
#include "state.h"

static int parse_json(const char *text, size_t bytes, json_t **json, struct vqp_error *error)
{
	json_error_t where;

	*json = json_loadb(text, bytes, 0, &where);
	if (!*json)
		return vqp_error_set(error, -EINVAL, "the container's state is not JSON: line %d: %s",
				     where.line, where.text);
	if (!json_is_object(*json))
		return vqp_error_set(error, -EINVAL, "the container's state is not a JSON object");
	return 0;
}

static int parse_pid(struct vqp_state *state, struct vqp_error *error)
{
	const json_t *pid = json_object_get(state->json, "pid");

	if (!pid)
		return 0;
	if (!json_is_integer(pid) || json_integer_value(pid) < 0 || json_integer_value(pid) > INT32_MAX)
		return vqp_error_set(error, -EINVAL, "the container's state: \"pid\" is no process id");
	state->pid = json_integer_value(pid);
	return 0;
}

/* FNV-1a. A runtime says the path of a container's bundle in the same words in each state. */
static uint64_t number_of(const char *text)
{
	uint64_t number = 0xcbf29ce484222325;

	for (; *text; text++)
		number = (number ^ (unsigned char)*text) * 0x100000001b3;
	return number;
}

int vqp_state_parse(struct vqp_state *state, const char *text, size_t bytes, struct vqp_error *error)
{
	const char *bundle;
	int ret;

	*state = (struct vqp_state){ 0 };
	ret = parse_json(text, bytes, &state->json, error);
	if (ret)
		return ret;
	state->id = json_string_value(json_object_get(state->json, "id"));
	if (!state->id || !*state->id)
		return vqp_error_set(error, -EINVAL, "the container's state has no \"id\"");
	bundle = json_string_value(json_object_get(state->json, "bundle"));
	if (bundle && *bundle)
		snprintf(state->bundle, sizeof(state->bundle), "%016" PRIx64, number_of(bundle));
	state->annotations = json_object_get(state->json, "annotations");
	return parse_pid(state, error);
}

/* Reads `in` to its end, into memory that grows: most states have some hundred bytes. */
static ssize_t read_all(FILE *in, char **text)
{
	size_t room = 0, bytes = 0;

	do {
		char *grown;

		room = room ? 2 * room : 4096;
		grown = realloc(*text, room);
		if (!grown)
			return -ENOMEM;
		*text = grown;
		bytes += fread(*text + bytes, 1, room - bytes, in);
	} while (bytes == room && bytes <= VQP_STATE_MAX_BYTES);
	return ferror(in) ? -errno : (ssize_t)bytes;
}

int vqp_state_read(struct vqp_state *state, FILE *in, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	ssize_t bytes = read_all(in, &text);

	*state = (struct vqp_state){ 0 };
	if (bytes < 0)
		return vqp_error_set(error, (int)bytes, "cannot read the container's state: %s",
				     strerror((int)-bytes));
	if (bytes > VQP_STATE_MAX_BYTES)
		return vqp_error_set(error, -EFBIG, "the container's state is longer than %u bytes",
				     VQP_STATE_MAX_BYTES);
	return vqp_state_parse(state, text, bytes, error);
}

void vqp_state_clear(struct vqp_state *state)
{
	json_decref(state->json);
	state->json = NULL;
}
