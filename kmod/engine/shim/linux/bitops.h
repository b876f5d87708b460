/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_SHIM_BITOPS_H
#define VQP_SHIM_BITOPS_H

#define hweight32(word)	((u32)__builtin_popcount(word))

#endif
