// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include "program.h"

const char *const kind_names[KIND_MAX] = {
#define X(name, weight) #name,
	KINDS(X)
#undef X
};

static const uint8_t kind_weights[KIND_MAX] = {
#define X(name, weight) weight,
	KINDS(X)
#undef X
};

/* Most programs begin with what makes two connected VQPs with memory. */
static const enum kind opening[] = {
	KIND_open, KIND_create_cq, KIND_create_qp, KIND_bind, KIND_map_arena, KIND_reg_mr,
	KIND_post_recv, KIND_create_qp, KIND_connect, KIND_post_send,
};

static enum kind pick_kind(struct rnd *r)
{
	uint32_t sum = 0, at;
	int kind;

	for (kind = 0; kind < KIND_MAX; kind++)
		sum += kind_weights[kind];
	at = rnd_below(r, sum);
	for (kind = 0; at >= kind_weights[kind]; kind++)
		at -= kind_weights[kind];
	return kind;
}

static struct call make_call(struct rnd *r, enum kind kind, uint32_t nthreads, uint32_t spoil_percent)
{
	return (struct call) {
		.kind = (uint8_t)kind,
		.thread = (uint8_t)rnd_below(r, nthreads),
		.spoil = rnd_percent(r, spoil_percent) ? (uint8_t)rnd_below(r, SPOIL_MAX) : SPOIL_NONE,
		.seed = rnd_u32(r),
	};
}

void program_generate(struct program *program, struct rnd *r)
{
	uint32_t n = 4 + rnd_below(r, PROGRAM_CALLS - 3), i = 0;

	memset(program, 0, sizeof(*program));
	program->nthreads = rnd_percent(r, 25) ? 2 + rnd_below(r, PROGRAM_THREADS - 1) : 1;
	program->ncalls = n;
	if (rnd_percent(r, 80))
		for (; i < n && i < sizeof(opening) / sizeof(opening[0]); i++)
			program->calls[i] = make_call(r, opening[i], 1, 2);
	for (; i < n; i++)
		program->calls[i] = make_call(r, pick_kind(r), program->nthreads, 12);
}

static void insert_call(struct program *program, uint32_t at, struct call call)
{
	if (program->ncalls == PROGRAM_CALLS)
		program->ncalls--;
	if (at > program->ncalls)
		at = program->ncalls;
	memmove(&program->calls[at + 1], &program->calls[at], (program->ncalls - at) * sizeof(call));
	program->calls[at] = call;
	program->ncalls++;
}

static void remove_call(struct program *program, uint32_t at)
{
	if (program->ncalls == 1)
		return;
	program->ncalls--;
	memmove(&program->calls[at], &program->calls[at + 1],
		(program->ncalls - at) * sizeof(program->calls[0]));
}

/* The rest of `program` becomes a part of `other`. */
static void splice(struct program *program, const struct program *other, struct rnd *r)
{
	uint32_t at = rnd_below(r, program->ncalls), from = rnd_below(r, other->ncalls);

	while (at < PROGRAM_CALLS && from < other->ncalls)
		program->calls[at++] = other->calls[from++];
	program->ncalls = at;
	if (other->nthreads > program->nthreads)
		program->nthreads = other->nthreads;
}

static void mutate_once(struct program *program, const struct program *other, struct rnd *r)
{
	uint32_t at = rnd_below(r, program->ncalls);
	struct call *call = &program->calls[at];

	switch (rnd_below(r, 8)) {
	case 0:
	case 1:
		call->seed = rnd_u32(r);
		break;
	case 2:
		call->spoil = (uint8_t)rnd_below(r, SPOIL_MAX);
		break;
	case 3:
		remove_call(program, at);
		break;
	case 4:
		insert_call(program, at, program->calls[rnd_below(r, program->ncalls)]);
		break;
	case 5:
		splice(program, other, r);
		break;
	case 6:
		program->nthreads = 1 + rnd_below(r, PROGRAM_THREADS);
		for (at = 0; at < program->ncalls; at++)
			program->calls[at].thread = (uint8_t)rnd_below(r, program->nthreads);
		break;
	default:
		insert_call(program, at, make_call(r, pick_kind(r), program->nthreads, 20));
	}
}

void program_mutate(struct program *program, const struct program *other, struct rnd *r)
{
	uint32_t n = 1 + rnd_below(r, 5);

	while (n--)
		mutate_once(program, other, r);
}

bool program_valid(const struct program *program)
{
	uint32_t i;

	if (!program->ncalls || program->ncalls > PROGRAM_CALLS ||
	    !program->nthreads || program->nthreads > PROGRAM_THREADS)
		return false;
	for (i = 0; i < program->ncalls; i++)
		if (program->calls[i].kind >= KIND_MAX || program->calls[i].spoil >= SPOIL_MAX ||
		    program->calls[i].thread >= program->nthreads)
			return false;
	return true;
}
