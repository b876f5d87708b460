// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../vqpt/vqpt.h"
#include "soak.h"

#define TICK_US		5000
#define PROGRESS_S	10
#define ENOUGH_S	30		/* a run of so long has done everything */
#define STALL_MS	1000		/* a node that is away for so long may be taken for dead */

struct soak_options soak_options = { .seed = 1, .node = 1, .nodes = 1, .workers = 4, .seconds = 60, .meet = "/run" };
struct soak_shared *soak_shared;

/* The parent's view of a seat. */
struct seat {
	pid_t pid;			/* 0: nobody */
	bool killed;			/* by us */
	bool no_box;			/* its namespace was taken away */
	uint64_t due_ns;		/* the next life begins, or a frozen one goes on; or 0 */
	bool frozen;
};

static struct seat seats[SOAK_WORKERS_MAX];
static uint64_t random_state, begin_ns;

static uint64_t later(uint32_t ms)
{
	return soak_now_ns() + ms * 1000000ULL;
}

/* ---- Workers ---- */

static void seat_begin(uint32_t i)
{
	struct soak_seat *shared = &soak_shared->seats[i];

	if (seats[i].no_box) {
		soak_box_make(i + 1);
		shared->boxes++;
	}
	shared->doomed = false;
	shared->lives++;
	seats[i] = (struct seat) { .pid = fork() };
	if (!seats[i].pid)
		soak_worker_run(i + 1);
}

static void seat_kill(uint32_t i)
{
	seats[i].killed = true;
	kill(seats[i].pid, SIGKILL);
	soak_count(SOAK_N_KILL);
}

/* Its process goes first, or its namespace, under way as it is. */
static void seat_lose_netns(uint32_t i)
{
	soak_count(SOAK_N_NETNS);
	seats[i].no_box = true;
	if (soak_below(&random_state, 2)) {
		seat_kill(i);
		soak_box_remove(i + 1);
	} else {
		soak_box_remove(i + 1);
		seat_kill(i);
	}
}

static void seat_shut_down(uint32_t i)
{
	soak_count(SOAK_N_SHUTDOWN);
	soak_shared->seats[i].doomed = true;
	seats[i].no_box = true;
	seats[i].due_ns = later(SOAK_PATIENCE_MS);
	soak_run("vqpctl ns del --netns /run/netns/soak%u", i + 1);
	soak_box_remove(i + 1);
}

static void seat_freeze(uint32_t i)
{
	soak_count(SOAK_N_FREEZE);
	kill(seats[i].pid, SIGSTOP);
	seats[i].frozen = true;
	seats[i].due_ns = later(soak_below(&random_state, 4) ? soak_below(&random_state, 500) :
				soak_below(&random_state, 6000));
}

static void seat_thaw(uint32_t i)
{
	kill(seats[i].pid, SIGCONT);
	seats[i].frozen = false;
	seats[i].due_ns = 0;
}

/* What became of a process. */
static void seat_ended(uint32_t i, int status)
{
	bool fine = (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && seats[i].killed) ||
		    (WIFEXITED(status) && !WEXITSTATUS(status) &&
		     (soak_shared->seats[i].doomed || soak_shared->over));

	if (!fine)
		soak_say_wrong("worker %u ended by itself: status %#x", i + 1, (unsigned int)status);
	seats[i].pid = 0;
	seats[i].frozen = false;
	seats[i].due_ns = later(soak_below(&random_state, 500));
}

static void reap(void)
{
	uint32_t i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < soak_options.workers; i++)
			if (seats[i].pid == pid)
				seat_ended(i, status);
}

static void tick_seat(uint32_t i)
{
	if (seats[i].due_ns && soak_now_ns() < seats[i].due_ns)
		return;
	if (!seats[i].pid) {
		seat_begin(i);
	} else if (seats[i].frozen) {
		seat_thaw(i);
	} else if (seats[i].due_ns) {
		soak_say_late("worker %u does not end although its namespace has gone", i + 1);
	}
}

static void tick(void)
{
	static uint32_t said;
	uint64_t slept_ns;
	uint32_t now = (uint32_t)((soak_now_ns() - begin_ns) / 1000000000), i;

	reap();
	for (i = 0; i < soak_options.workers; i++)
		tick_seat(i);
	soak_chaos_tick();
	if (now >= said + PROGRESS_S) {
		said = now;
		soak_progress(now);
	}
	slept_ns = soak_now_ns();
	usleep(TICK_US);
	if (soak_now_ns() - slept_ns > STALL_MS * 1000000ULL)
		soak_chaos_stall();
}

/* ---- What is done to them ---- */

static void do_something(void)
{
	uint32_t i = soak_below(&random_state, soak_options.workers), dice = soak_below(&random_state, 100);

	if (dice < 12) {
		soak_chaos_node(&random_state);
		return;
	}
	if (!seats[i].pid || seats[i].due_ns)
		return;
	if (dice < 22)
		seat_freeze(i);
	else if (dice < 32)
		seat_lose_netns(i);
	else if (dice < 42)
		seat_shut_down(i);
	else
		seat_kill(i);
}

static bool others_failed(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/failed", soak_options.meet);
	return !access(path, F_OK);
}

static void leave_mark(const char *what)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", soak_options.meet, what);
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	if (fd >= 0)
		close(fd);
}

uint32_t soak_marks(const char *what)
{
	uint32_t node, marks = 0;
	char path[256];

	for (node = 1; node <= soak_options.nodes; node++) {
		snprintf(path, sizeof(path), "%s/%s-%u", soak_options.meet, what, node);
		marks += !access(path, F_OK);
	}
	return marks;
}

