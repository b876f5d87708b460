/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What every unit test includes. */
#ifndef VQP_TESTS_UNIT_H
#define VQP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include <cmocka.h>

#include "random.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif
