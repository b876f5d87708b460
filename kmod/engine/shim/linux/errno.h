/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The C library's <errno.h> includes this file for its numbers, too. */
#include_next <linux/errno.h>
