/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_SHIM_BUILD_BUG_H
#define VQP_SHIM_BUILD_BUG_H

#undef static_assert
#define static_assert(condition)	_Static_assert(condition, #condition)

#endif
