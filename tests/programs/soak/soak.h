/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * vqp-soak: everything at random, killed at random, against a model of what must hold.
 *
 *   main.c     options; the node's share of the run from its start to its end
 *   chaos.c    what is done to a node: its namespaces, daemons, link
 *   worker.c   one life of one worker: a process with a serving and a sending thread
 *   serve.c    its bound VQP: takes messages, checks them, answers
 *   send.c     its flows to others: which there are, and their completions
 *   flow.c     one flow: requests at random, and what they must have done
 *   stream.c   its stream sockets: an echo, and connections of each kind
 *   tell.c     what is counted, and what is said when something is wrong
 *   model.c    what must hold
 *
 * Every message has a number in its flow, and bytes that follow from it. A
 * receiver checks that a flow's messages come once, in order and whole. A
 * sender writes and reads memory that the receiver lends to this flow alone,
 * and knows what must be there. Each failure needs a reason: that the peer
 * has another life now, or that the link was disturbed.
 */
#ifndef SOAK_H
#define SOAK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <vqp/vqp.h>
#include "model.h"

#define SOAK_TENANT		7
#define SOAK_PORT		700
#define SOAK_DEAD_PORT		9		/* nobody binds it */
#define SOAK_PATIENCE_MS	60000		/* by then a thing that lives has moved; see soak_patience_over() */
#define SOAK_WORKERS_MAX	32		/* of a node */
#define SOAK_NODES_MAX		9

/* ---- What goes over the wire ---- */

#define SOAK_MAGIC	0x736f616b

enum soak_kind {
	SOAK_HELLO,			/* a flow's first, and a question when answers are missing */
	SOAK_DATA,
	SOAK_LOOK,			/* look at bytes that I have written */
	SOAK_BYE,			/* the flow's last */
};

/* Begins every message that is long enough; the flow's bytes follow. */
struct soak_message {
	uint32_t magic;
	uint16_t kind;			/* enum soak_kind */
	uint16_t ask;			/* an answer is wanted */
	uint64_t life;			/* of the sending process */
	uint32_t node, worker;
	uint32_t flow, seq;
	uint32_t bytes;			/* of all */
	uint32_t audit_flow;		/* HELLO: tell how far this one came, too; or 0 */
	uint32_t look_offset, look_bytes, look_seq;	/* LOOK: in the lent memory; written by message look_seq */
	uint32_t look_life;		/* LOOK: the lower half of the receiver's life that has lent it */
};

/* What a receiver knows of a flow when it takes a message that asks. */
struct soak_answer {
	uint32_t magic;
	uint32_t number;		/* consecutive for each VQP that answers, from 1 */
	uint64_t life;			/* of the bound VQP */
	uint64_t storms;		/* of its node */
	uint64_t via;			/* names the answering VQP */
	uint32_t storming;
	uint32_t boxes;			/* network namespaces that this worker has had */
	uint32_t flow, next;		/* the flow, and the message it expects next */
	uint32_t audit_flow, audit_next;	/* likewise; 0: it knows nothing of it */
	uint32_t unnamed;		/* messages that were of flows it does not know */
	uint32_t recv_bytes;		/* a message may be this long */
	uint64_t lent_addr;		/* memory for this flow; its key; 0 bytes: none */
	uint32_t lent_key, lent_bytes;
};

/* ---- What the processes of a node share ---- */

enum soak_count {
	SOAK_N_SEND, SOAK_N_WRITE, SOAK_N_READ, SOAK_N_ATOMIC, SOAK_N_IMM, SOAK_N_INLINE, SOAK_N_POST, SOAK_N_COMPLETION,
	SOAK_N_MESSAGE, SOAK_N_ANSWER, SOAK_N_FLOW, SOAK_N_UNREACHED, SOAK_N_LIFE, SOAK_N_BIND, SOAK_N_CHURN,
	SOAK_N_AUDIT, SOAK_N_LOST, SOAK_N_NEAR, SOAK_N_FAR, SOAK_N_TCP, SOAK_N_ECHO,
	SOAK_N_KILL, SOAK_N_FREEZE, SOAK_N_NETNS, SOAK_N_SHUTDOWN, SOAK_N_DAEMON, SOAK_N_STORM, SOAK_N_PARENT, SOAK_N_STALL,
	SOAK_N_MAX,
};

#define SOAK_STATUSES	16		/* enum ibv_wc_status */

struct soak_seat {			/* one worker of the node, through all its lives */
	_Atomic uint64_t lives;
	_Atomic uint32_t boxes;		/* network namespaces */
	_Atomic bool doomed;		/* its namespace is being taken away */
};

