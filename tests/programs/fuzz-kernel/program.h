/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program: a short list of calls, run from an empty world. A call is its
 * kind and a seed, from which its arguments follow given what lives then.
 */
#ifndef VQP_FUZZ_PROGRAM_H
#define VQP_FUZZ_PROGRAM_H

#include "random.h"

#define PROGRAM_CALLS	48
#define PROGRAM_THREADS	3

/* X(name, weight): each is carried out by call_NAME(). */
#define KINDS(X)	\
	X(open, 2)	\
	X(close, 1)	\
	X(ioctl, 3)	\
	X(query, 1)	\
	X(reg_mr, 8)	\
	X(dereg_mr, 3)	\
	X(create_cq, 5)	\
	X(create_qp, 7)	\
	X(destroy_qp, 2) \
	X(bind, 5)	\
	X(connect, 9)	\
	X(accept, 4)	\
	X(post_send, 16) \
	X(post_recv, 10) \
	X(query_qp, 2)	\
	X(attach, 2)	\
	X(map_memory, 5) \
	X(map_arena, 5)	\
	X(map_cq, 4)	\
	X(map_odd, 2)	\
	X(unmap, 3)	\
	X(remap, 2)	\
	X(protect, 2)	\
	X(advise, 1)	\
	X(poll, 2)	\
	X(consume, 5)	\
	X(scribble, 1)	\
	X(pause, 2)	\
	X(fork, 1)	\
	X(kill, 1)	\
	X(enter, 1)	\
	X(nl_get, 2)	\
	X(nl_add, 4)	\
	X(nl_del, 1)	\
	X(nl_set, 1)	\
	X(nl_flush, 1)	\
	X(nl_meta, 1)	\
	X(nl_odd, 2)

enum kind {
#define X(name, weight) KIND_##name,
	KINDS(X)
#undef X
	KIND_MAX
};

/* What is wrong with a call besides its content; see issue(). */
enum spoil {
	SPOIL_NONE,
	SPOIL_SHORT,		/* the argument's size, as the ioctl's number tells it */
	SPOIL_LONG,
	SPOIL_LONG_CONTENT,
	SPOIL_PAGE_END,		/* the argument ends with its page; nothing wrong */
	SPOIL_HOLE,		/* the argument goes on in an unmapped page */
	SPOIL_READ_ONLY,
	SPOIL_POINTER,
	SPOIL_DIRECTION,
	SPOIL_MAGIC,
	SPOIL_NUMBER,
	SPOIL_FD,
	SPOIL_FIELD,		/* 32 bits of the argument */
	SPOIL_MAX
};

struct call {
	uint8_t kind;
	uint8_t thread;
	uint8_t spoil;
	uint8_t unused;
	uint32_t seed;
};

struct program {
	uint32_t ncalls;
	uint32_t nthreads;	/* they run their calls at the same time */
	struct call calls[PROGRAM_CALLS];
};

extern const char *const kind_names[KIND_MAX];

void program_generate(struct program *program, struct rnd *r);

/* Change `program` a little; parts may come from `other`. */
void program_mutate(struct program *program, const struct program *other, struct rnd *r);

/* False for what no fuzzer wrote. */
bool program_valid(const struct program *program);

#endif
