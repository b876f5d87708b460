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

#include "../../common/error.h"

/* The error's text contains this; clears the error. */
static inline void unit_assert_error(struct vqp_error *error, const char *expected)
{
	assert_true(error->code < 0);
	if (!strstr(vqp_error_text(error), expected))
		fail_msg("'%s' does not contain '%s'", vqp_error_text(error), expected);
	vqp_error_clear(error);
}

#endif
