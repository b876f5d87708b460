/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Making sockets of a protocol that a system may not have. */
#ifndef VQP_PROTOCOL_H
#define VQP_PROTOCOL_H

#include <errno.h>
#include <stdbool.h>

/*
 * Is the error one of the protocol, which TCP need not have? Filters of system calls and programs of
 * BPF refuse what they do not know by any of the last three, security modules by EACCES.
 */
static inline bool protocol_is_refused(int error)
{
	return error == EPROTONOSUPPORT || error == EPERM || error == EACCES || error == EINVAL;
}

#endif
