// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * sockt: what programs can see of a stream socket, in small cases. All of them hold for TCP; whatever
 * does not hold for another protocol is a difference that a program could meet.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sockt.h"

static const struct sockt_case *const lists[] = {
	connect_cases, bind_cases, accept_cases, ipv6_cases, stream_cases, flags_cases, vector_cases, splice_cases,
	queue_cases, end_cases, poll_cases, epoll_cases, option_cases, fast_cases, share_cases, thread_cases,
	many_cases, ring_cases, report_cases,
};

static void usage(FILE *out)
{
	const struct sockt_case *c;
	size_t i;

	fprintf(out, "usage: sockt [OPTION...] CASE...|GROUP...|all\n"
		"       sockt --far=ADDRESS --port=N serve\n\n"
		"  --protocol=N   of the sockets (default 6, TCP)\n"
		"  --shown=N      what SO_PROTOCOL tells of them (default: the same)\n"
		"  --near=ADDRESS of this side (default 127.0.0.1)\n"
		"  --far=ADDRESS  of the other side (default: as the near one)\n"
		"  --netns=FILE   the network namespace of the other side, which is a child; default: this one\n"
		"  --port=N       the other side is a `sockt serve` there\n"
		"  --differs=CASE[,CASE...]\n"
		"                 these do not hold, as is documented, and fail if they do\n"
		"  --list         names of the cases; with GROUP, of that\n"
		"  --help\n\n"
		"TAP on standard output. $SOCKT_LIMIT_S: seconds that a wait may take (90).\n"
		"A group is the word before the first '-' of a case.\n\n");
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (c = lists[i]; c->name; c++)
			fprintf(out, "  %-32s%s\n", c->name, c->help);
}

/* The word before the first '-' of a case's name, or all of it. */
static bool chosen(const char *name, char **words, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		size_t len = strlen(words[i]);

		if (!strcmp(words[i], "all") || !strcmp(words[i], name))
			return true;
		if (!strncmp(words[i], name, len) && name[len] == '-' && !strchr(words[i], '-'))
			return true;
	}
	return false;
}

/* A case has a process group, in which nothing outlives it. */
static int run(const struct sockt *t, const struct sockt_case *c)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = NEED(fork());
	if (!pid) {
		struct sockt own = *t;

		setpgid(0, 0);
		alarm((unsigned int)check_limit_s() * 2);
		far_begin(&own);
		c->run(&own);
		fflush(stdout);
		_exit(0);
	}
	setpgid(pid, pid);
	WANT_EQ(waitpid(pid, &status, 0), pid);
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		printf("# ended by SIG%s\n", WTERMSIG(status) == SIGALRM ? "ALRM: it is stuck"
		       : sigabbrev_np(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Is the name among those of --differs? */
static bool differs(const struct sockt *t, const char *name)
{
	const size_t len = strlen(name);
	const char *at = t->differs;

	while (at && (at = strstr(at, name))) {
		if ((at == t->differs || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

/* What became of a case, by TAP. Was that a failure? */
static bool tell(const struct sockt *t, int number, const char *name, int status)
{
	if (status == 77) {
		printf("ok %d - %s # SKIP\n", number, name);
		return false;
	}
	if (!differs(t, name)) {
		printf("%s %d - %s\n", status ? "not ok" : "ok", number, name);
		return status;
	}
	printf("not ok %d - %s%s\n", number, name, status ? " # TODO a difference that is documented"
	       : ": it holds, and is among the documented differences");
	return !status;
}

static int run_chosen(const struct sockt *t, char **words, int count, bool only_list)
{
	const struct sockt_case *c;
	int number = 0, failed = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (c = lists[i]; c->name; c++) {
			if (!chosen(c->name, words, count))
				continue;
			number++;
			if (only_list) {
				puts(c->name);
				continue;
			}
			failed += tell(t, number, c->name, run(t, c));
		}
	}
	if (!number)
		fprintf(stderr, "sockt: no such case, see sockt --help\n");
	else if (!only_list)
		printf("1..%d\n", number);
	return !number ? 2 : failed ? 1 : 0;
}

static struct sockaddr_storage address_of(const char *text)
{
	struct sockaddr_storage address = { .ss_family = strchr(text, ':') ? AF_INET6 : AF_INET };
	void *to = address.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)&address)->sin_addr
		: (void *)&((struct sockaddr_in6 *)&address)->sin6_addr;

	if (inet_pton(address.ss_family, text, to) != 1) {
		fprintf(stderr, "sockt: '%s' is no address\n", text);
		exit(2);
	}
	return address;
}

static const struct option options[] = {
	{ "protocol", required_argument, NULL, 'p' },
	{ "shown", required_argument, NULL, 'S' },
	{ "near", required_argument, NULL, 'n' },
	{ "far", required_argument, NULL, 'f' },
	{ "netns", required_argument, NULL, 's' },
	{ "port", required_argument, NULL, 'o' },
	{ "differs", required_argument, NULL, 'd' },
	{ "list", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

int main(int argc, char **argv)
{
	struct sockt t = { .protocol = IPPROTO_TCP };
	const char *near = "127.0.0.1", *far = NULL;
	struct rlimit files = { 8192, 8192 };
	bool only_list = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p': t.protocol = atoi(optarg); break;
		case 'S': t.shown = atoi(optarg); break;
		case 'n': near = optarg; break;
		case 'f': far = optarg; break;
		case 's': t.netns = optarg; break;
		case 'o': t.far_port = atoi(optarg); break;
		case 'd': t.differs = optarg; break;
		case 'l': only_list = true; break;
		case 'h': usage(stdout); return 0;
		default: return 2;
		}
	}
	if (optind == argc && !only_list) {
		usage(stderr);
		return 2;
	}
	t.shown = t.shown ? t.shown : t.protocol;
	t.near = address_of(near);
	t.far = address_of(far ? far : near);
	t.family = t.far.ss_family;
	t.apart = !sock_same(&t.near, &t.far);
	setrlimit(RLIMIT_NOFILE, &files);
	if (optind < argc && !strcmp(argv[optind], "serve"))
		agent_serve(&t, t.far_port);
	if (optind == argc)
		return run_chosen(&t, (char *[]){ "all" }, 1, true);
	return run_chosen(&t, argv + optind, argc - optind, only_list);
}
