/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* libvqpcni.so, which is loaded only for containers that ask for a CNI network. */
#ifndef VQP_OCI_LIBRARY_H
#define VQP_OCI_LIBRARY_H

#include "../common/error.h"
#include "../libcni/vqpcni.h"

/*
 * Loads the library that was installed together with this program, and calls one of its functions
 * by name. The process then has threads, with the privileges that it has now. 0, or a negative
 * errno value with *error set.
 */
int vqp_library_call(const char *function, struct vqpcni_attachment *attachment, struct vqp_error *error);

#endif
