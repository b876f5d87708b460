/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The findings of vqpctl doctor. The files doctor_*.c each examine one subject, and only look: they
 * change nothing of the node.
 */
#ifndef VQPCTL_DOCTOR_H
#define VQPCTL_DOCTOR_H

#include <jansson.h>
#include <limits.h>

#include "verdict.h"

struct ctl_doctor {
	const char *root;	/* what is put before the paths of files: "", but in tests */
	const char *socket;	/* that of vqpd, or NULL */
	json_t *status;		/* the module's answer; NULL if there is none */
	json_t *findings;	/* an array of objects, see ctl_doctor_find() */
	unsigned int counts[CTL_LEVELS];
};

/*
 * Adds a finding, {"id","state","seen"} and, unless they are NULL, "subject" and "remedy". The id
 * is stable; the subject tells findings of one id apart. The remedy says what to do. CTL_LIMITED is
 * a warning, CTL_FAILS a fault, and CTL_UNTRIED what could not be looked at.
 */
void ctl_doctor_find(struct ctl_doctor *doctor, enum ctl_level level, const char *id, const char *subject,
		     const char *remedy, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Returns the word for a level: ok, warning, fault or unknown. */
const char *ctl_doctor_state(enum ctl_level level);

/* Adds an error's text, which is "WHAT IS WRONG: REMEDY". */
void ctl_doctor_find_error(struct ctl_doctor *doctor, enum ctl_level level, const char *id, const char *subject,
			   const char *text);

/* Writes the path below the root to `full`, and returns that. */
const char *ctl_doctor_path(const struct ctl_doctor *doctor, const char *path, char full[PATH_MAX]);

/* The examinations, in the order in which they are made. */
void ctl_doctor_kernel(struct ctl_doctor *doctor);
void ctl_doctor_module(struct ctl_doctor *doctor);
void ctl_doctor_device(struct ctl_doctor *doctor);
void ctl_doctor_rxe(struct ctl_doctor *doctor);
void ctl_doctor_units(struct ctl_doctor *doctor);
void ctl_doctor_vqpd(struct ctl_doctor *doctor);
void ctl_doctor_engines(struct ctl_doctor *doctor);
void ctl_doctor_lists(struct ctl_doctor *doctor);
void ctl_doctor_policy(struct ctl_doctor *doctor);

/*
 * Judges a unit by what `systemctl show` prints of ActiveState, SubState and UnitFileState. A node
 * may do without one that is not `needed`.
 */
void ctl_doctor_judge_unit(struct ctl_doctor *doctor, const char *unit, bool needed, const char *shown);

/* Does this text of a CNI network have the plugin? 1, 0, or -EINVAL if it is none. */
int ctl_doctor_list_has(const char *text, const char *type);

/*
 * Copies the next path of one of vqp's programs in a text, which stands between quotes, to `path`.
 * Returns the text behind it; NULL if there is none.
 */
const char *ctl_doctor_next_program(const char *text, char path[PATH_MAX]);

#endif
