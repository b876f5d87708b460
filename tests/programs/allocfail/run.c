// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "main.h"
#include "nth.h"
#include "report.h"
#include "run.h"
#include "state.h"

struct tally {
	unsigned int memory, usercopy, fallback, optional;
	char names[1024];	/* of functions that did without, a space behind each */
};

void run_nothing(struct stage *s, const struct run_case *c)
{
	(void)s;
	(void)c;
}

/* What a call without memory says, the latter two of a socket. */
static bool is_no_memory(const struct run_case *c, int err)
{
	return err == ENOMEM || err == ENOBUFS || err == ENFILE || err == c->also;
}

static bool is_optional(const struct run_case *c, const char *name)
{
	char any[sizeof(((struct report *)NULL)->function) + 4];

	if (!c->optional)
		return false;
	snprintf(any, sizeof(any), "%.*s:* ", (int)strcspn(name, ": "), name);
	return strstr(c->optional, name) || strstr(c->optional, any);
}

static void note_optional(const struct run_case *c, const struct report *report, struct tally *tally)
{
	char name[sizeof(report->function) + 2];

	tally->optional++;
	snprintf(name, sizeof(name), "%s ", report->function);
	if (!is_optional(c, name))
		die(0, "an allocation in %s failed, the call did not", report->function);
	if (!strstr(tally->names, name) && strlen(tally->names) + strlen(name) < sizeof(tally->names))
		strcat(tally->names, name);
}

static void judge(const struct run_case *c, int err, const struct report *report, struct tally *tally)
{
	if (report->kind == REPORT_USERCOPY) {
		tally->usercopy++;
		if (err != EFAULT)
			die(err, "a copy in %s failed: not EFAULT", report->function);
	} else if (err && !is_no_memory(c, err)) {
		die(err, "an allocation in %s failed: not ENOMEM", report->function);
	} else if (err) {
		tally->memory++;
	} else if (report->kind == REPORT_QUIET || report->fallback) {
		tally->fallback++;
	} else {
		note_optional(c, report, tally);
	}
}

/* After a failure: nothing has changed, and the same call works. */
static int repeat(struct stage *s, const struct run_case *c, json_t *inside, const struct report *report)
{
	int err;

	if (c->partly)
		c->partly(s, c);
	else if (!state_returns(json_incref(inside)))
		die(0, "the call failed in %s and left something", report->function);
	err = c->call(s, c);
	if (err)
		die(err, "it failed for lack of memory in %s, and then once more", report->function);
	return err;
}

static bool call_failing(struct stage *s, const struct run_case *c, unsigned int n, struct tally *tally,
			 struct report *report, int *err)
{
	bool failed;

	report_begin();
	nth_arm(n);
	*err = c->call(s, c);
	failed = nth_disarm();
	report_read(report);
	if (failed)
		judge(c, *err, report, tally);
	else if (*err)
		die(*err, "it fails by itself");
	return failed;
}

static void call_starving(struct stage *s, const struct run_case *c, struct report *report, int *err)
{
	report_begin();
	nth_arm_all();
	*err = c->call(s, c);
	nth_disarm_all();
	report_read(report);
	if (*err && !is_no_memory(c, *err))
		die(*err, "no memory at all: not ENOMEM");
}

/* The n-th allocation fails; 0: all. False: the call has no n-th. */
static bool run_once(const struct run_case *c, unsigned int n, struct tally *tally)
{
	json_t *outside = state_take(), *inside;
	struct report report;
	bool failed = true;
	struct stage s;
	int err;

	stage_init(&s);
	c->prepare(&s, c);
	inside = state_take();
	if (n)
		failed = call_failing(&s, c, n, tally, &report, &err);
	else
		call_starving(&s, c, &report, &err);
	/* A copy that fails on the way out comes too late to undo anything; what was made goes with the context. */
	if (err && report.kind != REPORT_USERCOPY)
		err = repeat(&s, c, inside, &report);
	if (!err)
		c->verify(&s, c);
	if (c->end)
		c->end(&s);
	stage_end(&s);
	json_decref(inside);
	if (!state_returns(outside))
		die(0, "something was left behind after a failure in %s", report.function);
	return failed;
}

unsigned int run_case(const struct run_case *c)
{
	struct tally tally = { 0 };
	unsigned int n = 0, i;

	do {
		die_about(c->name, ++n);
	} while (run_once(c, n, &tally));
	die_about(c->name, 0);
	for (i = 0; i < (c->starve ? c->starve : 1); i++)
		run_once(c, 0, NULL);
	printf("%-24s %3u failed: %3u ENOMEM, %2u EFAULT, %2u done without, %2u with a fallback%s%s\n", c->name, n - 1,
	       tally.memory, tally.usercopy, tally.optional, tally.fallback, tally.optional ? ": " : "", tally.names);
	fflush(stdout);
	return n - 1;
}
