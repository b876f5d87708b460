/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQPCTL_PROGRAM_H
#define VQPCTL_PROGRAM_H

#include <stdbool.h>

/*
 * Runs another program, which is ended after ten seconds (timeout(1)). What it prints becomes
 * *output, with its errors if `errors` is set; the caller frees it. Returns the exit status, or a
 * negative errno value: -ENOENT if there is no such program, -ETIMEDOUT. After one *output is NULL.
 */
int ctl_program_run(const char *const argv[], bool errors, char **output);

#endif
