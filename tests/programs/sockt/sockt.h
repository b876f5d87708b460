/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the cases share. A case runs in a process of its own, the near side, and has another process
 * at its command, the far side: a child, perhaps in another network namespace, or a `sockt serve`
 * on another node (far.c, agent.c).
 */
#ifndef SOCKT_H
#define SOCKT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* What a case knows of where it is. */
struct sockt {
	int protocol;			/* of all sockets, unless a case is about another */
	int shown;			/* what SO_PROTOCOL tells of them */
	int family;			/* of both addresses */
	struct sockaddr_storage near;	/* this side's address, without a port */
	struct sockaddr_storage far;	/* the other side's, which may be the same */
	bool apart;			/* they are not the same */
	const char *netns;		/* of the far side; NULL: this one's */
	int far_port;			/* where a `sockt serve` is; 0: the far side is a child */
	int far_fd;			/* carries commands to the far side, and answers */
	const char *differs;		/* names of cases that do not hold, by commas; or NULL */
};

struct sockt_case {
	const char *name, *help;
	void (*run)(struct sockt *t);
};

/* Each file of cases has a list, which ends with an empty name. */
extern const struct sockt_case accept_cases[], bind_cases[], connect_cases[], end_cases[], epoll_cases[],
	fast_cases[], flags_cases[], ipv6_cases[], many_cases[], option_cases[], poll_cases[], queue_cases[],
	report_cases[], ring_cases[], share_cases[], splice_cases[], stream_cases[], thread_cases[], vector_cases[];

/* ---- check.c: a case that fails ends at once, with the process ---- */

/* How long anything may take that is to happen. What is slow has not failed. */
int check_limit_s(void);

__attribute__((noreturn, format(printf, 3, 4)))
void check_fail(const char *file, int line, const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2)))
void check_skip(const char *format, ...);

#define WANT(expr) do { \
	if (!(expr)) \
		check_fail(__FILE__, __LINE__, "not so: %s", #expr); \
} while (0)

#define WANT_EQ(expr, want) do { \
	long long got_ = (expr), want_ = (want); \
	if (got_ != want_) \
		check_fail(__FILE__, __LINE__, "%s is %lld (errno %s), not %lld", #expr, got_, \
			   strerrorname_np(errno), want_); \
} while (0)

#define WANT_ERR(expr, error) do { \
	long long got_; \
	errno = 0; \
	got_ = (expr); \
	if (got_ != -1 || errno != (error)) \
		check_fail(__FILE__, __LINE__, "%s gave %lld, %s; not %s", #expr, got_, \
			   strerrorname_np(errno), #error); \
} while (0)

#define NEED(expr) ({ \
	__typeof__(expr) got_ = (expr); \
	if (got_ < 0) \
		check_fail(__FILE__, __LINE__, "%s: %s", #expr, strerrorname_np(errno)); \
	got_; })

/* Of what gives a negative errno */
#define DONE(expr) ({ \
	long long got_ = (expr); \
	if (got_ < 0) \
		check_fail(__FILE__, __LINE__, "%s%s: %s", got_ == -EBADMSG ? "WRONG: " : "", #expr, \
			   strerrorname_np((int)-got_)); \
	got_; })

double check_seconds(void);	/* of the clock */

/* A child that runs the rest of the block's function: 0 in the child. check_child() wants it to end well. */
pid_t check_fork(void);
void check_child(pid_t pid);

/* ---- io.c: bytes of a pattern; 0 or more, or -errno: -EBADMSG: other bytes came; -ENODATA: an early end ---- */

/* The patterns of the two directions are different parts of one. */
#define NEAR_BASE 0ULL
#define FAR_BASE (1ULL << 40)

/* Memory, to be freed; without any, the process ends. */
void *io_buffer(size_t bytes);
void io_fill(void *buffer, uint64_t from, size_t bytes);
int io_check(const void *buffer, uint64_t from, size_t bytes);
int io_file(uint64_t from, size_t bytes);	/* one that has them */
int io_send(int fd, uint64_t from, uint64_t bytes, size_t chunk, int flags);
int io_recv(int fd, uint64_t from, uint64_t bytes, size_t chunk);
int64_t io_drain(int fd, uint64_t from);	/* until the end; how many there were */
int io_both(int fd, uint64_t send_from, uint64_t send, uint64_t recv_from, uint64_t recv, size_t chunk);
int64_t io_echo(int listener, int connections);	/* until all of them have ended; bytes */
int64_t io_echo_one(int fd);

/* ---- sock.c ---- */

enum role { CLIENT, SERVER, ROLES };	/* who the near side of a connection is */
#define EACH_ROLE(role) for (enum role role = CLIENT; role < ROLES; role++)

int sock_new(const struct sockt *t, int flags);
struct sockaddr_storage sock_near(const struct sockt *t, int port);
struct sockaddr_storage sock_far(const struct sockt *t, int port);
socklen_t sock_len(const struct sockaddr_storage *address);
int sock_address_port(const struct sockaddr_storage *address);
void sock_set_port(struct sockaddr_storage *address, int port);
bool sock_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
struct sockaddr_storage sock_name(int fd);
struct sockaddr_storage sock_peer(int fd);
int sock_port(int fd);
int sock_bind(int fd, struct sockaddr_storage address);		/* as bind() */
int sock_connect(int fd, struct sockaddr_storage address);	/* as connect() */
int sock_listen(const struct sockt *t, int backlog);		/* at an ephemeral port */
int sock_reach(const struct sockt *t, int port);		/* connected to the far side */
int sock_accept(int listener);
int sock_pair(struct sockt *t, enum role role, int slot);
void sock_set(int fd, int level, int name, int value);
int sock_get(int fd, int level, int name);
void sock_linger(int fd, int seconds);
void sock_nonblocking(int fd, bool on);
int sock_await(int fd, int events);	/* until poll() tells of one of them; what it tells of */
int sock_events(int fd);		/* what poll() tells of now */
void sock_await_queued(int fd, int bytes);	/* until so many can be read */
uint64_t sock_fill(int fd, uint64_t from);	/* send until there is no room; how many bytes */

/* ---- far.c, agent.c: the far side has sockets in slots ---- */

#define FAR_SLOTS 64

void far_begin(struct sockt *t);
/* What it was asked for is done; its answer, which fails the case if it is an error, unless it is tried. */
__attribute__((format(printf, 2, 3))) long far_do(struct sockt *t, const char *format, ...);
__attribute__((format(printf, 2, 3))) long far_try(struct sockt *t, const char *format, ...);
/* The same in two steps, between which both sides are at work. */
__attribute__((format(printf, 2, 3))) void far_start(struct sockt *t, const char *format, ...);
long far_end(struct sockt *t);

/* Do what comes by the control connection, until it ends. */
void agent_run(const struct sockt *t, int control);
void agent_serve(const struct sockt *t, int port);

#endif
