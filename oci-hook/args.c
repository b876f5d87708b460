// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stddef.h>
#include <string.h>

#include "args.h"

#define CREATION_OPTIONS "bundle", "b", "console-socket", "pid-file"

/* Options with a value, which is the next argument unless it follows "=". */
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
static const char *const no_options[] = { NULL };

static const struct command {
	const char *name;
	bool creation;
	const char *const *options;
} commands[] = {
	{ "create", true, create_options },
	{ "run", true, create_options },
	{ "restore", true, restore_options },
	{ "start", false, no_options },
	{ "delete", false, no_options },
};

struct option {
	const char *name;	/* from the table; NULL if the option takes no value or is unknown */
	const char *value;
};

static const char *find(const char *const *table, const char *name, size_t length)
{
	while (*table && (strlen(*table) != length || strncmp(*table, name, length)))
		table++;
	return *table;
}

/*
 * Reads the option at argv[0]. Its form is --name value or --name=value, with one dash or two, as
 * runc takes them, or -bvalue, as crun does. Returns the number of arguments that the option has,
 * or 0 if argv[0] is no option.
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
		/* An option of one letter may follow -d, the only such option without a value. */
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

/* Returns NULL for a command that vqp-runtime only passes on. */
static const struct command *find_command(const char *name)
{
	for (size_t i = 0; name && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void take_option(struct vqp_args *args, const struct option *option)
{
	if (!option->name || !option->value)
		return;
	if (!strcmp(option->name, "bundle") || !strcmp(option->name, "b"))
		args->bundle = option->value;
	else if (!strcmp(option->name, "config") || !strcmp(option->name, "f"))
		args->config = option->value;
}

/* runc takes options also behind the container's name. */
static void parse_command(struct vqp_args *args, char *const *argv, const char *const *options)
{
	struct option option;
	int taken;

	for (; *argv && strcmp(*argv, "--"); argv += taken ? taken : 1) {
		taken = next_option(argv, options, &option);
		take_option(args, &option);
		if (!taken && !args->id)
			args->id = *argv;
	}
	if (*argv && !args->id)
		args->id = argv[1];
}

void vqp_args_parse(struct vqp_args *args, char *const *argv)
{
	const struct command *command;
	struct option option;
	int taken;

	*args = (struct vqp_args){ .bundle = ".", .globals = 1 };
	for (; (taken = next_option(argv + args->globals, global_options, &option)); args->globals += taken) {
		if (!option.name)
			continue;
		if (!strcmp(option.name, "log"))
			args->log = option.value;
		else if (!strcmp(option.name, "log-format"))
			args->log_format = option.value;
	}

	args->command = argv[args->globals];
	command = find_command(args->command);
	if (!command)
		return;
	args->creation = command->creation;
	parse_command(args, argv + args->globals + 1, command->options);
}
