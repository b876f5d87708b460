/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_NODE_TESTS_TURN_H
#define VQP_NODE_TESTS_TURN_H

#include "../loop.h"

/* Has all events handled that there are within `wait_ms` of each other. */
static inline void unit_turn(struct vqp_loop *loop, int wait_ms)
{
	struct epoll_event event;

	while (epoll_wait(loop->epoll_fd, &event, 1, wait_ms) > 0) {
		struct vqp_watch *watch = event.data.ptr;

		watch->ready(watch, event.events);
	}
}

#endif
