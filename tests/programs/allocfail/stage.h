/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a case starts from, made by plain system calls that must succeed. */
#ifndef ALLOCFAIL_STAGE_H
#define ALLOCFAIL_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/vqp.h>

#define STAGE_MEMORY	65536	/* bytes, registered with all rights */
#define STAGE_RECVS	64	/* posted to the bound VQP */
#define STAGE_PORT	4242	/* of the bound VQP */
#define STAGE_CQE	256

struct stage {
	int fd;			/* of the context; -1: none */
	uint8_t gid[VQP_GID_BYTES];
	int cqs[2];		/* of sends and of receives */
	struct vqp_cq_ring *ring;	/* of sends */
	uint32_t qp, bound;
	int listener, client, server;	/* sockets; -1: there is none */
	char *memory;
	uint32_t key;
	/* Whatever the call makes. */
	int new_fd;
	void *new_map;
	off_t new_offset;	/* of what is mapped: a new arena's is 0 */
	size_t new_bytes;
	uint32_t new_number;	/* a key, a VQP, a port */
};

int stage_ioctl(const struct stage *s, unsigned long request, void *arg);	/* 0 or an errno value */
int stage_attach(struct stage *s);
int stage_create_qp(const struct stage *s, uint32_t *qp_num);
int stage_connect(const struct stage *s, const uint8_t *gid, uint32_t port);
int stage_reg_mr(const struct stage *s, void *addr, size_t bytes, uint32_t *key);
int stage_query(const struct stage *s, uint32_t qp_num, struct vqp_query_qp *query);

/* Each needs those before it. They exit when anything fails. */
void stage_init(struct stage *s);
void stage_context(struct stage *s);
void stage_queues(struct stage *s);	/* CQs, and a VQP */
void stage_memory(struct stage *s);
void stage_bound(struct stage *s);	/* a second VQP, bound and with receives */
void stage_link(struct stage *s, bool far);	/* connect the first one, to the second or to the other node */

/* Wait until the VQP's next `count` sends have completed, with success. */
void stage_await(struct stage *s, uint32_t count);

/* Move bytes through the VQP and see them arrive. Connected only. */
void stage_try(struct stage *s, bool far);

void stage_end(struct stage *s);

#endif
