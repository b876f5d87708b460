// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Children, time and network namespaces. */
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "netlink.h"

void call_pause(struct runner *run)
{
	struct timespec time = { .tv_nsec = rnd_below(&run->rnd, 3000000) };

	nanosleep(&time, NULL);
	note(run, true);
}

/* Parent and child run the same calls from here on, with the same descriptors; the child only a few. */
void call_fork(struct runner *run)
{
	struct world *world = run->world;
	struct object *child = &world->children.objects[0];
	uint32_t i;
	pid_t pid;

	if (world->forked)
		return;
	for (i = 0; child->live; child++)
		if (++i == world->children.size)
			return;
	pid = fork();
	if (!pid) {
		world->forked = true;
		netlink_forked();
		run->only = 2 + rnd_below(&run->rnd, 8);
		return;
	}
	note(run, pid > 0);
	if (pid > 0)
		*child = (struct object) { .live = true, .a = (uint64_t)pid };
}

/* It stays a zombie, whose number is nobody else's, until the world is reset. */
void call_kill(struct runner *run)
{
	struct object *child = shelf_pick(&run->world->children, &run->rnd);

	if (child->live && !run->world->forked)
		note(run, !kill((pid_t)child->a, SIGKILL));
}

/* The thread moves to another network namespace; contexts stay where they are. */
void call_enter(struct runner *run)
{
	if (run->world->privileged)
		note(run, !setns(run->world->boxes[rnd_below(&run->rnd, BOXES_MAX)].netns, CLONE_NEWNET));
}
