/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_VERSION_H
#define VQP_COMMON_VERSION_H

/* The version of vqp, "0.1.0" for example. */
extern const char vqp_version[];

#endif
