/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The error object that a CNI plugin answers with. */
#ifndef VQP_CNI_ERROR_H
#define VQP_CNI_ERROR_H

#include <stdio.h>

#include "../common/error.h"

/* The codes of the plugin's errors. Those below 100 are the CNI specification's. */
enum vqp_cni_error_code {
	VQP_CNI_ERROR_NONE		= 0,
	VQP_CNI_ERROR_VERSION	= 1,	/* incompatible CNI version */
	VQP_CNI_ERROR_FIELD		= 2,	/* unsupported field in the configuration */
	VQP_CNI_ERROR_CONTAINER	= 3,	/* unknown or missing container id */
	VQP_CNI_ERROR_ENVIRONMENT	= 4,	/* missing or bad CNI_* variable */
	VQP_CNI_ERROR_IO		= 5,
	VQP_CNI_ERROR_DECODE	= 6,	/* not JSON, or a field of the wrong type */
	VQP_CNI_ERROR_CONFIG	= 7,
	VQP_CNI_ERROR_TRY_AGAIN	= 11,
	VQP_CNI_ERROR_UNAVAILABLE	= 50,	/* STATUS: cannot serve ADD */
	VQP_CNI_ERROR_LIMITED	= 51,	/* as 50, and running containers may be cut off */
	VQP_CNI_ERROR_REFUSED	= 100,	/* vqpd has refused; the details say why */
	/* the address is taken, or the network namespace has VQP namespaces of another tenant */
	VQP_CNI_ERROR_TAKEN		= 101,
	/* the VQP namespace is missing, is another one, or has other limits */
	VQP_CNI_ERROR_CHECK		= 102,
};

/*
 * Writes the error as JSON. Its context, if there is one, is the message, and its reason the
 * details. 0, or EOF.
 */
int vqp_cni_error_print(const struct vqp_error *error, const char *cni_version, FILE *out);

#endif
