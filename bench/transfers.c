// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ServerlessBench TestCase5. One transfer: the receiver function sets up RDMA
 * and waits (its set-up, on its clock); the sender function sets up RDMA,
 * connects and pushes n bytes until the other side has acknowledged them all
 * (on its clock). The sum is the transfer's time: all of RDMA that two
 * functions need to hand n bytes over, and nothing of the platform's calls.
 * Then the receiver compares every byte. The transports take turns, so that
 * whatever disturbs the machine disturbs all of them.
 */
#include <string.h>

#include "measure.h"
#include "sample.h"

enum phase { RECEIVER_SETUP, SENDER_SETUP, CONNECT, PUSH, TOTAL, PHASES };

static const char *const phase_keys[PHASES] = {
	"receiver_setup_us", "sender_setup_us", "connect_us", "push_us", "total_us",
};

/* The paper's sizes, 1 KB to 9 KB, and those of the benchmark's Fn version. */
static const long transfer_bytes[] = {
	0, 1024, 2048, 3072, 4096, 5000, 5120, 6144, 7168, 8192, 9216,
	10000, 15000, 20000, 25000, 30000, 35000, 40000, 45000, 50000,
};

static json_t *measure_send(struct measure *m, enum build build, long bytes, long seed,
			    const json_t *prepared)
{
	char function[32];

	snprintf(function, sizeof(function), "%s-sender", build_names[build]);
	return invoke_call(m->senders, function,
			   json_pack("{s:O, s:I, s:I}", "target",
				     json_object_get(prepared, "target"),
				     "bytes", (json_int_t)bytes, "seed", (json_int_t)seed));
}

static double measure_us(const json_t *answer, const char *key)
{
	return json_integer_value(json_object_get(answer, key)) / 1000.0;
}

static int measure_transfer(struct measure *m, enum build build, long bytes,
			    struct sample phases[PHASES])
{
	long seed = ++m->seed;
	json_t *prepared = measure_prepare(m, build, bytes, seed);
	json_t *sent = prepared ? measure_send(m, build, bytes, seed, prepared) : NULL;
	double us[PHASES] = {
		[RECEIVER_SETUP] = measure_us(prepared, "setup_ns"),
		[SENDER_SETUP] = measure_us(sent, "setup_ns"),
		[CONNECT] = measure_us(sent, "connect_ns"),
		[PUSH] = measure_us(sent, "push_ns"),
	};
	int ret = sent ? measure_check(m, build, bytes) : -1;

	json_decref(prepared);
	json_decref(sent);
	if (ret)
		return ret;
	for (int i = 0; i < TOTAL; i++)
		us[TOTAL] += us[i];
	for (int i = 0; i < PHASES; i++)
		sample_add(&phases[i], us[i]);
	return 0;
}

static json_t *measure_phases(struct sample phases[PHASES])
{
	json_t *medians = json_object();

	for (int i = 0; i < PHASES; i++)
		json_object_set_new(medians, phase_keys[i], json_real(sample_median(&phases[i])));
	return medians;
}

static json_t *measure_size(struct measure *m, long bytes)
{
	static struct sample samples[BUILDS][PHASES];
	json_t *row = json_pack("{s:I}", "bytes", (json_int_t)bytes);
	json_t *phases = json_object();

	memset(samples, 0, sizeof(samples));
	for (int run = 0; run < m->runs; run++)
		for (int build = 0; build < BUILDS; build++)
			if (measure_transfer(m, build, bytes, samples[build]))
				return NULL;
	for (int build = 0; build < BUILDS; build++) {
		json_t *medians = measure_phases(samples[build]);

		json_object_set(row, build_keys[build], json_object_get(medians, phase_keys[TOTAL]));
		json_object_set_new(phases, build_names[build], medians);
	}
	json_object_set_new(row, "runs", json_integer(m->runs));
	json_object_set_new(row, "phases", phases);
	fprintf(stderr, "  %5ld bytes: vqp %.0f us, verbs %.0f us, best verbs %.0f us\n", bytes,
		json_real_value(json_object_get(row, build_keys[VQP])),
		json_real_value(json_object_get(row, build_keys[VERBS])),
		json_real_value(json_object_get(row, build_keys[BEST])));
	return row;
}

json_t *measure_transfers(struct measure *m)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < sizeof(transfer_bytes) / sizeof(transfer_bytes[0]); i++) {
		json_t *row = measure_size(m, transfer_bytes[i]);

		if (!row) {
			json_decref(rows);
			return NULL;
		}
		json_array_append_new(rows, row);
	}
	return rows;
}
