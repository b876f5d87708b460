/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Why something failed. */
#ifndef VQP_COMMON_ERROR_H
#define VQP_COMMON_ERROR_H

#include <stddef.h>

/* All zero: nothing has failed. */
struct vqp_error {
	int code;	/* A negative errno value, or where a function says so, a positive code of another kind. */
	char *text;	/* The reason, behind what it is the reason for: "CONTEXT: REASON". NULL if memory ran out. */
	size_t reason;	/* The reason begins this many bytes into the text: 0 without a context. */
};

/* Replaces the error, which the format's arguments may quote, and returns the code: a failure is one statement. */
__attribute__((format(printf, 3, 4)))
int vqp_error_set(struct vqp_error *error, int code, const char *format, ...);

/* Says what the error, which has been set, is the reason for: "CONTEXT: " in front of what its text was. Returns the error's code. */
__attribute__((format(printf, 2, 3)))
int vqp_error_add_context(struct vqp_error *error, const char *format, ...);

/* The text with and without its context. Both are never NULL, and live until the error changes. */
const char *vqp_error_text(const struct vqp_error *error);
const char *vqp_error_reason(const struct vqp_error *error);

/* Frees the text; afterwards nothing has failed. */
void vqp_error_clear(struct vqp_error *error);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_error	__attribute__((cleanup(vqp_error_clear)))

#endif
