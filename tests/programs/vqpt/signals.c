// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signals into everything that is done and waited for; their handler interrupts system calls. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>
#include "vqpt.h"

#define SIGNALS_EVERY_US 1000

static void on_signal(int sig)
{
	(void)sig;
}

static void signals_begin(void)
{
	struct sigaction action = { .sa_handler = on_signal };	/* no SA_RESTART */
	struct timeval pause = { .tv_usec = SIGNALS_EVERY_US };
	struct itimerval every = { pause, pause };

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &every, NULL))
		vqpt_die(errno, "setitimer");
}

/* A wait for what does not come ends with EINTR. */
static void check_waits(const struct vqpt_conn *conn)
{
	struct pollfd pfd = { .fd = vqp_cq_fd(conn->recv_cq), .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC), ret;

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, pfd.fd, &event))
		vqpt_die(errno, "epoll");
	ret = vqp_cq_wait(conn->recv_cq, -1);
	if (ret != -EINTR)
		vqpt_die(0, "vqp_cq_wait gave %d", ret);
	if (poll(&pfd, 1, -1) != -1 || errno != EINTR)
		vqpt_die(errno, "poll");
	if (epoll_wait(ep, &event, 1, -1) != -1 || errno != EINTR)
		vqpt_die(errno, "epoll_wait");
	close(ep);
}

int vqpt_signals_run(const struct vqpt_options *options, char **args)
{
	struct vqpt_conn conn;

	signals_begin();
	conn = vqpt_conn_open(options, 64, IBV_ACCESS_LOCAL_WRITE);
	vqpt_conn_to(&conn, args[0], args[1]);
	check_waits(&conn);
	vqpt_conn_close(&conn);
	return vqpt_echo_send(options, args);
}
