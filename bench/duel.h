/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef BENCH_DUEL_H
#define BENCH_DUEL_H

#include <jansson.h>
#include <stdint.h>

#include "link.h"

struct duel {
	int fd;				/* to the other end */
	struct link links[LINKS];
	uint64_t seed;			/* of the last bytes */
};

/* Have the link of this node pass a netem, which loses so many per cent; less than 0: none. 0 or -1. */
int duel_lose(int32_t percent);

/* Have vqp's messages of so many bytes or more fetched by their target's node; 0: none. 0 or -1. */
int duel_pull(uint32_t bytes);

/* Do what the client says until it has nothing more to say. */
void serve(struct duel *duel);

/* Each a new reference, or NULL: something failed, and has been said on stderr. */
json_t *trial_run(struct duel *duel, const char *name, int rounds);
json_t *incast_run(struct duel *duel, int rounds);
json_t *crowd_run(struct duel *duel);

#endif /* BENCH_DUEL_H */
