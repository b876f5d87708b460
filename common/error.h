/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The reason of a failure. */
#ifndef VQP_COMMON_ERROR_H
#define VQP_COMMON_ERROR_H

#include <stddef.h>

/* All zero: nothing has failed. */
struct vqp_error {
	/* A negative errno value or, where a function says so, a positive code of another kind. */
	int code;
	char *text;	/* "CONTEXT: REASON", or the reason alone; NULL without memory */
	size_t reason;	/* the offset of the reason in the text */
};

/*
 * Sets the error, whose former text the arguments may quote, and returns the code, for use in a
 * return statement.
 */
__attribute__((format(printf, 3, 4)))
int vqp_error_set(struct vqp_error *error, int code, const char *format, ...);

/* Puts "CONTEXT: " in front of the text of an error that has been set. Returns the error's code. */
__attribute__((format(printf, 2, 3)))
int vqp_error_add_context(struct vqp_error *error, const char *format, ...);

/* The text with and without its context. Both are never NULL, and live until the error changes. */
const char *vqp_error_text(const struct vqp_error *error);
const char *vqp_error_reason(const struct vqp_error *error);

/* Frees the text; afterwards nothing has failed. */
void vqp_error_clear(struct vqp_error *error);

/* Returns the value of an errno name such as "EEXIST"; EPROTO if that is none, or NULL. */
int vqp_error_by_name(const char *name);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_error	__attribute__((cleanup(vqp_error_clear)))

#endif
