/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is known of an engine and of its machine while its files are edited. */
#ifndef VQPCTL_SITE_H
#define VQPCTL_SITE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "../../common/error.h"

/* What files that are vqp's alone begin with, if they can have comments; the engine's name follows. */
#define CTL_WRITTEN_BY	"# Written by vqpctl configure"

/* The absolute paths of programs that are installed together with vqpctl. */
struct ctl_programs {
	char runtime[PATH_MAX], hook[PATH_MAX];
};

struct ctl_site {
	struct ctl_programs programs;
	const char *config;	/* The path of the engine's main file, which --config may have given. */
	char *main;		/* The text of that file; NULL if there is none. */
	char *generated;	/* What k3s or RKE2 made of a template that is the main file; or NULL. */
	json_t *shown;		/* The configuration that the engine shows; NULL if it was not asked. */
	/* The runtime that vqp-runtime starts, or "" if there is none. */
	char real[PATH_MAX];
	bool real_is_chosen;	/* The operator's file names it. */
};

/* The text of a file, and what else an edit depends on. A text is NULL if there is no file. */
struct ctl_edit {
	const char *before, *backup;
	const struct ctl_site *site;
	bool remove;
};

/* Finds the runtime that vqp-runtime starts. 0, or a negative errno value with *error set. */
int ctl_site_find_real(struct ctl_site *site, struct vqp_error *error);

/*
 * Is `program`, which the engine's runtime `name` starts, what vqp-runtime would start too? 0, or a
 * negative errno value with *error set.
 */
int ctl_site_starts(const struct ctl_site *site, const char *name, const char *program, struct vqp_error *error);

#endif
