/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command vqpctl doctor: looks at all that vqp needs on a node, and says what to do. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bundle.h"
#include "ctl.h"
#include "doctor.h"

#define QUIET_S	2	/* the time after which people are told what is being looked at */

static const struct {
	const char *subject;
	void (*examine)(struct ctl_doctor *doctor);
} examinations[] = {
	{ "the kernel", ctl_doctor_kernel },
	{ "the module", ctl_doctor_module },
	{ "the RDMA device", ctl_doctor_device },
	{ "soft RoCE", ctl_doctor_rxe },
	{ "the units", ctl_doctor_units },
	{ "vqpd and its meta servers", ctl_doctor_vqpd },
	{ "the container engines", ctl_doctor_engines },
	{ "the CNI network lists", ctl_doctor_lists },
	{ "the policy", ctl_doctor_policy },
};

static void examine(struct ctl_doctor *doctor)
{
	const time_t begin = time(NULL);
	bool people = isatty(STDERR_FILENO);

	for (unsigned int i = 0; i < sizeof(examinations) / sizeof(*examinations); i++) {
		if (people && time(NULL) - begin >= QUIET_S)
			fprintf(stderr, "looking at %s ...\n", examinations[i].subject);
		examinations[i].examine(doctor);
	}
}

static const char *string(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void print_people(const struct ctl_args *args, const struct ctl_doctor *doctor)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(doctor->findings, i, finding) {
		const char *state = string(finding, "state"), *subject = string(finding, "subject");

		if (!strcmp(state, ctl_doctor_state(CTL_OK)) && !args->all)
			continue;
		printf("%-8s %-18s %s%s%s\n", state, string(finding, "id"), subject ? subject : "", subject ? ": " : "",
		       string(finding, "seen"));
		if (string(finding, "remedy"))
			printf("%-27s -> %s\n", "", string(finding, "remedy"));
	}
	printf("%u ok, %u warnings, %u faults, %u unknown\n", doctor->counts[CTL_OK], doctor->counts[CTL_LIMITED],
	       doctor->counts[CTL_FAILS], doctor->counts[CTL_UNTRIED]);
}

/* Writes the bundle, if there is to be one. 0 or the exit status. */
static int write_bundle(const struct ctl_args *args, const json_t *report)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret = args->bundle ? ctl_bundle_write(args->bundle, report, &error) : 0;

	if (ret)
		return ctl_fail(args, ret, "%s", vqp_error_text(&error));
	if (args->bundle && !args->json)
		printf("%s is written. It names addresses and containers of this node: look at it before you send it.\n",
		       args->bundle);
	return 0;
}

int ctl_doctor(const struct ctl_args *args)
{
	struct ctl_doctor doctor = { .root = "", .socket = args->socket, .findings = json_array() };
	json_auto_t *report = NULL;
	int ret;

	examine(&doctor);
	json_decref(doctor.status);
	report = json_pack("{s:b, s:o, s:o}", "ok", !doctor.counts[CTL_FAILS], "versions", ctl_versions(),
			   "findings", doctor.findings);
	if (!args->json)
		print_people(args, &doctor);
	ret = write_bundle(args, report);
	if (!ret && args->json)
		ret = ctl_print_json(json_incref(report));
	return ret ? ret : doctor.counts[CTL_FAILS] ? EXIT_FAILURE : EXIT_SUCCESS;
}
