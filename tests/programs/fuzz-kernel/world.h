/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a program works on: its contexts, CQs, VQPs, regions, mappings and
 * children. Threads of a program share it without locks: a torn object is but
 * another wrong argument.
 */
#ifndef VQP_FUZZ_WORLD_H
#define VQP_FUZZ_WORLD_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <linux/vqp.h>
#include "program.h"
#include "target.h"

#define SHELF_MAX	16
#define WINDOW_SLOTS	12		/* where programs map memory, and nowhere else */
#define WINDOW_SLOT_BYTES (8UL << 20)
#define BOXES_MAX	4		/* network namespaces that the fuzzer makes */
#define ERRNOS		134
#define STAGE_PAGES	4		/* one to write, a hole, one to read, a hole */
#define RING_BYTES	WINDOW_SLOT_BYTES	/* room for a ring, behind these pages */

/* One thing that a program made. What a, b and c are depends on the shelf. */
struct object {
	bool live;
	uint32_t context;		/* the shelf's index of its context */
	uint64_t a, b, c;
};

struct shelf {
	uint32_t size;
	struct object objects[SHELF_MAX];
};

struct box {
	int netns;
	uint32_t tenant;
	uint8_t gid[VQP_GID_BYTES];
};

/* What the whole fuzzer shares: between processes. */
struct tally {
	atomic_ulong calls, programs;
	atomic_ulong results[KIND_MAX][ERRNOS];	/* 0: good */
	atomic_bool failed;
	char why[256];				/* of the first failure */
};

struct world {
	struct tally *tally;
	const struct box *boxes;
	const struct target *target;
	bool privileged;
	bool in_host;			/* at home in the initial network namespace */
	uint32_t home;			/* index of the box, if not */
	uint8_t gid[VQP_GID_BYTES];	/* at home */
	int nl;				/* netlink socket of the initial network namespace */
	uint16_t nl_family;
	const void *meta;		/* the list of meta servers that was there first, as netlink attributes */
	size_t meta_bytes;
	bool talks;			/* say what each call gave */

	const struct program *program;
	uint8_t *window;
	bool forked;			/* in a child of the program */
	bool ring_mapped;		/* somewhere in the window, from which it may have moved on */
	bool tainted;			/* rings may hold what nobody posted, or what the program wrote there */
	struct shelf contexts;		/* a: descriptor */
	struct shelf cqs;		/* a: descriptor, b: entries, c: bytes of the ring */
	struct shelf vqps;		/* a: number, b: enum vqp_qp_state, as far as the program knows */
	struct shelf mrs;		/* a: key, b: address, c: bytes */
	struct shelf maps;		/* a: address, b: bytes; at most WINDOW_SLOTS */
	struct shelf children;		/* a: process */
};

/* One thread of a program, with the call at hand. */
struct runner {
	struct world *world;
	uint8_t *stage;			/* of its own: STAGE_PAGES pages and RING_BYTES */
	const struct call *call;
	uint32_t at;			/* its index */
	uint32_t only;			/* calls left in a child; 0: no limit */
	struct rnd rnd;
};

#define X(name, weight) void call_##name(struct runner *run);
KINDS(X)
#undef X

void world_init(struct world *world);

/* An empty world again: descriptors closed, memory unmapped, children dead. */
void world_reset(struct world *world);

/* Run it from an empty world. stages: one for each thread. */
void world_run(struct world *world, const struct program *program, uint8_t *stages[PROGRAM_THREADS]);

/*
 * Memory for runner.stage. While a program runs nothing is mapped where the kernel chooses the place: it might choose
 * one in the window, which a thread has just moved away from, or whose mapping failed, and which the next call covers.
 */
uint8_t *world_stage(void);

/* Mostly one that lives; else one that is gone, or never was. */
struct object *shelf_pick(struct shelf *shelf, struct rnd *r);

/* The same among those for which fits(object, wanted) holds, if there are any. */
struct object *shelf_pick_fit(struct shelf *shelf, struct rnd *r,
			      bool (*fits)(const struct object *object, uint64_t wanted), uint64_t wanted);

/* For shelf_pick_fit(). */
bool object_in_state(const struct object *object, uint64_t state);
bool object_of_context(const struct object *object, uint64_t context);

/* Keep it; what was in its place is returned. */
struct object shelf_put(struct shelf *shelf, struct rnd *r, struct object object);

/* Count the call at hand. */
void note(struct runner *run, bool good);

/* The kernel did what it must not: say so and end the fuzzer. */
void fail(struct runner *run, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Write to the program's memory, which another thread may unmap; false if it is not there. */
bool memory_write(void *to, const void *from, size_t bytes);

#endif
