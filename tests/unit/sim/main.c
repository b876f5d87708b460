// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* sim OUT.json SCENARIO.json...: run scenarios, and write down what they show. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "run.h"

#define TELL_EVERY_S	2.0

/* What the progress of a run is told by. */
struct teller {
	const char *scenario;
	u32 seed, seeds;
	double told_s;			/* when something was said */
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void tell(void *arg, double done)
{
	struct teller *teller = arg;

	if (now_s() - teller->told_s < TELL_EVERY_S)
		return;
	teller->told_s = now_s();
	fprintf(stderr, "  %s: %.0f %%\n", teller->scenario,
		100 * (teller->seed - 1 + done) / teller->seeds);
}

/* Returns what the scenario shows, or NULL if the file is not in order. */
static json_t *simulate(const char *path)
{
	struct run_result result = { 0 };
	struct scenario scenario;
	struct teller teller;
	const double began_s = now_s();
	char *error = NULL;
	json_t *json = NULL;

	if (!scenario_read(&scenario, path, &error)) {
		fprintf(stderr, "sim: %s\n", error);
		free(error);
		scenario_end(&scenario);
		return NULL;
	}
	teller = (struct teller) {
		.scenario = scenario.name, .seeds = scenario.seeds, .told_s = began_s,
	};
	for (teller.seed = 1; teller.seed <= scenario.seeds; teller.seed++)
		run_scenario(&scenario, teller.seed, &result, tell, &teller);
	json = run_report(&scenario, &result);
	fprintf(stderr, "%s: %u seeds in %.1f s\n", scenario.name, scenario.seeds,
		now_s() - began_s);
	run_end(&result);
	scenario_end(&scenario);
	return json;
}

int main(int argc, char **argv)
{
	json_t *scenarios = json_array(), *results;
	bool ok = true;

	if (argc < 3 || !strcmp(argv[1], "--help")) {
		fputs("Usage: sim OUT.json SCENARIO.json...\n", argc < 3 ? stderr : stdout);
		json_decref(scenarios);
		return argc < 3 ? 2 : 0;
	}
	for (int i = 2; i < argc; i++) {
		json_t *json = simulate(argv[i]);

		if (json)
			json_array_append_new(scenarios, json);
		ok = ok && json;
	}
	results = json_pack("{s:o}", "scenarios", scenarios);
	if (ok && json_dump_file(results, argv[1], JSON_INDENT(2) | JSON_REAL_PRECISION(6))) {
		fprintf(stderr, "sim: cannot write %s\n", argv[1]);
		ok = false;
	}
	json_decref(results);
	return ok ? 0 : 1;
}
