// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <ctype.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "../common/limits.h"
#include "../common/sockets.h"
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
	return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT, "CNI_COMMAND %s needs the environment variables%s%s%s",
			     commands[args->command].name, id, netns, ifname);
}

int vqp_args_read(struct vqp_args *args, struct vqp_error *error)
{
	const char *name = get("CNI_COMMAND");
	size_t command = 0;

	while (command < sizeof(commands) / sizeof(*commands) && strcmp(commands[command].name, name))
		command++;
	if (command == sizeof(commands) / sizeof(*commands))
		return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT, "unknown CNI_COMMAND \"%s\"", name);

	*args = (struct vqp_args){
		.command = command,
		.container_id = get("CNI_CONTAINERID"),
		.netns = get("CNI_NETNS"),
		.ifname = get("CNI_IFNAME"),
		.args = get("CNI_ARGS"),
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

/* vqpd uses the interface name in the name of the VQP namespace. */
static int is_printable(const char *text)
{
	while (*text > ' ' && *text <= '~')
		text++;
	return !*text;
}

int vqp_args_check(const struct vqp_args *args, struct vqp_error *error)
{
	unsigned int needs = commands[args->command].needs;

	if (needs & NEEDS_CONTAINER_ID && !vqp_args_is_id(args->container_id))
		return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT,
				     "CNI_CONTAINERID \"%s\" is not letters, digits, '_', '.' and '-'",
				     args->container_id);
	if (needs & NEEDS_IFNAME && !is_ifname(args->ifname))
		return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT,
				     "CNI_IFNAME \"%s\" is no interface name (at most %d bytes, no '/', ':' or space)",
				     args->ifname, IFNAMSIZ - 1);
	/* A DEL without an ADD succeeds: the runtime would not ask the plugins before this one. */
	if (needs & NEEDS_NETNS && !is_printable(args->ifname))
		return vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT,
				     "CNI_IFNAME \"%s\" is not printable ASCII, as vqp needs it", args->ifname);
	return 0;
}

static int set_limit(json_t *terms, char *name, const char *value)
{
	json_t *limits = json_object_get(terms, "limits");

	for (char *c = name; *c; c++)
		*c = tolower((unsigned char)*c);
	if (!limits) {
		limits = json_object();
		json_object_set_new(terms, "limits", limits);
	}
	return json_object_set_new(limits, name, vqp_limits_parse(value));
}

/* Adds the argument VQP_NAME=VALUE, which has been split in two. */
static int set_term(json_t *terms, char *pair, char *value)
{
	cleanup_error struct vqp_error error = { 0 };
	char *name = pair + strlen("VQP_");

	*value++ = '\0';
	if (!strcmp(name, "TENANT"))
		return json_object_set_new(terms, "tenant", vqp_limits_parse(value));
	if (!strcmp(name, "ADDRESS"))
		return json_object_set_new(terms, "address", json_string(value));
	if (!strcmp(name, "SOCKETS"))
		return json_object_set_new(terms, "sockets", vqp_sockets_parse(value, &error));
	return strncmp(name, "MAX_", 4) && strcmp(name, "PRIORITY") ? -1 : set_limit(terms, name, value);
}

json_t *vqp_args_terms(const struct vqp_args *args, struct vqp_error *error)
{
	char *copy = strdup(args->args), *rest, *pair;
	json_t *terms = json_object();

	for (pair = copy ? strtok_r(copy, ";", &rest) : NULL; pair; pair = strtok_r(NULL, ";", &rest)) {
		char *value = strchr(pair, '=');

		if (!value || value == pair)
			vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT, "CNI_ARGS: \"%s\" is not of the form NAME=VALUE", pair);
		else if (!strncmp(pair, "VQP_", 4) && set_term(terms, pair, value))
			vqp_error_set(error, VQP_CNI_ERROR_ENVIRONMENT,
				      "CNI_ARGS: VQP_TENANT, VQP_MAX_... and VQP_PRIORITY are numbers, VQP_ADDRESS is an address, VQP_SOCKETS is on, off, or as only:80,except:10.1.0.0/16, and there is no other VQP_...");
	}
	if (!copy || !terms)
		vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	free(copy);
	if (!error->code)
		return terms;
	json_decref(terms);
	return NULL;
}
