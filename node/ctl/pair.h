/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two queue pairs of one device that are connected to each other by the port's own address, so that
 * the device loops packets back. All waits have a time limit.
 */
#ifndef VQPCTL_PAIR_H
#define VQPCTL_PAIR_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "device.h"

#define CTL_PAIR_QKEY	0x5e1f7e57U	/* Its top bit must not be set (IBTA 10.2.5). */
#define CTL_PAIR_PSN	0xfffff0U	/* wraps soon */
#define CTL_WAIT_MS	5000

/* A completion queue with its events. */
struct ctl_queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	bool armed;			/* An event has been asked for, and has not come yet. */
	uint32_t events, events_missed;	/* An event is missed if a completion came without one. */
};

struct ctl_pair {
	const struct ctl_device *device;
	struct ctl_queue sends, receives;
	struct ibv_qp *from, *to;	/* Only `from` sends. */
};

struct ctl_memory {
	uint8_t *at;
	size_t bytes;
	struct ibv_mr *mr;
};

/*
 * All functions return 0, or -errno with a text in trial->error. The caller closes what it opens in
 * any case.
 */
int ctl_fail_trial(struct ctl_trial *trial, int err, const char *what);

/* Makes two QPs with the attributes of `init`, but with completion queues of their own. */
int ctl_pair_open(struct ctl_pair *pair, const struct ctl_device *device, const struct ibv_qp_init_attr *init,
		  struct ctl_trial *trial);
/* Moves both QPs from RESET to RTS. */
int ctl_pair_connect(struct ctl_pair *pair, struct ctl_trial *trial);
/* Does the same with one QP, in whatever state it is. */
int ctl_pair_restart(struct ctl_pair *pair, struct ibv_qp *qp, struct ctl_trial *trial);
/* Moves a QP to the error state, which flushes its receives. */
int ctl_pair_stop(struct ibv_qp *qp, struct ctl_trial *trial);
/* Closes the pair, and adds its events to the finding. */
void ctl_pair_close(struct ctl_pair *pair, struct ctl_finding *finding);

/* Waits for the next completion for at most `ms`, whatever its status. */
int ctl_queue_wait(struct ctl_queue *queue, int ms, struct ibv_wc *wc, struct ctl_trial *trial);
/* Asks for an event, unless one has been asked for. */
int ctl_queue_arm(struct ctl_queue *queue, struct ctl_trial *trial);
/*
 * Checks that an event which was asked for after `events` events has come, and counts it as missed
 * if not.
 */
void ctl_queue_check_event(struct ctl_queue *queue, uint32_t events);
/* Waits for a completion, which has to be a success. */
int ctl_queue_take(struct ctl_queue *queue, struct ibv_wc *wc, const char *what, struct ctl_trial *trial);

/* Registers memory for local access and all kinds of remote access that the device has. */
int ctl_memory_open(struct ctl_memory *memory, const struct ctl_device *device, size_t bytes, struct ctl_trial *trial);
void ctl_memory_close(struct ctl_memory *memory);

/* Fills memory with a pattern that depends on `seed` and place, from the pattern's `offset` on. */
void ctl_memory_fill(uint8_t *at, size_t bytes, size_t offset, uint32_t seed);
bool ctl_memory_holds(const uint8_t *at, size_t bytes, size_t offset, uint32_t seed);

double ctl_now_ms(void);

#endif
