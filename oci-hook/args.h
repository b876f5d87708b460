/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What vqp-runtime must know of an OCI runtime's command line (that of runc and crun). */
#ifndef VQP_OCI_ARGS_H
#define VQP_OCI_ARGS_H

#include <stdbool.h>

/* Strings belong to argv. */
struct vqp_args {
	const char *command;		/* "create", or NULL if there is none */
	bool creation;			/* it makes a container: create, run or restore */
	int globals;			/* arguments before the command, with the program's name */
	const char *id;			/* the container's, of such a command, start and delete; NULL: none */
	const char *bundle;		/* of such a command; the working directory if not given */
	const char *config;		/* crun's --config; NULL: that of the bundle */
	const char *log;		/* NULL: none */
	const char *log_format;		/* NULL: text */
};

void vqp_args_parse(struct vqp_args *args, char *const *argv);

#endif
