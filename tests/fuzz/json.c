// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE

#include "json.h"

#define NODES_MAX	256
#define LINES_MAX	32

/* libFuzzer's own */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned int seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static uint64_t rng;

static uint32_t below(uint32_t n)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (rng * 0x2545f4914f6cdd1dULL >> 32) % n;
}

/* ---- Values ---- */

static const char *random_word(void)
{
	uint32_t n = 0;

	while (fuzz_words[n])
		n++;
	fuzz_check(n);
	return fuzz_words[below(n)];
}

static json_t *random_integer(void)
{
	static const json_int_t odd[] = {
		0, 1, 2, 3, 7, 8, 9, 30, 128, 255, 256, 3600, 3601, 65535, 0xffffff, 0x1000000, INT32_MAX,
		UINT32_MAX, UINT32_MAX + 1LL, INT64_MAX, INT64_MIN, -1,
	};

	return json_integer(below(4) ? odd[below(sizeof(odd) / sizeof(odd[0]))] : (json_int_t)below(300));
}

static json_t *random_value(unsigned int depth)
{
	json_t *value;
	uint32_t n;

	switch (below(depth ? 9 : 7)) {
	case 0:
		return json_boolean(below(2));
	case 1:
		return json_null();
	case 2:
		return json_real(below(100) / 8.0);
	case 3:
	case 4:
		return random_integer();
	case 5:
	case 6:
		return json_string(random_word());
	case 7:
		value = json_array();
		for (n = below(4); n; n--)
			json_array_append_new(value, random_value(depth - 1));
		return value;
	default:
		value = json_object();
		for (n = below(5); n; n--)
			json_object_set_new(value, random_word(), random_value(depth - 1));
		return value;
	}
}

/* A string whose bytes the fuzzer changed, if it still is UTF-8. */
static json_t *changed_string(const json_t *string)
{
	uint8_t text[256];
	size_t bytes = json_string_length(string);
	json_t *changed;

	if (bytes > sizeof(text) / 2)
		return json_string(random_word());
	memcpy(text, json_string_value(string), bytes);
	bytes = LLVMFuzzerMutate(text, bytes, sizeof(text));
	changed = json_stringn((char *)text, bytes);
	return changed ? changed : json_string(random_word());
}

static json_t *changed_value(const json_t *value)
{
	if (json_is_string(value) && below(2))
		return changed_string(value);
	if (json_is_integer(value) && below(2))
		return json_integer((json_int_t)((uint64_t)json_integer_value(value) + below(9) - 4));
	return random_value(2);
}

/* ---- Trees ---- */

/* A place in the tree: a member of an object, or an element of an array. */
struct place {
	json_t *parent;
	const char *key;
	size_t index;
	json_t *value;
};

static void find_places(json_t *parent, struct place *places, uint32_t *n)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(parent, key, value) {
		if (*n == NODES_MAX)
			return;
		places[(*n)++] = (struct place){ parent, key, 0, value };
		find_places(value, places, n);
	}
	json_array_foreach(parent, i, value) {
		if (*n == NODES_MAX)
			return;
		places[(*n)++] = (struct place){ parent, NULL, i, value };
		find_places(value, places, n);
	}
}

static void put(const struct place *place, json_t *value)
{
	if (place->key)
		json_object_set_new(place->parent, place->key, value);
	else
		json_array_set_new(place->parent, place->index, value);
}

static void delete(const struct place *place)
{
	if (place->key)
		json_object_del(place->parent, place->key);
	else
		json_array_remove(place->parent, place->index);
}

static void add(json_t *parent, json_t *value)
{
	if (json_is_object(parent))
		json_object_set_new(parent, random_word(), value);
	else if (json_is_array(parent))
		json_array_insert_new(parent, below(json_array_size(parent) + 1), value);
	else
		json_decref(value);
}

/* One change. The tree, or what takes its place. */
static json_t *change(json_t *tree)
{
	struct place places[NODES_MAX], *at;
	uint32_t n = 0;

	find_places(tree, places, &n);
	if (!n || !below(8)) {
		if (json_object_size(tree) || json_array_size(tree) || below(2)) {
			add(tree, random_value(2));
			return tree;
		}
		json_decref(tree);
		return random_value(3);
	}
	at = &places[below(n)];
	switch (below(5)) {
	case 0:
		delete(at);
		break;
	case 1:
		add(at->value, random_value(2));
		break;
	case 2:		/* a second one */
		add(at->parent, json_deep_copy(at->value));
		break;
	case 3:		/* as elsewhere */
		put(at, json_deep_copy(places[below(n)].value));
		break;
	case 4:
		put(at, changed_value(at->value));
		break;
	}
	return tree;
}

/* ---- Lines ---- */

struct lines {
	const char *at[LINES_MAX];
	size_t bytes[LINES_MAX];
	uint32_t n;
};

static void split(struct lines *lines, const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };

	for (lines->n = 0; in.left && lines->n < LINES_MAX; lines->n++) {
		const uint8_t *newline = memchr(in.at, '\n', in.left);
		const size_t length = newline ? (size_t)(newline - in.at) : in.left;

		lines->at[lines->n] = (const char *)in.at;
		lines->bytes[lines->n] = length;
		in.at += newline ? length + 1 : length;
		in.left -= newline ? length + 1 : length;
	}
}

/* Replace a line by itself with a change, or another line's copy; "" if it is to go. */
static char *changed_line(const struct lines *lines, uint32_t i)
{
	json_t *tree;
	char *text;

	if (lines->n > 1 && !below(8))
		return strdup("");
	if (lines->n > 1 && !below(8))
		i = below(lines->n);
	tree = json_loadb(lines->at[i], lines->bytes[i], JSON_DECODE_ANY, NULL);
	if (!tree)
		tree = json_object();
	for (uint32_t n = 1 + below(3); n; n--)
		tree = change(tree);
	text = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(tree);
	return text;
}

static bool append(char *out, size_t *used, size_t room, const char *line, size_t bytes)
{
	if (*used + bytes + 1 > room)
		return false;
	if (*used)
		out[(*used)++] = '\n';
	memcpy(out + *used, line, bytes);
	*used += bytes;
	return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned int seed)
{
	struct lines lines;
	char *out = malloc(room), *text = NULL;
	size_t used = 0;
	uint32_t chosen;
	bool fits = out, extra;

	rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	split(&lines, data, bytes);
	if (!lines.n || !below(16)) {
		free(out);
		return LLVMFuzzerMutate(data, bytes, room);
	}
	chosen = below(lines.n);
	extra = !below(4);		/* a line more */
	text = changed_line(&lines, chosen);
	for (uint32_t i = 0; i < lines.n && fits; i++) {
		if (i != chosen || extra)
			fits = append(out, &used, room, lines.at[i], lines.bytes[i]);
		if (i == chosen && text && *text)
			fits = fits && append(out, &used, room, text, strlen(text));
	}
	free(text);
	if (fits && used)
		memcpy(data, out, used);
	free(out);
	return fits && used ? used : LLVMFuzzerMutate(data, bytes, room);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	json_object_seed(1);		/* the same run each time */
	return 0;
}
