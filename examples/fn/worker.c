// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

#define FN_ANSWER_MAX	4096

/*
 * A forked process shares its memory with its parent until it writes to it, with a page fault for
 * each page. Takes these faults here, as far as possible, because the time that is measured is that
 * of the RDMA set-up in a warm process.
 */
static void fn_worker_warm(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t start, end;
	char rights[5];

	if (!maps)
		return;
	while (fscanf(maps, "%" SCNxPTR "-%" SCNxPTR " %4s%*[^\n]", &start, &end, rights) == 3)
		madvise((void *)start, end - start,
			rights[1] == 'w' ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	fclose(maps);
}

int fn_worker_start(struct fn_worker *worker, fn_worker_run run, const json_t *input)
{
	int fds[2];

	/* Each packet is an answer. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -1;
	worker->pid = fork();
	if (worker->pid < 0) {
		int error = errno;

		worker->pid = 0;
		close(fds[0]);
		close(fds[1]);
		errno = error;
		return -1;
	}
	if (!worker->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGTERM, SIG_DFL);
		close(fds[0]);
		fn_worker_warm();
		run(fds[1], input);
		_exit(EXIT_SUCCESS);
	}
	close(fds[1]);
	worker->fd = fds[0];
	return 0;
}

json_t *fn_worker_hear(struct fn_worker *worker, int timeout_ms)
{
	struct pollfd ready = { .fd = worker->fd, .events = POLLIN };
	char text[FN_ANSWER_MAX];
	json_error_t error;
	json_t *answer;
	ssize_t bytes;

	/* An answer after the deadline does not count, even if it is there already. */
	if (timeout_ms <= 0 || poll(&ready, 1, timeout_ms) <= 0)
		return fn_error("no answer within %d ms", timeout_ms);
	bytes = read(worker->fd, text, sizeof(text));
	if (bytes <= 0)
		return fn_error("the worker died");
	answer = json_loadb(text, bytes, 0, &error);
	return answer ? answer : fn_error("bad answer: %s", error.text);
}

void fn_worker_stop(struct fn_worker *worker)
{
	if (!worker->pid)
		return;
	close(worker->fd);
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, 0);
	worker->pid = 0;
}

void fn_worker_say(int fd, json_t *answer)
{
	char *text = json_dumps(answer, JSON_COMPACT);

	if (!text || write(fd, text, strlen(text)) < 0)
		_exit(EXIT_FAILURE);
	free(text);
	json_decref(answer);
}
