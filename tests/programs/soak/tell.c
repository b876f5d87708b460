// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "soak.h"

static const char *const count_names[SOAK_N_MAX] = {
	[SOAK_N_SEND] = "sends", [SOAK_N_WRITE] = "writes", [SOAK_N_READ] = "reads",
	[SOAK_N_ATOMIC] = "atomics", [SOAK_N_IMM] = "imm",
	[SOAK_N_INLINE] = "inline", [SOAK_N_POST] = "posts", [SOAK_N_COMPLETION] = "completions",
	[SOAK_N_MESSAGE] = "messages", [SOAK_N_ANSWER] = "answers", [SOAK_N_FLOW] = "flows",
	[SOAK_N_UNREACHED] = "unreached", [SOAK_N_LIFE] = "lives", [SOAK_N_BIND] = "binds", [SOAK_N_CHURN] = "churns",
	[SOAK_N_AUDIT] = "audits", [SOAK_N_LOST] = "unnamed",
	[SOAK_N_NEAR] = "near", [SOAK_N_FAR] = "far", [SOAK_N_TCP] = "tcp", [SOAK_N_ECHO] = "echoes",
	[SOAK_N_KILL] = "kill", [SOAK_N_FREEZE] = "freeze", [SOAK_N_NETNS] = "netns", [SOAK_N_SHUTDOWN] = "shutdown",
	[SOAK_N_DAEMON] = "daemon", [SOAK_N_STORM] = "storm", [SOAK_N_PARENT] = "parent", [SOAK_N_STALL] = "stall",
};

static const char *const status_names[SOAK_STATUSES] = {
	[IBV_WC_LOC_PROT_ERR] = "loc_prot", [IBV_WC_WR_FLUSH_ERR] = "flush", [IBV_WC_REM_INV_REQ_ERR] = "rem_inv_req",
	[IBV_WC_REM_ACCESS_ERR] = "rem_access", [IBV_WC_REM_OP_ERR] = "rem_op", [IBV_WC_RETRY_EXC_ERR] = "retry_exc",
};

static uint32_t own_worker;
static uint64_t own_life;

void soak_tell_init(uint32_t worker, uint64_t life)
{
	own_worker = worker;
	own_life = life;
}

uint64_t soak_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void soak_count(enum soak_count what)
{
	atomic_fetch_add_explicit(&soak_shared->counts[what], 1, memory_order_relaxed);
}

/* One line, in one write. */
static void say(const char *what, const char *format, va_list ap)
{
	char text[1024];
	int n;

	n = snprintf(text, sizeof(text), "soak node%u worker%u life %016" PRIx64 ": %s", soak_options.node, own_worker,
		     own_life, what);
	vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, ap);
	strcat(text, "\n");
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

void soak_say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("", format, ap);
	va_end(ap);
}

/* What has not happened in time is LATE, and anything else that must not be is WRONG. Either ends the soak. */
static void say_wrong(const char *what, const char *format, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	say(what, format, ap);
	if (!atomic_fetch_add(&soak_shared->wrong, 1))
		vsnprintf(soak_shared->first_wrong, sizeof(soak_shared->first_wrong), format, again);
	va_end(again);
}

void soak_say_wrong(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_wrong("WRONG: ", format, ap);
	va_end(ap);
}

void soak_say_late(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_wrong("LATE: ", format, ap);
	va_end(ap);
}

void soak_wrong(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_wrong("WRONG: ", format, ap);
	va_end(ap);
	for (;;)
		pause();
}

void soak_late(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_wrong("LATE: ", format, ap);
	va_end(ap);
	for (;;)
		pause();
}

static size_t append(char *line, size_t at, size_t size, const char *name, uint64_t value)
{
	return at < size && value ? at + (size_t)snprintf(line + at, size - at, " %s %" PRIu64, name, value) : at;
}

void soak_progress(uint32_t seconds)
{
	char line[1024];
	size_t at = 0;
	int i;

	at = (size_t)snprintf(line, sizeof(line), "soak node%u %4us:", soak_options.node, seconds);
	for (i = 0; i < SOAK_N_KILL; i++)
		at = append(line, at, sizeof(line), count_names[i], soak_shared->counts[i]);
	at = append(line, at, sizeof(line), "MB", soak_shared->bytes >> 20);
	at += (size_t)snprintf(line + at, sizeof(line) - at, "; done to it:");
	for (; i < SOAK_N_MAX; i++)
		at = append(line, at, sizeof(line), count_names[i], soak_shared->counts[i]);
	at += (size_t)snprintf(line + at, sizeof(line) - at, "; failed:");
	for (i = 0; i < SOAK_STATUSES; i++)
		at = append(line, at, sizeof(line), status_names[i] ? status_names[i] : "others", soak_shared->failures[i]);
	printf("%s; wrong %u%s%s\n", line, soak_shared->wrong, soak_shared->wrong ? ", first: " : "",
	       soak_shared->first_wrong);
	fflush(stdout);
}

void soak_trace(struct soak_trace *trace, const char *what, uint64_t a, uint64_t b)
{
	size_t room = sizeof(trace->events) / sizeof(trace->events[0]), i = trace->count++ % room;

	trace->events[i].ns = soak_now_ns();
	trace->events[i].what = what;
	trace->events[i].a = a;
	trace->events[i].b = b;
}

void soak_trace_print(const struct soak_trace *trace)
{
	const uint32_t room = sizeof(trace->events) / sizeof(trace->events[0]);
	uint64_t now = soak_now_ns();
	uint32_t i;

	for (i = trace->count > room ? trace->count - room : 0; i < trace->count; i++)
		soak_say("  %6" PRIu64 " ms ago: %s %" PRIu64 " %" PRIu64, (now - trace->events[i % room].ns) / 1000000,
			 trace->events[i % room].what, trace->events[i % room].a, trace->events[i % room].b);
}

/* ---- Random numbers ---- */

/* splitmix64 */
uint64_t soak_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return soak_mix(*state, 0);
}

uint64_t soak_mix(uint64_t a, uint64_t b)
{
	uint64_t z = a ^ (b * 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}
