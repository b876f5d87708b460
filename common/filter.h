/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_FILTER_H
#define VQP_COMMON_FILTER_H

enum vqp_program { VQP_PROGRAM_HOOK, VQP_PROGRAM_POSTSTOP, VQP_PROGRAM_VQPD, VQP_PROGRAM_METAD };

/*
 * Restricts this process, for good, to the system calls that the program needs once it has started,
 * with the arguments that it needs. Others fail with EPERM. 0 or a negative errno value.
 */
int vqp_filter_install(enum vqp_program program);

#endif
