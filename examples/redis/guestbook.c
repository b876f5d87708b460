// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A function whose back end is redis: a list of notes.
 *
 * {"redis": HOST, "list": NAME, "note": text} adds the note and gives {"notes": [all of them]};
 * without "note" none is added. Each call connects anew, since a platform may stop the function
 * between calls for as long as it likes.
 */
#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "kit.h"

#define REDIS_PORT		6379
#define REDIS_TIMEOUT_MS	10000

/* Null: the server has said something else, or nothing. */
static json_t *guestbook_notes(redisContext *redis, const char *list)
{
	redisReply *reply = redisCommand(redis, "LRANGE %s 0 -1", list);
	json_t *notes = NULL;
	size_t i;

	if (reply && reply->type == REDIS_REPLY_ARRAY) {
		notes = json_array();
		for (i = 0; i < reply->elements; i++)
			json_array_append_new(notes, json_stringn(reply->element[i]->str,
								  reply->element[i]->len));
	}
	freeReplyObject(reply);
	return notes;
}

static bool guestbook_add(redisContext *redis, const char *list, const json_t *note)
{
	redisReply *reply = redisCommand(redis, "RPUSH %s %b", list, json_string_value(note),
					 json_string_length(note));
	bool added = reply && reply->type == REDIS_REPLY_INTEGER;

	freeReplyObject(reply);
	return added;
}

static json_t *guestbook_answer(redisContext *redis, const char *list, const json_t *note)
{
	json_t *notes = NULL;

	if (!redis)
		return fn_error("no memory");
	if (redis->err)
		return fn_error("redis: %s", redis->errstr);
	if (!note || guestbook_add(redis, list, note))
		notes = guestbook_notes(redis, list);
	if (!notes)
		return fn_error("redis: %s", redis->err ? redis->errstr : "no such answer");
	return json_pack("{s:o}", "notes", notes);
}

static json_t *guestbook_call(void *self, const struct fn_call *call)
{
	const char *host = json_string_value(json_object_get(call->input, "redis"));
	const char *list = json_string_value(json_object_get(call->input, "list"));
	const json_t *note = json_object_get(call->input, "note");
	int left_ms = fn_call_remaining_ms(call, REDIS_TIMEOUT_MS);
	struct timeval left = { .tv_sec = left_ms / 1000, .tv_usec = left_ms % 1000 * 1000 };
	redisContext *redis;
	json_t *answer;

	(void)self;
	if (!host || !list || (note && !json_is_string(note)))
		return fn_error("redis and list are missing, or note is no text");
	redis = redisConnectWithTimeout(host, REDIS_PORT, left);
	if (redis && !redis->err)
		redisSetTimeout(redis, left);
	answer = guestbook_answer(redis, list, note);
	redisFree(redis);
	return answer;
}

int main(int argc, char **argv)
{
	return fn_main(argc, argv, guestbook_call, NULL);
}
