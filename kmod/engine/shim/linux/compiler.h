/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_SHIM_COMPILER_H
#define VQP_SHIM_COMPILER_H

#ifndef __must_check
#define __must_check	__attribute__((warn_unused_result))
#endif

/* Nobody else looks, or writes, meanwhile. */
#define READ_ONCE(from)		(from)
#define WRITE_ONCE(to, value)	((to) = (value))

#endif
