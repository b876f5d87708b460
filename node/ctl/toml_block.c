/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "toml_block.h"

#define BEGIN	"# The runtime vqp, by vqpctl configure containerd; --remove takes it out."
#define END	"# The end of the runtime vqp."

/*
 * Returns the next line that is this mark, and what is behind the line as *behind; NULL if there is
 * none. Editors may have made CRLF of a newline, or have left the last one out.
 */
static const char *find(const char *text, const char *mark, const char **behind)
{
	for (; (text = strstr(text, mark)); text++) {
		const char *end = text + strlen(mark);

		end += *end == '\r' && end[1] == '\n';
		if (*end && *end != '\n')
			continue;
		*behind = *end ? end + 1 : end;
		return text;
	}
	return NULL;
}

bool ctl_toml_block_is_in(const char *text)
{
	const char *behind;

	return text && (find(text, BEGIN, &behind) || find(text, END, &behind));
}

int ctl_toml_block_cut(const char *text, char **rest, struct vqp_error *error)
{
	const char *inside = text, *behind = text, *other;
	const char *begin = find(text, BEGIN, &inside), *end = find(text, END, &behind);

	*rest = NULL;
	/* The analyzers do not look into common/, and would take the result for a success. */
	if (!begin != !end || (begin && (end < begin || find(inside, BEGIN, &other) || find(behind, END, &other)))) {
		vqp_error_set(error, -EINVAL, "the lines that mark vqp's part are not there twice, as they were written: "
			      "take out what they have marked");
		return -EINVAL;
	}
	*rest = begin ? malloc(strlen(text) + 1) : strdup(text);
	if (!*rest)
		return -ENOMEM;
	if (begin) {
		memcpy(*rest, text, begin - text);
		strcpy(*rest + (begin - text), behind);
	}
	return 0;
}

int ctl_toml_block_add(const char *before, const char *start, const char *lines, char **after,
		       struct vqp_error *error)
{
	cleanup_free char *rest = NULL, *block = NULL;
	int ret;

	*after = NULL;
	ret = ctl_toml_block_cut(before ? before : start, &rest, error);
	if (ret)
		return ret;
	if (asprintf(&block, BEGIN "\n%s" END "\n", lines) < 0) {
		block = NULL;
		return -ENOMEM;
	}
	if (before && strstr(before, block)) {
		*after = strdup(before);
		return *after ? 0 : -ENOMEM;
	}
	if (asprintf(after, "%s%s%s", rest, *rest && rest[strlen(rest) - 1] != '\n' ? "\n" : "", block) >= 0)
		return 0;
	*after = NULL;
	return -ENOMEM;
}

/* Is the text that of the backup with a newline at its end, which an add has appended? */
static bool lacked_newline(const char *backup, const char *rest)
{
	size_t length = backup ? strlen(backup) : 0;

	return length && backup[length - 1] != '\n' && !strncmp(rest, backup, length) && !strcmp(rest + length, "\n");
}

int ctl_toml_block_remove(const char *before, const char *backup, const char *start, char **after,
			  struct vqp_error *error)
{
	int ret;

	*after = NULL;
	if (!before)
		return 0;
	/* What has a block is not what was there before. */
	if (ctl_toml_block_is_in(backup))
		backup = NULL;
	ret = ctl_toml_block_cut(before, after, error);
	if (ret || !strcmp(*after, before))
		return ret;
	if (lacked_newline(backup, *after)) {
		(*after)[strlen(backup)] = '\0';
	} else if (!backup && !strcmp(*after, start)) {
		/* The file had nothing but the lines that an add begins with. */
		free(*after);
		*after = NULL;
	}
	return 0;
}
