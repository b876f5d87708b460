/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The event loop of the daemons, which has one thread and uses epoll. */
#ifndef VQP_NODE_LOOP_H
#define VQP_NODE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct vqp_loop {
	int epoll_fd;
	bool stopped;
};

/*
 * A file descriptor that is waited for. It is embedded in its user, and may be freed inside its own
 * ready().
 */
struct vqp_watch {
	int fd;
	void (*ready)(struct vqp_watch *watch, uint32_t events);
	uint32_t events;		/* for the loop: the events that it waits for */
};

/* All functions that return int return 0 or a negative errno value. */
int vqp_loop_init(struct vqp_loop *loop);
int vqp_loop_add(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events);
int vqp_loop_change(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events);
void vqp_loop_remove(struct vqp_loop *loop, struct vqp_watch *watch);

/* Watches a new timerfd that expires every `period_ms`. ready() calls vqp_loop_timer_ack(). */
int vqp_loop_add_timer(struct vqp_loop *loop, struct vqp_watch *watch, unsigned int period_ms);
void vqp_loop_timer_ack(struct vqp_watch *watch);

/* Lets SIGTERM and SIGINT end vqp_loop_run(), and ignores SIGPIPE. */
int vqp_loop_add_signals(struct vqp_loop *loop, struct vqp_watch *watch);

/* Runs until a signal or vqp_loop_stop(). */
int vqp_loop_run(struct vqp_loop *loop);
void vqp_loop_stop(struct vqp_loop *loop);
void vqp_loop_exit(struct vqp_loop *loop);

/* Returns the monotonic time in milliseconds. */
uint64_t vqp_loop_now_ms(void);

#endif
