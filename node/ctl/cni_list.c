/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "cni_list.h"
#include "ctl.h"
#include "file.h"

#define PLUGIN	"vqp"

/* Returns the configuration of the plugin in a list, or in a file of one plugin; NULL if it is not there. */
static json_t *find_plugin(json_t *list)
{
	const json_t *plugins = json_object_get(list, "plugins");
	json_t *plugin;
	size_t i;

	if (!strcmp(ctl_string(list, "type"), PLUGIN))
		return list;
	json_array_foreach(plugins, i, plugin)
		if (!strcmp(ctl_string(plugin, "type"), PLUGIN))
			return plugin;
	return NULL;
}

static void add(json_t *lists, json_t *unread, const char *root, const char *path)
{
	cleanup_free char *text = NULL;
	json_auto_t *list = NULL;
	json_error_t where;
	json_t *plugin;
	int ret = ctl_file_read(path, &text);

	if (ret || !text) {
		json_array_append_new(unread, json_sprintf("%s cannot be read: %s", path + strlen(root), strerror(ret ? -ret : ENOENT)));
		return;
	}
	list = json_loads(text, 0, &where);
	if (!list)
		json_array_append_new(unread, json_sprintf("%s is not JSON: line %d: %s", path + strlen(root), where.line, where.text));
	plugin = find_plugin(list);
	if (plugin)
		json_array_append_new(lists, json_pack("{s:s, s:s, s:O}", "path", path + strlen(root),
						       "name", ctl_string(list, "name"), "plugin", plugin));
}

static int compare(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

json_t *ctl_cni_lists(const char *root, json_t *unread)
{
	json_t *lists = json_array();
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s" CTL_CNI_DIR "/*.{conf,conflist,json}", root);
	if (!lists || glob(pattern, GLOB_BRACE, NULL, &found))
		return lists;
	/* The names are sorted for each ending alone. */
	qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), compare);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add(lists, unread, root, found.gl_pathv[i]);
	globfree(&found);
	return lists;
}

const json_t *ctl_cni_list_find(const json_t *lists, const char *name)
{
	const json_t *list;
	size_t i;

	json_array_foreach(lists, i, list)
		if (!strcmp(ctl_string(list, "name"), name))
			return list;
	return NULL;
}
