// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "admin.h"
#include "main.h"
#include "module.h"
#include "nth.h"
#include "report.h"

#define WAYS_MAX	1024
#define COUNT_MAX	1000000000	/* more than any call allocates */
#define STRIDE_MAX	32		/* less than what a tree keeps in one node: it needs memory that often */
#define PATIENCE_MS	20000
#define STEP_MS		50
#define LOG_EVERY	50	/* failures, whose traces the kernel's log holds with ease */

/*
 * The module loads although one of these found no memory: at once it tries once more to use the
 * device. Only parent_add() itself, which is to remember the device, gives it up for good. That
 * there is a netlink family is told to those who listen, as far as there is memory. Without any,
 * the branch of a get_random_once() that has been executed is not patched.
 */
static const char optional[] =
	"parent_add parent_create parent_up vqp_lane_create lane_alloc_bufs lane_alloc_memory lane_create_cqs lane_create_qp "
	"vqp_netlink_init:ctrl_build_family_msg vqp_hash_gid:once_disable_jump ";

static const char *path, *params;
static unsigned int probes, refused, done_without;

static uint64_t ways[WAYS_MAX];	/* to an allocation, that were failed already */
static unsigned int nways;

static bool way_known(uint64_t way)
{
	unsigned int i;

	for (i = 0; i < nways; i++)
		if (ways[i] == way)
			return true;
	return false;
}

static void way_add(uint64_t way)
{
	if (nways == WAYS_MAX)
		die(0, "more than %u ways to an allocation", WAYS_MAX);
	ways[nways++] = way;
}

static bool has_parent(void)
{
	json_t *status;
	bool up;

	if (admin_do(VQP_CMD_STATUS_GET, NULL, &status))
		return false;
	up = json_object_get(status, "parent");
	json_decref(status);
	return up;
}

/*
 * A work of the kernel's has a reference on the module for a moment: it patches the branch of a
 * get_random_once() that the module has just executed for the first time.
 */
static void unload(void)
{
	int ms;

	for (ms = 0; syscall(SYS_delete_module, "vqp", O_NONBLOCK); ms += STEP_MS) {
		if (errno != EAGAIN || ms > PATIENCE_MS)
			die(errno, "it does not unload");
		usleep(STEP_MS * 1000);
	}
}

static void must_be_gone(void)
{
	if (!access("/sys/module/vqp", F_OK) || !access(VQP_DEVICE_PATH, F_OK) ||
	    admin_do(VQP_CMD_STATUS_GET, NULL, NULL) != ENOPKG)
		die(0, "loading failed and left something");
}

static void must_work(const struct report *report)
{
	int ms;

	if (strcmp(report->function, "parent_add"))
		for (ms = 0; !has_parent(); ms += STEP_MS) {
			if (ms > PATIENCE_MS)
				die(0, "no memory in %s: loaded, and has no parent", report->function);
			usleep(STEP_MS * 1000);
		}
	unload();
}

static void judge(const struct report *report, int err)
{
	char name[sizeof(report->function) + 2], way[sizeof(name)];

	/* Which of the module's functions is mostly enough: what the device's driver allocates below it is not ours. */
	snprintf(name, sizeof(name), "%.*s ", (int)strcspn(report->function, ":"), report->function);
	snprintf(way, sizeof(way), "%s ", report->function);
	if (err) {
		refused++;
		if (err != (report->kind == REPORT_USERCOPY ? EFAULT : ENOMEM))
			die(err, "a failure in %s", report->function);
	} else if (report->kind != REPORT_QUIET && !report->fallback && report->in_module) {
		/* What the kernel's loader can do without, before and after, is its own affair. */
		done_without++;
		if (!strstr(optional, name) && !strstr(optional, way))
			die(0, "an allocation in %s failed, and the module was loaded", report->function);
	}
}

/* Load, failing the n-th; unload. False: there is no n-th. */
static bool probe(unsigned int n, struct report *report)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	bool failed;

	if (fd < 0)
		die(errno, "%s", path);
	die_about("insmod", n);
	report_begin();
	nth_arm(n);
	err = syscall(SYS_finit_module, fd, params, 0) ? errno : 0;
	failed = nth_disarm();
	report_read(report);
	close(fd);
	if (failed)
		judge(report, err);
	else if (err)
		die(err, "it fails by itself");
	if (err)
		must_be_gone();
	else
		must_work(report);
	if (++probes % LOG_EVERY == 0 && system("kernel-log >&2"))
		die(0, "the kernel complains");
	return failed;
}

/* The same of the n-th, or of the first after it that says where it is. */
static bool probe_loud(unsigned int *n, struct report *report)
{
	bool failed;

	while ((failed = probe(*n, report)) && report->kind == REPORT_QUIET)
		++*n;
	return failed;
}

/* Load it so that it is refused by its parameters. Returns how many allocations that took the loader. */
static unsigned int count_refused(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	unsigned int left;

	if (fd < 0)
		die(errno, "%s", path);
	nth_arm(COUNT_MAX);
	err = syscall(SYS_finit_module, fd, "lanes=none", 0) ? errno : 0;
	left = nth_left();
	nth_disarm();
	close(fd);
	if (err != EINVAL)
		die(err, "lanes=none is not refused");
	must_be_gone();
	return COUNT_MAX - left;
}

/*
 * The first allocation of the module itself: before it are those of the loader. Of these, the ones
 * before it reads the parameters are left alone: to define the fields of tracepoints without memory
 * is worth a warning to the kernel.
 */
static unsigned int find_first(void)
{
	unsigned int before = count_refused(), step = 1, from = before + step, mid;
	struct report report;

	while (probe_loud(&from, &report) && !report.in_module) {
		before = from;
		step *= 2;
		from += step;
	}
	while (from - before > 1) {
		mid = before + (from - before) / 2;
		if (probe_loud(&mid, &report) && !report.in_module)
			before = mid;
		else if (mid < from)
			from = mid;
		else
			break;		/* nothing but quiet ones in between */
	}
	return from;
}

/* Is the n-th none of those that are known? So is the end. */
static bool is_new(unsigned int n, struct report *report, bool *failed)
{
	*failed = probe(n, report);
	return !*failed || (report->kind != REPORT_QUIET && !way_known(report->way));
}

int module_run(const char *module, const char *parameters)
{
	unsigned int n, last, mid, stride = 1;
	struct report report;
	bool failed = true;

	path = module;
	params = parameters;
	admin_open(NULL);
	nth_setup();
	report_setup();
	n = find_first();
	printf("insmod: the module's first allocation is number %u\n", n);
	for (last = n - 1; failed; n += stride) {
		if (!is_new(n, &report, &failed)) {
			last = n;
			stride = stride < STRIDE_MAX ? stride * 2 : stride;
			continue;
		}
		/* Something new begins between the last one and this. */
		while (n - last > 1) {
			mid = last + (n - last) / 2;
			if (is_new(mid, &report, &failed))
				n = mid;
			else
				last = mid;
		}
		is_new(n, &report, &failed);
		if (failed)
			way_add(report.way);
		last = n;
		stride = 1;
	}
	printf("insmod: %u allocations; %u ways there, failed in %u loads: %u refused, %u done without\n",
	       last - 1, nways, probes, refused, done_without);
	return 0;
}
