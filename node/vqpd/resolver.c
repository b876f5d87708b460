/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../common/privilege.h"
#include "../log.h"
#include "resolver.h"

#define PROCESS_NAME	"vqpd-resolver"	/* for ps; at most 15 characters */
#define CHILD_FD	(STDERR_FILENO + 1)

/* ---- The process ---- */

static void look_up(const char *host, const char *port, struct vqp_resolver_answer *answer)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list = NULL;

	memset(answer, 0, sizeof(*answer));
	answer->error = getaddrinfo(host, port, &hints, &list);
	answer->system_error = errno;
	if (answer->error)
		return;
	for (const struct addrinfo *to = list; to && answer->count < VQP_RESOLVER_MAX; to = to->ai_next)
		if (to->ai_family == AF_INET || to->ai_family == AF_INET6)
			memcpy(&answer->addresses[answer->count++], to->ai_addr, to->ai_addrlen);
	freeaddrinfo(list);
	if (!answer->count)
		answer->error = EAI_NONAME;
}

/*
 * Leaves the process what lookups need. It keeps vqpd's user: vqpd has no CAP_KILL, and the kernel
 * sends the signal of a parent's death only where that parent could. The signal is set last,
 * because the kernel forgets it when privileges change. SIGTERM and SIGINT stay blocked as they are
 * in vqpd: a service manager sends them to all processes, and this one ends when vqpd does, not
 * before. SIGCHLD is not ignored as it is in vqpd: NSS modules may wait for programs that they run.
 * 0 or a negative errno value.
 */
static int confine(pid_t parent)
{
	int ret = vqp_privilege_keep(VQP_PHASE_VQPD_RESOLVE);

	if (ret)
		return ret;
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, PROCESS_NAME);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

/*
 * Leaves the process one descriptor: among vqpd's are its ends of other resolvers' sockets, whose
 * end must show there. 0 or a negative errno value.
 */
static int take_descriptor(int fd)
{
	return dup2(fd, CHILD_FD) != CHILD_FD || close_range(CHILD_FD + 1, ~0U, 0) ? -errno : 0;
}

__attribute__((noreturn))
static void serve(int fd, pid_t parent, const char *host, const char *port)
{
	struct vqp_resolver_answer answer;
	char request;
	int ret = take_descriptor(fd);

	if (!ret)
		ret = confine(parent);
	if (ret) {	/* What is to be done at vqpd's exit is not to be done here. */
		vqp_log(LOG_ERR, "cannot prepare to look up names: %s", strerror(-ret));
		_exit(1);
	}
	while (recv(CHILD_FD, &request, sizeof(request), 0) == sizeof(request)) {
		look_up(host, port, &answer);
		if (send(CHILD_FD, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			break;
	}
	_exit(0);
}

/* ---- vqpd ---- */

void vqp_resolver_init(struct vqp_resolver *resolver)
{
	*resolver = (struct vqp_resolver){ .watch.fd = -1 };
}

void vqp_resolver_exit(struct vqp_resolver *resolver)
{
	if (resolver->watch.fd < 0)
		return;
	vqp_loop_remove(resolver->loop, &resolver->watch);
	close(resolver->watch.fd);
	resolver->watch.fd = -1;
	resolver->asked = false;
}

/* The process may run code of others, and be deceived: what it says is looked at. */
static bool is_valid(const struct vqp_resolver_answer *answer, ssize_t bytes)
{
	if (bytes != sizeof(*answer) || answer->count > VQP_RESOLVER_MAX || !answer->error != !!answer->count)
		return false;
	for (uint32_t i = 0; i < answer->count; i++) {
		sa_family_t family = answer->addresses[i].any.sa_family;

		if (family != AF_INET && family != AF_INET6)
			return false;
	}
	return true;
}

static void ready(struct vqp_watch *watch, uint32_t events)
{
	struct vqp_resolver *resolver = (struct vqp_resolver *)((char *)watch - offsetof(struct vqp_resolver, watch));
	struct vqp_resolver_answer answer;
	ssize_t n = recv(watch->fd, &answer, sizeof(answer), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (resolver->asked && is_valid(&answer, n)) {
		resolver->asked = false;
		resolver->answered(resolver, &answer);
	} else {
		vqp_resolver_exit(resolver);
		resolver->answered(resolver, NULL);
	}
}

int vqp_resolver_start(struct vqp_resolver *resolver, struct vqp_loop *loop, const char *host, const char *port,
		       void (*answered)(struct vqp_resolver *resolver, const struct vqp_resolver_answer *answer))
{
	const pid_t parent = getpid();
	int fds[2], ret;

	vqp_resolver_init(resolver);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	resolver->pid = fork();
	if (!resolver->pid)
		serve(fds[1], parent, host, port);
	ret = resolver->pid < 0 ? -errno : 0;
	close(fds[1]);
	resolver->loop = loop;
	resolver->answered = answered;
	resolver->watch.fd = fds[0];
	resolver->watch.ready = ready;
	if (!ret)
		ret = vqp_loop_add(loop, &resolver->watch, EPOLLIN);
	if (ret) {
		close(fds[0]);
		resolver->watch.fd = -1;
	}
	return ret;
}

void vqp_resolver_ask(struct vqp_resolver *resolver)
{
	uint64_t now = vqp_loop_now_ms();
	char request = 0;

	if (resolver->watch.fd < 0 || resolver->asked ||
	    (resolver->asked_ms && now - resolver->asked_ms < VQP_RESOLVER_PERIOD_MS))
		return;
	/* If the process has ended, ready() is called, and says so. */
	if (send(resolver->watch.fd, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(request))
		return;
	resolver->asked = true;
	resolver->asked_ms = now;
}

const char *vqp_resolver_reason(const struct vqp_resolver_answer *answer)
{
	return answer->error == EAI_SYSTEM ? strerror(answer->system_error) : gai_strerror(answer->error);
}