struct soak_shared {
	_Atomic uint64_t counts[SOAK_N_MAX];
	_Atomic uint64_t bytes;
	_Atomic uint64_t failures[SOAK_STATUSES];
	_Atomic uint64_t storms;	/* disturbances that began or ended */
	_Atomic uint64_t storm_ns;	/* the last one ends, or has ended, then */
	_Atomic uint64_t away_ns;	/* the last time that a daemon was seen to be away */
	_Atomic uint32_t wrong;		/* things that must not be */
	char first_wrong[256];		/* the first of them */
	_Atomic bool ending;		/* flows come to their end, and no new ones begin */
	_Atomic uint32_t idle;		/* workers that have no flow left */
	_Atomic bool over;		/* so do receivers */
	struct soak_seat seats[SOAK_WORKERS_MAX];
};

struct soak_options {
	uint64_t seed;
	uint32_t node, nodes, workers;
	uint32_t seconds;
	const char *meet;		/* a directory that all nodes share */
};

extern struct soak_options soak_options;
extern struct soak_shared *soak_shared;

/* ---- tell.c ---- */

void soak_tell_init(uint32_t worker, uint64_t life);
void soak_count(enum soak_count what);
void soak_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Something that must not be; late: that has not happened in time, for which a slow machine may be to blame. */
void soak_say_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
void soak_say_late(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Likewise, and stand still until all is ended. */
void soak_wrong(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void soak_late(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void soak_progress(uint32_t seconds);

struct soak_trace {			/* what a flow did last */
	uint32_t count;
	struct {
		uint64_t ns;
		const char *what;
		uint64_t a, b;
	} events[128];
};

void soak_trace(struct soak_trace *trace, const char *what, uint64_t a, uint64_t b);
void soak_trace_print(const struct soak_trace *trace);

uint64_t soak_now_ns(void);
bool soak_storming(void);

/* How many of the nodes have left the mark @what in soak_options.meet, as @what-NODE. */
uint32_t soak_marks(const char *what);

/* ---- chaos.c: each returns when it is done ---- */

int soak_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
void soak_box_make(uint32_t worker);
void soak_box_remove(uint32_t worker);
void soak_box_address(char *text, size_t size, uint32_t node, uint32_t worker);
int soak_box_enter(uint32_t worker);
/* Something at random; storms begin here and are ended by soak_chaos_tick(). */
void soak_chaos_node(uint64_t *random);
void soak_chaos_tick(void);
void soak_chaos_calm(void);
/*
 * Should a thing that last moved at @since_ns have moved again? Nothing can be looked up while a daemon is
 * away, which on a slow machine may be for minutes, so SOAK_PATIENCE_MS count from when all are back.
 */
bool soak_patience_over(uint64_t since_ns);
/* The machine itself stood still. */
void soak_chaos_stall(void);

/* ---- worker.c ---- */

struct soak_worker {
	uint32_t index;			/* from 1 */
	uint64_t life;			/* a name for it that none has had */
	uint64_t random;
	struct soak_seat *seat;
	struct ibv_context *context;	/* both threads' */
};

void soak_worker_run(uint32_t index) __attribute__((noreturn));

/* The namespace is being taken away: whatever fails, fails for that. */
bool soak_worker_doomed(const struct soak_worker *worker);

struct soak_memory {
	char *at;
	size_t bytes;
	struct ibv_mr *mr;
	bool arena;
};

/* Registered for local and remote use; false: the worker is doomed. */
bool soak_memory_get(const struct soak_worker *worker, struct soak_memory *memory, size_t bytes, bool arena);
void soak_memory_put(const struct soak_worker *worker, struct soak_memory *memory);
/* Of a context that was closed already. */
void soak_memory_unmap(struct soak_memory *memory);

/* ---- serve.c, send.c: threads ---- */

void *soak_serve(void *worker);
void *soak_send(void *worker);

/* ---- stream.c: threads as well ---- */

void *soak_stream_serve(void *worker);
void *soak_stream_send(void *worker);

/* ---- Random numbers ---- */

uint64_t soak_random(uint64_t *state);
static inline uint32_t soak_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)((soak_random(state) >> 32) * bound >> 32);
}
uint64_t soak_mix(uint64_t a, uint64_t b);

/* What the bytes of a message are; and of a write, which has the number of the message before it. */
static inline uint64_t soak_seed_message(uint64_t life, uint32_t flow, uint32_t seq)
{
	return soak_mix(soak_mix(life, flow), seq);
}

static inline uint64_t soak_seed_write(uint64_t life, uint32_t flow, uint32_t write)
{
	return soak_mix(soak_mix(life, flow), 1ULL << 32 | write);
}

#endif
