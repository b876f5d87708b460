// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* vqpt: small programs that exercise VQPs, for the test suites. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vqpt.h"

static const struct {
	const char *name, *args, *help;
	int nargs;
	vqpt_command *run;
} commands[] = {
	{ "echo-server", "PORT", "send every message back to its sender", 1, vqpt_echo_server },
	{ "send", "ADDRESS PORT", "send --count messages to an echo-server, verify the echoes", 2, vqpt_echo_send },
	{ "mem-server", "PORT", "offer --bytes of memory; prints pid=, port=, key=, addr=", 1, vqpt_mem_server },
	{ "write", "ADDRESS PORT KEY ADDR", "write --bytes there, have the server verify them", 4, vqpt_mem_write },
	{ "read", "ADDRESS PORT KEY ADDR", "read --bytes from there and verify them", 4, vqpt_mem_read },
	{ "add", "ADDRESS PORT KEY ADDR", "add 1 to the word there --count times; prints what the first and last found", 4,
	  vqpt_atomic_add },
	{ "swap", "ADDRESS PORT KEY ADDR", "the same by compare and swap; prints how many it took", 4, vqpt_atomic_swap },
	{ "weave-server", "PORT", "see that a weaver's requests are carried out once, in order", 1, vqpt_weave_server },
	{ "weave", "ADDRESS PORT KEY ADDR", "reads, writes and messages, --count rounds, or (0) until SIGTERM", 4,
	  vqpt_weave_run },
	{ "lat", "ADDRESS PORT KEY ADDR", "latencies against a mem-server, as JSON", 4, vqpt_lat_measure },
	{ "tail", "ADDRESS PORT KEY ADDR", "the slow ones among --count READs, as JSON", 4, vqpt_tail_measure },
	{ "cycle", "ADDRESS PORT", "--count times: open, create, connect, send, close", 2, vqpt_cycle_run },
	{ "kill", "ADDRESS PORT KEY ADDR", "--count times: a process that transfers to a mem-server is killed", 4,
	  vqpt_cycle_kill },
	{ "storm", "ADDRESS PORT", "--count VQPs in one context, a message of --bytes from each", 2, vqpt_storm_run },
	{ "fork", "ADDRESS PORT", "a child uses its parent's VQP", 2, vqpt_share_fork },
	{ "scm", "ADDRESS PORT", "a process uses a VQP it got by SCM_RIGHTS", 2, vqpt_share_scm },
	{ "epoll", "ADDRESS PORT", "sleep in epoll until the echo arrives", 2, vqpt_share_epoll },
	{ "signals", "ADDRESS PORT", "send, with a signal every millisecond", 2, vqpt_signals_run },
	{ "hold", "vqps|mrs|arenas", "make --count of them, or as many as there may be; prints made=, errno=, again=, pid=", 1,
	  vqpt_hold_run },
	{ "flood", "write|read ADDRESS PORT KEY ADDR", "write or read --bytes there until SIGTERM", 5, vqpt_flood_run },
	{ "stray", "ADDRESS PORT KEY ADDR", "a list of writes from ADDR on, where nobody offers memory", 4, vqpt_stray_run },
	{ "regions-server", "PORT", "--count regions; prints as mem-server does, and last_key=, last_addr=", 1,
	  vqpt_regions_server },
	{ "regions", "ADDRESS PORT KEY ADDR", "read the first --count of them in turn, for ever", 4, vqpt_regions_run },
	{ "words-server", "PORT", "change a word, and look at the --bytes after it; prints as mem-server does", 1,
	  vqpt_words_server },
	{ "words", "ADDRESS PORT KEY ADDR", "until --count changes were seen on each side; no word is torn", 4, vqpt_words_run },
	{ "hand", "SOCKET FILE", "send standard input to a Unix socket, and FILE's descriptor with it; prints the answer", 2,
	  vqpt_hand_run },
	{ "strew", "", "have --count descriptors in flight that nobody receives, until standard input ends", 0,
	  vqpt_strew_run },
	{ "raas-server", "ADDRESS PORT FLAGS", "echo what connections of <vqp/raas.h> bring", 3, vqpt_raas_server },
	{ "raas", "ADDRESS PORT FLAGS", "send --bytes to a raas-server, verify the echo", 3, vqpt_raas_talk },
	{ "bad", "CASE [ADDRESS PORT KEY ADDR]", "do one thing wrong, print what came of it; or all, for ever", -1, vqpt_bad_run },
};

static int ready_fd = -1;

static void say(const char *what, int err, const char *format, va_list ap)
{
	fprintf(stderr, "vqpt: %s", what);
	vfprintf(stderr, format, ap);
	fprintf(stderr, err ? ": %s\n" : "\n", strerrorname_np(abs(err)));
}

void vqpt_die(int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("", err, format, ap);
	va_end(ap);
	exit(1);
}

void vqpt_wrong(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("WRONG: ", 0, format, ap);
	va_end(ap);
	exit(1);
}

