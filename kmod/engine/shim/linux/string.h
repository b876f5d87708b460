/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_SHIM_STRING_H
#define VQP_SHIM_STRING_H

#include <string.h>

#endif
