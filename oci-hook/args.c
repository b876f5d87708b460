// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stddef.h>
#include <string.h>

#include "args.h"

#define CREATION_OPTIONS "bundle", "b", "console-socket", "pid-file"

/* Options whose value is the next argument if it does not come with "=". */
static const char *const global_options[] = {
	"log", "log-format", "log-level", "root", "criu", "rootless", "cgroup-manager", NULL,
};
static const char *const create_options[] = {
	CREATION_OPTIONS, "pidfd-socket", "preserve-fds", "config", "f", NULL,
};
static const char *const restore_options[] = {
	CREATION_OPTIONS, "image-path", "work-path", "manage-cgroups-mode", "empty-ns", "lsm-profile",
	"lsm-mount-context", NULL,
};

struct option {
	const char *name;	/* of the table; NULL: takes no value, or is unknown */
	const char *value;
};

static const char *find(const char *const *table, const char *name, size_t length)
{
	while (*table && (strlen(*table) != length || strncmp(*table, name, length)))
		table++;
	return *table;
}

/*
 * Reads the option at argv[0], of the form --name value, --name=value or with
 * one dash, which runc takes as well, or -bvalue, as crun does. Returns the
 * number of arguments it took, 0 if argv[0] is no option.
 */
static int next_option(char *const *argv, const char *const *table, struct option *option)
{
	const char *arg = argv[0];
	size_t length;

	*option = (struct option){ 0 };
	if (!arg || arg[0] != '-' || !arg[1] || !strcmp(arg, "--"))
		return 0;
	arg += arg[1] == '-' ? 2 : 1;
	length = strcspn(arg, "=");
	option->name = find(table, arg, length);
	if (!option->name && argv[0][1] != '-') {
		/* of one letter, before which -d may be, the only one without a value */
		arg += strspn(arg, "d");
		length = 1;
		option->name = find(table, arg, length);
	}
	if (!option->name)
		return 1;
	if (arg[length]) {
		option->value = arg + length + (arg[length] == '=');
		return 1;
	}
	option->value = argv[1];
	return argv[1] ? 2 : 1;
}

/* Of a command that makes a container; NULL: it makes none. */
static const char *const *creation_options(const char *command)
{
	if (!command)
		return NULL;
	if (!strcmp(command, "create") || !strcmp(command, "run"))
		return create_options;
	return strcmp(command, "restore") ? NULL : restore_options;
}

void vqp_args_parse(struct vqp_args *args, char *const *argv)
{
	const char *const *table;
	struct option option;
	int taken;

	*args = (struct vqp_args){ .bundle = "." };
	for (argv++; (taken = next_option(argv, global_options, &option)); argv += taken) {
		if (!option.name)
			continue;
		if (!strcmp(option.name, "log"))
			args->log = option.value;
		else if (!strcmp(option.name, "log-format"))
			args->log_format = option.value;
	}

	args->command = *argv;
	table = creation_options(args->command);
	args->creation = table;
	if (!table)
		return;
	/* runc takes options behind the container's name, too */
	for (argv++; *argv && strcmp(*argv, "--"); argv += taken ? taken : 1) {
		taken = next_option(argv, table, &option);
		if (!option.name || !option.value)
			continue;
		if (!strcmp(option.name, "bundle") || !strcmp(option.name, "b"))
			args->bundle = option.value;
		else if (!strcmp(option.name, "config") || !strcmp(option.name, "f"))
			args->config = option.value;
	}
}
