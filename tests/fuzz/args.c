// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Command lines of OCI runtimes, arguments separated by newlines: what is read from one is one of its arguments. */
#define _GNU_SOURCE
#include <stdbool.h>

#include "../../oci-hook/args.h"
#include "fuzz.h"

#define ARGS_MAX	16

static bool is_within(const char *part, char *const *argv)
{
	for (; *argv; argv++)
		if (part >= *argv && part <= *argv + strlen(*argv))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *argv[ARGS_MAX + 2] = { "vqp-runtime" }, *text = malloc(bytes + 1), *at = text, *arg;
	struct vqp_args args;

	fuzz_check(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	for (int n = 1; n <= ARGS_MAX && (arg = strsep(&at, "\n")); n++)
		argv[n] = arg;
	vqp_args_parse(&args, argv);
	fuzz_check(args.bundle && (!strcmp(args.bundle, ".") || is_within(args.bundle, argv + 1)));
	fuzz_check(!args.command || is_within(args.command, argv + 1));
	fuzz_check(!args.config || is_within(args.config, argv + 1));
	fuzz_check(!args.id || is_within(args.id, argv + 1));
	fuzz_check(!args.command || argv[args.globals] == args.command);
	fuzz_check(!args.log || is_within(args.log, argv + 1));
	fuzz_check(!args.log_format || is_within(args.log_format, argv + 1));
	free(text);
	return 0;
}
