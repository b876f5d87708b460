/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The arguments of a CNI call, which are environment variables. */
#ifndef VQP_CNI_ARGS_H
#define VQP_CNI_ARGS_H

#include <jansson.h>

#include "cni_error.h"

enum vqp_command {
	VQP_COMMAND_ADD,
	VQP_COMMAND_DEL,
	VQP_COMMAND_CHECK,
	VQP_COMMAND_STATUS,
	VQP_COMMAND_GC,
	VQP_COMMAND_VERSION,
};

/* The strings belong to the environment. A variable that is not set is "". */
struct vqp_args {
	enum vqp_command command;
	const char *container_id;
	const char *netns;
	const char *ifname;
	const char *args;
};

/* Reads the environment and checks that what the command needs is set. */
int vqp_args_read(struct vqp_args *args, struct vqp_error *error);

/* Checks the form of the container id and the interface name, if the command has them. */
int vqp_args_check(const struct vqp_args *args, struct vqp_error *error);

/*
 * Returns the terms in CNI_ARGS as a new object in the form of the network configuration:
 * VQP_TENANT, VQP_ADDRESS, and the limits as VQP_MAX_VQPS, VQP_PRIORITY and so on. Arguments for
 * other plugins are ignored. NULL with the error set on failure.
 */
json_t *vqp_args_terms(const struct vqp_args *args, struct vqp_error *error);

/* Is the text a valid container id? Network names have the same form. */
int vqp_args_is_id(const char *text);

#endif
