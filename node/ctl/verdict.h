/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verdicts of vqpctl selftest: which of vqp's assumptions hold for a device, and what follows
 * if one does not.
 */
#ifndef VQPCTL_VERDICT_H
#define VQPCTL_VERDICT_H

#include "finding.h"

enum ctl_level {
	CTL_OK,
	CTL_LIMITED,	/* vqp works, with less */
	CTL_FAILS,
	CTL_UNTRIED,	/* an earlier trial that it depends on has failed */
	CTL_LEVELS,
};

struct ctl_verdict {
	enum ctl_level level;
	char found[192];
	const char *follows, *way_out;	/* NULL if the check is ok or was not tried */
};

struct ctl_check {
	const char *key;		/* the name in JSON */
	const char *name, *need;	/* the text for people */
	void (*judge)(const struct ctl_finding *finding, struct ctl_verdict *verdict);
};

/* All checks, with a NULL key at the end. */
extern const struct ctl_check ctl_checks[];

const char *ctl_level_text(enum ctl_level level);

#endif
