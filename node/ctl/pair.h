/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two queue pairs of one device that are connected with one another through the port's own address:
 * what one sends the device loops back to the other. Nothing waits without an end.
 */
#ifndef VQPCTL_PAIR_H
#define VQPCTL_PAIR_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "device.h"

#define CTL_PAIR_QKEY	0x5e1f7e57U	/* without its top bit: IBTA 10.2.5 */
#define CTL_PAIR_PSN	0xfffff0U	/* soon to begin anew */
#define CTL_WAIT_MS	5000

/* A completion queue whose events are waited for. */
struct ctl_queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	bool armed;			/* an event was asked for, and has not come */
	uint32_t events, events_missed;	/* missed: a completion came, and no event */
};

struct ctl_pair {
	const struct ctl_device *device;
	struct ctl_queue sends, receives;
	struct ibv_qp *from, *to;	/* only one of them sends */
};

struct ctl_memory {
	uint8_t *at;
	size_t bytes;
	struct ibv_mr *mr;
};

/* All return 0 or -errno, with a text in trial->error. What is open is to be closed in any case. */
int ctl_fail_trial(struct ctl_trial *trial, int err, const char *what);

/* Two QPs as `init` says, but for the completion queues. */
int ctl_pair_open(struct ctl_pair *pair, const struct ctl_device *device, const struct ibv_qp_init_attr *init,
		  struct ctl_trial *trial);
/* From RESET to RTS */
int ctl_pair_connect(struct ctl_pair *pair, struct ctl_trial *trial);
/* The same for one of them, whatever its state. */
int ctl_pair_restart(struct ctl_pair *pair, struct ibv_qp *qp, struct ctl_trial *trial);
/* It takes no part any more; its receives are flushed. */
int ctl_pair_stop(struct ibv_qp *qp, struct ctl_trial *trial);
/* Adds what became of its events. */
void ctl_pair_close(struct ctl_pair *pair, struct ctl_finding *finding);

/* The next completion within `ms`, whatever its status. */
int ctl_queue_wait(struct ctl_queue *queue, int ms, struct ibv_wc *wc, struct ctl_trial *trial);
/* Ask for an event, if none is to come yet. */
int ctl_queue_arm(struct ctl_queue *queue, struct ctl_trial *trial);
/* One that was asked for when there had been so many has come; counts if not. */
void ctl_queue_check_event(struct ctl_queue *queue, uint32_t events);
/* One that has to be a success. */
int ctl_queue_take(struct ctl_queue *queue, struct ibv_wc *wc, const char *what, struct ctl_trial *trial);

/* For local and all remote access that the device has. */
int ctl_memory_open(struct ctl_memory *memory, const struct ctl_device *device, size_t bytes, struct ctl_trial *trial);
void ctl_memory_close(struct ctl_memory *memory);

/* Bytes that differ from one `seed` to another, and from one place to another; from `offset` of them on. */
void ctl_memory_fill(uint8_t *at, size_t bytes, size_t offset, uint32_t seed);
bool ctl_memory_holds(const uint8_t *at, size_t bytes, size_t offset, uint32_t seed);

double ctl_now_ms(void);

#endif
