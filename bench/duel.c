// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * duel: vqp against verbs, the same requests over both in turn, so that what
 * disturbs the machine disturbs both of them. See --help.
 */
#include "duel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "talk.h"

int duel_lose(int32_t percent)
{
	char command[64];

	if (percent < 0)
		return system("node-fault loss off") ? -1 : 0;
	snprintf(command, sizeof(command), "node-fault loss %d%%", percent);
	return system(command) ? -1 : 0;
}

int duel_pull(uint32_t bytes)
{
	FILE *file = fopen("/sys/module/vqp/parameters/zcopy_bytes", "w");
	int ret;

	if (!file)
		return -1;
	ret = fprintf(file, "%u\n", bytes) < 0;
	return fclose(file) || ret ? -1 : 0;
}

static int duel_open(struct duel *duel, bool serves, struct link_address own[LINKS])
{
	for (int i = 0; i < LINKS; i++)
		if (link_open(&duel->links[i], link_kinds[i], serves, &own[i]))
			return -1;
	return 0;
}

static int duel_connect(struct duel *duel, const struct link_address peer[LINKS])
{
	for (int i = 0; i < LINKS; i++)
		if (link_connect(&duel->links[i], &peer[i]))
			return -1;
	return 0;
}

/* The server answers when it is ready for the client's first request. */
static int duel_meet(struct duel *duel, bool serves)
{
	struct link_address own[LINKS], peer[LINKS];

	memset(own, 0, sizeof(own));
	if (duel->fd < 0 || duel_open(duel, serves, own))
		return -1;
	if (serves)
		return talk_receive(duel->fd, peer, sizeof(peer)) || duel_connect(duel, peer) ||
		       talk_send(duel->fd, own, sizeof(own)) ? -1 : 0;
	return talk_send(duel->fd, own, sizeof(own)) || talk_receive(duel->fd, peer, sizeof(peer)) ||
	       duel_connect(duel, peer) ? -1 : 0;
}

static int duel_serve(struct duel *duel)
{
	duel->fd = talk_accept();
	if (duel_meet(duel, true))
		return -1;
	serve(duel);
	return 0;
}

static json_t *duel_measure(struct duel *duel, const char *name, int rounds)
{
	if (!strcmp(name, "crowd"))
		return crowd_run(duel);
	if (!strcmp(name, "incast"))
		return incast_run(duel, rounds);
	return trial_run(duel, name, rounds);
}

static int duel_run(struct duel *duel, const char *address, int rounds, char **names)
{
	json_t *results = json_object();
	int ret = -1;

	duel->fd = talk_connect(address);
	if (duel_meet(duel, false))
		goto out;
	for (; *names; names++) {
		if (json_object_set_new(results, *names, duel_measure(duel, *names, rounds)))
			goto out;
	}
	ret = json_dumpf(results, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
	puts("");
out:
	json_decref(results);
	return ret;
}

static void duel_close(struct duel *duel)
{
	for (int i = 0; i < LINKS; i++)
		link_close(&duel->links[i]);
	if (duel->fd >= 0)
		close(duel->fd);
}

static void duel_help(FILE *out)
{
	fputs("Usage: duel serve | duel ADDRESS ROUNDS NAME...\n"
	      "Measure vqp and user-space verbs between two nodes and print JSON: microseconds of\n"
	      "a list of requests, in each round.\n"
	      "  serve      be the other end, once\n"
	      "  NAME       read_sync, read_async, write_large, send_large; write_loss: with and\n"
	      "             without loss; send_pull: copied and fetched; incast: one VQP and sixteen;\n"
	      "             messages: vqp alone; crowd: what 5,000 VQPs take\n"
	      "Exit status: 0 all was measured and every byte was right, 1 not so, 2 wrong usage.\n",
	      out);
}

int main(int argc, char **argv)
{
	static struct duel duel;
	int rounds = argc > 3 ? atoi(argv[2]) : 0;
	int ret;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		duel_help(stdout);
		return EXIT_SUCCESS;
	}
	if (argc == 2 && !strcmp(argv[1], "serve")) {
		ret = duel_serve(&duel);
	} else if (rounds > 0) {
		ret = duel_run(&duel, argv[1], rounds, argv + 3);
	} else {
		duel_help(stderr);
		return 2;
	}
	duel_close(&duel);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
