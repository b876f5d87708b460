// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "spawn.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport.h"

const char spawn_now[] = "now";

/* In the child, whose memory is still its parent's: it calls nothing that keeps anything there. */
static void spawn_exec(const char *netns, const char *const args[])
{
	const char *actual[SPAWN_ARGS_MAX + 1] = { args[0] };
	const char **stamp = NULL;
	char now[24];

	for (int i = 1; i < SPAWN_ARGS_MAX && args[i]; i++) {
		actual[i] = args[i];
		if (args[i] == spawn_now)
			stamp = &actual[i];
	}
	if (netns) {
		int fd = open(netns, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || setns(fd, CLONE_NEWNET)) {
			perror(netns);
			return;
		}
	}
	if (stamp) {
		snprintf(now, sizeof(now), "%" PRIu64, transport_now_ns());
		*stamp = now;
	}
	execv(actual[0], (char *const *)actual);
	perror(actual[0]);
}

int spawn_start(struct spawn *child, const char *netns, const char *const args[])
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC)) {
		perror("pipe");
		return -1;
	}
	if (pipe2(from, O_CLOEXEC)) {
		perror("pipe");
		close(to[0]);
		close(to[1]);
		return -1;
	}
	/* A copy of this process's memory would have to be torn down within the time that is measured. */
	child->pid = vfork();	/* NOLINT(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): see above */
	if (!child->pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		spawn_exec(netns, args);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	child->to = fdopen(to[1], "w");
	child->from = fdopen(from[0], "r");
	if (child->pid < 0 || !child->to || !child->from) {
		perror("fork");
		return -1;
	}
	return 0;
}

int spawn_end(struct spawn *child)
{
	int status = -1;

	fclose(child->to);
	fclose(child->from);
	waitpid(child->pid, &status, 0);
	return status ? -1 : 0;
}
