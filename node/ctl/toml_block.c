/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "toml_block.h"

#define BEGIN	"# The runtime vqp, by vqpctl configure containerd; --remove takes it out.\n"
#define END	"# The end of the runtime vqp.\n"
#define EMPTY	"version = 2\n"

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

int ctl_toml_version(const char *text)
{
	int version = 1;

	if (!text)
		return 2;
	/* The lines behind a table's header belong to the table. */
	for (const char *line = text; *line; line = next_line(line)) {
		line += strspn(line, " \t");
		if (*line == '[')
			break;
		if (sscanf(line, "version = %d", &version) == 1)
			break;
	}
	return version;
}

/*
 * Returns the text behind the header of a table of this name, or of one inside it; NULL if there is
 * none.
 */
static const char *find_table(const char *text, const char *name)
{
	for (const char *line = text; *line; line = next_line(line)) {
		const char *header = line + strspn(line, " \t"), *found = strstr(header, name);

		if (*header == '[' && found && found < next_line(line) && strchr("].", found[strlen(name)]))
			return next_line(line);
	}
	return NULL;
}

static bool says(const char *line, const char *key)
{
	line += strspn(line, "\"'");
	return !strncmp(line, key, strlen(key)) && strchr("\"' \t=", line[strlen(key)]);
}

int ctl_toml_table_copy(const char *text, const char *name, const char *without, char **lines)
{
	const char *line = text ? find_table(text, name) : NULL;
	char *end = *lines = malloc(line ? strlen(line) + 2 : 1);

	if (!end)
		return -ENOMEM;
	for (; line && *line; line = next_line(line)) {
		line += strspn(line, " \t");
		if (*line == '[')
			break;
		if (!strchr("#\r\n", *line) && !says(line, without))
			end = mempcpy(end, line, next_line(line) - line);
	}
	if (end > *lines && end[-1] != '\n')
		*end++ = '\n';
	*end = '\0';
	return 0;
}

/* Copies the text without the block to *rest. */
static int cut(const char *text, char **rest, struct vqp_error *error)
{
	const char *begin = strstr(text, BEGIN), *end = strstr(text, END);

	/* The analyzers do not look into common/, and would take the result for a success. */
	if (!begin != !end || (begin && (end < begin || strstr(begin + 1, BEGIN) || strstr(end + 1, END)))) {
		vqp_error_set(error, -EINVAL, "the lines that mark vqp's part are not there twice, as they were written: "
			      "take out what they have marked");
		return -EINVAL;
	}
	*rest = begin ? malloc(strlen(text) + 1) : strdup(text);
	if (!*rest)
		return -ENOMEM;
	if (begin) {
		memcpy(*rest, text, begin - text);
		strcpy(*rest + (begin - text), end + strlen(END));
	}
	return 0;
}

int ctl_toml_block_add(const char *before, const char *standard, const char *block, char **after, struct vqp_error *error)
{
	cleanup_free char *rest = NULL, *ours = NULL;
	int ret;

	*after = NULL;
	if (!before)
		before = EMPTY;
	if (ctl_toml_version(before) < 2)
		return vqp_error_set(error, -EINVAL, "its format is that of version 1: see containerd config migrate");
	ret = cut(before, &rest, error);
	if (ret)
		return ret;
	if (find_table(rest, "containerd.runtimes.vqp"))
		return vqp_error_set(error, -EEXIST, "it has a runtime vqp that somebody else wrote: take that out first");
	if (find_table(rest, "containerd.runtimes.runc"))
		standard = "";
	if (asprintf(&ours, BEGIN "%s%s" END, standard, block) < 0) {
		ours = NULL;
		return -ENOMEM;
	}
	if (strstr(before, ours)) {
		*after = strdup(before);
		return *after ? 0 : -ENOMEM;
	}
	if (asprintf(after, "%s%s%s", rest, *rest && rest[strlen(rest) - 1] != '\n' ? "\n" : "", ours) >= 0)
		return 0;
	*after = NULL;
	return -ENOMEM;
}

/* Is the text that of the backup with a newline at its end, which an add has appended? */
static int lacked_newline(const char *backup, const char *rest)
{
	size_t length = backup ? strlen(backup) : 0;

	return length && backup[length - 1] != '\n' && !strncmp(rest, backup, length) && !strcmp(rest + length, "\n");
}

int ctl_toml_block_remove(const char *before, const char *backup, char **after, struct vqp_error *error)
{
	int ret;

	*after = NULL;
	if (!before)
		return 0;
	ret = cut(before, after, error);
	if (ret || !strcmp(*after, before))
		return ret;
	if (lacked_newline(backup, *after)) {
		(*after)[strlen(backup)] = '\0';
	} else if (!backup && !strcmp(*after, EMPTY)) {
		/* The file had nothing but the lines that an add begins with. */
		free(*after);
		*after = NULL;
	}
	return 0;
}
