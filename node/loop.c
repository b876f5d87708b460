/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

int vqp_loop_init(struct vqp_loop *loop)
{
	loop->stopped = false;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll_fd < 0 ? -errno : 0;
}

static int control(struct vqp_loop *loop, int op, struct vqp_watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (epoll_ctl(loop->epoll_fd, op, watch->fd, &event))
		return -errno;
	watch->events = events;
	return 0;
}

int vqp_loop_add(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events)
{
	return control(loop, EPOLL_CTL_ADD, watch, events);
}

int vqp_loop_change(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events)
{
	return events == watch->events ? 0 : control(loop, EPOLL_CTL_MOD, watch, events);
}

void vqp_loop_remove(struct vqp_loop *loop, struct vqp_watch *watch)
{
	control(loop, EPOLL_CTL_DEL, watch, 0);
}

static int add_new_fd(struct vqp_loop *loop, struct vqp_watch *watch, int fd)
{
	int ret;

	if (fd < 0)
		return -errno;
	watch->fd = fd;
	ret = vqp_loop_add(loop, watch, EPOLLIN);
	if (ret)
		close(fd);
	return ret;
}

int vqp_loop_add_timer(struct vqp_loop *loop, struct vqp_watch *watch, unsigned int period_ms)
{
	struct itimerspec spec = {
		.it_interval = { period_ms / 1000, period_ms % 1000 * 1000000L },
		.it_value = { period_ms / 1000, period_ms % 1000 * 1000000L },
	};
	int ret = add_new_fd(loop, watch, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));

	if (!ret && timerfd_settime(watch->fd, 0, &spec, NULL)) {
		ret = -errno;
		close(watch->fd);
	}
	return ret;
}

void vqp_loop_timer_ack(struct vqp_watch *watch)
{
	uint64_t expirations;

	/* The number of expirations does not matter: one late call stands for all. */
	if (read(watch->fd, &expirations, sizeof(expirations)) < 0)
		return;
}

int vqp_loop_add_signals(struct vqp_loop *loop, struct vqp_watch *watch)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	watch->ready = NULL;
	return add_new_fd(loop, watch, signalfd(-1, &set, SFD_CLOEXEC));
}

int vqp_loop_run(struct vqp_loop *loop)
{
	while (!loop->stopped) {
		struct epoll_event event;
		/* Events are taken one at a time, because a handler may free any other watch. */
		int n = epoll_wait(loop->epoll_fd, &event, 1, -1);
		struct vqp_watch *watch = event.data.ptr;

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		if (!watch->ready)	/* This is the watch of the signals. */
			break;
		watch->ready(watch, event.events);
	}
	return 0;
}

void vqp_loop_stop(struct vqp_loop *loop)
{
	loop->stopped = true;
}

void vqp_loop_exit(struct vqp_loop *loop)
{
	close(loop->epoll_fd);
}

uint64_t vqp_loop_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}