/* A run that is long enough to see everything, and has not, says nothing. */
static bool lacks_some(void)
{
	static const enum soak_count wanted[] = {
		SOAK_N_SEND, SOAK_N_WRITE, SOAK_N_READ, SOAK_N_ATOMIC, SOAK_N_ANSWER, SOAK_N_KILL,
		SOAK_N_NEAR, SOAK_N_TCP, SOAK_N_ECHO,
	};
	uint32_t i;

	if (soak_options.seconds < ENOUGH_S)
		return false;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!soak_shared->counts[wanted[i]])
			return true;
	return false;
}

/* All nodes end together, when the last of them lacks nothing; a slow one gets as much time again for that. */
static void run_chaos(void)
{
	uint64_t end_ns = later(soak_options.seconds * 1000), next_ns = later(1000);
	uint64_t late_ns = end_ns + soak_options.seconds * 1000000000ULL;
	bool told = false;
	char mark[16];

	snprintf(mark, sizeof(mark), "enough-%u", soak_options.node);
	while (soak_now_ns() < late_ns && !(told && soak_marks("enough") >= soak_options.nodes) && !soak_shared->wrong &&
	       !others_failed()) {
		if (soak_now_ns() >= next_ns) {
			do_something();
			next_ns = later(50 + soak_below(&random_state, 1000));
		}
		tick();
		if (!told && soak_now_ns() >= end_ns && !lacks_some()) {
			leave_mark(mark);
			told = true;
		}
	}
}

/* ---- The end: everything comes to rest by itself ---- */

/* Is anybody left? */
static bool any_alive(void)
{
	uint32_t i;

	for (i = 0; i < soak_options.workers; i++)
		if (seats[i].pid)
			return true;
	return false;
}

static void end_by_itself(void)
{
	uint64_t late_ns;
	char mark[16];
	uint32_t i;

	for (i = 0; i < soak_options.workers; i++)
		if (seats[i].frozen)
			seat_thaw(i);
	soak_chaos_calm();
	late_ns = later(SOAK_PATIENCE_MS);	/* patience counts from here: one for the flows, one for the end */
	while (!soak_shared->wrong && !soak_patience_over(late_ns)) {
		for (i = 0; i < soak_options.workers && seats[i].pid && !seats[i].killed &&
		     !soak_shared->seats[i].doomed; i++)
			;
		if (i == soak_options.workers)
			break;
		tick();
	}
	soak_shared->ending = true;
	while (!soak_shared->wrong && soak_shared->idle < soak_options.workers && !soak_patience_over(late_ns))
		tick();
	snprintf(mark, sizeof(mark), "idle-%u", soak_options.node);
	leave_mark(mark);
	while (!soak_shared->wrong && soak_marks("idle") < soak_options.nodes && !others_failed() &&
	       !soak_patience_over(late_ns))
		tick();
	soak_shared->over = true;
	while (!soak_shared->wrong && any_alive() && !soak_patience_over(late_ns)) {
		reap();
		usleep(TICK_US);
	}
	if (!soak_shared->wrong && any_alive())
		soak_say_late("it does not come to its end: %u of %u workers have no flows left", soak_shared->idle,
			      soak_options.workers);
}

static void end_by_force(void)
{
	uint32_t i;

	for (i = 0; i < soak_options.workers; i++) {
		if (seats[i].pid)
			kill(seats[i].pid, SIGKILL);
		while (seats[i].pid && waitpid(seats[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (!seats[i].no_box)
			soak_box_remove(i + 1);
	}
}

/* ---- Beginning ---- */

static void begin(void)
{
	uint32_t i;

	soak_shared = mmap(NULL, sizeof(*soak_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (soak_shared == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	begin_ns = soak_now_ns();
	random_state = soak_mix(soak_options.seed, soak_options.node);
	for (i = 0; i < soak_options.workers; i++)
		seats[i] = (struct seat) { .no_box = true };
	printf("soak node%u: seed %" PRIu64 ", %u of %u nodes, %u workers\n", soak_options.node, soak_options.seed,
	       soak_options.node, soak_options.nodes, soak_options.workers);
	fflush(stdout);
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "node", required_argument, NULL, 'i' },
		{ "nodes", required_argument, NULL, 'n' },
		{ "workers", required_argument, NULL, 'w' },
		{ "seconds", required_argument, NULL, 't' },
		{ "meet", required_argument, NULL, 'm' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's': soak_options.seed = strtoull(optarg, NULL, 0); break;
		case 'i': soak_options.node = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'n': soak_options.nodes = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'w': soak_options.workers = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 't': soak_options.seconds = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'm': soak_options.meet = optarg; break;
		default: exit(2);
		}
	}
	if (optind != argc || !soak_options.node || soak_options.node > soak_options.nodes || !soak_options.workers ||
	    soak_options.nodes > SOAK_NODES_MAX || soak_options.workers > SOAK_WORKERS_MAX) {
		fprintf(stderr, "usage: vqp-soak [--seed N] --node I --nodes N [--workers N] [--seconds N] "
			"[--meet DIRECTORY]\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	begin();
	run_chaos();
	end_by_itself();
	if (lacks_some() && !soak_shared->wrong && !others_failed())
		soak_say_late("nothing much was done");
	if (soak_shared->wrong) {
		leave_mark("failed");
		usleep(200000);		/* those who were about to say more */
		soak_run("vqpctl vqps >&2; vqpctl status >&2");
	}
	end_by_force();
	soak_progress((uint32_t)((soak_now_ns() - begin_ns) / 1000000000));
	return soak_shared->wrong || others_failed();
}
