/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libvqp-run.so, which vqp-run has a program preload: its socket(2) makes stream sockets of vqp in
 * the place of TCP's, as the kernel's own hook does for all programs of a network namespace. Where
 * there are none, or the program may not make them, sockets are what it has asked for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <linux/vqp.h>

#include "../common/protocol.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

typedef int socket_fn(int domain, int type, int protocol);

/*
 * This process gets no sockets of vqp. It is not asked again: without the module each call would have
 * the kernel look for one that has the protocol.
 */
static atomic_bool without_vqp;

/* Returns the socket(2) that the program would have called without this library. */
static socket_fn *next_socket(void)
{
	static _Atomic(socket_fn *) next;
	socket_fn *found = atomic_load(&next);

	if (!found) {
		*(void **)&found = dlsym(RTLD_NEXT, "socket");
		atomic_store(&next, found);
	}
	return found;
}

static bool asks_for_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) && (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
	       (protocol == IPPROTO_IP || protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP);
}

__attribute__((visibility("default"))) int socket(int domain, int type, int protocol)
{
	const int before = errno;
	int fd;

	if (!asks_for_tcp(domain, type, protocol) || atomic_load(&without_vqp))
		return next_socket()(domain, type, protocol);
	fd = next_socket()(domain, type, IPPROTO_VQP);
	if (fd >= 0 || !protocol_is_refused(errno))
		return fd;
	atomic_store(&without_vqp, true);
	errno = before;
	return next_socket()(domain, type, protocol);
}
