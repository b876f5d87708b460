/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A tree of files that stands for the file system of a node. */
#ifndef VQP_NODE_TESTS_TREE_H
#define VQP_NODE_TESTS_TREE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../ctl/file.h"

static char root[] = "/tmp/vqp-test-tree-XXXXXX";

/* Set-up and teardown of a test. */
static int make_tree(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - strlen("XXXXXX"), "XXXXXX");
	return !mkdtemp(root);
}

static int remove_tree(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* Writes a file, and makes its directories. */
static void put(const char *path, const char *text)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(ctl_file_replace(full, &(struct stat){ .st_mode = 0644 }, text), 0);
}

#endif
