/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_CNI_SPELLING_H
#define VQP_CNI_SPELLING_H

#include <stddef.h>

/*
 * Returns which of `names` a member that is none of them is likely to mean: one that it is the
 * begin of or begins with, or that differs in at most one letter out of three, whatever their case
 * and without "_" and "-". NULL if it is like none.
 */
const char *vqp_spelling_nearest(const char *member, const char *const *names, size_t count);

#endif
