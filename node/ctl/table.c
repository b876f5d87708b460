/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "ctl.h"

#define CELL 160

static const char *cell_text(const json_t *value, char text[CELL])
{
	const json_t *item;
	size_t i, used = 0;

	text[0] = '\0';
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_integer(value))
		snprintf(text, CELL, "%lld", (long long)json_integer_value(value));
	else if (json_is_boolean(value))
		return json_is_true(value) ? "yes" : "no";
	json_array_foreach(value, i, item)
		if (used < CELL)
			used += snprintf(text + used, CELL - used, "%s%lld", i ? "," : "",
					 (long long)json_integer_value(item));
	return text[0] ? text : "-";
}

static size_t width_of(const json_t *list, const struct ctl_column *column)
{
	size_t width = strlen(column->title), i;
	const json_t *item;
	char text[CELL];

	json_array_foreach(list, i, item) {
		size_t bytes = strlen(cell_text(json_object_get(item, column->key), text));

		width = bytes > width ? bytes : width;
	}
	return width;
}

static void print_cell(const char *text, size_t width, bool last)
{
	if (last)
		puts(text);
	else
		printf("%-*s  ", (int)width, text);
}

int ctl_print_table(const struct ctl_args *args, json_t *list, const struct ctl_column *columns)
{
	cleanup_free size_t *widths = NULL;
	unsigned int n = 1;
	const json_t *item;
	char text[CELL];
	size_t i;

	if (args->json)
		return ctl_print_json(list);
	while (columns[n].key)
		n++;
	widths = calloc(n, sizeof(*widths));
	if (!widths) {
		json_decref(list);
		return ctl_fail(args, ENOMEM, "out of memory");
	}
	for (unsigned int c = 0; c < n; c++) {
		widths[c] = width_of(list, &columns[c]);
		print_cell(columns[c].title, widths[c], c + 1 == n);
	}
	json_array_foreach(list, i, item)
		for (unsigned int c = 0; c < n; c++)
			print_cell(cell_text(json_object_get(item, columns[c].key), text), widths[c], c + 1 == n);
	json_decref(list);
	return 0;
}
