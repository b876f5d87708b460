// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The same requests on two sides, in turn. In every round each side has bytes
 * of its own, which are compared where they went.
 */
#include <stdio.h>
#include <string.h>

#include "duel.h"
#include "payload.h"
#include "sample.h"
#include "talk.h"
#include "transport.h"

#define TRIAL_SIDES	2
#define TRIAL_LARGE_BYTES	(LINK_BYTES / 4)

struct trial_side {
	const char *key;	/* of its times in the results; NULL: no such side */
	int link;
	int32_t loss_percent;	/* as duel_lose() has it */
	uint32_t zcopy_bytes;	/* as duel_pull() has it */
};

struct trial {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t bytes;		/* of a request */
	uint32_t list;		/* requests that are posted at once, and awaited together */
	uint32_t lists;		/* in a round, one after the other */
	struct trial_side sides[TRIAL_SIDES];
	bool spins;		/* so that no system calls are made but for the requests */
};

#define TRIAL_AGAINST_VERBS	{ { "vqp_us", LINK_VQP, -1, 0 }, { "verbs_us", LINK_VERBS, -1, 0 } }

static const struct trial trials[] = {
	{ "read_sync", IBV_WR_RDMA_READ, 8, 1, 40, TRIAL_AGAINST_VERBS, false },
	{ "read_async", IBV_WR_RDMA_READ, 8, LINK_DEPTH, 8, TRIAL_AGAINST_VERBS, false },
	{ "write_large", IBV_WR_RDMA_WRITE, TRIAL_LARGE_BYTES, 4, 1, TRIAL_AGAINST_VERBS, false },
	{ "send_large", IBV_WR_SEND, TRIAL_LARGE_BYTES, 4, 1, TRIAL_AGAINST_VERBS, false },
	{ "write_loss", IBV_WR_RDMA_WRITE, TRIAL_LARGE_BYTES, 4, 5,
	  { { "loss0_us", LINK_VQP, 0, 0 }, { "loss1_us", LINK_VQP, 1, 0 } }, false },
	{ "send_pull", IBV_WR_SEND, TRIAL_LARGE_BYTES, 4, 5,
	  { { "copied_us", LINK_VQP, -1, 0 }, { "fetched_us", LINK_VQP, -1, TRIAL_LARGE_BYTES } }, false },
	{ "messages", IBV_WR_SEND, 8, LINK_DEPTH, 50, { { "vqp_us", LINK_VQP, -1, 0 } }, true },
};

static int trial_lose(const struct duel *duel, int32_t percent)
{
	const struct talk_order order = { .what = TALK_LOSE, .percent = percent };

	return duel_lose(percent) || talk_ask(duel->fd, &order) ? -1 : 0;
}

/* The median of the lists' times. */
static int trial_time(struct link *link, uint32_t lists, double *us)
{
	struct sample sample = { .count = 0 };
	uint64_t start;

	for (uint32_t i = 0; i < lists; i++) {
		start = transport_now_ns();
		if (link_transfer(link))
			return -1;
		sample_add(&sample, (transport_now_ns() - start) / 1000.0);
	}
	*us = sample_median(&sample);
	return 0;
}

/* What both memories hold of a list. */
static uint32_t trial_bytes(const struct trial *trial)
{
	return trial->bytes * trial->list;
}

static int64_t trial_ask(const struct duel *duel, const struct trial *trial, int link, enum talk_what what)
{
	const struct talk_order order = {
		.what = what,
		.link = link,
		.bytes = what == TALK_RECEIVE ? trial->bytes : trial_bytes(trial),
		.list = trial->list,
		.count = trial->list * (trial->lists + 1),
		.spins = trial->spins,
		.seed = duel->seed,
	};

	return talk_ask(duel->fd, &order);
}

/* New bytes where the requests take them from, and others where they are to go. */
static int trial_fill(struct duel *duel, const struct trial *trial, int link)
{
	const bool reads = trial->opcode == IBV_WR_RDMA_READ;

	duel->seed += 2;
	payload_fill(duel->links[link].memory, trial_bytes(trial), duel->seed + reads);
	return reads && trial_ask(duel, trial, link, TALK_FILL) ? -1 : 0;
}

/* A list that is not timed wakes everybody up. What it brought is not what is checked. */
static int trial_prepare(struct duel *duel, const struct trial *trial, int link)
{
	duel->links[link].spins = trial->spins;
	link_prepare(&duel->links[link], trial->opcode, trial->bytes, trial->list);
	if (trial->opcode == IBV_WR_SEND && trial_ask(duel, trial, link, TALK_RECEIVE))
		return -1;
	return trial_fill(duel, trial, link) || link_transfer(&duel->links[link]) ||
	       trial_fill(duel, trial, link) ? -1 : 0;
}

/* They are where the requests put them. */
static int trial_check(const struct duel *duel, const struct trial *trial, int link)
{
	int64_t bad;

	if (trial->opcode == IBV_WR_SEND && talk_answer(duel->fd))
		return -1;
	if (trial->opcode == IBV_WR_RDMA_READ)
		bad = (int64_t)payload_count_bad(duel->links[link].memory, trial_bytes(trial), duel->seed);
	else
		bad = trial_ask(duel, trial, link, TALK_CHECK);
	if (bad > 0)
		fprintf(stderr, "%s over %s: WRONG: %lld bytes\n", trial->name, link_kinds[link]->name,
			(long long)bad);
	return bad ? -1 : 0;
}

static int trial_side(struct duel *duel, const struct trial *trial, const struct trial_side *side, double *us)
{
	const bool lossy = side->loss_percent >= 0;

	if (duel_pull(side->zcopy_bytes) || (lossy && trial_lose(duel, side->loss_percent)))
		return -1;
	if (trial_prepare(duel, trial, side->link) || trial_time(&duel->links[side->link], trial->lists, us) ||
	    trial_check(duel, trial, side->link))
		return -1;
	return lossy ? trial_lose(duel, -1) : 0;
}

/* Its times go to the result's arrays. */
static int trial_round(struct duel *duel, const struct trial *trial, json_t *result)
{
	double us[TRIAL_SIDES] = { 0 };

	for (int i = 0; i < TRIAL_SIDES && trial->sides[i].key; i++) {
		if (trial_side(duel, trial, &trial->sides[i], &us[i]))
			return -1;
		json_array_append_new(json_object_get(result, trial->sides[i].key), json_real(us[i]));
	}
	fprintf(stderr, "  %-12s", trial->name);
	for (int i = 0; i < TRIAL_SIDES && trial->sides[i].key; i++)
		fprintf(stderr, "  %s %.0f", trial->sides[i].key, us[i]);
	fputs("\n", stderr);
	return 0;
}

static const struct trial *trial_find(const char *name)
{
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		if (!strcmp(trials[i].name, name))
			return &trials[i];
	fprintf(stderr, "duel: nothing is called %s\n", name);
	return NULL;
}

json_t *trial_run(struct duel *duel, const char *name, int rounds)
{
	const struct trial *trial = trial_find(name);
	json_t *result;

	if (!trial)
		return NULL;
	result = json_pack("{s:i, s:i, s:I}", "bytes", (int)trial->bytes, "list", (int)trial->list, "requests",
			   (json_int_t)trial->list * (trial->lists + 1) * rounds);
	for (int i = 0; i < TRIAL_SIDES && trial->sides[i].key; i++)
		json_object_set_new(result, trial->sides[i].key, json_array());
	for (int i = 0; i < rounds; i++) {
		if (trial_round(duel, trial, result)) {
			json_decref(result);
			return NULL;
		}
	}
	return result;
}
