/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Things done wrong, one per case. */
#ifndef VQPT_BAD_H
#define VQPT_BAD_H

#include "vqpt.h"

/* What a case starts with. */
enum bad_need {
	BAD_NOTHING,		/* not even a context */
	BAD_CONTEXT,		/* conn, not connected */
	BAD_LINK,		/* conn, connected to the mem-server named by the arguments */
	BAD_HOST,		/* no context, but the host's network namespace, where netlink's family is */
};

struct bad {
	const struct vqpt_options *options;
	struct vqpt_conn conn;	/* 4096 bytes with all rights; at most 4 SGEs, 32 requests a queue */
	int fd;			/* of its context */
	uint32_t rkey;		/* BAD_LINK: the server's memory */
	uint64_t raddr;
};

#define BAD_WC(status)	(1000 + (int)(status))	/* a completion's status as a result */

/* What came of it: 0, an errno value, or BAD_WC(). A case may print details before. */
struct bad_case {
	const char *name;
	enum bad_need need;
	int (*run)(struct bad *b);
};

extern const struct bad_case bad_contexts[], bad_maps[], bad_calls[], bad_posts[], bad_strides[], bad_wcs[],
	bad_netlinks[];		/* Each ends with name NULL. */

#define BAD_BYTES	4096
#define BAD_WRS		32

int bad_ioctl(int fd, unsigned long request, void *arg);

/* Another context of this process, with one VQP on one CQ, unconnected. */
struct vqpt_conn bad_stranger(const struct bad *b);

/* Wait for the next completion; BAD_WC() of it, 0 for a success, ETIMEDOUT. */
int bad_completion(const struct bad *b, struct ibv_cq *cq);

#endif
