// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests to vqp-metad, one per line; a number lets that many milliseconds pass.
 * Every request has its answer, one that is refused changes nothing, and what the
 * table holds is what nodes find in its buckets.
 */

#include <err.h>

#include "../../node/metad/answer.h"
#include "json.h"

#define BUCKETS	2		/* so that they fill up */

const char *const fuzz_words[] = {
	"op", "hello", "announce", "withdraw", "list", "lease_s", "node", "node_gid", "epoch", "qkey", "lanes",
	"entries", "tenant", "gid", "new", "::", "::1", "fd00::1", "fd00::2", "10.1.0.2", "10.1.0.3",
	"::ffff:10.1.0.2", "0.0.0.0", "x", "", NULL,
};

/* What it logs would slow everything down. */
void vqp_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

static uint32_t count_slots(const struct vqp_bucket *buckets)
{
	static const struct vqp_bucket_slot empty;
	uint32_t used = 0;

	for (uint32_t i = 0; i < BUCKETS; i++)
		for (uint32_t s = 0; s < VQP_BUCKET_SLOTS; s++)
			used += memcmp(&buckets[i].slot[s], &empty, sizeof(empty)) != 0;
	return used;
}

static void check_entry(const struct vqp_table *table, const struct vqp_table_entry *entry)
{
	struct vqp_dct dct = { 0 };
	uint32_t index[2];

	vqp_bucket_index(entry->tenant, entry->gid, BUCKETS, index);
	fuzz_check(entry->bucket == index[0] || entry->bucket == index[1]);
	fuzz_check(vqp_bucket_find(&table->buckets[entry->bucket], entry->tenant, entry->gid, &dct) == 1);
	fuzz_check(!memcmp(&dct, &entry->dct, sizeof(dct)));
}

static void check_table(const struct vqp_table *table)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < BUCKETS; i++)
		for (const struct vqp_table_entry *entry = table->chains[i]; entry; entry = entry->next, n++)
			check_entry(table, entry);
	fuzz_check(n == table->count && n == count_slots(table->buckets));
}

static void check_reply(const json_t *request, const json_t *reply, bool changed)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	const json_t *refused, *item;
	size_t i, taken;

	fuzz_check(json_is_boolean(json_object_get(reply, "ok")));
	if (!json_is_true(json_object_get(reply, "ok"))) {
		fuzz_check(!changed);
		fuzz_check(json_is_string(json_object_get(reply, "errno")));
		fuzz_check(json_string_length(json_object_get(reply, "error")));
		return;
	}
	if (strcmp(op, "announce"))
		return;
	refused = json_object_get(reply, "refused");
	taken = json_integer_value(json_object_get(reply, "taken"));
	fuzz_check(taken + json_array_size(refused) == json_array_size(json_object_get(request, "entries")));
	json_array_foreach(refused, i, item)
		fuzz_check(json_is_string(json_object_get(item, "errno")) && json_object_get(item, "gid"));
}

static void ask(struct vqp_metad *metad, const json_t *request, uint64_t now_ms)
{
	struct vqp_bucket before[BUCKETS];
	json_t *reply;
	char *text;

	memcpy(before, metad->table.buckets, sizeof(before));
	reply = vqp_metad_answer(metad, request, now_ms);
	fuzz_check(json_is_object(reply));
	check_reply(request, reply, memcmp(before, metad->table.buckets, sizeof(before)));
	text = json_dumps(reply, JSON_COMPACT);
	fuzz_check(text);
	free(text);
	json_decref(reply);
	check_table(&metad->table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct vqp_bucket buckets[BUCKETS];
	struct fuzz in = { data, bytes };
	struct vqp_metad metad = { 0 };
	uint64_t now_ms = 1000;
	json_t *json;

	fuzz_check(!vqp_table_init(&metad.table, buckets, BUCKETS));
	while (fuzz_line(&in, &json)) {
		if (json_is_object(json)) {
			ask(&metad, json, now_ms);
		} else if (json_is_integer(json)) {
			now_ms += json_integer_value(json) & 0xfffff;
			vqp_table_expire(&metad.table, now_ms);
			check_table(&metad.table);
		}
		json_decref(json);
	}
	vqp_table_exit(&metad.table);
	fuzz_check(!count_slots(buckets));
	return 0;
}
