/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The event loop of the daemons: one thread, epoll. */
#ifndef VQP_NODE_LOOP_H
#define VQP_NODE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct vqp_loop {
	int epoll_fd;
	bool stopped;
};

/* Embedded in what waits for a file descriptor. May be freed inside its own ready(). */
struct vqp_watch {
	int fd;
	void (*ready)(struct vqp_watch *watch, uint32_t events);
	uint32_t events;		/* the loop's: those it waits for */
};

/* These return 0 or a negative errno value. */
int vqp_loop_init(struct vqp_loop *loop);
int vqp_loop_add(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events);
int vqp_loop_change(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events);
void vqp_loop_remove(struct vqp_loop *loop, struct vqp_watch *watch);

/* Watch a new timerfd that fires every `period_ms`; ready() calls vqp_loop_timer_ack(). */
int vqp_loop_add_timer(struct vqp_loop *loop, struct vqp_watch *watch, unsigned int period_ms);
void vqp_loop_timer_ack(struct vqp_watch *watch);

/* SIGTERM and SIGINT make vqp_loop_run() return; SIGPIPE is ignored. */
int vqp_loop_add_signals(struct vqp_loop *loop, struct vqp_watch *watch);

/* Until a signal or vqp_loop_stop(). */
int vqp_loop_run(struct vqp_loop *loop);
void vqp_loop_stop(struct vqp_loop *loop);
void vqp_loop_exit(struct vqp_loop *loop);

/* Milliseconds, monotonic. */
uint64_t vqp_loop_now_ms(void);

#endif
