// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * measure: data transfer between two functions over three transports, and what
 * its parts cost. Runs on the senders' node and prints JSON; see --help.
 */
#include "measure.h"

#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define MEASURE_RUNS	9

const char *const build_names[BUILDS] = { "vqp", "verbs", "best" };
const char *const build_keys[BUILDS] = { "vqp_us", "verbs_us", "verbs_best_us" };

json_t *measure_prepare(struct measure *m, enum build build, long bytes, long seed)
{
	char function[32];

	snprintf(function, sizeof(function), "%s-receiver", build_names[build]);
	return invoke_call(m->receivers, function,
			   json_pack("{s:s, s:I, s:I}", "do", "prepare", "bytes",
				     (json_int_t)bytes, "seed", (json_int_t)seed));
}

/* All bytes came, and came right. */
int measure_check(struct measure *m, enum build build, long bytes)
{
	json_int_t received = -1, bad = -1;
	char function[32];
	json_t *answer;

	snprintf(function, sizeof(function), "%s-receiver", build_names[build]);
	answer = invoke_call(m->receivers, function, json_pack("{s:s}", "do", "check"));
	json_unpack(answer, "{s:I, s:I}", "bytes", &received, "bad", &bad);
	json_decref(answer);
	if (received == bytes && !bad)
		return 0;
	fprintf(stderr, "%s: %ssent %ld bytes, %lld arrived, %lld of them as they should not\n",
		build_names[build], bad > 0 ? "WRONG: " : "", bytes, (long long)received, (long long)bad);
	return -1;
}

static void measure_help(void)
{
	puts("Usage: measure --receivers URL --senders URL --probes DIR --netns PATH --flush COMMAND\n"
	     "               [--runs N]\n"
	     "Measure with the functions of two agents and print JSON.\n"
	     "  -r, --receivers URL   fn-agent with vqp-receiver, verbs-receiver, best-receiver\n"
	     "  -s, --senders URL     fn-agent with vqp-sender, verbs-sender, best-sender\n"
	     "  -p, --probes DIR      directory of probe-vqp, probe-verbs, probe-best, empty-ioctl\n"
	     "  -n, --netns PATH      network namespace with the VQP namespace for the probes\n"
	     "  -f, --flush COMMAND   makes this node forget its cached DCT metadata\n"
	     "  -k, --runs N          transfers of each size over each transport [9]\n"
	     "  -h, --help            show this text\n"
	     "Exit status: 0 all was measured and every byte was right, 1 not so, 2 wrong usage.");
}

static int measure_all(struct measure *m)
{
	json_t *results = json_object();
	int ret = -1;

	if (json_object_set_new(results, "transfer", measure_transfers(m)) ||
	    json_object_set_new(results, "first_byte", measure_first_byte(m)) ||
	    json_object_set_new(results, "connect", measure_connect(m)))
		goto out;
	ret = json_dumpf(results, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
	puts("");
out:
	json_decref(results);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "receivers", required_argument, NULL, 'r' },
		{ "senders", required_argument, NULL, 's' },
		{ "probes", required_argument, NULL, 'p' },
		{ "netns", required_argument, NULL, 'n' },
		{ "flush", required_argument, NULL, 'f' },
		{ "runs", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct measure m = { .runs = MEASURE_RUNS };
	const char *receivers = NULL, *senders = NULL;
	int option, ret = -1;

	while ((option = getopt_long(argc, argv, "r:s:p:n:f:k:h", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			receivers = optarg;
			break;
		case 's':
			senders = optarg;
			break;
		case 'p':
			m.probes = optarg;
			break;
		case 'n':
			m.netns = optarg;
			break;
		case 'f':
			m.flush = optarg;
			break;
		case 'k':
			m.runs = atoi(optarg);
			break;
		case 'h':
			measure_help();
			return EXIT_SUCCESS;
		default:
			return 2;
		}
	}
	if (!receivers || !senders || !m.probes || !m.netns || !m.flush || m.runs < 1) {
		fputs("measure: all but --runs are needed, and at least one run; see --help\n",
		      stderr);
		return 2;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	m.receivers = invoke_open(receivers);
	m.senders = invoke_open(senders);
	if (m.receivers && m.senders)
		ret = measure_all(&m);
	invoke_close(m.receivers);
	invoke_close(m.senders);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
