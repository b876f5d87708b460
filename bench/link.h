/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One end of a connection between two nodes: a queue pair, and registered
 * memory that the other end knows. Two kinds are opened and connected in their
 * own ways (link_vqp.c, link_verbs.c); all else is the same for both.
 *
 * Functions return 0, or -1 when what failed has been said on stderr.
 */
#ifndef BENCH_LINK_H
#define BENCH_LINK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define LINK_BYTES		(4U << 20)	/* of memory at each end */
#define LINK_DEPTH		32		/* requests, and receives, in one list */
#define LINK_INLINE_BYTES	64

enum { LINK_VQP, LINK_VERBS, LINKS };

/* What the other end must know. */
struct link_address {
	union ibv_gid gid;
	uint64_t memory;
	uint32_t rkey;
	uint32_t number;	/* vqp: the port; verbs: the queue pair */
};

struct link {
	const struct link_kind *kind;
	bool serves;		/* the passive end */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct link_address peer;
	/*
	 * Poll without a pause. Else whoever has nothing to poll gives way to the kernel's
	 * threads, which carry soft RoCE on 6.12 and wait for a tick behind one who spins.
	 */
	bool spins;
	uint32_t count;		/* of a prepared list */
	struct ibv_send_wr wrs[LINK_DEPTH];
	struct ibv_sge sges[LINK_DEPTH];
};

struct link_kind {
	const char *name;
	/* Everything up to the queue pair, from a zeroed link with memory; says what the other end must know. */
	int (*open)(struct link *link, struct link_address *own);
	int (*connect)(struct link *link);	/* to link->peer */
	void (*close)(struct link *link);	/* whatever is open */
};

extern const struct link_kind link_vqp, link_verbs;
extern const struct link_kind *const link_kinds[LINKS];

int link_open(struct link *link, const struct link_kind *kind, bool serves, struct link_address *own);
int link_connect(struct link *link, const struct link_address *peer);
void link_close(struct link *link);

/* A list of `count` requests of `bytes` bytes each, one behind the other in both memories. */
void link_prepare(struct link *link, enum ibv_wr_opcode opcode, uint32_t bytes, uint32_t count);

/* For a kind's open(): how its queue pair is made, once there is a CQ. */
struct ibv_qp_init_attr link_qp_init_attr(const struct link *link, enum ibv_qp_type type);

/* Post the prepared list, and poll until all of it is done. */
int link_transfer(struct link *link);

/* Post receives, as link_prepare() has it. */
int link_post_receives(struct link *link, uint32_t bytes, uint32_t count);

/* Poll until there were `count` completions, and all of them good. */
int link_await(struct link *link, uint32_t count);

/* Say on stderr what failed, and errno's text. Returns -1. */
int link_fail(const char *what);

#endif /* BENCH_LINK_H */
