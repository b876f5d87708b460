/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_TESTS_UNIT_H
#define VQP_OCI_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* The error text contains this; frees it. */
static inline void unit_assert_error(char *error, const char *expected)
{
	assert_non_null(error);
	if (!strstr(error, expected))
		fail_msg("'%s' does not contain '%s'", error, expected);
	free(error);
}

#endif
