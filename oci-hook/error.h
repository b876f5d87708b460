/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_ERROR_H
#define VQP_OCI_ERROR_H

/*
 * Sets *error to a text, to be freed (NULL if memory ran out), and returns
 * -err, so that a failure is one statement.
 */
__attribute__((format(printf, 3, 4)))
int vqp_error_fail(char **error, int err, const char *format, ...);

#endif
