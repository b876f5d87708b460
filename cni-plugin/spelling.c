// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <ctype.h>
#include <string.h>

#include "spelling.h"

#define LETTERS_MAX	32	/* Longer names are like none of the plugin's. */
#define LIKE_MIN	3	/* the least letters of a name that is the begin of another */

/* Copies the letters and digits, in lower case. Returns how many; 0 if there are too many. */
static size_t letters_of(const char *name, char letters[LETTERS_MAX])
{
	size_t count = 0;

	for (; *name; name++) {
		if (*name == '_' || *name == '-')
			continue;
		if (count == LETTERS_MAX)
			return 0;
		letters[count++] = tolower((unsigned char)*name);
	}
	return count;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance: how many letters to insert, delete or replace. */
static size_t distance(const char *a, size_t a_count, const char *b, size_t b_count)
{
	size_t row[LETTERS_MAX + 1];

	for (size_t j = 0; j <= b_count; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_count; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_count; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_count];
}

bool vqp_spelling_is_like(const char *a, const char *b)
{
	char a_letters[LETTERS_MAX], b_letters[LETTERS_MAX];
	size_t a_count = letters_of(a, a_letters), b_count = letters_of(b, b_letters);
	size_t shorter = least(a_count, b_count);

	return shorter >= LIKE_MIN && (!memcmp(a_letters, b_letters, shorter) ||
				       distance(a_letters, a_count, b_letters, b_count) * 3 <= shorter);
}
