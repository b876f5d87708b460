/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the two ends of a duel say to each other besides what is measured, over
 * TCP. Functions return -1 when what failed has been said on stderr.
 */
#ifndef BENCH_TALK_H
#define BENCH_TALK_H

#include <stddef.h>
#include <stdint.h>

/* What the client wants of the server. The answer is an int64_t. */
enum talk_what {
	TALK_FILL,	/* the link's memory with the seed's bytes: 0 */
	TALK_CHECK,	/* how many bytes there are not the seed's */
	TALK_RECEIVE,	/* `count` messages: 0 when receives are posted, and 0 when all came */
	TALK_LOSE,	/* as duel_lose() has it: 0 */
};

struct talk_order {
	uint32_t what;
	uint32_t link;
	uint32_t bytes;		/* of the memory, or of a message */
	uint32_t list;		/* receives that are posted at once */
	uint32_t count;
	uint32_t spins;		/* while it awaits messages */
	int32_t percent;	/* to lose */
	uint64_t seed;
};

/* A connection, in the end to be closed. */
int talk_accept(void);
int talk_connect(const char *address);

/* All of it. 0 or -1; a connection that has ended says nothing. */
int talk_send(int fd, const void *data, size_t bytes);
int talk_receive(int fd, void *data, size_t bytes);

/* The server's answer to an order, or its next one. */
int64_t talk_ask(int fd, const struct talk_order *order);
int64_t talk_answer(int fd);

#endif /* BENCH_TALK_H */
