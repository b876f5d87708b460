// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a transfer is made of, measured on its own with the probe programs: the
 * first byte of a new process, connecting, the wire and an empty ioctl.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "probe.h"
#include "sample.h"
#include "spawn.h"

#define FIRST_BYTES	15
#define CONNECTS	30	/* each to a receiver of its own */
#define CACHED_CONNECTS	200	/* to one receiver, one after the other */
#define ROUND_TRIPS	500
#define IDLE_ROUND_TRIPS	20
#define IDLE_MS		250	/* about what lies between two transfers */
#define LINE_BYTES	32768	/* of a probe's answer */

static const char *parts_probe(const struct measure *m, enum build build, char path[256])
{
	snprintf(path, 256, "%s/probe-%s", m->probes, build_names[build]);
	return path;
}

static const char *parts_netns(const struct measure *m, enum build build)
{
	return build == VQP ? m->netns : NULL;
}

/* A receiver of the probes' one byte: its target, to be freed, or NULL. */
static char *parts_target(struct measure *m, enum build build)
{
	json_t *prepared = measure_prepare(m, build, 1, PROBE_SEED);
	const char *target = json_string_value(json_object_get(prepared, "target"));
	char *copy = target ? strdup(target) : NULL;

	json_decref(prepared);
	return copy;
}

/* Add the times a probe prints as its next line. 0 if there were `count`. */
static int parts_read(struct spawn *probe, int count, struct sample *sample)
{
	static char line[LINE_BYTES];

	if (fgets(line, sizeof(line), probe->from) && sample_add_line(sample, line) == count)
		return 0;
	fputs("a probe failed\n", stderr);
	return -1;
}

/* Run a program that prints one line of `count` times. */
static int parts_run(const char *netns, const char *const args[], int count, struct sample *sample)
{
	struct spawn probe;
	int ret;

	if (spawn_start(&probe, netns, args))
		return -1;
	ret = parts_read(&probe, count, sample);
	return spawn_end(&probe) ? -1 : ret;
}

/*
 * From the exec of a new program to the acknowledgement of its first byte. The
 * receiver is there already.
 */
static int parts_first_byte(struct measure *m, enum build build, struct sample *sample)
{
	char path[256];
	char *target = parts_target(m, build);
	const char *args[] = {
		parts_probe(m, build, path), "first-byte", target, spawn_now, NULL,
	};
	int ret;

	if (!target)
		return -1;
	ret = parts_run(parts_netns(m, build), args, 1, sample);
	free(target);
	return ret ? -1 : measure_check(m, build, 1);
}

json_t *measure_first_byte(struct measure *m)
{
	static struct sample samples[BUILDS];
	json_t *result = json_object();

	memset(samples, 0, sizeof(samples));
	for (int run = 0; run < FIRST_BYTES; run++)
		for (int build = 0; build < BUILDS; build++)
			if (parts_first_byte(m, build, &samples[build]))
				return NULL;
	for (int build = 0; build < BUILDS; build++)
		json_object_set_new(result, build_keys[build],
				    json_real(sample_median(&samples[build])));
	return result;
}

/*
 * `receivers` times: with a new receiver, create a queue pair and connect it
 * `count` times, with an open device and a completion queue at hand.
 */
static int parts_connect(struct measure *m, enum build build, const char *before, int receivers,
			 int count, struct sample *sample)
{
	char path[256];
	const char *args[] = { parts_probe(m, build, path), "connect", NULL };
	struct spawn probe;
	int ret = 0;

	if (spawn_start(&probe, parts_netns(m, build), args))
		return -1;
	for (int i = 0; i < receivers && !ret; i++) {
		char *target = parts_target(m, build);

		if (!target || (before && system(before))) {
			fprintf(stderr, "%s: failed\n", before ? before : "receiver");
			ret = -1;
		} else {
			fprintf(probe.to, "%d %s\n", count, target);
			fflush(probe.to);
			ret = parts_read(&probe, count, sample);
		}
		if (!ret)
			ret = measure_check(m, build, 1);
		free(target);
	}
	return spawn_end(&probe) ? -1 : ret;
}

/* There and back, by an empty RDMA WRITE: nobody but the two devices is involved. */
static int parts_round_trip(struct measure *m, int times, int pause_ms, struct sample *sample)
{
	char path[256], count[16], pause[16];
	char *target = parts_target(m, BEST);
	const char *args[] = {
		parts_probe(m, BEST, path), "round-trip", count, pause, target, NULL,
	};
	int ret;

	if (!target)
		return -1;
	snprintf(count, sizeof(count), "%d", times);
	snprintf(pause, sizeof(pause), "%d", pause_ms);
	ret = parts_run(NULL, args, times, sample);
	free(target);
	return ret ? -1 : measure_check(m, BEST, 1);
}

static int parts_empty_ioctl(struct measure *m, struct sample *sample)
{
	char path[256];
	const char *args[] = { path, NULL };

	snprintf(path, sizeof(path), "%s/empty-ioctl", m->probes);
	return parts_run(m->netns, args, IOCTL_COUNT, sample);
}

json_t *measure_connect(struct measure *m)
{
	static struct sample cached, uncached, best, wire, idle, ioctl;

	if (parts_connect(m, VQP, NULL, 1, CACHED_CONNECTS, &cached) ||
	    parts_connect(m, VQP, m->flush, CONNECTS, 1, &uncached) ||
	    parts_connect(m, BEST, NULL, CONNECTS, 1, &best) ||
	    parts_round_trip(m, ROUND_TRIPS, 0, &wire) ||
	    parts_round_trip(m, IDLE_ROUND_TRIPS, IDLE_MS, &idle) || parts_empty_ioctl(m, &ioctl))
		return NULL;
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}",
			 "vqp_cached_us", sample_median(&cached),
			 "vqp_uncached_us", sample_median(&uncached),
			 "verbs_best_us", sample_median(&best),
			 "wire_round_trip_us", sample_median(&wire),
			 "wire_idle_round_trip_us", sample_median(&idle),
			 "empty_ioctl_us", sample_median(&ioctl));
}
