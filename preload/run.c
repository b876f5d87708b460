/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqp-run: run a program with libvqp-run.so, by which its stream sockets are vqp's. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/version.h"

#define TEXT(text)	TEXT_OF(text)
#define TEXT_OF(text)	#text
#define LIBRARY	TEXT(VQP_RUN_LIBRARY)	/* relative to this program's directory, as the makefile says */

/* as those of env(1) */
enum { EXIT_OWN = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

static const char usage[] =
	"usage: vqp-run PROGRAM [ARGUMENT]...\n"
	"       vqp-run --help|--version\n"
	"\n"
	"Runs a program whose stream sockets are vqp's where its network namespace has sockets\n"
	"on, and TCP's elsewhere. Programs that are linked statically, do not call the C\n"
	"library (Go), or have more rights than their caller are not changed.\n"
	"Exit status: the program's; 125: vqp-run failed; 126: the program cannot be run;\n"
	"127: there is none.\n";

/* Finds the library. Its path has no blank and no colon, at which the loader would cut LD_PRELOAD. */
static void find_library(char path[PATH_MAX])
{
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - sizeof(LIBRARY));

	if (bytes < 0)
		err(EXIT_OWN, "cannot find " LIBRARY ": /proc/self/exe");
	path[bytes] = '\0';
	strcpy(strrchr(path, '/') + 1, LIBRARY);
	if (access(path, R_OK))
		err(EXIT_OWN, "%s: make -C preload install", path);
	if (strpbrk(path, " :"))
		errx(EXIT_OWN, "cannot preload %s: its path has a blank or a colon in it", path);
}

/* Puts the library before others that are preloaded, whose socket(2) it calls. */
static void preload(const char *path)
{
	const char *others = getenv("LD_PRELOAD");
	cleanup_free char *all = NULL;

	if (asprintf(&all, "%s%s%s", path, others && *others ? ":" : "", others ? others : "") < 0 ||
	    setenv("LD_PRELOAD", all, 1))
		err(EXIT_OWN, "cannot set LD_PRELOAD");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	char path[PATH_MAX];

	switch (getopt_long(argc, argv, "+", options, NULL)) {
	case 'h':
		fputs(usage, stdout);
		return 0;
	case 'v':
		printf("vqp-run %s\n", vqp_version);
		return 0;
	case '?':
		return EXIT_OWN;
	}
	if (optind == argc)
		errx(EXIT_OWN, "no program (vqp-run --help)");
	find_library(path);
	preload(path);
	execvp(argv[optind], argv + optind);
	err(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, "%s", argv[optind]);
}
