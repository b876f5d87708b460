/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "toml.h"

static void print_string(FILE *out, const char *string)
{
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < ' ' || *c == '\177')
			fprintf(out, "\\u%04x", *c);
		else
			putc(*c, out);
	}
	putc('"', out);
}

static void print_key(FILE *out, const char *key)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	if (*key && !key[strspn(key, bare)])
		fputs(key, out);
	else
		print_string(out, key);
}

/* Prints a value in one line; a table is an inline one. */
static void print_value(FILE *out, const json_t *value)
{
	const char *separator = "", *key;
	json_t *member;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		putc('{', out);
		json_object_foreach((json_t *)value, key, member) {
			fputs(separator, out);
			print_key(out, key);
			fputs(" = ", out);
			print_value(out, member);
			separator = ", ";
		}
		putc('}', out);
		break;
	case JSON_ARRAY:
		putc('[', out);
		json_array_foreach(value, i, member) {
			fputs(separator, out);
			print_value(out, member);
			separator = ", ";
		}
		putc(']', out);
		break;
	case JSON_STRING:
		print_string(out, json_string_value(value));
		break;
	case JSON_INTEGER:
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		/* With a point, or else it would be an integer. */
		fprintf(out, "%#.17g", json_real_value(value));
		break;
	default:
		fputs(json_is_true(value) ? "true" : "false", out);
	}
}

static void print_table(FILE *out, const char *parent, const char *name, const json_t *table)
{
	cleanup_free char *header = NULL;
	const char *key;
	json_t *member;
	size_t bytes;
	FILE *path = open_memstream(&header, &bytes);

	if (!path)
		return;
	fprintf(path, "%s.", parent);
	print_key(path, name);
	if (fclose(path))
		return;
	fprintf(out, "[%s]\n", header);
	json_object_foreach((json_t *)table, key, member) {
		if (json_is_object(member))
			continue;
		print_key(out, key);
		fputs(" = ", out);
		print_value(out, member);
		putc('\n', out);
	}
	json_object_foreach((json_t *)table, key, member)
		if (json_is_object(member))
			print_table(out, header, key, member);
}

char *ctl_toml_print(const char *parent, const char *name, const json_t *table)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	print_table(out, parent, name, table);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
