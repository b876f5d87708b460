/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of an OCI runtime's command line (that of runc and crun) that vqp-runtime needs. */
#ifndef VQP_OCI_ARGS_H
#define VQP_OCI_ARGS_H

#include <stdbool.h>

/* The strings belong to argv. */
struct vqp_args {
	const char *command;		/* "create", or NULL if there is none */
	bool creation;			/* The command makes a container: create, run, restore. */
	int globals;			/* the number of arguments before the command */
	/* The container's id, if the command makes, starts or deletes a container; or NULL. */
	const char *id;
	const char *bundle;		/* of a creation; the working directory by default */
	const char *config;		/* crun's --config; NULL for the one in the bundle */
	const char *log;		/* or NULL */
	const char *log_format;		/* NULL for text */
};

void vqp_args_parse(struct vqp_args *args, char *const *argv);

#endif
