/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_ROOTLESS_H
#define VQP_OCI_ROOTLESS_H

#include "../common/error.h"

/*
 * Returns 0 if this process is root in the host's user namespace, which vqpd and the kernel
 * require; otherwise -EPERM with *error set, which says what rootless containers cannot have.
 */
int vqp_rootless_refuse(struct vqp_error *error);

#endif
