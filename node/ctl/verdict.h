/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which of vqp's assumptions hold for a device, and what follows where one does not. */
#ifndef VQPCTL_VERDICT_H
#define VQPCTL_VERDICT_H

#include "finding.h"

enum ctl_level {
	CTL_OK,
	CTL_LIMITED,	/* vqp bears it */
	CTL_FAILS,
	CTL_UNTRIED,	/* something else has failed, without which it cannot be tried */
	CTL_LEVELS,
};

struct ctl_verdict {
	enum ctl_level level;
	char found[192];
	const char *follows, *way_out;	/* NULL if it is ok, or was not tried */
};

struct ctl_check {
	const char *key;		/* of JSON */
	const char *name, *need;	/* for people */
	void (*judge)(const struct ctl_finding *finding, struct ctl_verdict *verdict);
};

/* Ends with a NULL key. */
extern const struct ctl_check ctl_checks[];

const char *ctl_level_text(enum ctl_level level);

#endif
