// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * allocfail: fail each allocation of each system call, one at a time. Needs a
 * kernel with fail-nth (the debug kernel), and root in the initial network namespace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../common/address.h"
#include "admin.h"
#include "main.h"
#include "module.h"
#include "nth.h"
#include "report.h"
#include "run.h"

struct far far;

static const char *about_what;
static unsigned int about_nth;

static const struct run_case *const tables[] = { calls, posts, sockets, commands };

#define TABLES	(sizeof(tables) / sizeof(*tables))

void die_about(const char *what, unsigned int nth)
{
	about_what = what;
	about_nth = nth;
}

void die(int err, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "allocfail: ");
	if (about_what)
		fprintf(stderr, "%s, allocation %u (0: all): ", about_what, about_nth);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, err ? ": %s\n" : "\n", strerrorname_np(err));
	exit(1);
}

static void parse_far(char **args)
{
	if (vqp_address_parse(args[0], far.gid))
		die(0, "'%s' is no address", args[0]);
	far.port = (uint32_t)strtoul(args[1], NULL, 0);
	far.key = (uint32_t)strtoul(args[2], NULL, 0);
	far.addr = strtoull(args[3], NULL, 0);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: allocfail list\n"
		"       allocfail run NETNS ADDRESS PORT KEY ADDR CASE...   ADDRESS and so on: a mem-server on another node;\n"
		"                                                           for sockets, an echo there, and two zeros\n"
		"       allocfail insmod FILE [PARAMETERS]\n");
	return 2;
}

static const struct run_case *find(const char *name)
{
	const struct run_case *c;
	size_t i;

	for (i = 0; i < TABLES; i++)
		for (c = tables[i]; c->name; c++)
			if (!strcmp(name, c->name))
				return c;
	die(0, "no case '%s', see 'allocfail list'", name);
}

static int list(void)
{
	const struct run_case *c;
	size_t i;

	for (i = 0; i < TABLES; i++)
		for (c = tables[i]; c->name; c++)
			puts(c->name);
	return 0;
}

static int run(char **args)
{
	unsigned int failed = 0;

	admin_open(args[0]);
	parse_far(args + 1);
	nth_setup();
	report_setup();
	for (args += 5; *args; args++)
		failed += run_case(find(*args));
	die_about(NULL, 0);
	if (!failed)
		die(0, "nothing was failed: does this kernel inject faults?");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc > 7 && !strcmp(argv[1], "run"))
		return run(argv + 2);
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "insmod"))
		return module_run(argv[2], argc == 4 ? argv[3] : "");
	return usage();
}
