// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Words that one side writes while the other reads them. A server changes a word that clients READ, and looks at a
 * block into which they WRITE; both check that no word is seen half written, and that the last word of a WRITE is seen
 * after the others. Each word has a number in both its halves.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "vqpt.h"

/* The server's memory. */
struct words {
	_Atomic uint64_t changing;	/* READ by clients */
	_Atomic uint64_t torn;		/* the torn words that the server has seen in the block */
	_Atomic uint64_t early;		/* the times that it saw the last word of a WRITE before another */
	_Atomic uint64_t changes;	/* of the last word, as the server saw them */
	_Atomic uint64_t block[];	/* WRITTEN by clients */
};

static uint64_t word_of(uint32_t number) { return (uint64_t)number << 32 | number; }
static bool word_is_torn(uint64_t word) { return word >> 32 != (uint32_t)word; }

/* A WRITE that has begun since may have changed the words before the last, to larger numbers. */
static void words_look(struct words *words, size_t count, uint64_t *before)
{
	const uint64_t last = words->block[count - 1];
	uint64_t word;
	size_t i;

	words->changes += last != *before;
	*before = last;
	words->torn += word_is_torn(last);
	for (i = 0; i + 1 < count; i++) {
		word = words->block[i];
		words->torn += word_is_torn(word);
		words->early += (uint32_t)word < (uint32_t)last;
	}
}

int vqpt_words_server(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, sizeof(struct words) + o->bytes, o->access);
	struct words *words = (struct words *)conn.memory;
	uint64_t before = 0;
	uint32_t number;
	int port;

	port = vqpt_conn_bind(&conn, args[0]);
	vqpt_ready("pid=%d port=%d key=%u addr=%llu\n", getpid(), port, conn.mr->rkey,
		   (unsigned long long)(uintptr_t)conn.memory);
	for (number = 0;; number = ~number) {
		words->changing = word_of(number);
		words_look(words, o->bytes / sizeof(uint64_t), &before);
	}
}

/* WRITE the block and READ the word, until --count changes of each have been seen on the other side. */
int vqpt_words_run(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, sizeof(struct words) + o->bytes, IBV_ACCESS_LOCAL_WRITE);
	const uint32_t rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX);
	const uint64_t addr = vqpt_number(args[3], UINT64_MAX);
	struct words *words = (struct words *)conn.memory;
	uint64_t torn = 0, changes = 0, before = 0;
	uint32_t i;
	size_t k;

	vqpt_conn_to(&conn, args[0], args[1]);
	for (i = 1; changes < o->count || words->changes < o->count; i++) {
		for (k = 0; k < o->bytes / sizeof(uint64_t); k++)
			words->block[k] = word_of(i);
		vqpt_conn_transfer(&conn, IBV_WR_RDMA_WRITE, words->block, o->bytes, addr + sizeof(*words), rkey);
		vqpt_conn_transfer(&conn, IBV_WR_RDMA_READ, &words->changing, sizeof(uint64_t), addr, rkey);
		torn += word_is_torn(words->changing);
		changes += words->changing != before;
		before = words->changing;
		vqpt_conn_transfer(&conn, IBV_WR_RDMA_READ, &words->torn, sizeof(*words) - sizeof(uint64_t),
				   addr + sizeof(uint64_t), rkey);
		if (torn || words->torn || words->early)
			vqpt_wrong("%llu words that were READ and %llu that were written were torn, "
				   "%llu came after the last", (unsigned long long)torn,
				   (unsigned long long)words->torn, (unsigned long long)words->early);
	}
	vqpt_conn_close(&conn);
	return 0;
}
