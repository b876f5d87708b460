/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_FILTER_H
#define VQP_OCI_FILTER_H

/*
 * From now on this process makes only those system calls that vqp-hook needs;
 * others fail with EPERM. 0, or a negative errno value with *error set to a text
 * to be freed.
 */
int vqp_filter_install(char **error);

#endif
