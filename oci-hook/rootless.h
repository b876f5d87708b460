/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_ROOTLESS_H
#define VQP_OCI_ROOTLESS_H

/*
 * 0 if this process is root in the host's user namespace, as vqpd and the
 * kernel want it; otherwise -EPERM with *error, to be freed, saying what
 * rootless containers cannot have.
 */
int vqp_rootless_refuse(char **error);

#endif
