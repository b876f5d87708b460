// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How long ADDs of CNI plugins take: of each plugin in turn, COUNT of them one
 * after the other, then COUNT at once. DIR/N.json is what the N-th, of network
 * namespace /run/netns/startN, gets on its standard input. DELs are not timed.
 */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport.h"

#define COUNT_MAX	256

struct starts {
	const char *dir, *plugin;
	int count;
};

static pid_t start(const struct starts *s, const char *command, int n)
{
	char path[256], verb[32], id[32], netns[64];
	char *const args[] = { (char *)s->plugin, NULL };
	char *const env[] = { verb, id, netns, "CNI_IFNAME=eth0", "CNI_PATH=/", NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;
	int ret;

	snprintf(path, sizeof(path), "%s/%d.json", s->dir, n);
	snprintf(verb, sizeof(verb), "CNI_COMMAND=%s", command);
	snprintf(id, sizeof(id), "CNI_CONTAINERID=start%d", n);
	snprintf(netns, sizeof(netns), "CNI_NETNS=/run/netns/start%d", n);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, path, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	ret = posix_spawn(&pid, s->plugin, &files, NULL, args, env);
	if (ret)
		errx(1, "%s: %s", s->plugin, strerror(ret));
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

static void end(const struct starts *s, const char *command, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "%s: %s failed", s->plugin, command);
}

static void one_by_one(const struct starts *s, const char *command)
{
	for (int n = 1; n <= s->count; n++)
		end(s, command, start(s, command, n));
}

static void all_at_once(const struct starts *s, const char *command)
{
	pid_t pids[COUNT_MAX];

	for (int n = 0; n < s->count; n++)
		pids[n] = start(s, command, n + 1);
	for (int n = 0; n < s->count; n++)
		end(s, command, pids[n]);
}

/* Microseconds for each ADD of a way to make them all. */
static double measure(const struct starts *s, void (*way)(const struct starts *s, const char *command))
{
	const uint64_t before = transport_now_ns();
	double us;

	way(s, "ADD");
	us = (transport_now_ns() - before) / 1e3 / s->count;
	one_by_one(s, "DEL");
	return us;
}

int main(int argc, char **argv)
{
	struct starts s = { 0 };
	int rounds;

	if (argc < 5 || (s.count = atoi(argv[2])) < 1 || s.count > COUNT_MAX || (rounds = atoi(argv[3])) < 1) {
		fprintf(stderr, "usage: starts DIR COUNT ROUNDS PLUGIN...\n");
		return 2;
	}
	s.dir = argv[1];
	printf("[");
	for (int i = 0; i < rounds; i++) {
		printf("%s{", i ? "," : "");
		for (char **plugin = argv + 4; *plugin; plugin++) {
			const char *name = strrchr(*plugin, '/');

			s.plugin = *plugin;
			printf("%s\"%s\":{\"one_us\":%.1f,", plugin > argv + 4 ? "," : "", name ? name + 1 : *plugin,
			       measure(&s, one_by_one));
			printf("\"many_us\":%.1f}", measure(&s, all_at_once));
		}
		printf("}");
	}
	printf("]\n");
	return 0;
}
