// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cover.h"
#include "world.h"

static void (*const call_functions[KIND_MAX])(struct runner *run) = {
#define X(name, weight) call_##name,
	KINDS(X)
#undef X
};

/* ---- Objects ---- */

struct object *shelf_pick_fit(struct shelf *shelf, struct rnd *r,
			      bool (*fits)(const struct object *object, uint64_t wanted), uint64_t wanted)
{
	uint32_t first = rnd_below(r, shelf->size), i;
	struct object *any = &shelf->objects[first];

	if (rnd_percent(r, 4))
		return any;
	for (i = 0; i < shelf->size; i++) {
		struct object *object = &shelf->objects[(first + i) % shelf->size];

		if (!object->live)
			continue;
		if (!fits || fits(object, wanted))
			return object;
		any = object;
	}
	return any;
}

struct object *shelf_pick(struct shelf *shelf, struct rnd *r)
{
	return shelf_pick_fit(shelf, r, NULL, 0);
}

bool object_in_state(const struct object *object, uint64_t state)
{
	return object->b == state;
}

bool object_of_context(const struct object *object, uint64_t context)
{
	return object->context == context;
}

struct object shelf_put(struct shelf *shelf, struct rnd *r, struct object object)
{
	uint32_t at = rnd_below(r, shelf->size), i;
	struct object old;

	for (i = 0; i < shelf->size; i++) {
		if (!shelf->objects[i].live) {
			at = i;
			break;
		}
	}
	old = shelf->objects[at];
	shelf->objects[at] = object;
	return old;
}

/* ---- Reports ---- */

void note(struct runner *run, bool good)
{
	struct world *world = run->world;
	int error = good ? 0 : errno;

	atomic_fetch_add_explicit(&world->tally->calls, 1, memory_order_relaxed);
	if (error < ERRNOS)
		atomic_fetch_add_explicit(&world->tally->results[run->call->kind][error], 1,
					  memory_order_relaxed);
	if (world->talks)
		fprintf(stderr, "%d %2u %-10s spoil %-2u %s\n", gettid(), run->at,
			kind_names[run->call->kind], run->call->spoil,
			good ? "ok" : strerrorname_np(error) ?: "failed");
}

void fail(struct runner *run, const char *format, ...)
{
	struct tally *tally = run->world->tally;
	char why[sizeof(tally->why)];
	int told;
	va_list ap;

	va_start(ap, format);
	told = snprintf(why, sizeof(why), "call %u (%s, spoil %u, seed %u): ", run->at,
			kind_names[run->call->kind], run->call->spoil, run->call->seed);
	vsnprintf(why + told, sizeof(why) - (size_t)told, format, ap);
	va_end(ap);
	fprintf(stderr, "fuzz-calls: %s\n", why);
	if (!atomic_exchange(&tally->failed, true))
		memcpy(tally->why, why, sizeof(why));
	_exit(1);
}

/* ---- Memory ---- */

bool memory_write(void *to, const void *from, size_t bytes)
{
	int pipe[2];
	bool good;

	/* Another thread may close it by mistake: never wait. */
	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK))
		return false;
	/* It is the kernel that writes: where there is nothing, it says so. */
	good = write(pipe[1], from, bytes) == (ssize_t)bytes && read(pipe[0], to, bytes) == (ssize_t)bytes;
	close(pipe[0]);
	close(pipe[1]);
	return good;
}

static void *reserve(void *at, size_t bytes)
{
	void *memory = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			    (at ? MAP_FIXED : 0), -1, 0);

	if (memory == MAP_FAILED)
		err(1, "cannot reserve %zu bytes", bytes);
	return memory;
}

uint8_t *world_stage(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *stage = reserve(NULL, STAGE_PAGES * page + RING_BYTES);

	if (mprotect(stage, page, PROT_READ | PROT_WRITE) ||
	    mprotect(stage + 2 * page, page, PROT_READ))
		err(1, "mprotect");
	return stage;
}

/* ---- Worlds ---- */

static void shelve(struct world *world)
{
	struct shelf *const shelves[] = {
		&world->contexts, &world->cqs, &world->vqps, &world->mrs, &world->maps, &world->children,
	};
	static const uint32_t sizes[] = { 3, 6, 16, 16, WINDOW_SLOTS, 3 };
	size_t i;

	for (i = 0; i < sizeof(shelves) / sizeof(shelves[0]); i++) {
		memset(shelves[i], 0, sizeof(*shelves[i]));
		shelves[i]->size = sizes[i];
	}
	world->ring_mapped = false;
	world->tainted = false;
}

void world_init(struct world *world)
{
	/* One slot more, so that what a program maps has no neighbour. */
	world->window = reserve(NULL, (WINDOW_SLOTS + 1) * WINDOW_SLOT_BYTES);
	shelve(world);
}

void world_reset(struct world *world)
{
	uint32_t i;

	for (i = 0; i < world->children.size; i++)
		if (world->children.objects[i].live)
			kill((pid_t)world->children.objects[i].a, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	/* All that a program opens comes after what the worker holds. */
	close_range((unsigned int)cover_first_free_fd(), ~0U, 0);
	reserve(world->window, WINDOW_SLOTS * WINDOW_SLOT_BYTES);
	shelve(world);
}

/* ---- Running ---- */

struct thread {
	pthread_t id;
	pthread_barrier_t *start;	/* no thread makes calls while stacks are mapped for others */
	struct runner runner;
	uint8_t index;
};

static void *run_thread(void *data)
{
	struct thread *thread = data;
	struct runner *run = &thread->runner;
	const struct program *program = run->world->program;
	uint32_t i;

	pthread_barrier_wait(thread->start);
	cover_begin(thread->index);
	for (i = 0; i < program->ncalls; i++) {
		if (program->calls[i].thread != thread->index)
			continue;
		run->call = &program->calls[i];
		run->at = i;
		run->rnd.state = run->call->seed;
		call_functions[run->call->kind](run);
		if (run->only && !--run->only)
			break;
	}
	/* The child of a program ends here, whoever forked it. */
	if (run->world->forked)
		_exit(0);
	cover_end(thread->index);
	return NULL;
}

void world_run(struct world *world, const struct program *program, uint8_t *stages[PROGRAM_THREADS])
{
	struct thread threads[PROGRAM_THREADS];
	pthread_barrier_t start;
	uint8_t i;

	world->program = program;
	pthread_barrier_init(&start, NULL, program->nthreads);
	for (i = 0; i < PROGRAM_THREADS; i++)
		threads[i] = (struct thread) {
			.start = &start, .index = i, .runner = { .world = world, .stage = stages[i] },
		};
	for (i = 1; i < program->nthreads; i++)
		if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]))
			err(1, "pthread_create");
	run_thread(&threads[0]);
	for (i = 1; i < program->nthreads; i++)
		pthread_join(threads[i].id, NULL);
	pthread_barrier_destroy(&start);
	world_reset(world);
}