void vqpt_ready(const char *format, ...)
{
	va_list ap;
	int null;

	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	fflush(stdout);
	if (ready_fd < 0)
		return;
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	close(null);
	if (write(ready_fd, "", 1) != 1)
		exit(1);
	close(ready_fd);
	ready_fd = -1;
}

/* Go on in a child; the parent exits when it is ready, or has failed. */
static void go_to_background(void)
{
	int fds[2], status;
	char byte;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		vqpt_die(errno, "pipe");
	pid = fork();
	if (pid < 0)
		vqpt_die(errno, "fork");
	if (!pid) {
		close(fds[0]);
		setsid();
		ready_fd = fds[1];
		return;
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) == 1)
		_exit(0);
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
}

uint64_t vqpt_number(const char *text, uint64_t max)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	switch (*end) {
	case 'G':
		value <<= 10;
		/* fall through */
	case 'M':
		value <<= 10;
		/* fall through */
	case 'K':
		value <<= 10;
		end++;
		break;
	}
	if (errno || end == text || *end || *text == '-' || value > max)
		vqpt_die(0, "'%s' is no number up to %llu", text, (unsigned long long)max);
	return value;
}

uint64_t vqpt_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void usage(FILE *out)
{
	size_t i;

	fprintf(out, "usage: vqpt [OPTION...] COMMAND ARGUMENT...\n\n");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-12s%-30s%s\n", commands[i].name, commands[i].args, commands[i].help);
	fprintf(out, "\n"
		"  --bytes=N        of a message or a region (K, M, G; default 64)\n"
		"  --count=N        messages or rounds (default 1)\n"
		"  --depth=N        messages under way; receives a server posts (default 16)\n"
		"  --list=N         requests per post (default 1)\n"
		"  --sges=N         scatter/gather entries per request (default 1)\n"
		"  --access=N       rights of a server's region (default 7: local write, remote write and read)\n"
		"  --imm            with immediate data\n"
		"  --inline         send inline\n"
		"  --arena          memory from vqp_alloc()\n"
		"  --address=ADDRESS  of the VQP namespace to use, where there are several\n"
		"  --timeout=MS     for one completion (default 30000, or $VQPT_TIMEOUT_MS)\n"
		"  --background     return when the server is ready; it goes on\n"
		"  --help\n");
}

static int default_timeout_ms(void)
{
	const char *text = getenv("VQPT_TIMEOUT_MS");

	return text ? (int)vqpt_number(text, 3600000) : 30000;
}

static struct vqpt_options parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "bytes", required_argument, NULL, 'b' },
		{ "count", required_argument, NULL, 'c' },
		{ "depth", required_argument, NULL, 'd' },
		{ "list", required_argument, NULL, 'l' },
		{ "sges", required_argument, NULL, 's' },
		{ "access", required_argument, NULL, 'a' },
		{ "address", required_argument, NULL, 'f' },
		{ "timeout", required_argument, NULL, 't' },
		{ "imm", no_argument, NULL, 'i' },
		{ "inline", no_argument, NULL, 'n' },
		{ "arena", no_argument, NULL, 'r' },
		{ "background", no_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct vqpt_options o = {
		.bytes = 64, .count = 1, .depth = 16, .list = 1, .sges = 1, .timeout_ms = default_timeout_ms(),
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'b': o.bytes = vqpt_number(optarg, 4ULL << 30); break;
		case 'c': o.count = (uint32_t)vqpt_number(optarg, UINT32_MAX); break;
		case 'd': o.depth = (uint32_t)vqpt_number(optarg, VQP_MAX_WR); break;
		case 'l': o.list = (uint32_t)vqpt_number(optarg, VQP_MAX_WR); break;
		case 's': o.sges = (uint32_t)vqpt_number(optarg, VQP_MAX_SGE); break;
		case 'a': o.access = (uint32_t)vqpt_number(optarg, UINT32_MAX); break;
		case 'f': o.address = optarg; break;
		case 't': o.timeout_ms = (int)vqpt_number(optarg, 3600000); break;
		case 'i': o.imm = true; break;
		case 'n': o.inline_data = true; break;
		case 'r': o.arena = true; break;
		case 'g': o.background = true; break;
		case 'h': usage(stdout); exit(0);
		default: exit(2);
		}
	}
	return o;
}

int main(int argc, char **argv)
{
	struct vqpt_options options = parse_options(argc, argv);
	int nargs = argc - optind - 1;
	size_t i;

	if (nargs < 0) {
		usage(stderr);
		return 2;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[optind], commands[i].name))
			continue;
		if (commands[i].nargs >= 0 && nargs != commands[i].nargs) {
			fprintf(stderr, "usage: vqpt %s %s\n", commands[i].name, commands[i].args);
			return 2;
		}
		if (options.background)
			go_to_background();
		return commands[i].run(&options, argv + optind + 1);
	}
	fprintf(stderr, "vqpt: no command '%s', see vqpt --help\n", argv[optind]);
	return 2;
}
