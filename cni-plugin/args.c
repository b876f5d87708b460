// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

enum {
	NEEDS_CONTAINER_ID = 1 << 0,
	NEEDS_NETNS = 1 << 1,
	NEEDS_IFNAME = 1 << 2,
	NEEDS_ATTACHMENT = NEEDS_CONTAINER_ID | NEEDS_IFNAME,
};

static const struct {
	const char *name;
	unsigned int needs;
} commands[] = {
	[VQP_COMMAND_ADD] = { "ADD", NEEDS_ATTACHMENT | NEEDS_NETNS },
	[VQP_COMMAND_DEL] = { "DEL", NEEDS_ATTACHMENT },
	[VQP_COMMAND_CHECK] = { "CHECK", NEEDS_ATTACHMENT | NEEDS_NETNS },
	[VQP_COMMAND_STATUS] = { "STATUS", 0 },
	[VQP_COMMAND_GC] = { "GC", 0 },
	[VQP_COMMAND_VERSION] = { "VERSION", 0 },
};

static const char *get(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static int check_present(const struct vqp_args *args, struct vqp_error *error)
{
	unsigned int needs = commands[args->command].needs;
	const char *id = needs & NEEDS_CONTAINER_ID && !*args->container_id ? " CNI_CONTAINERID" : "";
	const char *netns = needs & NEEDS_NETNS && !*args->netns ? " CNI_NETNS" : "";
	const char *ifname = needs & NEEDS_IFNAME && !*args->ifname ? " CNI_IFNAME" : "";

	if (!*id && !*netns && !*ifname)
		return 0;
	return vqp_error_set(error, VQP_ERROR_ENVIRONMENT, "CNI_COMMAND %s needs the environment variables%s%s%s",
			     commands[args->command].name, id, netns, ifname);
}

int vqp_args_read(struct vqp_args *args, struct vqp_error *error)
{
	const char *name = get("CNI_COMMAND");
	size_t command = 0;

	while (command < sizeof(commands) / sizeof(*commands) && strcmp(commands[command].name, name))
		command++;
	if (command == sizeof(commands) / sizeof(*commands))
		return vqp_error_set(error, VQP_ERROR_ENVIRONMENT, "unknown CNI_COMMAND \"%s\"", name);

	*args = (struct vqp_args){
		.command = command,
		.container_id = get("CNI_CONTAINERID"),
		.netns = get("CNI_NETNS"),
		.ifname = get("CNI_IFNAME"),
	};
	return check_present(args, error);
}

static int is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int vqp_args_is_id(const char *text)
{
	if (!is_alphanumeric(*text))
		return 0;
	while (is_alphanumeric(*text) || (*text && strchr("_.-", *text)))
		text++;
	return !*text;
}

static int is_ifname(const char *text)
{
	return strlen(text) < IFNAMSIZ && !strpbrk(text, "/: \t\n\v\f\r") &&
	       strcmp(text, ".") && strcmp(text, "..");
}

int vqp_args_check(const struct vqp_args *args, struct vqp_error *error)
{
	unsigned int needs = commands[args->command].needs;

	if (needs & NEEDS_CONTAINER_ID && !vqp_args_is_id(args->container_id))
		return vqp_error_set(error, VQP_ERROR_ENVIRONMENT,
				     "CNI_CONTAINERID \"%s\" is not letters, digits, '_', '.' and '-'",
				     args->container_id);
	if (needs & NEEDS_IFNAME && !is_ifname(args->ifname))
		return vqp_error_set(error, VQP_ERROR_ENVIRONMENT,
				     "CNI_IFNAME \"%s\" is no interface name (at most %d bytes, no '/', ':' or space)",
				     args->ifname, IFNAMSIZ - 1);
	return 0;
}
