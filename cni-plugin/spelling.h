/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_CNI_SPELLING_H
#define VQP_CNI_SPELLING_H

#include <stdbool.h>

/*
 * Is one name likely to be meant by the other? One is the begin of the other, or they differ in at
 * most one letter out of three, whatever their case and without "_" and "-".
 */
bool vqp_spelling_is_like(const char *a, const char *b);

#endif
