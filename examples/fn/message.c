// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "message.h"

#include <stdlib.h>
#include <string.h>

#include "payload.h"

uint8_t *message_make(const json_t *input, size_t *bytes, const char **error)
{
	const json_t *text = json_object_get(input, "payload");
	json_int_t wanted = text ? (json_int_t)json_string_length(text) :
		json_integer_value(json_object_get(input, "bytes"));
	uint8_t *data;

	*error = "payload or bytes out of range";
	if (wanted < 0 || wanted > PAYLOAD_MAX_BYTES || (text && !json_is_string(text)))
		return NULL;
	*error = "no memory";
	data = malloc(wanted + 1);
	if (!data)
		return NULL;
	*bytes = wanted;
	if (text)
		memcpy(data, json_string_value(text), wanted);
	else
		payload_fill(data, wanted, json_integer_value(json_object_get(input, "seed")));
	return data;
}

size_t message_count_bad(const uint8_t *data, const uint8_t *expected, size_t bytes)
{
	size_t bad = 0;

	for (size_t i = 0; i < bytes; i++)
		bad += data[i] != expected[i];
	return bad;
}
