/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The error object that a CNI plugin answers with. */
#ifndef VQP_CNI_ERROR_H
#define VQP_CNI_ERROR_H

#include <stdio.h>

/* Codes below 100 are those of the CNI specification. */
enum vqp_error_code {
	VQP_ERROR_NONE		= 0,
	VQP_ERROR_VERSION	= 1,	/* incompatible CNI version */
	VQP_ERROR_FIELD		= 2,	/* unsupported field in the configuration */
	VQP_ERROR_CONTAINER	= 3,	/* unknown or missing container id */
	VQP_ERROR_ENVIRONMENT	= 4,	/* missing or bad CNI_* variable */
	VQP_ERROR_IO		= 5,
	VQP_ERROR_DECODE	= 6,	/* not JSON, or a field of the wrong type */
	VQP_ERROR_CONFIG	= 7,
	VQP_ERROR_TRY_AGAIN	= 11,
	VQP_ERROR_UNAVAILABLE	= 50,	/* STATUS: cannot serve ADD */
	VQP_ERROR_LIMITED	= 51,	/* ... and containers that are there may reach less */
	VQP_ERROR_REFUSED	= 100,	/* vqpd refused; details say why */
	VQP_ERROR_TAKEN		= 101,	/* what the address or the network namespace has is in the way */
	VQP_ERROR_CHECK		= 102,	/* the VQP namespace is missing, is another one, or has other limits */
};

struct vqp_error {
	enum vqp_error_code code;
	char *msg;
	char *details;			/* NULL if there are none */
};

/* Sets the code and the message; returns the code, so that a failure is one statement. */
__attribute__((format(printf, 3, 4)))
int vqp_error_set(struct vqp_error *error, enum vqp_error_code code, const char *format, ...);

/* As vqp_error_set(), with details, which may be NULL. */
__attribute__((format(printf, 4, 5)))
int vqp_error_detail(struct vqp_error *error, enum vqp_error_code code, const char *details,
		     const char *format, ...);

/* Writes the error as JSON. 0, or EOF. */
int vqp_error_print(const struct vqp_error *error, const char *cni_version, FILE *out);

void vqp_error_clear(struct vqp_error *error);

#endif
