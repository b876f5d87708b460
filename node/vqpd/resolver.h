/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process that looks up the name of one meta server. A lookup may take as long as name servers
 * and NSS modules like, and may make any system call: vqpd's loop cannot wait for it, and vqpd's
 * filter does not allow it.
 */
#ifndef VQPD_RESOLVER_H
#define VQPD_RESOLVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "../loop.h"

#define VQP_RESOLVER_PERIOD_MS	5000	/* the least time from one lookup to the next */
#define VQP_RESOLVER_MAX	16	/* the addresses of an answer; a name may have more */

union vqp_resolver_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* What the process sends for each lookup, as one message. */
struct vqp_resolver_answer {
	int error;		/* of getaddrinfo(), EAI_NONAME for example; 0 with addresses */
	int system_error;	/* errno, if that is EAI_SYSTEM */
	uint32_t count;
	union vqp_resolver_address addresses[VQP_RESOLVER_MAX];
};

struct vqp_resolver {
	struct vqp_watch watch;		/* of the socket to the process; its fd is -1 without one */
	struct vqp_loop *loop;
	pid_t pid;			/* of the process */
	bool asked;			/* An answer is due. */
	uint64_t asked_ms;		/* when the last lookup began; 0 before the first */
	/* A lookup has ended. `answer` is NULL if the process has; there are no more lookups then. */
	void (*answered)(struct vqp_resolver *resolver, const struct vqp_resolver_answer *answer);
};

/* Initializes one without a process, which is never asked. */
void vqp_resolver_init(struct vqp_resolver *resolver);

/*
 * Starts the process, which keeps no capabilities, and no descriptors of this one but the standard
 * ones. It keeps the user, which is root as a rule, and its rights to files. It ends with this
 * process, whatever a lookup is doing. `port` is a number. 0 or a negative errno value.
 */
int vqp_resolver_start(struct vqp_resolver *resolver, struct vqp_loop *loop, const char *host, const char *port,
		       void (*answered)(struct vqp_resolver *resolver, const struct vqp_resolver_answer *answer));

/* Has the name looked up, unless it is being looked up or was just now. */
void vqp_resolver_ask(struct vqp_resolver *resolver);

/* Returns the reason why an answer has no addresses. */
const char *vqp_resolver_reason(const struct vqp_resolver_answer *answer);

void vqp_resolver_exit(struct vqp_resolver *resolver);

#endif
