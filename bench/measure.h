/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <jansson.h>

#include "invoke.h"

/* The transports, as the functions' and the probes' names have them. */
enum build { VQP, VERBS, BEST, BUILDS };

extern const char *const build_names[BUILDS];
extern const char *const build_keys[BUILDS];	/* of a time in the results */

struct measure {
	struct invoke *receivers;
	struct invoke *senders;
	const char *probes;	/* directory of the probe programs */
	const char *netns;	/* path: that of the vqp sender */
	const char *flush;	/* shell command: forget cached metadata */
	int runs;
	long seed;		/* of the last payload */
};

/* Have a receiver wait for a message. A new reference to its answer, or NULL. */
json_t *measure_prepare(struct measure *m, enum build build, long bytes, long seed);

/* 0 if the receiver got all bytes, and got them right. */
int measure_check(struct measure *m, enum build build, long bytes);

/* Each a new reference, or NULL: something failed, and has been said on stderr. */
json_t *measure_transfers(struct measure *m);	/* transfers.c */
json_t *measure_first_byte(struct measure *m);	/* parts.c */
json_t *measure_connect(struct measure *m);	/* parts.c */

#endif /* BENCH_MEASURE_H */
