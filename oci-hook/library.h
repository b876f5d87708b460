/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* libvqpcni.so, which is there for containers that ask for a CNI network, and loaded for them alone. */
#ifndef VQP_OCI_LIBRARY_H
#define VQP_OCI_LIBRARY_H

#include "../common/error.h"
#include "../libcni/vqpcni.h"

/*
 * Load the library that was installed together with this program, and call one
 * of its functions by name. This process then has threads, with what
 * privileges it has now. 0, or a negative errno value with *error set.
 */
int vqp_library_call(const char *function, struct vqpcni_attachment *attachment, struct vqp_error *error);

#endif
